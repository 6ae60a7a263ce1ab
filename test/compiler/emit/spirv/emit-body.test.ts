/** Loops, exchanges between lanes and hidden zeros of emitted kernels, read from their text. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { emitSpirv } from "../../../../src/compiler/emit/spirv/emit-kernel.js";
import type { Value } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { disassemble } from "../../../../src/spirv/read/disassemble.js";

type Options = Parameters<typeof emitSpirv>[1];

function textOf(lanes: number, write: (k: KernelBuilder, source: number) => Value, options: Options = {}): string {
  const k = new KernelBuilder("body", 8, lanes);
  const [source, target] = [k.buffer("f32", false), k.buffer("f32", true)];
  k.store(target, k.row, write(k, source), true);
  return disassemble(emitSpirv(k.finish(), options));
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

describe("lane loops", () => {
  const summed = (extent: number) =>
    textOf(
      32,
      (k, source) => {
        const zero = k.constant("f32", 0);
        const add = (at: Value, [total]: readonly Value[]) => [k.binary("add", total!, k.load(source, at, "f32"))];
        const [sum] = k.loop(extent, [zero], add, { isLaneLoop: true });
        return k.combineLanes("add", sum!);
      },
      { subgroupSize: 32 },
    );

  test("with a round at most for each lane are no loops", () => {
    assert.equal(count(summed(32), /OpLoopMerge/g), 0);
    assert.equal(count(summed(33), /OpLoopMerge/g), 1);
  });

  test("lanes beyond the extent are masked, unless every lane has a round", () => {
    const branches = (extent: number) => count(summed(extent), /OpBranchConditional/g);
    assert.equal(branches(31), branches(32) + 1);
  });
});

describe("exchanges between lanes", () => {
  const exchanged = (times: number) =>
    textOf(32, (k, source) => {
      let x = k.load(source, k.lane, "f32");
      for (let i = 0; i < times; i++) x = k.fromLane(x, k.constant("i32", i));
      return x;
    });

  test("take turns with two shared arrays, however many there are", () => {
    const arrays = (times: number) => count(exchanged(times), /OpVariable %_ptr_Workgroup/g);
    assert.deepEqual([1, 2, 5].map(arrays), [1, 2, 2]);
  });

  test("need one barrier each", () => {
    assert.deepEqual(
      [1, 2, 5].map((times) => count(exchanged(times), /OpControlBarrier/g)),
      [1, 2, 5],
    );
  });
});

test("zeros are hidden from a driver that folds them: no arithmetic has a literal zero as its operand", () => {
  const sum = (options: Options) =>
    textOf(1, (k, source) => k.binary("add", k.load(source, k.row, "f32"), k.constant("f32", 0)), options);
  assert.match(sum({}), /OpFAdd %float %\w+ %float_0/);
  assert.doesNotMatch(sum({ isCarelessOfZeros: true }), /OpFAdd %float %\w+ %float_0/);
});

test("where rounds are limited a loop does several steps in each", () => {
  const looped = (maxLoopRounds: number) =>
    textOf(
      1,
      (k, source) => {
        const add = (at: Value, [total]: readonly Value[]) => [k.binary("add", total!, k.load(source, at, "f32"))];
        return k.loop(1000, [k.constant("f32", 0)], add)[0]!;
      },
      { maxLoopRounds },
    );
  assert.equal(count(looped(Infinity), /OpFAdd/g), 1);
  assert.ok(count(looped(300), /OpFAdd/g) >= 4);
});

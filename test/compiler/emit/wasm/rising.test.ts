/** Indices that differ from lane to lane by constants: each rule against the four lanes computed one by one. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type LaneValue, laneOf } from "../../../../src/compiler/emit/wasm/lane-values.js";
import { areAhead, areNeighbours, counted, rising } from "../../../../src/compiler/emit/wasm/rising.js";
import type { BinaryOp, Value as IRValue } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { ModuleBuilder } from "../../../../src/wasm/builder.js";
import type { FunctionBuilder } from "../../../../src/wasm/function-builder.js";
import type { Value } from "../../../../src/wasm/value.js";
import { start } from "../../../wasm/running.js";

const k = new KernelBuilder("rising", 100);
const operation = (op: BinaryOp, constant: number): IRValue => k.binary(op, k.row, k.constant("i32", constant));

/** The lanes of an operation on a counted index `ahead` of `first`, a multiple of `multiple`; null if not rising. */
const lanes = (op: BinaryOp, constant: number, first: number, multiple: number, ahead = 0): number[] | null =>
  lanesOf(operation(op, constant), first, (f, x) => [
    counted(x, multiple, ahead),
    { kind: "uniform", value: f.i32.const(constant) },
  ]);

/** The lanes of an operation on operands made of a number; null if not rising. */
function lanesOf(
  value: IRValue,
  first: number,
  operandsOf: (f: FunctionBuilder, x: Value<"i32">) => LaneValue[],
): number[] | null {
  let isRising = true;
  const m = new ModuleBuilder({ memory: null });
  const results = [0, 1, 2, 3].map((lane) => {
    const build = (f: FunctionBuilder, x: Value<"i32">): Value<"i32"> => {
      const made = rising(f, value, operandsOf(f, x));
      if (made) return laneOf(f, made, "i32", lane) as Value<"i32">;
      isRising = false;
      return x;
    };
    return m.function(`lane${lane}`, ["i32"], "i32", build);
  });
  for (const result of results) m.export(result);
  const { exports } = start(m);
  return isRising ? [0, 1, 2, 3].map((lane) => exports[`lane${lane}`]!(first) as number) : null;
}

const each = (rule: (x: number) => number, first: number) => [0, 1, 2, 3].map((lane) => rule(first + lane));

describe("four neighbours, through one operation", () => {
  test("sums, differences and products stay rising", () => {
    assert.deepEqual(
      lanes("add", 5, 8, 4),
      each((x) => x + 5, 8),
    );
    assert.deepEqual(
      lanes("sub", 5, 8, 4),
      each((x) => x - 5, 8),
    );
    assert.deepEqual(
      lanes("mul", 3, 8, 4),
      each((x) => x * 3, 8),
    );
  });

  test("a quotient is one division where the lanes lie inside a multiple, or begin at one", () => {
    assert.deepEqual(
      lanes("idiv", 8, 20, 4),
      each((x) => Math.floor(x / 8), 20),
    );
    assert.deepEqual(
      lanes("irem", 8, 20, 4),
      each((x) => x % 8, 20),
    );
    assert.deepEqual(
      lanes("idiv", 2, 20, 4),
      each((x) => Math.floor(x / 2), 20),
    );
    assert.deepEqual(
      lanes("irem", 2, 20, 4),
      each((x) => x % 2, 20),
    );
  });

  test("lanes ahead of the value: the same, whether a multiple holds all of them or only those", () => {
    for (const [op, rule] of [
      ["add", (x: number) => x + 8],
      ["mul", (x: number) => x * 8],
      ["idiv", (x: number) => Math.floor(x / 8)],
      ["irem", (x: number) => x % 8],
    ] as const) {
      for (const ahead of [0, 4, 8, 12]) {
        assert.deepEqual(
          lanes(op, 8, 16, 16, ahead),
          each(rule, 16 + ahead),
          `${op}, ${ahead} ahead of a multiple of 16`,
        );
        assert.deepEqual(
          lanes(op, 8, 20, 4, ahead),
          each(rule, 20 + ahead),
          `${op}, ${ahead} ahead of a multiple of 4`,
        );
      }
    }
    assert.equal(lanes("irem", 6, 20, 4, 8), null);
  });

  test("a quotient that some lanes step over is left to the lanes", () => {
    assert.equal(lanes("idiv", 3, 20, 4), null);
    assert.equal(lanes("irem", 6, 20, 4), null);
    assert.equal(lanes("idiv", 8, 6, 2), null);
  });

  test("a quotient by a number that the multiple does not divide, but that no lane steps over", () => {
    for (const first of [0, 16, 32, 48, 96]) {
      for (const ahead of [0, 4, 8, 12]) {
        assert.deepEqual(
          lanes("idiv", 20, first, 16, ahead),
          each((x) => Math.floor(x / 20), first + ahead),
        );
        assert.deepEqual(
          lanes("irem", 20, first, 16, ahead),
          each((x) => x % 20, first + ahead),
        );
      }
    }
  });

  test("a comparison is one for all lanes where they are on the same side of the limit, whatever the number is", () => {
    const compared = (op: "lt" | "ge", limit: number, first: number, ahead: number) =>
      lanesOf(k.compare(op, k.row, k.constant("i32", limit)), first, (f, x) => [
        counted(x, 16, ahead),
        { kind: "uniform", value: f.i32.const(limit) },
      ]);
    for (const first of [0, 16, 32, 48]) {
      for (const ahead of [0, 4, 8, 12]) {
        for (const limit of [0, 4, 20, 32, 36]) {
          const isBelow = Number(first + ahead < limit);
          assert.deepEqual(compared("lt", limit, first, ahead), [isBelow, isBelow, isBelow, isBelow]);
          assert.deepEqual(compared("ge", limit, first, ahead)?.[0], 1 - isBelow);
        }
        assert.equal(compared("lt", 18, first, ahead), null, "lanes on both sides");
      }
    }
  });

  test("an index inside a gate stays rising, and is near 0 where the gate does not hold", () => {
    const inside = (holds: boolean, first: number) =>
      lanesOf(k.within(k.compare("lt", k.row, k.constant("i32", 50)), k.row), first, (f, x) => [
        { kind: "uniform", value: f.i32.const(holds ? 1 : 0) },
        counted(x, 16, 4),
        { kind: "uniform", value: f.i32.const(0) },
      ]);
    assert.deepEqual(inside(true, 32), [36, 37, 38, 39]);
    assert.deepEqual(inside(false, 32), [0, 1, 2, 3]);
    const chosen = k.select(k.compare("lt", k.row, k.constant("i32", 50)), k.row, k.constant("i32", 0));
    const operands = (f: FunctionBuilder, x: Value<"i32">): LaneValue[] => [
      { kind: "uniform", value: f.i32.const(0) },
      counted(x, 16),
      { kind: "uniform", value: f.i32.const(0) },
    ];
    assert.equal(lanesOf(chosen, 32, operands), null, "a choice that matters on both sides is left to the lanes");
  });
});

test("neighbours are in order and without gaps; ahead means none before the value", () => {
  const value = null as unknown as Value<"i32">;
  const steps = (...list: number[]): LaneValue => ({ kind: "rising", value, steps: list, multiple: 1 });
  assert.ok(areNeighbours(steps(0, 1, 2, 3)));
  assert.ok(areNeighbours(steps(4, 5, 6, 7)));
  assert.ok(!areNeighbours(steps(0, 2, 4, 6)));
  assert.ok(!areNeighbours(steps(-4, -3, -2, -1)), "memory instructions add, and do not subtract");
  assert.ok(areAhead(steps(0, 7, 2, 0)));
  assert.ok(!areAhead(steps(0, -1, 2, 3)));
});

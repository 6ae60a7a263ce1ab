/** Places in memory as WebAssembly has them: a constant part of an index goes into the instruction, where that is safe. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { emitWasm } from "../../../../src/compiler/emit/wasm/emit-kernel.js";
import type { Kernel, Value } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { disassemble } from "../../../../src/wasm/disassemble.js";
import { runKernel } from "../../../support/kernels.js";
import { describeOnTensorDevices } from "../../../support/tensors.js";

/** So far that no memory begins that late, in bytes of elements. */
const FAR = 2 ** 28;
const ROWS = 11;

type Base = (k: KernelBuilder, far: Value, positions: number) => Value;

/** Rows less FAR, in every way that an index can be negative; added to FAR they are the rows. */
const negative: Readonly<Record<string, Base>> = {
  "a difference": (k, far) => k.binary("sub", k.row, far),
  "a sum with a negative constant": (k) => k.binary("add", k.row, k.constant("i32", -FAR)),
  "a multiple of a negative constant": (k, far) => {
    const minusRow = k.binary("mul", k.row, k.constant("i32", -1));
    return k.binary("mul", k.binary("add", minusRow, far), k.constant("i32", -1));
  },
  "a choice": (k, far) => k.select(k.compare("lt", k.row, far), k.binary("sub", k.row, far), k.row),
  "the larger of two": (k, far) => k.binary("max", k.binary("sub", k.row, far), k.constant("i32", -FAR - 1)),
  "bits of a difference": (k, far) => k.binary("and", k.binary("sub", k.row, far), k.constant("i32", 15 - FAR)),
  "a number from memory": (k, far, positions) => k.binary("sub", k.load(positions, k.row, "i32"), far),
};

/** out[row] = in[row], where both places are a negative number and FAR. */
function copying(base: Base): Kernel {
  const k = new KernelBuilder("copy", ROWS);
  const [from, positions, to] = [k.buffer("f32", false), k.buffer("i32", false), k.buffer("f32", true)];
  const far = k.constant("i32", FAR);
  const place = k.binary("add", base(k, far, positions), far);
  k.store(to, place, k.load(from, place, "f32"));
  return k.finish();
}

describeOnTensorDevices("an index", (device) => {
  const source = Float32Array.from({ length: ROWS }, (_, i) => i + 0.5);
  const positions = Int32Array.from({ length: ROWS }, (_, i) => i);
  for (const [what, base] of Object.entries(negative)) {
    test(`that is ${what} below 0 and a constant points where their sum does`, () => {
      const [, , result] = runKernel(device, copying(base), [source, positions, new Float32Array(ROWS)]);
      assert.deepEqual([...result], [...source]);
    });
  }

  test("into an array of the row may be negative on the way, too", () => {
    const k = new KernelBuilder("array", ROWS);
    const to = k.buffer("f32", true);
    const array = k.array("f32", 4);
    const at = (i: number) =>
      k.binary(
        "add",
        k.binary("sub", k.row, k.binary("add", k.row, k.constant("i32", FAR))),
        k.constant("i32", FAR + i),
      );
    for (let i = 0; i < 4; i++) k.set(array, at(i), k.convert("f32", k.constant("i32", 10 * i)));
    k.store(to, k.row, k.binary("add", k.get(array, at(1)), k.get(array, k.constant("i32", 3))));
    const [result] = runKernel(device, k.finish(), [new Float32Array(ROWS)]);
    assert.deepEqual([...result], new Array(ROWS).fill(40));
  });
});

test("what counts elements and a constant more is loaded with the constant in the instruction", () => {
  const k = new KernelBuilder("offset", ROWS);
  const [from, to] = [k.buffer("f64", false), k.buffer("f64", true)];
  k.store(to, k.row, k.load(from, k.binary("add", k.row, k.constant("i32", 5)), "f64"));
  assert.match(disassemble(emitWasm(k.finish())), /load.*offset=40/);
});

/** Operations on four lanes at once give, lane by lane, what they give on one value at a time. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { emitWasm } from "../../../../src/compiler/emit/wasm/emit-kernel.js";
import { planVectors } from "../../../../src/compiler/emit/wasm/vector-plan.js";
import type { IRType, Value } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { disassemble } from "../../../../src/wasm/disassemble.js";
import { runKernel } from "../../../support/kernels.js";

// Vectors are compared with single numbers, which round a multiply-add twice.
process.env.PUMICE_FMA = "off";

const FLOATS = [0, -0, 1, -1.5, 2.5, 1e30, -1e-30, Infinity, -Infinity, Number.NaN, 3.5, -7, 0.1, 8, -8, 2 ** 31];
const WORDS = [0, 1, -1, 7, -7, 2 ** 31 - 1, -(2 ** 31), 12345, 31, 32, -31, 255, 256, -256, 3, 2];
const ROWS = 64;

type Rule = (k: KernelBuilder, a: Value, b: Value) => Value;

/** Results of an operation in a kernel whose rows are vectors, and in one that goes row by row because of a gate. */
function bothWays(type: IRType, rule: Rule): { vectors: Int32Array; singles: Int32Array; text: string } {
  const build = (isGated: boolean) => {
    const k = new KernelBuilder("lanes", ROWS);
    const [x, y] = [0, 1].map(() => k.load(k.buffer(type as "f32", false), k.row, type));
    const made = rule(k, x!, y!);
    const stored = made.type === "bool" ? k.select(made, k.constant("i32", 1), k.constant("i32", 0)) : made;
    const target = k.buffer(stored.type, true);
    const gate = isGated ? k.compare("ge", k.row, k.constant("i32", 0)) : null;
    k.store(target, k.row, stored, true, gate);
    return k.finish();
  };
  const values = type === "f32" ? FLOATS : WORDS;
  const column = (pick: (i: number) => number) => {
    const numbers = Array.from({ length: ROWS }, (_, i) => values[pick(i) % values.length]!);
    return type === "f32" ? Float32Array.from(numbers) : Int32Array.from(numbers);
  };
  const [a, b] = [column((i) => i), column((i) => 5 * i + Math.floor(i / 16))];
  const run = (isGated: boolean) => runKernel("cpu", build(isGated), [a, b, new Int32Array(ROWS)] as never)[2] as never;
  assert.ok(planVectors(build(false)).isRowVector);
  assert.ok(!planVectors(build(true)).isRowVector);
  return { vectors: run(false), singles: run(true), text: disassemble(emitWasm(build(false))) };
}

const rules: Record<string, readonly [IRType, Rule][]> = {};
for (const op of ["add", "sub", "mul", "div", "min", "max"] as const) {
  const types = op === "div" ? (["f32"] as const) : (["f32", "i32"] as const);
  rules[op] = types.map((type) => [type, (k, a, b) => k.binary(op, a, b)]);
}
for (const op of ["neg", "abs", "floor", "ceil", "trunc", "sqrt", "roundEven"] as const) {
  rules[op] = [["f32", (k, a) => k.unary(op, a)]];
}
for (const op of ["and", "or", "xor"] as const) rules[op] = [["i32", (k, a, b) => k.binary(op, a, b)]];
for (const op of ["eq", "ne", "lt", "le", "gt", "ge"] as const) {
  rules[op] = (["f32", "i32", "u32"] as const).map((type) => [type, (k, a, b) => k.compare(op, a, b)]);
}
rules.select = [["f32", (k, a, b) => k.select(k.compare("lt", a, b), b, a)]];
rules["pseudo-minimum"] = [["f32", (k, a, b) => k.select(k.compare("lt", a, b), a, b)]];
rules.mulAdd = [["f32", (k, a, b) => k.mulAdd(a, b, a)]];
rules["shift by a constant"] = [["i32", (k, a) => k.binary("shr", a, k.constant("u32", 3))]];
rules["shift by a distance per lane"] = [
  ["i32", (k, a, b) => k.binary("shl", a, k.bitcast("u32", k.binary("and", b, k.constant("i32", 31))))],
];
rules.signExtend = [["i32", (k, a) => k.signExtend(a, 8)]];
rules.convert = [
  ["i32", (k, a) => k.convert("f32", a)],
  ["u32", (k, a) => k.convert("f32", a)],
  ["f32", (k, a) => k.convert("i32", a)],
  ["f32", (k, a) => k.convert("u32", a)],
];

/** The bits of a NaN may differ; that it is one may not. */
const sameBits = (x: Int32Array, y: Int32Array): boolean => {
  const [a, b] = [x, y].map((words) => new Float32Array(words.buffer));
  return x.every((word, i) => word === y[i] || (Number.isNaN(a![i]!) && Number.isNaN(b![i]!)));
};

describe("four lanes at once", () => {
  for (const [name, cases] of Object.entries(rules)) {
    for (const [type, rule] of cases) {
      test(`${name} of ${type}`, () => {
        const { vectors, singles } = bothWays(type, rule);
        assert.ok(sameBits(vectors, singles), `${[...vectors]}\n${[...singles]}`);
      });
    }
  }

  test("a choice of the smaller is one instruction", () => {
    const { text } = bothWays("f32", (k, a, b) => k.select(k.compare("lt", a, b), a, b));
    assert.match(text, /f32x4\.pmin/);
  });
});

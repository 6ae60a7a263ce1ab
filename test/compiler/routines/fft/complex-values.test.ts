/** Complex arithmetic of Fourier kernels, interpreted, against its definition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { ComplexOps, type ComplexValue } from "../../../../src/compiler/routines/fft/complex-values.js";
import { laneValues } from "../../../support/lane-values.js";
import { apart, type C, randomComplex } from "./transforms.js";

const [A, B]: C[] = randomComplex(2, 5);
const times = ([a, b]: C, [c, d]: C): C => [a * c - b * d, a * d + b * c];
const root = (turn: number, of: number): C => [
  Math.cos((2 * Math.PI * turn) / of),
  Math.sin((2 * Math.PI * turn) / of),
];

function computed(write: (ops: ComplexOps, a: ComplexValue, b: ComplexValue) => ComplexValue): C {
  const inputs = [{ dtype: "f64" as const, values: [...A!, ...B!] }];
  const [re, im] = laneValues({ inputs }, (k) => {
    const load = (at: number) => k.load(0, k.constant("i32", at), "f64");
    const made = write(new ComplexOps(k, "f64"), { re: load(0), im: load(1) }, { re: load(2), im: load(3) });
    return [made.re, made.im];
  });
  return [re![0]!, im![0]!];
}

// biome-ignore format: a table
const OPERATIONS: readonly (readonly [string, (ops: ComplexOps, a: ComplexValue, b: ComplexValue) => ComplexValue, (a: C, b: C) => C])[] = [
  ["add", (o, a, b) => o.add(a, b), (a, b) => [a[0] + b[0], a[1] + b[1]]],
  ["sub", (o, a, b) => o.sub(a, b), (a, b) => [a[0] - b[0], a[1] - b[1]]],
  ["neg", (o, a) => o.neg(a), (a) => [-a[0], -a[1]]],
  ["conj", (o, a) => o.conj(a), (a) => [a[0], -a[1]]],
  ["scaled", (o, a) => o.scaled(a, 3), (a) => [3 * a[0], 3 * a[1]]],
  ["scaled by 1", (o, a) => o.scaled(a, 1), (a) => a],
  ["mul", (o, a, b) => o.mul(a, b), times],
  ["mul, conjugate", (o, a, b) => o.mul(a, b, true), (a, b) => times(a, [b[0], -b[1]])],
  ["turned", (o, a) => o.turned(a, 1), (a) => times(a, [0, 1])],
  ["turned back", (o, a) => o.turned(a, -1), (a) => times(a, [0, -1])],
  ["addTurned", (o, a, b) => o.addTurned(a, b, 1), (a, b) => [a[0] - b[1], a[1] + b[0]]],
  ["addTurned back", (o, a, b) => o.addTurned(a, b, -1), (a, b) => [a[0] + b[1], a[1] - b[0]]],
  ["addScaled", (o, a, b) => o.addScaled(a, b, -2.5), (a, b) => [a[0] - 2.5 * b[0], a[1] - 2.5 * b[1]]],
];

for (const [name, write, expected] of OPERATIONS) {
  test(name, () => {
    assert.ok(apart([computed(write)], [expected(A!, B!)]) < 1e-15);
  });
}

test("rotations by known roots of unity, all the way round", () => {
  for (const of of [1, 2, 3, 4, 5, 8, 16]) {
    for (let turn = -of; turn <= of; turn++) {
      const found = computed((ops, a) => ops.rotated(a, turn, of));
      assert.ok(apart([found], [times(A!, root(turn, of))]) < 1e-15, `${turn} of ${of}`);
    }
  }
});

test("right angles take no multiplication, and half of one takes two", () => {
  const multiplications = (turn: number, of: number) => {
    const k = new KernelBuilder("count", 1);
    const from = k.buffer("f64", false);
    const ops = new ComplexOps(k, "f64");
    const load = (at: number) => k.load(from, k.constant("i32", at), "f64");
    const made = ops.rotated({ re: load(0), im: load(1) }, turn, of);
    const to = k.buffer("f64", true);
    k.store(to, k.constant("i32", 0), made.re);
    k.store(to, k.constant("i32", 1), made.im);
    return k.finish().body.filter((each) => each.kind === "let" && ["mul", "mulAdd"].includes(each.value.op)).length;
  };
  assert.deepEqual([0, 1, 2, 3, 4].map((turn) => multiplications(turn, 4)), [0, 0, 0, 0, 0]); // biome-ignore format: one line
  assert.deepEqual([1, 3, 5, 7].map((turn) => multiplications(turn, 8)), [2, 2, 2, 2]); // biome-ignore format: one line
  assert.equal(multiplications(1, 16), 4);
});

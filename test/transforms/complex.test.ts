/**
 * Complex numbers under transforms: derivatives of real functions that go through them against difference quotients, and
 * the same values from jit, vmap and loops as from plain operations.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type Complex,
  checkpoint,
  complex,
  concat,
  cond,
  einsum,
  forLoop,
  jit,
  scan,
  type Tensor,
  tensor,
  vdot,
  vmap,
  where,
  whileLoop,
} from "../../src/index.js";
import { complexNumbers } from "../support/complex-cases.js";
import { checkGradients, type Place } from "../support/gradient-check.js";
import { floats, type OperationCase } from "../support/operation-cases.js";
import { describeOnTensorDevices } from "../support/tensors.js";

const cpu: Place = { device: "cpu", dtype: "f64", tolerance: 1e-7 };

const parts = (z: Tensor): Tensor[] => [z.real(), z.imag()];
const grid = floats([2, 3]);

/** A function of one complex matrix, as one of its parts. */
const ofOne = (name: string, f: (z: Tensor) => Tensor): OperationCase => ({
  name,
  inputs: [grid, grid],
  f: (re, im) => parts(f(complex(re, im))),
});

const ofTwo = (name: string, f: (a: Tensor, b: Tensor) => Tensor): OperationCase => ({
  name,
  inputs: [grid, grid, grid, grid],
  f: (ar, ai, br, bi) => parts(f(complex(ar, ai), complex(br, bi))),
});

const i = { re: 0, im: 1 };
const places = () => tensor([2, 0, 2], { dtype: "i32", device: "cpu" });

const cases: readonly OperationCase[] = [
  ...(
    ["neg", "conj", "square", "reciprocal", "sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"] as const
  ).map((name) => ofOne(name, (z) => z[name]())),
  ...(["abs", "phase", "real", "imag", "variance", "norm"] as const).map((name) => ofOne(name, (z) => z[name]())),
  ...(["add", "sub", "mul", "div", "pow"] as const).map((name) => ofTwo(name, (a, b) => a[name](b))),
  ofOne("pow, whole", (z) => z.pow(3)),
  ofOne("with a complex number", (z) => z.mul({ re: 0.5, im: 2 }).add(i)),
  ofOne("with a real tensor", (z) => z.mul(z.real()).div(z.imag().exp())),
  ofOne("sum", (z) => z.mul(z).sum({ axis: 0 })),
  ofOne("mean", (z) => z.exp().mean()),
  ofOne("prod", (z) => z.prod({ axis: 1 })),
  ofOne("cumsum", (z) => z.square().cumsum({ axis: 1, reverse: true })),
  ofOne("cumprod", (z) => z.cumprod({ axis: 1 })),
  ofOne("movement", (z) =>
    z.T.flip(0)
      .at("1:")
      .pad(
        [
          [1, 0],
          [0, 1],
        ],
        { value: i },
      )
      .square()
      .reshape(-1),
  ),
  ofOne("take", (z) => z.take(places(), { axis: 1 }).square()),
  ofTwo("concat", (a, b) => concat([a, b.conj()]).exp()),
  ofTwo("where", (a, b) => where(a.real().greater(0), a.mul(b), b)),
  ofTwo("addAt", (a, b) => a.addAt(null, places(), b.mul(a))),
  ofTwo("matmul", (a, b) => a.matmul(b.conj().T)),
  ofTwo("vdot", (a, b) => vdot(a, b)),
  ofTwo("einsum", (a, b) => einsum("ij,ij,k->ki", a, b, a.at(0))),
  ofOne("cast", (z) => z.cast("c128").mul(2)),
];

describe("derivatives through complex numbers are the limits of difference quotients", () => {
  for (const operation of cases) test(operation.name, () => checkGradients(operation, [cpu]));
});

const values: readonly Complex[] = [
  { re: 1, im: 2 },
  { re: -3, im: 0.5 },
  { re: 0, im: -1 },
];
const product = (a: Complex, b: Complex): Complex => ({ re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re });

describeOnTensorDevices("complex numbers in transforms", (device) => {
  const z = (): Tensor => tensor([...values], { dtype: "c64", device }) as Tensor;

  test("jit computes what plain operations do, time after time", () => {
    const f = (a: Tensor) => a.mul(a).add(i).div(a.conj());
    const quick = jit(f);
    for (const factor of [1, 2, -1]) {
      const x = z().mul(factor);
      assert.deepEqual(complexNumbers(quick(x)), complexNumbers(f(x)));
    }
    const outer = jit((a: Tensor) => a.reshape(3, 1).matmul(a.reshape(1, 3)).sum({ axis: 0 }));
    const sum = values.reduce((total, { re, im }) => ({ re: total.re + re, im: total.im + im }));
    outer(z());
    assert.deepEqual(
      complexNumbers(outer(z())),
      values.map((value) => product(value, sum)),
    );
  });

  test("vmap computes each member as it would be alone", () => {
    const squares = vmap((a: Tensor) => a.mul(a.conj()).sum())(z().reshape(3, 1));
    assert.deepEqual(
      complexNumbers(squares),
      values.map(({ re, im }) => ({ re: re * re + im * im, im: 0 })),
    );
    const cubes = vmap((a: Tensor) => a.pow(3))(z());
    assert.deepEqual(
      complexNumbers(cubes).map(({ re, im }) => [re + 0, im + 0]),
      values.map((value) => product(product(value, value), value)).map(({ re, im }) => [re + 0, im + 0]),
    );
  });

  test("loops carry complex numbers, step through sequences of them and stack them", () => {
    const [last, all] = scan((carry: Tensor, x: Tensor) => [carry.mul(x), carry.mul(x)], z().at(0), z());
    const wanted: Complex[] = [];
    let running = values[0]!;
    for (const value of values) {
      running = product(running, value);
      wanted.push(running);
    }
    assert.deepEqual(complexNumbers(all as Tensor), wanted);
    assert.deepEqual(complexNumbers(last as Tensor), wanted.slice(-1));
    const turned = forLoop(0, 5, (_, carry: Tensor) => carry.mul(i), z().at(0));
    assert.deepEqual(complexNumbers(turned as Tensor), [{ re: -2, im: 1 }]);
    const grown = whileLoop(
      (carry: Tensor) => carry.abs().less(100),
      (carry: Tensor) => carry.mul({ re: 1, im: 1 }),
      tensor({ re: 1, im: 0 }, { dtype: "c64", device }) as Tensor,
    );
    assert.deepEqual(complexNumbers(grown as Tensor), [{ re: 0, im: -128 }]);
  });

  test("choices and checkpoints of complex numbers", () => {
    const chosen = (a: Tensor) =>
      cond(
        a.real().sum().greater(0),
        (x: Tensor) => x.mul(2),
        (x: Tensor) => x.conj(),
        a,
      ) as Tensor;
    assert.deepEqual(
      complexNumbers(chosen(z())),
      values.map(({ re, im }) => ({ re, im: -im })),
    );
    const again = checkpoint((a: Tensor) => a.mul(a))(z()) as Tensor;
    assert.deepEqual(
      complexNumbers(again),
      values.map((value) => product(value, value)),
    );
  });
});

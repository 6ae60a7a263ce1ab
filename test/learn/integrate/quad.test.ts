/** Integrals of functions against closed forms, NumPy's rule and SciPy's Romberg table. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { grad, jit, jvp, stack, type Tensor, tensor, vmap } from "../../../src/index.js";
import { integrate } from "../../../src/learn/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const { check, gaussLegendre, quad, romberg } = integrate;
const wide = { dtype: "f64", device: "cpu" } as const;
const cases: {
  readonly romberg: { levels: number; value: number }[];
  readonly legendre: { points: number; value: number }[];
} = JSON.parse(readFileSync(resolve("test/learn/integrate/quad-cases.json"), "utf8"));

const near = (got: Tensor, want: number | readonly number[], by: number, what = "") => {
  const values = numbersOf(got);
  const wanted = typeof want === "number" ? [want] : want;
  assert.equal(values.length, wanted.length);
  wanted.forEach((each, i) => {
    assert.ok(
      Math.abs(values[i]! - each) <= by * Math.max(1, Math.abs(each)),
      `${what} ${i}: ${values[i]}, not ${each}`,
    );
  });
};

const bell = (x: Tensor): Tensor => x.square().neg().exp() as Tensor;
const infinity = Number.POSITIVE_INFINITY;

test("quad meets closed forms to the error that it states, over finite and infinite ranges", () => {
  const table: [string, (x: Tensor) => Tensor, number, number, number][] = [
    ["a polynomial", (x) => x.pow(5).mul(6) as Tensor, -1, 2, 63],
    ["backwards", (x) => x.exp() as Tensor, 1, 0, 1 - Math.E],
    ["waves", (x) => x.mul(100).cos() as Tensor, 0, 1, Math.sin(100) / 100],
    [
      "a peak",
      (x) => x.sub(0.3).square().add(1e-6).reciprocal() as Tensor,
      0,
      1,
      1e3 * (Math.atan(700) + Math.atan(300)),
    ],
    ["a kink", (x) => x.sub(1 / 3).abs() as Tensor, 0, 1, 5 / 18],
    ["an end that is infinite", (x) => x.rsqrt() as Tensor, 0, 1, 2],
    ["a logarithm", (x) => x.log() as Tensor, 0, 1, -1],
    ["up", (x) => x.square().mul(x.neg().exp()) as Tensor, 0, infinity, 2],
    ["up, backwards", (x) => x.square().reciprocal() as Tensor, infinity, 2, -0.5],
    ["down", (x) => x.exp() as Tensor, -infinity, 1, Math.E],
    ["everywhere", bell, -infinity, infinity, Math.sqrt(Math.PI)],
    ["everywhere, with heavy tails", (x) => x.square().add(1).reciprocal() as Tensor, -infinity, infinity, Math.PI],
  ];
  for (const [what, f, a, b, want] of table) {
    const { value, error, status } = quad(f, a, b, wide);
    assert.deepEqual(numbersOf(status), [0], what);
    const off = Math.abs(numbersOf(value)[0]! - want);
    assert.ok(
      off <= Math.max(numbersOf(error)[0]!, 1e-14) && off < 1e-8 * Math.max(1, Math.abs(want)),
      `${what}: off by ${off}`,
    );
  }
});

test("functions that are infinite at an end, or fall off slowly, take few pieces, as in QUADPACK", () => {
  const other = (x: Tensor): Tensor => x.neg().add(1) as Tensor;
  const table: [string, (x: Tensor) => Tensor, number, number, number][] = [
    ["at the right end", (x) => other(x).rsqrt() as Tensor, 0, 1, 2],
    ["at an end that is not 0", (x) => x.sub(3).rsqrt() as Tensor, 3, 5, 2 * Math.SQRT2],
    ["at both ends", (x) => x.mul(other(x)).rsqrt() as Tensor, 0, 1, Math.PI],
    ["nearly divergent", (x) => x.pow(-0.99) as Tensor, 0, 1, 100],
    ["with a logarithm", (x) => x.log().mul(x.rsqrt()) as Tensor, 0, 1, -4],
    ["of infinite length", (x) => x.pow(-1.1) as Tensor, 1, infinity, 10],
    [
      "of infinite length, infinite at 0",
      (x) => x.neg().exp().mul(x.rsqrt()) as Tensor,
      0,
      infinity,
      Math.sqrt(Math.PI),
    ],
  ];
  for (const [what, f, a, b, want] of table) {
    const { value, error, status, pieces } = quad(f, a, b, wide);
    assert.deepEqual(numbersOf(status), [0], what);
    assert.ok(numbersOf(pieces)[0]! <= 20, what);
    const off = Math.abs(numbersOf(value)[0]! - want);
    assert.ok(off <= numbersOf(error)[0]! && off < 1e-8 * want ** 2, `${what}: off by ${off}`);
  }
  // In f32 the places near 1 are too far apart; the error says it.
  const coarse = quad((x) => other(x).rsqrt() as Tensor, 0, 1, { device: "cpu" });
  assert.ok(Math.abs(numbersOf(coarse.value)[0]! - 2) <= Math.max(numbersOf(coarse.error)[0]!, 1e-5));
});

test("integrals that do not exist have no limit", () => {
  for (const power of [-1, -1.01, -1.5]) {
    const found = quad((x) => x.pow(power) as Tensor, 0, 1, { ...wide, maxPieces: 40 });
    assert.notEqual(numbersOf(found.status)[0], 0, `${power}`);
  }
});

test("gradients of limits: 1 / (1 - p) of the power p, also beside other numbers", () => {
  const area = (p: Tensor): Tensor =>
    quad((x) => stack([x.pow(p.neg()), x, x.mul(0)]), f64(0), f64(1)).value.sum() as Tensor;
  for (const p of [0.5, 0.9]) {
    const wanted = 1 / (1 - p) ** 2;
    near(area(f64(p)), 1 / (1 - p) + 0.5, 1e-8);
    near(grad(area)(f64(p)), wanted, 1e-7);
    near(jvp(area, [f64(p)], [f64(1)])[1] as Tensor, wanted, 1e-7);
  }
  near(vmap(grad(area))(f64([0.5, 0.1])), [4, 1 / 0.81], 1e-7);
});

test("one piece whose error is but rounding does not end the others", () => {
  // Bessel's function J₀(20), π times.
  const { value, status } = quad((x) => x.sin().mul(20).cos() as Tensor, 0, Math.PI, wide);
  assert.deepEqual(numbersOf(status), [0]);
  near(value, Math.PI * 0.16702466434058316, 1e-14);
});

test("a function may give several numbers, and uses few pieces where it is smooth", () => {
  const found = quad((x) => stack([x, x.square(), x.cos()]).reshape([3, 1]) as Tensor, f64(0), 2);
  assert.deepEqual(found.value.shape, [3, 1]);
  near(found.value, [2, 8 / 3, Math.sin(2)], 1e-15);
  assert.deepEqual(numbersOf(found.pieces), [1]);
});

test("gradients by what f captures and by the ends: reverse, forward, twice, and of a vmap", () => {
  const area = (a: Tensor): Tensor => quad((x) => bell(x.mul(a.sqrt()) as Tensor), -infinity, infinity, wide).value;
  const a = f64(2);
  const slope = -0.5 * Math.sqrt(Math.PI) * 2 ** -1.5;
  near(grad(area)(a), slope, 1e-8);
  near(jvp(area, [a], [f64(1)])[1] as Tensor, slope, 1e-8);
  near(grad(grad(area))(a), 0.75 * Math.sqrt(Math.PI) * 2 ** -2.5, 1e-7);
  const values = f64([1, 2, 5]);
  near(
    vmap(area)(values),
    [1, 2, 5].map((a) => Math.sqrt(Math.PI / a)),
    1e-9,
  );
  near(
    vmap(grad(area))(values),
    [1, 2, 5].map((a) => -0.5 * Math.sqrt(Math.PI) * a ** -1.5),
    1e-8,
  );
  const ends = (a: Tensor, b: Tensor): Tensor => quad((x) => x.sin().div(x) as Tensor, a, b).value;
  const [byA, byB] = jit(grad(ends, { argument: [0, 1] }))(f64(1), f64(40)) as readonly Tensor[];
  near(byA!, -Math.sin(1), 1e-9);
  near(byB!, Math.sin(40) / 40, 1e-9);
  // The derivative of a kink is a jump: pieces that are small enough for the one have some error for the other.
  const kink = (c: Tensor): Tensor => quad((x) => x.sub(c).abs() as Tensor, 0, 1, wide).value;
  near(grad(kink)(f64(0.3)), 2 * 0.3 - 1, 1e-5);
});

test("what went wrong is in the status, and check says it", async () => {
  const pole = quad((x) => x.reciprocal() as Tensor, 0, 1, { ...wide, maxPieces: 20 });
  assert.deepEqual(numbersOf(pole.status), [1]);
  await assert.rejects(check(pole), /integrate\.quad: the integral did not reach its precision within maxPieces/);
  const cancelled = quad((x) => x.sin() as Tensor, 0, 2 * Math.PI, { ...wide, atol: 1e-17 });
  assert.deepEqual(numbersOf(cancelled.status), [2]);
  await assert.rejects(check(cancelled), /errors of rounding/);
  const nothing = quad((x) => x.sub(0.5).log() as Tensor, 0, 1, wide);
  assert.deepEqual(numbersOf(nothing.status), [3]);
  await assert.rejects(check(nothing), /NaN or infinite values/);
  const good = quad(bell, 0, 1, wide);
  assert.equal(await check(good), good);
});

test("gaussLegendre is NumPy's rule, exact for polynomials below twice its points, with gradients", () => {
  const f = (x: Tensor): Tensor => x.mul(3).sin().mul(x.exp()) as Tensor;
  for (const { points, value } of cases.legendre)
    near(gaussLegendre(f, -1, 2.5, { points, ...wide }), value, 2e-14, `${points}`);
  near(
    gaussLegendre((x) => x.pow(9) as Tensor, 0, 2, { points: 5, ...wide }),
    102.4,
    1e-15,
  );
  assert.ok(
    Math.abs(numbersOf(gaussLegendre((x) => x.pow(10) as Tensor, 0, 2, { points: 5, ...wide }))[0]! - 2 ** 11 / 11) >
      1e-4,
  );
  near(grad((b: Tensor) => gaussLegendre(bell, f64(0), b))(f64(0.7)), Math.exp(-0.49), 1e-14);
  near(
    gaussLegendre((x) => stack([x, x.square()]), f64(0), 3),
    [4.5, 9],
    1e-15,
  );
});

test("romberg is SciPy's, with an error that shrinks and gradients", () => {
  const f = (x: Tensor): Tensor => x.mul(3).sin().mul(x.exp()) as Tensor;
  for (const { levels, value } of cases.romberg)
    near(romberg(f, -1, 2.5, { levels, ...wide }).value, value, 1e-13, `${levels}`);
  const [coarse, fine] = [3, 6].map((levels) => numbersOf(romberg(f, -1, 2.5, { levels, ...wide }).error)[0]!);
  assert.ok(coarse! > 1e-3 && fine! < 1e-6);
  near(
    grad((c: Tensor) => romberg((x) => x.mul(c).exp() as Tensor, f64(0), 1).value)(f64(2)),
    (Math.E ** 2 + 1) / 4,
    1e-12,
  );
});

test("misuse is refused by name", () => {
  assert.throws(() => quad(bell, Number.NaN, 1), /integrate\.quad: an end is NaN/);
  assert.throws(() => quad(bell, infinity, infinity), /both ends are Infinity/);
  assert.throws(() => quad(bell, 0, 1, { maxPieces: 0 }), /maxPieces is a whole number from 1 on/);
  assert.throws(() => quad(bell, 0, 1, { rtol: -1 }), /rtol is -1/);
  assert.throws(() => quad(bell, 0, 1, { dtype: "f16" as "f32" }), /the option dtype is "f16"/);
  assert.throws(() => quad(() => 1 as unknown as Tensor, 0, 1), /the function gives a tensor, not 1/);
  assert.throws(() => quad(bell, f64([0, 1]), 1), /an end is/);
  assert.throws(() => gaussLegendre(bell, 0, infinity), /quad takes infinite ends/);
  assert.throws(() => romberg(bell, 0, 1, { levels: 30 }), /take 24 at most/);
});

describeOnTensorDevices("integrals of functions in f32", (device) => {
  test("have the digits of f32", () => {
    const place = { device };
    near(quad(bell, -infinity, infinity, place).value, Math.sqrt(Math.PI), 2e-6);
    const slope = grad((a: Tensor) => quad((x) => x.mul(a).neg().exp() as Tensor, 0, infinity, place).value);
    near(slope(tensor(2, { device, dtype: "f32" })), -0.25, 1e-5);
    near(gaussLegendre(bell, 0, 1, place), 0.7468241328124271, 1e-6);
    near(romberg(bell, 0, 1, place).value, 0.7468241328124271, 1e-6);
  });
});

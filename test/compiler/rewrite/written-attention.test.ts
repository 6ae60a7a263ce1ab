/** Attention written by hand becomes one kernel, gives what the operations give, and is left alone where that would not be right. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AttentionTile } from "../../../src/compiler/target/tile-profile.js";
import type { DType } from "../../../src/core/dtype.js";
import { explain, grad, jit, type Tensor, where } from "../../../src/index.js";
import { backendFor, countingLike } from "../../../src/tensor/index.js";
import { bools, expectNear, sample } from "../../support/attention-cases.js";
import { tensorOn, withTiles } from "../../support/forced-tiles.js";
import { numbersOf, type Plain } from "../../support/tensors.js";

const tile: AttentionTile = { kind: "vectors" };
const fused = withTiles("cpu", { attention: tile });
const plain = withTiles("cpu", { attention: "definition" });

type Written = (q: Tensor, k: Tensor, v: Tensor, other: Tensor) => Tensor;

/** Values on both devices, and whether a kernel of attention computed the first. */
function both(
  f: Written,
  shapes: { q?: number[]; k?: number[]; v?: number[] },
  other: Plain,
  as: DType,
  dtype: DType = "f32",
) {
  const { q = [2, 3, 20, 8], k = [2, 3, 24, 8], v = [2, 3, 24, 12] } = shapes;
  const [first, second] = [fused, plain].map((backend) => {
    const inputs = [sample(q, 1), sample(k, 2), sample(v, 3)].map((each) => tensorOn(backend, each, dtype));
    return f(...(inputs as [Tensor, Tensor, Tensor]), tensorOn(backend, other, as));
  }) as [Tensor, Tensor];
  const text = explain(first);
  return { first, second, isFused: text.includes("attention["), text };
}

function expectSame(
  f: Written,
  other: Plain = sample([1], 1),
  as: DType = "f32",
  shapes = {},
  dtype: DType = "f32",
): void {
  const { first, second, isFused, text } = both(f, shapes, other, as, dtype);
  assert.ok(isFused, text);
  const within = { f64: 1e-12, f32: 3e-6, f16: 4e-3, bf16: 3e-2 }[dtype as "f32"];
  expectNear(first, { shape: second.shape, values: numbersOf(second) }, within, f.toString());
}

function expectApart(f: Written, other: Plain = sample([1], 1), as: DType = "f32"): void {
  const { isFused, text } = both(f, {}, other, as);
  assert.ok(!isFused, text);
}

const rows = (x: Tensor) => countingLike(x, x.shape.at(-2)!).expandDims(1);
const columns = (x: Tensor) => countingLike(x, x.shape.at(-1)!);

describe("attention written by hand", () => {
  test("product, softmax, product", () => {
    expectSame((q, k, v) => q.matmul(k.mT).softmax().matmul(v));
    expectSame((q, k, v) => q.matmul(k.mT).mul(0.3).softmax().matmul(v));
    expectSame((q, k, v) => q.matmul(k.mT).div(Math.sqrt(8)).softmax({ axis: -1 }).matmul(v));
    expectSame((q, k, v) =>
      q
        .mul(0.3)
        .matmul(k.permute([0, 1, 3, 2]))
        .softmax()
        .matmul(v)
        .tanh(),
    );
  });

  test("a softmax written out", () => {
    expectSame((q, k, v) => {
      const scores = q.matmul(k.mT);
      const powers = scores.sub(scores.max({ axis: -1, keepDims: true })).exp();
      return powers.div(powers.sum({ axis: -1, keepDims: true })).matmul(v);
    });
  });

  test("causal masks are seen as such, however they are written", () => {
    const masked: readonly ((s: Tensor) => Tensor)[] = [
      (s) => where(rows(s).greaterEqual(columns(s)), s, -Infinity),
      (s) => where(columns(s).lessEqual(rows(s)), s, -Infinity),
      (s) => where(columns(s).greater(rows(s)), -Infinity, s),
      (s) => where(rows(s).less(columns(s)), -Infinity, s),
    ];
    for (const mask of masked) {
      const f: Written = (q, k, v) => mask(q.matmul(k.mT).mul(0.5)).softmax().matmul(v);
      expectSame(f);
      assert.match(both(f, {}, sample([1], 1), "f32").text, /causal/);
    }
    const other: Written = (q, k, v) => {
      const s = q.matmul(k.mT);
      return where(rows(s).greater(columns(s)), s, -Infinity)
        .softmax()
        .matmul(v);
    };
    assert.doesNotMatch(both(other, {}, sample([1], 1), "f32").text, /causal/);
  });

  test("masks and biases, with rows that see nothing: NaN, as the softmax says", () => {
    const mask = bools([2, 1, 20, 24], 4);
    const values = mask.values.map((x, i) => (Math.floor(i / 24) % 20 === 7 ? 0 : x));
    const f: Written = (q, k, v, m) => where(m, q.matmul(k.mT), -Infinity).softmax().matmul(v);
    const { first, second, isFused } = both(f, {}, { ...mask, values }, "bool");
    assert.ok(isFused);
    const [a, b] = [numbersOf(first), numbersOf(second)];
    assert.ok(b.some(Number.isNaN));
    a.forEach((x, i) => {
      assert.ok(Math.abs(x - b[i]!) < 1e-5 || (Number.isNaN(x) && Number.isNaN(b[i])), `${i}: ${x}, ${b[i]}`);
    });
    expectSame((q, k, v, m) => where(m, -Infinity, q.matmul(k.mT)).softmax().matmul(v), bools([20, 24], 5), "bool");
    for (const shape of [
      [3, 20, 24],
      [2, 1, 1, 24],
      [2, 3, 20, 24],
    ]) {
      expectSame((q, k, v, bias) => q.matmul(k.mT).mul(0.4).add(bias).softmax().matmul(v), sample(shape, 6));
    }
    expectSame(
      (q, k, v, bias) => {
        const s = bias.add(q.matmul(k.mT).mul(0.4));
        return where(rows(s).greaterEqual(columns(s)), s, -Infinity)
          .softmax()
          .matmul(v);
      },
      sample([20, 24], 6),
    );
  });

  test("every float dtype, and two or three axes", () => {
    const f: Written = (q, k, v) => q.matmul(k.mT).mul(0.5).softmax().matmul(v);
    for (const dtype of ["f16", "bf16", "f64"] as const) expectSame(f, sample([1], 1), "f32", {}, dtype);
    expectSame(f, sample([1], 1), "f32", { q: [4, 9, 8], k: [4, 30, 8], v: [4, 30, 4] });
    expectSame(f, sample([1], 1), "f32", { q: [19, 8], k: [30, 8], v: [30, 4] });
  });

  test("inside jit", () => {
    const step = (q: Tensor, k: Tensor, v: Tensor) => q.matmul(k.mT).softmax().matmul(v).add(1);
    const { first, second } = both((q, k, v) => jit(step)(q, k, v), {}, sample([1], 1), "f32");
    expectNear(first, { shape: second.shape, values: numbersOf(second) }, 3e-6, "jit");
  });

  test("is left alone where weights or scores are used elsewhere, or the pattern differs", () => {
    expectApart((q, k, v) => {
      const weights = q.matmul(k.mT).softmax();
      return weights.matmul(v).sum().add(weights.max());
    });
    expectApart((q, k, v) => {
      const scores = q.matmul(k.mT);
      return scores.softmax().matmul(v).sum().add(scores.sum());
    });
    expectApart((q, k, v) => q.matmul(k.mT).softmax({ axis: -2 }).matmul(v));
    expectApart((q, k, v) => q.matmul(k.mT).softmax().mul(2).matmul(v));
    expectApart((q, k, v) => where(q.matmul(k.mT).greater(0), q.matmul(k.mT), -1e9).softmax().matmul(v));
    expectApart((q, k, v) => q.matmul(k.mT).tanh().softmax().matmul(v));
  });

  test("a gradient of it uses the weights, and is what it was", () => {
    const [a, b] = [fused, plain].map((backend) => {
      const [q, k, v] = [sample([2, 9, 4], 1), sample([2, 9, 4], 2), sample([2, 9, 4], 3)].map((x) =>
        tensorOn(backend, x, "f32"),
      );
      return grad((x: Tensor) =>
        x
          .matmul((k as Tensor).mT)
          .softmax()
          .matmul(v as Tensor)
          .square()
          .sum(),
      )(q as Tensor);
    }) as [Tensor, Tensor];
    expectNear(a, { shape: b.shape, values: numbersOf(b) }, 1e-5, "gradient");
  });

  test("small ones on the CPU stay products, whose tiles are faster", () => {
    const [q, k, v] = [1, 2, 3].map((seed) => tensorOn(backendFor("cpu"), sample([2, 30, 8], seed), "f32")) as [
      Tensor,
      Tensor,
      Tensor,
    ];
    assert.ok(!explain(q.matmul(k.mT).softmax().matmul(v)).includes("attention["));
  });
});

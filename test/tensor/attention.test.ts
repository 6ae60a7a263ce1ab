/** Attention against plain loops over its definition: values, gradients, masks, grouped heads, dtypes, errors. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../src/core/dtype.js";
import { attention, DTypeError, jit, ShapeError, type Tensor, tensor, vjp, vmap, zeros } from "../../src/index.js";
import { backendFor } from "../../src/tensor/index.js";
import {
  type AttentionShapes,
  attentionSample,
  bools,
  expectAttention,
  expectNear,
  sample,
} from "../support/attention-cases.js";
import { attentionGradients, attentionOf } from "../support/attention-oracle.js";
import { count, describeOnTensorDevices, numbersOf, type Plain, toTensor } from "../support/tensors.js";

const plain: AttentionShapes = { batch: 2, heads: [2, 2], tokens: [5, 7], widths: [4, 4] };
const floatDTypes: readonly DType[] = ["f32", "f64", "f16", "bf16"];

describeOnTensorDevices("attention", (device) => {
  const hasDoubles = () => backendFor(device).hasDoubles;

  test("is the softmax of the scores times the values, for every float dtype", () => {
    for (const dtype of floatDTypes) {
      if (dtype === "f64" && !hasDoubles()) continue;
      expectAttention(plain, {}, dtype);
      expectAttention({ ...plain, tokens: [33, 40], widths: [16, 24] }, { causal: true }, dtype);
    }
  });

  test("any extents: one token, one number, more or fewer keys than queries, widths that no vector divides", () => {
    const extents = [
      { batch: 1, heads: [1, 1], tokens: [1, 1], widths: [1, 1] },
      { batch: 1, heads: [1, 1], tokens: [1, 37], widths: [3, 5] },
      { batch: 3, heads: [1, 1], tokens: [65, 2], widths: [7, 1] },
      { batch: 1, heads: [2, 2], tokens: [70, 67], widths: [8, 33] },
      { batch: 2, heads: [1, 1], tokens: [16, 130], widths: [64, 64] },
      { batch: 1, heads: [1, 1], tokens: [40, 35], widths: [129, 130] },
    ] as const;
    for (const shapes of extents) for (const causal of [false, true]) expectAttention(shapes, { causal });
  });

  test("neighbouring query heads share a key head", () => {
    for (const heads of [
      [4, 2],
      [6, 2],
      [3, 1],
    ] as const) {
      expectAttention({ ...plain, heads, tokens: [35, 34] }, { causal: true });
    }
  });

  test("causal queries see keys up to their own position, counted from the first", () => {
    for (const tokens of [
      [64, 64],
      [70, 33],
      [20, 90],
    ] as const)
      expectAttention({ ...plain, tokens }, { causal: true });
  });

  test("windows of keys, on either side or both", () => {
    const shapes: AttentionShapes = { ...plain, tokens: [75, 80] };
    for (const window of [0, 3, [40, 2], [2, 40], [Infinity, 5], [33, Infinity]] as const) {
      expectAttention(shapes, { window });
    }
    expectAttention(shapes, { window: 20, causal: true });
  });

  test("a number of keys for each member of the batch", () => {
    expectAttention({ ...plain, batch: 4, tokens: [10, 70] }, { lengths: [70, 1, 33, 64] });
    expectAttention({ ...plain, batch: 2, tokens: [50, 70] }, { lengths: [40, 100], causal: true });
  });

  test("masks and biases that broadcast along any axes", () => {
    const shapes: AttentionShapes = { batch: 2, heads: [4, 2], tokens: [35, 40], widths: [8, 4] };
    for (const shape of [
      [2, 4, 35, 40],
      [1, 1, 35, 40],
      [2, 1, 1, 40],
      [1, 4, 35, 1],
    ] as const) {
      const mask = bools(shape, 3);
      // Each query sees its first key, if it sees any.
      expectAttention(shapes, { mask });
      expectAttention(shapes, { bias: sample(shape, 4) });
      expectAttention(shapes, { mask, bias: sample(shape, 5), causal: true, scale: 0.3 });
    }
  });

  test("scores far apart neither overflow nor vanish altogether", () => {
    expectAttention({ ...plain, tokens: [40, 70] }, { scale: 40 });
    expectAttention({ ...plain, tokens: [40, 70] }, { scale: -40, causal: true });
  });

  test("a query that sees no key gives zeros, and zero gradients", () => {
    const shapes: AttentionShapes = { ...plain, tokens: [40, 36] };
    expectAttention(shapes, { lengths: [0, 36] });
    expectAttention(shapes, { window: [2, 0], lengths: [5, 20] });
    const hidden = { shape: [1, 1, 1, 36], values: new Array(36).fill(-Infinity) };
    const { q, k, v } = attentionSample(shapes, 1);
    const [out, pullback] = vjp(
      (x: Tensor) => attention(x, toTensor(k, "f32"), toTensor(v, "f32"), { bias: toTensor(hidden, "f32") }),
      toTensor(q, "f32"),
    );
    assert.ok(numbersOf(out).every((x) => x === 0));
    const [ofQ] = [pullback(zeros(out.shape).add(1))].flat() as Tensor[];
    assert.ok(numbersOf(ofQ!).every((x) => x === 0));
  });

  test("a bias of -inf hides a key; NaN in a seen score makes its row NaN, and no other", () => {
    const shapes: AttentionShapes = { batch: 1, heads: [1, 1], tokens: [3, 40], widths: [4, 4] };
    const bias = { shape: [1, 1, 3, 40], values: Array.from({ length: 120 }, (_, i) => (i % 3 === 0 ? -Infinity : 0)) };
    const mask = { shape: bias.shape, values: bias.values.map((x) => (x === 0 ? 1 : 0)) };
    const { q, k, v } = attentionSample(shapes, 5);
    const [x, y, z] = [q, k, v].map((each) => toTensor(each, "f32")) as [Tensor, Tensor, Tensor];
    expectNear(attention(x, y, z, { bias: toTensor(bias, "f32") }), attentionOf({ q, k, v, mask }), 3e-6, "hidden");
    for (const bad of [NaN, Infinity]) {
      const spoilt = { shape: bias.shape, values: bias.values.map((_, i) => (i === 50 ? bad : 0)) };
      const rows = attention(x, y, z, { bias: toTensor(spoilt, "f32") }).sum({ axis: -1 });
      assert.deepEqual(numbersOf(rows).map(Number.isNaN), [false, true, false], `${bad}`);
    }
  });

  test("leading axes broadcast, and there may be none or several", () => {
    const [q, k, v] = [sample([3, 2, 2, 5, 4], 1), sample([2, 1, 7, 4], 2), sample([3, 1, 1, 7, 4], 3)];
    const whole = (x: Plain) => toTensor(x, "f32");
    const repeated = (x: Plain, times: (i: number, j: number) => number, size: number): Plain => ({
      shape: [6, ...x.shape.slice(-3)],
      values: [0, 1, 2].flatMap((i) =>
        [0, 1].flatMap((j) => x.values.slice(times(i, j) * size, (times(i, j) + 1) * size)),
      ),
    });
    const expected = attentionOf({
      q: repeated(q, (i, j) => 2 * i + j, 40),
      k: repeated(k, (_, j) => j, 28),
      v: repeated(v, (i) => i, 28),
    });
    expectNear(
      attention(whole(q), whole(k), whole(v)),
      { ...expected, shape: [3, 2, 2, 5, 4] },
      3e-6,
      "two leading axes",
    );
    const member = (x: Plain): Plain => ({
      shape: x.shape.slice(-3),
      values: x.values.slice(0, count(x.shape.slice(-3))),
    });
    const [a, b, c] = [member(q), member(k), member(v)];
    const alone = attention(whole(a), whole(b), whole(c));
    const one = (x: Plain): Plain => ({ ...x, shape: [1, ...x.shape] });
    const want = attentionOf({ q: one(a), k: one(b), v: one(c) });
    expectNear(alone, { ...want, shape: [2, 5, 4] }, 3e-6, "no leading axis");
  });

  test("empty axes", () => {
    const shape = (q: number[], k: number[], v: number[]) => attention(zeros(q), zeros(k), zeros(v));
    assert.deepEqual(shape([2, 0, 3], [2, 4, 3], [2, 4, 5]).shape, [2, 0, 5]);
    assert.deepEqual(numbersOf(shape([1, 2, 3], [1, 0, 3], [1, 0, 2])), [0, 0, 0, 0]);
    assert.deepEqual(numbersOf(attention(zeros([1, 1, 0]), zeros([1, 2, 0]), tensor([[[1], [3]]]))), [2]);
    assert.deepEqual(shape([0, 2, 2, 3], [0, 1, 4, 3], [0, 1, 4, 3]).shape, [0, 2, 2, 3]);
  });

  test("operands that are views or computed are read as they are", () => {
    const { q, k, v } = attentionSample({ ...plain, tokens: [34, 36] }, 7);
    const [x, y, z] = [q, k, v].map((each) => toTensor(each, "f32")) as [Tensor, Tensor, Tensor];
    const turned = (t: Tensor) => t.permute([0, 2, 1, 3]).add(0).permute([0, 2, 1, 3]);
    const want = attentionOf({ q, k, v, behind: 0 });
    expectNear(attention(turned(x), turned(y), turned(z), { causal: true }), want, 3e-6, "permuted");
    expectNear(attention(x.mul(2).div(2), y.neg().neg(), z, { causal: true }), want, 3e-6, "computed");
  });

  test("32768 tokens: a billion scores are never in memory, forward or backward", () => {
    const tokens = 32768;
    const [q, k, v, ct] = [1, 2, 3, 4].map((seed) => sample([1, 1, tokens, 8], seed)) as [Plain, Plain, Plain, Plain];
    const [out, pullback] = vjp(
      (x: Tensor, y: Tensor, z: Tensor) => attention(x, y, z, { causal: true, window: [20, 0] }),
      ...([q, k, v].map((each) => toTensor(each, "f32")) as [Tensor, Tensor, Tensor]),
    );
    const found = [out, ...(pullback(toTensor(ct, "f32")) as readonly Tensor[])].map(numbersOf);
    // A stretch of the sequence alone gives the same, except for the first tokens, whose window is cut, and the last keys.
    const from = 30000;
    const stretch = ({ values }: Plain): Plain => ({
      shape: [1, 1, 100, 8],
      values: values.slice(from * 8, (from + 100) * 8),
    });
    const given = { q: stretch(q), k: stretch(k), v: stretch(v), before: 20, behind: 0 };
    const wanted = [attentionOf(given), ...attentionGradients(given, stretch(ct))];
    for (const [at, want] of wanted.entries()) {
      for (let i = 30 * 8; i < 70 * 8; i++) {
        const [x, expected] = [found[at]![from * 8 + i]!, want.values[i]!];
        assert.ok(Math.abs(x - expected) <= 2e-5 * (1 + Math.abs(expected)), `${at}, ${i}: ${x}, not ${expected}`);
      }
    }
  });

  test("vmap and jit give what the plain call gives", () => {
    const shapes: AttentionShapes = { batch: 3, heads: [2, 1], tokens: [9, 11], widths: [4, 3] };
    const { q, k, v } = attentionSample(shapes, 11);
    const [x, y, z] = [q, k, v].map((each) => toTensor(each, "f32")) as [Tensor, Tensor, Tensor];
    const bias = toTensor(sample([1, 1, 9, 11], 3), "f32");
    const want = numbersOf(attention(x, y, z, { causal: true, bias }));
    const one = (a: Tensor, b: Tensor, c: Tensor) => attention(a, b, c, { causal: true, bias: bias.squeeze() });
    const near = (got: Tensor, what: string) => expectNear(got, { shape: [3, 2, 9, 3], values: want }, 3e-6, what);
    near(vmap(one)(x, y, z), "vmap");
    near(jit(vmap(one))(x, y, z), "jit of vmap");
    const shared = vmap((a: Tensor) => one(a, y.at(0), z.at(0)))(x);
    const expected = attention(x, y.take([0, 0, 0], { axis: 0 }), z.take([0, 0, 0], { axis: 0 }), {
      causal: true,
      bias,
    });
    expectSame(shared, expected);
    const lengths = tensor([2, 11, 5], { dtype: "i32" });
    const cut = vmap((a: Tensor, b: Tensor, c: Tensor, n: Tensor) => attention(a, b, c, { keyLength: n }));
    expectSame(cut(x, y, z, lengths), attention(x, y, z, { keyLength: lengths }));
  });

  test("shapes, dtypes and options that do not fit are refused with a reason", () => {
    const x = zeros([2, 4, 5, 8]);
    const refused = (run: () => unknown, type: typeof ShapeError, message: RegExp) =>
      assert.throws(run, (error) => error instanceof type && message.test(error.message));
    refused(() => attention(zeros([5, 8]), x, x), ShapeError, /three axes/);
    refused(() => attention(x, zeros([2, 3, 5, 8]), zeros([2, 3, 5, 8])), ShapeError, /4 query heads.*3 key heads/);
    refused(() => attention(x, zeros([2, 4, 5, 7]), x), ShapeError, /no product/);
    refused(() => attention(x, x, zeros([2, 4, 6, 8])), ShapeError, /same heads and tokens/);
    refused(() => attention(x, x, x, { mask: zeros([5, 6], { dtype: "bool" }) }), ShapeError, /mask.*broadcast/);
    refused(() => attention(x, x, x, { mask: zeros([5, 5]) }), DTypeError, /bools/);
    refused(() => attention(x, x, x, { bias: zeros([5, 5], { dtype: "i32" }) }), DTypeError, /floats/);
    refused(() => attention(x.cast("i32"), x.cast("i32"), x.cast("i32")), DTypeError, /floats/);
    assert.throws(() => attention(x, x, x, { window: -1 }), /window/);
    assert.throws(() => attention(x, x, x, { window: [1, 2, 3] as unknown as [number, number] }), /window/);
    assert.throws(() => attention(x, x, x, { keyLength: 1.5 }), /keyLength/);
    assert.throws(() => attention(x, x, x, { keyLength: zeros([2]) }), /keyLength/);
    assert.throws(() => attention(x, x, x, { keyLength: zeros([3], { dtype: "i32" }) }), /keyLength/);
    assert.throws(() => attention(x, x, x, { scale: NaN }), /scale/);
    assert.throws(() => attention(x, x, x, { casual: true } as object), /no option "casual"/);
  });
});

function expectSame(got: Tensor, want: Tensor): void {
  expectNear(got, { shape: want.shape, values: numbersOf(want) }, 3e-6, "the same");
}

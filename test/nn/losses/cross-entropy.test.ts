/** Cross-entropies and the focal loss. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explain, grad, random, type Tensor, tensor } from "../../../src/index.js";
import { losses } from "../../../src/nn/index.js";
import { drawn, near, testLossesAgainstTorch, testSlopes } from "../../support/loss-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const { binaryCrossEntropy, categoricalCrossEntropy, focal } = losses;
const classWeights = [0.5, 1, 2, 1.5, 0.25];
const fromLogits = true;
const each = { reduction: "none" } as const;

testLossesAgainstTorch({
  binaryCrossEntropy: ([p], [t], o) => binaryCrossEntropy(p!, t!, o),
  "binaryCrossEntropy logits": ([p], [t], o) => binaryCrossEntropy(p!, t!, { ...o, fromLogits }),
  "binaryCrossEntropy positive 3": ([p], [t], o) => binaryCrossEntropy(p!, t!, { ...o, fromLogits, positiveWeight: 3 }),
  focal: ([p], [t], o) => focal(p!, t!, { ...o, fromLogits }),
  categoricalCrossEntropy: ([p], [t], o) => categoricalCrossEntropy(p!, t!, { ...o, fromLogits }),
  "categoricalCrossEntropy weights": ([p], [t], o) =>
    categoricalCrossEntropy(p!, t!, { ...o, fromLogits, classWeights }),
  "categoricalCrossEntropy smooth": ([p], [t], o) =>
    categoricalCrossEntropy(p!, t!, { ...o, fromLogits, labelSmoothing: 0.1 }),
  "categoricalCrossEntropy smooth weights": ([p], [t], o) =>
    categoricalCrossEntropy(p!, t!, { ...o, fromLogits, labelSmoothing: 0.1, classWeights }),
  "categoricalCrossEntropy dense": ([p], [t], o) => categoricalCrossEntropy(p!, t!, { ...o, fromLogits }),
  "categoricalCrossEntropy dense smooth": ([p], [t], o) =>
    categoricalCrossEntropy(p!, t!, { ...o, fromLogits, labelSmoothing: 0.2 }),
  "categoricalCrossEntropy ignore": ([p], [t], o) =>
    categoricalCrossEntropy(p!, t!, { ...o, fromLogits, classWeights, ignoreIndex: 3 }),
});

testSlopes({
  "binaryCrossEntropy of logits": [
    (p, t) => binaryCrossEntropy(p, t, { fromLogits, labelSmoothing: 0.1 }),
    drawn([4, 2], -4, 4),
    drawn([4, 2], 0, 1),
  ],
  "binaryCrossEntropy of probabilities": [binaryCrossEntropy, drawn([4], 0.1, 0.9), drawn([4], 0, 1)],
  "categoricalCrossEntropy of logits": [
    (p, t) => categoricalCrossEntropy(p, t, { fromLogits, axis: 0, classWeights: [1, 2, 0.5] }),
    drawn([3, 4], -3, 3),
    drawn([3, 4], 0, 1),
  ],
  "categoricalCrossEntropy of probabilities": [categoricalCrossEntropy, drawn([2, 3], 0.1, 0.9), drawn([2, 3], 0, 1)],
  focal: [(p, t) => focal(p, t, { fromLogits, gamma: 1.5 }), drawn([6], -3, 3), drawn([6], 0, 1)],
  "focal of probabilities": [focal, drawn([6], 0.1, 0.9), drawn([6], 0, 1)],
});

describeOnTensorDevices("cross-entropies", () => {
  test("of logits keep their digits where the probability rounds to 1, and stay finite at ±10⁴", () => {
    const logits = tensor([20, -20, 1e4, -1e4, 1e4, -1e4, 0]);
    const targets = tensor([1, 0, 1, 0, 0, 1, 1]);
    const values = numbersOf(binaryCrossEntropy(logits, targets, { ...each, fromLogits }));
    const small = Math.log1p(Math.exp(-20));
    near(
      values.map((v, i) => (i < 2 ? v / small : v)),
      [1, 1, 0, 0, 1e4, 1e4, Math.LN2],
      1e-6,
      "losses",
    );
    const slopes = grad((x: Tensor) => binaryCrossEntropy(x, targets, { reduction: "sum", fromLogits }))(logits);
    near(numbersOf(slopes), [0, 0, 0, 0, 1, -1, -0.5], 1e-6, "slopes");
    const rows = tensor([[1e4, -1e4, 0], [0, -Infinity, 0]]); // biome-ignore format: rows
    const labels = tensor([1, 2], { dtype: "i32" });
    const found = numbersOf(categoricalCrossEntropy(rows, labels, { ...each, fromLogits }));
    near(found, [2e4, Math.LN2], 1e-6, "rows");
    const dense = tensor([[0, 1, 0], [0, 0, 1]]); // biome-ignore format: rows
    near(numbersOf(categoricalCrossEntropy(rows, dense, { ...each, fromLogits })), [2e4, Math.LN2], 1e-6, "dense");
    const gradient = grad((x: Tensor) => categoricalCrossEntropy(x, labels, { reduction: "sum", fromLogits }))(rows);
    near(numbersOf(gradient), [1, -1, 0, 0.5, 0, -0.5], 1e-6, "gradient");
  });

  test("focal slopes are finite where the probability rounds to 1, also with gamma below 1", () => {
    const logits = tensor([200, -200, 0]);
    const targets = tensor([1, 0, 1]);
    const slopes = (x: Tensor, given: object) =>
      numbersOf(grad((p: Tensor) => focal(p, targets, { reduction: "sum", gamma: 0.5, alpha: 0.5, ...given }))(x));
    // At p = ½: α·d/dx[(1 - p)^γ·-log p] = α·(-γ·p·(1 - p)^γ·-log p - (1 - p)^(1 + γ)).
    const middle = 0.5 * (-0.25 * Math.SQRT1_2 * Math.LN2 - 0.5 ** 1.5);
    near(slopes(logits, { fromLogits }), [0, 0, middle], 1e-6, "of logits");
    const found = slopes(tensor([1, 0, 0.5]), {});
    assert.ok(found.every(Number.isFinite), `${found}`);
  });

  test("of probabilities 0 and 1 are finite, with finite slopes", () => {
    const p = tensor([0, 1, 1, 0]);
    const t = tensor([0, 1, 0, 1]);
    const far = -Math.log(1.1754943508222875e-38);
    near(numbersOf(binaryCrossEntropy(p, t, each)), [0, 0, far, far], 1e-6, "losses");
    const slopes = numbersOf(grad((x: Tensor) => binaryCrossEntropy(x, t, { reduction: "sum" }))(p));
    assert.ok(slopes.every(Number.isFinite), `${slopes}`);
  });

  test("with class numbers are one kernel, and so is the gradient", () => {
    const x = random.normal(random.key(0), [1024, 128]).realize();
    const labels = random.randint(random.key(1), [1024], 0, 128).realize();
    const loss = (p: Tensor) => categoricalCrossEntropy(p, labels, { fromLogits, reduction: "none" });
    assert.match(String(explain(loss(x))), /: 1 kernel\n/);
    assert.match(String(explain(grad((p: Tensor) => loss(p).sum())(x))), /: 1 kernel\n/);
  });
});

test("labels: numbers of classes and shares give the same; numbers that are no class give NaN", () => {
  const p = f64([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.6, 0.2, 0.2], [0.3, 0.3, 0.4]]); // biome-ignore format: rows
  const labels = tensor([2, 1, 3, -1], { dtype: "i64", device: "cpu" });
  const values = numbersOf(categoricalCrossEntropy(p, labels, each));
  near(values.slice(0, 2), [-Math.log(0.5), -Math.log(0.8)], 1e-12, "losses");
  assert.deepEqual(values.slice(2), [NaN, NaN]);
  const shares = f64([[0, 0, 1], [0, 1, 0], [0, 0, 0], [0, 0, 0]]); // biome-ignore format: rows
  near(
    numbersOf(categoricalCrossEntropy(p, shares, each)),
    [...values.slice(0, 2), 0, 0].map((v) => v + 0),
    1e-12,
    "shares",
  );
  const bytes = tensor([2, 1, 0, 2], { dtype: "u8", device: "cpu" });
  const columns = numbersOf(categoricalCrossEntropy(p.T, bytes, { ...each, axis: 0 }));
  near(
    columns,
    [0.5, 0.8, 0.6, 0.4].map((v) => -Math.log(v)),
    1e-12,
    "columns",
  );
});

test("labels and weights that do not fit are refused by name", () => {
  const p = f64([[0.2, 0.8], [0.5, 0.5]]); // biome-ignore format: rows
  const labels = tensor([0, 1], { dtype: "i32", device: "cpu" });
  const loss = (targets: Tensor, options = {}) => categoricalCrossEntropy(p, targets, options);
  assert.throws(() => loss(f64([0, 1])), {
    name: "DTypeError",
    message: /numbers of classes are integers, not f64; cast them by \.cast\("i32"\), or make them by/,
  });
  assert.throws(() => loss(f64([0, 1, 2])), { name: "ShapeError", message: /class numbers of shape \[2\], not \[3\]/ });
  assert.throws(() => loss(labels, { classWeights: [1] }), { name: "ShapeError", message: /classWeights \[1\] for 2/ });
  assert.throws(() => loss(labels, { labelSmoothing: 2 }), { name: "ArgumentError", message: /labelSmoothing is a/ });
  assert.throws(() => loss(p, { ignoreIndex: 1 }), { name: "ArgumentError", message: /ignoreIndex is for labels/ });
});

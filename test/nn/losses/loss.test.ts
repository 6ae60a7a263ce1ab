/** Reductions, weights, and arguments that do not fit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, type Tensor, tensor, vmap, zeros } from "../../../src/index.js";
import { losses } from "../../../src/nn/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const { categoricalCrossEntropy, connectionistTemporalClassification, meanSquaredError } = losses;

describeOnTensorDevices("reductions", () => {
  const p = () => tensor([[1, 2], [3, 4], [5, 6]]); // biome-ignore format: rows
  const t = () => tensor([[0, 0], [0, 0], [0, 0]]); // biome-ignore format: rows

  test("mean, sum, none", () => {
    assert.deepEqual(numbersOf(meanSquaredError(p(), t(), { reduction: "sum" })), [91]);
    assert.deepEqual(numbersOf(meanSquaredError(p(), t(), { reduction: "none" })), [1, 4, 9, 16, 25, 36]);
    assert.ok(Math.abs(numbersOf(meanSquaredError(p(), t()))[0]! - 91 / 6) < 1e-5);
  });

  test("weights of examples multiply losses, and a mean is divided by them", () => {
    const weights = tensor([1, 0, 3]);
    assert.deepEqual(numbersOf(meanSquaredError(p(), t(), { reduction: "none", weights })), [1, 4, 0, 0, 75, 108]);
    assert.deepEqual(numbersOf(meanSquaredError(p(), t(), { weights })), [188 / 8]);
    const each = tensor([[1, 0], [0, 0], [0, 1]]).cast("bool"); // biome-ignore format: rows
    assert.deepEqual(numbersOf(meanSquaredError(p(), t(), { weights: each })), [37 / 2]);
  });

  test("a weight of 0 leaves out what is NaN or infinite, and its slope", () => {
    const weights = tensor([0, 1]);
    const logits = tensor([[1, 2], [3, 3]]); // biome-ignore format: rows
    const labels = tensor([-1, 0], { dtype: "i32" });
    const loss = (x: Tensor) => categoricalCrossEntropy(x, labels, { fromLogits: true, weights });
    assert.ok(Math.abs(numbersOf(loss(logits))[0]! - Math.LN2) < 1e-6);
    assert.deepEqual(numbersOf(grad(loss)(logits)), [0, 0, -0.5, 0.5]);
    const frames = zeros([2, 2, 3]);
    const [impossible, possible] = [[1, 1, 1], [1, 2, 2]]; // biome-ignore format: a row
    const ctc = connectionistTemporalClassification(frames, tensor([impossible, possible], { dtype: "i32" }), {
      labelLengths: tensor([3, 2], { dtype: "i32" }),
      weights,
    });
    assert.ok(Math.abs(numbersOf(ctc)[0]! - Math.log(9)) < 1e-5);
    assert.deepEqual(
      numbersOf(meanSquaredError(tensor([NaN, 3]), tensor([0, 1]), { reduction: "none", weights })),
      [0, 4],
    );
  });

  test("nor has padding a slope, whatever its targets and predictions are", () => {
    const [weights, p] = [tensor([0, 1]), tensor([[0.3, 0.6], [0.2, 0.5]])]; // biome-ignore format: rows
    const padded = tensor([[NaN, Infinity], [1, 0]]); // biome-ignore format: rows
    const { binaryCrossEntropy, cosineSimilarity, focal, huber, klDivergence, softMargin } = losses;
    const ofPairs = [
      binaryCrossEntropy,
      categoricalCrossEntropy,
      cosineSimilarity,
      focal,
      huber,
      klDivergence,
      softMargin,
    ];
    for (const loss of [...ofPairs, meanSquaredError]) {
      const alone = numbersOf(grad((x: Tensor) => loss(x, tensor([[1, 0]])))(tensor([[0.2, 0.5]])));
      const slopes = numbersOf(grad((x: Tensor) => loss(x, padded, { weights }))(p));
      assert.deepEqual(slopes.slice(0, 2), [0, 0], loss.name);
      slopes.slice(2).forEach((slope, i) => void assert.ok(Math.abs(slope - alone[i]!) < 1e-5, loss.name));
    }
    const shares = tensor([[[NaN], [1]], [[0], [1]]]); // biome-ignore format: rows
    const ofFirstAxis = (x: Tensor) => categoricalCrossEntropy(x, shares, { axis: 1, fromLogits: true, weights });
    const slopes = numbersOf(
      grad(ofFirstAxis)(
        tensor([
          [[NaN], [1]],
          [[0], [0]],
        ]),
      ),
    );
    assert.deepEqual(slopes, [0, 0, 0.5, -0.5]);
    const ofTriple = (x: Tensor) => losses.triplet(p, { positive: x, negative: padded }, { weights });
    assert.deepEqual(numbersOf(grad(ofTriple)(padded)).slice(0, 2), [0, 0]);
  });

  test("narrow floats are averaged in f32", () => {
    const far = tensor([300, 300]).cast("f16");
    const mean = meanSquaredError(far, tensor([0, 0]).cast("f16"));
    assert.deepEqual([mean.dtype, ...numbersOf(mean)], ["f32", 90000]);
  });
});

test("integer and boolean targets take the dtype of the predictions", () => {
  const whole = tensor([1, 0], { dtype: "i32", device: "cpu" });
  assert.deepEqual(numbersOf(meanSquaredError(f64([0.5, 0.5]), whole)), [0.25]);
  const mean = vmap((p: never, t: never) => meanSquaredError(p, t))(f64([[1], [2]]) as never, f64([[0], [0]]) as never);
  assert.deepEqual(numbersOf(mean as never), [1, 4]);
});

test("shapes that differ, empty batches, weights and reductions that do not exist are refused", () => {
  const [p, t] = [f64([[1], [2]]), f64([1, 2])];
  assert.throws(() => meanSquaredError(p, t), {
    name: "ShapeError",
    message: /^meanSquaredError: predictions \[2, 1\] and targets \[2\] have different shapes; reshape/,
  });
  const none = tensor([], { shape: [0, 3], device: "cpu" });
  assert.throws(() => meanSquaredError(none, none), { name: "ShapeError", message: /the batch is empty, \[0, 3\]/ });
  assert.deepEqual(numbersOf(meanSquaredError(none, none, { reduction: "sum" })), [0]);
  assert.deepEqual(meanSquaredError(none, none, { reduction: "none" }).shape, [0, 3]);
  assert.throws(() => meanSquaredError(t, t, { weights: f64([1, 2, 3]) }), {
    name: "ShapeError",
    message: /weights \[3\] do not fit losses \[2\]/,
  });
  assert.throws(() => meanSquaredError(t, t, { reduction: "average" as never }), { name: "ArgumentError" });
  assert.throws(() => meanSquaredError(t, t, { weight: t } as never), { name: "ArgumentError", message: /"weight"/ });
  assert.throws(() => meanSquaredError(t, [1, 2] as never), {
    name: "ArgumentError",
    message: /the target is a tensor/,
  });
});

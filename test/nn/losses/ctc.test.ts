/** Connectionist temporal classification, against PyTorch and against the sum over all paths. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, random, type Tensor, tensor } from "../../../src/index.js";
import { losses } from "../../../src/nn/index.js";
import { drawn, near, testLossesAgainstTorch, testSlopes } from "../../support/loss-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const { connectionistTemporalClassification: ctc } = losses;
const each = { reduction: "none" } as const;

testLossesAgainstTorch({
  ctc: ([p], [t], o, { inputLengths, labelLengths }) => ctc(p!, t!, { ...o, inputLengths, labelLengths }),
  "ctc blank 5": ([p], [t], o, { inputLengths, labelLengths }) =>
    ctc(p!, t!, { ...o, inputLengths, labelLengths, blank: 5 }),
});

const labels = (rows: readonly (readonly number[])[]): Tensor =>
  tensor(rows.flat(), { dtype: "i32", device: "cpu", shape: [rows.length, rows[0]!.length] });

testSlopes({
  ctc: [
    (p) => ctc(p, labels([[1, 1], [2, 0]]), { inputLengths: [5, 4], labelLengths: [2, 1] }),
    drawn([2, 5, 3], -2, 2),
  ], // biome-ignore format: rows
});

/** -log of the probability by going through every path. */
function byPaths(logits: readonly (readonly number[])[], wanted: readonly number[], blank: number): number {
  const logs = logits.map((row) => {
    const total = Math.log(row.reduce((sum, x) => sum + Math.exp(x), 0));
    return row.map((x) => x - total);
  });
  let probability = 0;
  const walk = (time: number, path: readonly number[], log: number): void => {
    if (time === logits.length) {
      const spelled = path.filter((c, i) => c !== blank && c !== path[i - 1]);
      if (spelled.join() === wanted.join()) probability += Math.exp(log);
      return;
    }
    logs[time]!.forEach((l, c) => {
      walk(time + 1, [...path, c], log + l);
    });
  };
  walk(0, [], 0);
  return -Math.log(probability);
}

test("is the sum over all paths that spell the labels", () => {
  const logits = [[0.1, 1, -1], [2, 0.3, 0.5], [-1, 0.2, 1.5], [0.4, 0.4, 0.1]]; // biome-ignore format: rows
  for (const wanted of [[], [1], [1, 2], [2, 2], [1, 2, 1]]) {
    for (const frames of [1, 3, 4]) {
      const want = byPaths(logits.slice(0, frames), wanted, 0);
      const padded = labels([[...wanted, -1]]);
      const options = { ...each, inputLengths: [frames], labelLengths: [wanted.length] };
      near(numbersOf(ctc(f64([logits]), padded, options)), [want], 1e-12, `${wanted} in ${frames} frames`);
    }
  }
  near(numbersOf(ctc(f64([logits]), labels([[0, 1]]), { blank: 2 })), [byPaths(logits, [0, 1], 2)], 1e-12, "blank");
});

describeOnTensorDevices("ctc", () => {
  test("is finite for sure predictions, and infinite or zero without enough frames", () => {
    const sure = tensor([[[-1e4, 1e4, -1e4], [1e4, -1e4, -1e4], [-1e4, -1e4, 1e4]]]); // biome-ignore format: frames
    const words = tensor([[1, 2]], { dtype: "i32" });
    near(numbersOf(ctc(sure, words)), [0], 1e-6, "sure");
    const wrong = tensor([[2, 1]], { dtype: "i32" });
    assert.ok(numbersOf(ctc(sure, wrong)).every((v) => v > 1e4 && Number.isFinite(v)));
    const many = tensor([[1, 1]], { dtype: "i32" });
    const two = { inputLengths: [2] };
    assert.deepEqual(numbersOf(ctc(sure, many, two)), [Infinity]);
    assert.deepEqual(numbersOf(ctc(sure, many, { ...two, zeroInfinity: true })), [0]);
    const slope = grad((p: Tensor) => ctc(p, many, { ...two, zeroInfinity: true }))(sure);
    assert.ok(numbersOf(slope).every((v) => v === 0));
    const step = jit((p: Tensor) => grad((x: Tensor) => ctc(x, words))(p));
    assert.ok(numbersOf(step(sure)).every((v) => Math.abs(v) < 1e-6));
  });
});

test("the blank is no label: it is refused where labels are known, and impossible where they are not", () => {
  const p = random.normal(random.key(0, { device: "cpu" }), [2, 4, 3], { dtype: "f64" });
  const words = labels([
    [1, 2],
    [2, 0],
  ]);
  assert.throws(() => ctc(p, words), {
    name: "ArgumentError",
    message: /example 1 has the label 0, which is the blank/,
  });
  assert.throws(() => ctc(p, words, { blank: 2 }), { message: /example 0 has the label 2/ });
  const used = { ...each, labelLengths: [2, 1] };
  const [first, second] = numbersOf(ctc(p, words, used)) as [number, number];
  assert.ok(Number.isFinite(first) && Number.isFinite(second), "a blank that fills up a row");
  const traced = (options: object) => jit((t: Tensor) => ctc(p, t, { ...each, ...options }))(words);
  assert.deepEqual(numbersOf(traced({})), [first, Infinity]);
  assert.deepEqual(numbersOf(traced({ zeroInfinity: true })), [first, 0]);
  const slopes = jit((t: Tensor) => grad((x: Tensor) => ctc(x, t, { reduction: "sum", zeroInfinity: true }))(p))(words);
  assert.ok(numbersOf(slopes.at(1) as Tensor).every((value) => value === 0));
  assert.ok(numbersOf(slopes.at(0) as Tensor).every((value) => Number.isFinite(value) && value !== 0));
});

test("no frames spell no labels; labels that are no class give NaN; arguments that do not fit are refused", () => {
  const p = f64([[[0, 0, 0]]]);
  assert.deepEqual(numbersOf(ctc(p, labels([[1]]), { inputLengths: [0], labelLengths: [0] })), [0]);
  assert.deepEqual(numbersOf(ctc(p, labels([[3]]))), [Number.NaN]);
  assert.throws(() => ctc(f64([[1]]), labels([[1]])), { name: "ShapeError", message: /\[batch, frames, classes\]/ });
  assert.throws(() => ctc(p, f64([[1]])), { name: "DTypeError", message: /labels are integers/ });
  assert.throws(() => ctc(p, labels([[1]]), { blank: 3 }), { name: "ArgumentError", message: /one of 3 classes/ });
  assert.throws(() => ctc(p, labels([[1]]), { inputLengths: [1, 1] }), { name: "ShapeError", message: /inputLengths/ });
});

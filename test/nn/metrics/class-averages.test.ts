/** Averages over classes of precision, recall and F1: scikit-learn's published example, and its definition as loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, random, type Tensor, tensor } from "../../../src/index.js";
import { metrics } from "../../../src/nn/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const { precision, recall, sensitivity, f1 } = metrics;
const AVERAGES = ["macro", "micro", "weighted", "none"] as const;
type Average = (typeof AVERAGES)[number];

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);
const over = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

/** scikit-learn's definition. Its labels are those that occur in the targets or the predictions. */
function byLoops(share: "precision" | "recall" | "f1", found: number[], right: number[], classes: number) {
  const rows = Array.from({ length: classes }, (_, c) => {
    const hits = found.filter((each, i) => each === c && right[i] === c).length;
    const predicted = found.filter((each) => each === c).length;
    const examples = right.filter((each) => each === c).length;
    const [p, r] = [over(hits, predicted), over(hits, examples)];
    const value = { precision: p, recall: r, f1: over(2 * p * r, p + r) }[share];
    return { value, examples, occurs: predicted + examples > 0 };
  });
  const present = rows.filter((row) => row.occurs);
  return {
    macro: [sum(present.map((row) => row.value)) / present.length],
    weighted: [sum(rows.map((row) => row.value * row.examples)) / right.length],
    micro: [found.filter((each, i) => each === right[i]).length / right.length],
    none: rows.map((row) => row.value),
  };
}

const near = (found: readonly number[], wanted: readonly number[], what: string): void => {
  assert.equal(found.length, wanted.length, what);
  for (const [i, value] of found.entries()) {
    assert.ok(Math.abs(value - wanted[i]!) < 1e-6, `${what}: ${found}, not ${wanted}`);
  }
};

describeOnTensorDevices("averages over classes", () => {
  const whole = (values: number[]): Tensor => tensor(values, { dtype: "i32" });

  test("are those of scikit-learn's documentation", () => {
    const [right, found] = [whole([0, 1, 2, 0, 1, 2]), whole([0, 2, 1, 0, 0, 1])];
    const wanted: [typeof precision, Record<Average, number[]>][] = [
      [precision, { macro: [2 / 9], micro: [1 / 3], weighted: [2 / 9], none: [2 / 3, 0, 0] }],
      [recall, { macro: [1 / 3], micro: [1 / 3], weighted: [1 / 3], none: [1, 0, 0] }],
      [f1, { macro: [0.8 / 3], micro: [1 / 3], weighted: [0.8 / 3], none: [0.8, 0, 0] }],
    ];
    for (const [metric, values] of wanted) {
      for (const average of AVERAGES) {
        near(numbersOf(metric(found, right, { average, classes: 3 })), values[average], `${metric.name} ${average}`);
      }
    }
  });

  test("of scores, class numbers and shares are those of loops, with a class that never occurs", () => {
    const classes = 5;
    const scores = random.normal(random.key(8), [60, classes]).realize() as Tensor;
    // Class 3 is never right and never predicted.
    const lowered = scores.sub(whole([0, 0, 0, 90, 0]).cast("f32")).realize() as Tensor;
    const drawn = numbersOf(random.randint(random.key(9), [60], 0, classes)).map((each) => (each === 3 ? 0 : each));
    const right = whole(drawn);
    const found = lowered.argmax({ axis: -1 }).realize() as Tensor;
    const shares = right.oneHot(classes) as Tensor;
    for (const metric of [precision, recall, f1]) {
      const wanted = byLoops(metric.name as "precision", numbersOf(found), drawn, classes);
      for (const average of AVERAGES) {
        const what = `${metric.name} ${average}`;
        near(
          numbersOf(jit((p: Tensor, t: Tensor) => metric(p, t, { average }))(lowered, right)),
          wanted[average],
          what,
        );
        near(numbersOf(metric(lowered, shares, { average })), wanted[average], what);
        near(numbersOf(metric(found, right, { average, classes })), wanted[average], what);
      }
    }
    near(
      numbersOf(sensitivity(lowered, right, { average: "macro" })),
      numbersOf(recall(lowered, right, { average: "macro" })),
      "sensitivity",
    );
  });
});

test("misuse is refused with the remedy", () => {
  const labels = tensor([0, 1], { dtype: "i32", device: "cpu" });
  const scores = f64([[1, 2], [2, 1]]); // biome-ignore format: rows
  assert.equal(f1(scores, labels, { average: "macro" }).dtype, "f64");
  assert.throws(() => f1(labels, labels, { average: "macro" }), /f1: predictions are class numbers; .*classes: 10/);
  assert.throws(() => f1(scores, labels, { average: "mean" as never }), /f1: the option average .*macro/);
  assert.throws(() => f1(scores, labels, { average: "macro", threshold: 0 }), /f1: a threshold is for binary labels/);
  assert.throws(
    () => f1(f64([[1], [2]]), labels, { average: "macro" }),
    /f1: predictions \[2, 1\] are scores of one class/,
  );
  assert.throws(() => precision(scores, labels, { average: "macro", classes: 3 }), /precision: .*2 classes, not of 3/);
  assert.throws(() => recall(scores.at(":0"), labels.at(":0"), { average: "micro" }), /recall: the batch is empty/);
});

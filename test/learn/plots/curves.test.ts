/** Curves of decisions and of scores: their marks stand at places computed from the values. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, ShapeError } from "../../../src/index.js";
import { metrics, plots } from "../../../src/learn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { corners, marks, onlyPath, texts } from "./marks.js";

const scores = [0.1, 0.4, 0.35, 0.8];
const targets = [0, 0, 1, 1];

/** The place of a point of the unit square in a picture without a legend. */
const unit = (x: number, y: number): [number, number] => [62 + 358 * x, 386 - 354 * y];

function near(found: readonly (readonly number[])[], want: readonly (readonly number[])[]): void {
  assert.equal(found.length, want.length, `${found}, not ${want}`);
  found.forEach(([x, y], i) => {
    const [a, b] = want[i] as [number, number];
    assert.ok(Math.abs(x! - a) < 0.06 && Math.abs(y! - b) < 0.06, `point ${i} is ${x}, ${y}, not ${a}, ${b}`);
  });
}

describeOnTensorDevices("decision curves", () => {
  test("a ROC curve goes through its points, and its area is the title's", () => {
    const picture = plots.rocCurve(metrics.rocCurve(scores, targets));
    near(onlyPath(picture, "line of"), [unit(0, 0), unit(0, 0.5), unit(0.5, 0.5), unit(0.5, 1), unit(1, 1)]);
    near(onlyPath(picture, "expected"), [unit(0, 0), unit(1, 1)]);
    assert.deepEqual(texts(picture, "heading"), ["ROC curve, area 0.750"]);
    assert.deepEqual(texts(picture, "label").sort(), ["false positive rate", "true positive rate"]);
    assert.deepEqual(texts(picture, "name"), [], "one curve needs no legend");
  });

  test("precision stays between recalls, beside the share of positives", () => {
    const picture = plots.precisionRecallCurve(metrics.precisionRecallCurve(scores, targets));
    const [p, r] = [[0.5, 2 / 3, 0.5, 1, 1], [1, 1, 0.5, 0.5, 0]]; // biome-ignore format: scikit-learn's points
    const steps = r.flatMap((x, i) => (i === 0 ? [unit(x, p[0]!)] : [unit(x, p[i - 1]!), unit(x, p[i]!)]));
    near(onlyPath(picture, "line of"), steps);
    near(onlyPath(picture, "expected"), [unit(0, 0.5), unit(1, 0.5)]);
  });
});

test("several curves have colours, dashes and a legend with their names and areas", () => {
  const perfect = metrics.rocCurve([0, 0.1, 0.8, 0.9], targets);
  const picture = plots.rocCurve({ one: metrics.rocCurve(scores, targets), "<two>": perfect }, { title: "Both" });
  assert.deepEqual(texts(picture, "name"), ["0.750 one", "1.000 &lt;two&gt;"]);
  assert.deepEqual(texts(picture, "heading"), ["Both"]);
  assert.equal(marks(picture, "path", "line d0 g0").length, 2, "a curve and its mark in the legend");
  assert.equal(marks(picture, "path", "line d1 g1").length, 2);
});

test("calibration is drawn by its points", () => {
  const picture = plots.calibrationCurve({ predicted: [0.1, 0.9], observed: [0.25, 0.75] } as never);
  near(onlyPath(picture, "line of"), [unit(0.1, 0.25), unit(0.9, 0.75)]);
  assert.equal(onlyPath(picture, "points g0").length, 2);
  const small = metrics.calibrationCurve([0.1, 0.2, 0.8, 0.9], targets, { bins: 2 });
  near(onlyPath(plots.calibrationCurve(small), "line of"), [unit(0.15, 0), unit(0.85, 1)]);
});

test("a curve of very many points stays small, and keeps its ends", () => {
  const rates = Float64Array.from({ length: 100_000 }, (_, i) => i / 99_999);
  const picture = plots.rocCurve({ falsePositiveRate: rates, truePositiveRate: rates.map(Math.sqrt) } as never);
  const path = onlyPath(picture, "line of");
  assert.ok(path.length <= 1000 && picture.svg.length < 30_000);
  near([path[0]!, path.at(-1)!], [unit(0, 0), unit(1, 1)]);
});

const curve = {
  sizes: [10, 20, 30],
  trainScores: { r2: [[1, 1], [0.9, 0.9], [0.8, 0.8]] }, // biome-ignore format: splits
  scores: { r2: [[0, 0.4], [0.4, 0.4], [0.5, 0.7]] }, // biome-ignore format: splits
};

test("scores by samples are means in bands of a standard deviation", () => {
  const picture = plots.learningCurve(curve);
  const lines = marks(picture, "path", "line of").map((each) => corners(each.get("d")!));
  // Places are a line of the values: the highest is the training mean 1, the lowest the test's 0.2 - 0.2.
  const [first, second] = [lines[0]!, lines[1]!].map((line) => line.map(([, y]) => y));
  const scale = (first![0]! - first![2]!) / (1 - 0.8);
  for (const [i, y] of second!.entries())
    assert.ok(Math.abs(y - (first![0]! + scale * ([0.2, 0.4, 0.6][i]! - 1))) < 0.3);
  const band = corners(marks(picture, "path", "band of g1")[0]!.get("d")!);
  assert.ok(Math.abs(band[0]![1] - (first![0]! + scale * (0.4 - 1))) < 0.3, "one standard deviation above");
  assert.ok(Math.abs(band.at(-1)![1] - (first![0]! + scale * (0 - 1))) < 0.3, "and below");
  assert.deepEqual(texts(picture, "name"), ["training", "test"]);
  assert.deepEqual(texts(picture, "label").sort(), ["r2", "samples fitted"]);
});

test("values over decades stand on a scale of logarithms, unless told", () => {
  const { trainScores, scores } = curve;
  const decades = { name: "alpha", values: [0.01, 1, 100], trainScores, scores };
  const places = (options = {}) =>
    corners(marks(plots.validationCurve(decades, options), "path", "line of")[0]!.get("d")!).map(([x]) => x);
  const [a, b, c] = places() as [number, number, number];
  assert.ok(Math.abs(b - (a + c) / 2) < 0.2);
  const [d, e, f] = places({ scale: "linear" }) as [number, number, number];
  assert.ok((e - d) / (f - d) < 0.02);
  const ticks = texts(plots.validationCurve(decades), "tick");
  assert.deepEqual(ticks.slice(-5), ["0.01", "0.1", "1", "10", "100"]);
  const texted = plots.validationCurve({ ...decades, values: ["a", "b", "<c>"] });
  assert.deepEqual(texts(texted, "tick").slice(-3), ["a", "b", "&lt;c&gt;"]);
  assert.equal(marks(texted, "path", "band").length, 0);
});

test("wrong curves are refused with the remedy", () => {
  assert.throws(() => plots.rocCurve({} as never), /takes a curve, as metrics\.rocCurve gives it/);
  assert.throws(() => plots.rocCurve(metrics.precisionRecallCurve(scores, targets) as never), ArgumentError);
  assert.throws(() => plots.rocCurve({ falsePositiveRate: [0, 1], truePositiveRate: [0, 1, 1] } as never), ShapeError);
  assert.throws(() => plots.rocCurve(metrics.rocCurve(scores, targets), { colour: 1 } as never), /no option "colour"/);
  assert.throws(() => plots.learningCurve(curve, { score: "f1" }), /no score "f1"; there are r2/);
  assert.throws(
    () => plots.learningCurve({ ...curve, sizes: [0, 1, 2] }, { scale: "log" }),
    /not all values are numbers above 0/,
  );
});

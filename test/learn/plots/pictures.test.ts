/** Pictures of models and samples: the number and the places of their marks, and texts that try to be more than texts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArgumentError, random, ShapeError } from "../../../src/index.js";
import {
  decisionTreeClassifier,
  decisionTreeRegressor,
  histGradientBoostingRegressor,
  metrics,
  plots,
  table,
} from "../../../src/learn/index.js";
import { page } from "../../../src/plots/picture.js";
import { readXml } from "../../bayes/report/xml.js";
import { describeOnTensorDevices, f64 } from "../../support/tensors.js";
import { corners, marks, onlyPath, texts } from "./marks.js";

const near = (found: number, want: number, what = "") =>
  assert.ok(Math.abs(found - want) < 0.11, `${what} ${found}, not ${want}`);

describe("a confusion matrix", () => {
  test("has a cell for each pair that occurs, the darker the more", () => {
    const matrix = metrics.confusionMatrix(["a", "a", "b", "c", "c"], ["a", "a", "a", "c", "c"]);
    const picture = plots.confusionMatrix(matrix, { labels: ["a", "b", "c"] });
    const cells = marks(picture, "rect", "heat");
    assert.deepEqual(cells.map((each) => each.get("fill-opacity")), ["1", "0.53", "1"]); // biome-ignore format: shares
    const [x, y] = [cells[0]!, cells[1]!].map((each) => [Number(each.get("x")), Number(each.get("y"))]);
    assert.deepEqual([y![0]! - x![0]!, y![1]! - x![1]!], [64, 0], "predictions are columns");
    assert.deepEqual(texts(picture, "value"), ["2", "1", "0", "0", "0", "0", "0", "0", "2"]);
    assert.deepEqual(texts(picture, "tick"), ["a", "a", "b", "b", "c", "c"]);
  });

  test("of shares has two digits, and of many classes no numbers", () => {
    assert.deepEqual(texts(plots.confusionMatrix([[0.5, 0.5], [0.126, 0.874]]), "value"), ["0.50", "0.50", "0.13", "0.87"]); // biome-ignore format: a matrix
    const many = Array.from({ length: 80 }, (_, i) => Array.from({ length: 80 }, (_, j) => Number(i === j)));
    const picture = plots.confusionMatrix(many);
    assert.equal(marks(picture, "rect", "heat").length, 80);
    assert.deepEqual(texts(picture, "value"), []);
    assert.throws(
      () => plots.confusionMatrix(Array.from({ length: 101 }, () => new Array(101).fill(1))),
      /room for 100/,
    );
    assert.throws(() => plots.confusionMatrix([[1, 2]]), ShapeError);
    assert.throws(() => plots.confusionMatrix([[1, 2], [3, 4]], { labels: ["a"] }), /1 labels and 2 classes/); // biome-ignore format: a matrix
  });
});

describeOnTensorDevices("pictures of tensors", () => {
  test("residuals are what was seen less what was predicted", () => {
    const picture = plots.residuals(f64([0, 5, 10]), [1, 5, 8]);
    const points = onlyPath(picture, "points");
    // From 0 to 10 and from -2 to 1, each with a little room.
    const [x, y] = [(v: number) => 62 + (448 * (v + 0.4)) / 10.8, (v: number) => 306 - (274 * (v + 2.12)) / 3.24];
    [[0, 1], [5, 0], [10, -2]].forEach(([a, b], i) => {
      near(points[i]![0], x(a!));
      near(points[i]![1], y(b!));
    }); // biome-ignore format: points
    near(onlyPath(picture, "expected")[0]![1], y(0), "the line of no residual");
    const seen = plots.residuals([0, 10], [10, 0], { show: "targets" });
    const [line, [first]] = [onlyPath(seen, "expected"), onlyPath(seen, "points")];
    assert.ok(line[0]![0] < line[1]![0] && line[0]![1] > line[1]![1], "the diagonal rises");
    assert.ok(first![0] < 100 && first![1] < 60, "0 was predicted, and 10 seen");
    assert.throws(() => plots.residuals([1, 2], [1]), ShapeError);
  });

  test("very many points stay small in bytes", async () => {
    const cloud = random.normal(random.key(1), [30_000, 2]);
    const labels = Array.from({ length: 30_000 }, (_, i) => i % 4);
    for (const picture of [
      plots.scatter(cloud),
      plots.scatter(cloud, { labels }),
      plots.residuals(cloud.at(":", 0), cloud.at(":", 1)),
    ]) {
      assert.ok(picture.svg.length < 100_000, `${picture.title}: ${picture.svg.length} bytes`);
    }
  });
});

describe("a scatter", () => {
  const points = [[0, 0, 9], [1, 1, 9], [2, 2, 9], [3, 0, 9], [Number.NaN, 1, 9]]; // biome-ignore format: rows

  test("has a colour and a shape for each label, grey for noise, and a legend", () => {
    const picture = plots.scatter(points, { labels: [2, 10, -1, 2, 2], noise: -1 });
    assert.equal(
      corners(marks(picture, "path", "points g0")[0]!.get("d")!).length,
      2,
      "a point without a place is not drawn",
    );
    assert.equal(marks(picture, "path", "shape g1").length, 2, "points and the legend's");
    assert.equal(marks(picture, "path", "points rest").length, 2);
    assert.deepEqual(texts(picture, "name"), ["2", "10", "-1 (none)"]);
    assert.equal(marks(picture, "path", "shape").length + marks(picture, "path", "points").length, 6);
  });

  test("of other columns has their names; without labels it has no legend", () => {
    const picture = plots.scatter(points.slice(0, 4), { columns: [1, 2], names: ["age", "<i>"] });
    assert.deepEqual(texts(picture, "name"), []);
    assert.deepEqual(texts(picture, "label"), ["age", "&lt;i&gt;"]);
    assert.deepEqual(onlyPath(picture, "points plain").map(([x]) => x > 62 && x < 450), [true, true, true, true]); // biome-ignore format: points
    assert.throws(() => plots.scatter(points, { columns: [0, 3] }), ShapeError);
    assert.throws(() => plots.scatter(points, { columns: [0] }), ArgumentError);
    assert.throws(() => plots.scatter(points, { labels: [1] }), /5 points and 1 labels/);
  });
});

test("silhouettes are bars by cluster, the longest on top, with a line at their mean", () => {
  const picture = plots.silhouette([0.2, 0.5, -0.2, 0.9], ["a", "a", "b", "b"]);
  // From -0.21 to 1 on 448 pixels.
  const x = (v: number) => 62 + (448 * (v + 0.21)) / 1.21;
  const ends = marks(picture, "path", "bar of").map((each) =>
    [...each.get("d")!.matchAll(/H(-?[\d.]+)/g)].map(([, at]) => Number(at)),
  );
  assert.equal(ends.length, 2);
  for (const [i, value] of [0.5, 0.2, 0].entries()) near(ends[0]![i]!, x(value));
  for (const [i, value] of [0.9, -0.2, 0].entries()) near(ends[1]![i]!, x(value));
  near(onlyPath(picture, "expected")[0]![0], x(0.35), "the mean");
  assert.deepEqual(texts(picture, "heading"), ["Silhouettes, mean 0.350"]);
  const many = plots.silhouette(
    Float64Array.from({ length: 50_000 }, (_, i) => Math.sin(i)),
    new Array(50_000).fill(0),
  );
  assert.ok(many.svg.length < 40_000);
  assert.throws(() => plots.silhouette([0.1], ["a", "b"]), ShapeError);
});

test("importances are bars, the largest first, with errors where there are repeats", () => {
  const picture = plots.importances([[1, 1], [4, 2], [-1, -1]], { names: ["one", "two", "three"] }); // biome-ignore format: repeats
  assert.deepEqual(texts(picture, "tick side"), ["two", "one", "three"]);
  const bars = corners(marks(picture, "path", "bar of g0")[0]!.get("d")!);
  const [zero, three, one] = [bars[0]![0], bars[2]![0], bars[6]![0]];
  near((three - zero) / (one - zero), 3, "the bar of 3 is three times that of 1:");
  const [whisker] = marks(picture, "path", "whisker").map((each) => corners(each.get("d")!));
  near((whisker![0]![0] - zero) / (one - zero), 2, "the mean 3 less its standard deviation 1:");
  const largest = plots.importances([1, 2, 3], { errors: [0, 0.5, 0], most: 2 });
  assert.deepEqual(texts(largest, "tick side"), ["feature 2", "feature 1"]);
  assert.match(texts(largest, "heading")[0]!, /the 2 largest of 3/);
  assert.equal(marks(largest, "path", "whisker")[0]!.get("d")!.match(/H/g)!.length, 1);
  assert.throws(() => plots.importances([1, 2], { names: ["a"] }), /1 names and 2 importances/);
});

test("partial dependence is a line of means over thin lines of samples", () => {
  const picture = plots.partialDependence({ values: [0, 1, 2], average: [1, 2, 5], individual: [[1, 2, 5], [1, 2, 5]] }, { name: "age", range: [0, 10] }); // biome-ignore format: lines
  const mean = onlyPath(picture, "line of d0 g0");
  near((mean[0]![1] - mean[2]![1]) / (mean[0]![1] - mean[1]![1]), 4, "from 1 to 5 is four times from 1 to 2:");
  near(mean[0]![1] - mean[2]![1], (0.4 * (300 - 34 - 32)), "the range is what was told:"); // biome-ignore format: a height
  assert.equal(corners(marks(picture, "path", "line faint")[0]!.get("d")!).length, 6);
  assert.deepEqual(texts(picture, "label").sort(), ["age", "prediction"]);
  const many = { values: [0, 1], average: [0, 1], individual: Array.from({ length: 900 }, (_, i) => [i, i]) };
  assert.equal(corners(marks(plots.partialDependence(many), "path", "line faint")[0]!.get("d")!).length, 120);
  const texted = plots.partialDependence({ values: ["low", "<high>"], average: [1, 2] });
  assert.deepEqual(texts(texted, "tick").slice(-2), ["low", "&lt;high&gt;"]);
  assert.equal(marks(texted, "path", "line").length, 0, "no line between categories");
  assert.throws(() => plots.partialDependence({ values: [1], average: [1, 2] }), ShapeError);
  assert.throws(() => plots.partialDependence({ values: [1, 2], average: [1, 2] }, { range: [2, 1] }), /range is/);
});

describeOnTensorDevices("a decision tree", () => {
  const x = [[1], [2], [3], [10], [11], [12]];

  test("has a box for each node, with its question, samples and prediction", async () => {
    const named = table({ "size <cm>": x.map(([value]) => value!) });
    const model = await decisionTreeClassifier().fit(named, ["a", "a", "a", "b", "b", "c"]);
    const picture = plots.decisionTree(model);
    assert.equal(marks(picture, "rect", "node").length, 5);
    assert.deepEqual(texts(picture, "value").slice(0, 5), [
      "size &lt;cm&gt; ≤ 6.5",
      "6 samples",
      "a, 50%",
      "a, 100%",
      "3 samples",
    ]);
    assert.deepEqual(texts(picture, "tick"), ["yes", "no"]);
    const [root, left, right] = marks(picture, "rect", "node").map((each) => Number(each.get("x")));
    assert.ok(left! < root! && root! < right!);
    near(root!, (left! + right!) / 2, "the root is above the middle of its children:");
    assert.equal(marks(plots.decisionTree(model, { maxDepth: 1 }), "rect", "node").length, 3);
    assert.throws(() => plots.decisionTree(model, { tree: 1 }), /tree is 1; there are 1, from 0 on/);
  });

  test("of numbers has no colours; boosting's trees are drawn by their number", async () => {
    const y = [1, 1, 1, 5, 5, 9];
    const tree = plots.decisionTree(await decisionTreeRegressor({ maxDepth: 1 }).fit(x, y));
    assert.deepEqual(texts(tree, "value"), [
      "feature 0 ≤ 6.5",
      "6 samples",
      "3.667",
      "1",
      "3 samples",
      "6.333",
      "3 samples",
    ]);
    assert.equal(marks(tree, "rect", "node of").length, 0);
    const many = Array.from({ length: 60 }, (_, i) => [i]);
    const boosted = await histGradientBoostingRegressor({ maxIter: 3 }).fit(
      many,
      many.map(([v]) => Number(v! > 30)),
    );
    assert.equal(texts(plots.decisionTree(boosted, { tree: 2, maxDepth: 1 }), "value")[1], "60 samples");
    assert.throws(() => plots.decisionTree({} as never), /takes a model of trees/);
  });
});

test("hostile names are texts in every picture", async () => {
  const evil = `</text><script>alert("x")</script><img src=x onerror='y'>&\u0007`;
  const names = [evil, `${evil}2`];
  const curve = { trainScores: { [evil]: [[1], [2]] }, scores: { [evil]: [[1], [2]] } }; // biome-ignore format: scores
  const roc = metrics.rocCurve([0.1, 0.9], [0, 1]);
  const model = await decisionTreeClassifier().fit(table({ [evil]: [1, 2] }), names);
  const title = evil;
  const pictures = [
    plots.confusionMatrix([[1, 2], [3, 4]], { labels: names, title }), // biome-ignore format: a matrix
    plots.rocCurve({ [evil]: roc, b: roc }, { title }),
    plots.learningCurve({ sizes: [1, 2], ...curve }, { title }),
    plots.validationCurve({ name: evil, values: names, ...curve }),
    plots.dendrogram(f64([[0, 1, 1, 2]]), { labels: names, title }),
    plots.scatter([[0, 0], [1, 1]], { labels: names, noise: evil, names, title }), // biome-ignore format: points
    plots.silhouette([0.1, 0.2], names, { title }),
    plots.importances([1, 2], { names, title }),
    plots.partialDependence({ values: names, average: [1, 2] }, { name: evil }),
    plots.decisionTree(model, { title }),
    plots.residuals([1, 2], [1, 2], { title }),
  ];
  const allowed = new Set(["svg", "title", "style", "rect", "path", "text"]);
  for (const picture of pictures) {
    for (const { name, attributes } of readXml(picture.svg)) {
      assert.ok(allowed.has(name), `${name} in ${picture.title}`);
      assert.ok([...attributes.keys()].every((key) => !key.startsWith("on")));
    }
    assert.doesNotMatch(picture.svg.replace(/<title>[^<]*<\/title>/g, ""), /NaN|undefined|Infinity/);
  }
  assert.equal(page(pictures).html.match(/<script/g)!.length, 1);
});

/** Trees of merges against SciPy's pictures, which make-plots-cases.py writes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, ShapeError, tensor } from "../../../src/index.js";
import { agglomerativeClustering, plots } from "../../../src/learn/index.js";
import { groupsBelow, mergeLayout } from "../../../src/learn/plots/merge-layout.js";
import { describeOnTensorDevices, f64 } from "../../support/tensors.js";
import { corners, marks, plotsCases, texts } from "./marks.js";

const { trees } = plotsCases();

const byPlace = (a: readonly number[], b: readonly number[]) => a[1]! + a[0]! - b[1]! - b[0]! || a[5]! - b[5]!;

test("leaves and merges stand where SciPy has them, also of the last merges alone and of merges that fall", () => {
  for (const { linkage, most, leaves, icoord, dcoord } of trees) {
    const layout = mergeLayout(Float64Array.from(linkage.flat()), most);
    assert.deepEqual(layout.leaves.map(({ node }) => node), leaves); // biome-ignore format: nodes
    const scipy = icoord.map((x, k) => [x[0]!, x[3]!, dcoord[k]![0]!, dcoord[k]![3]!, dcoord[k]![1]!, dcoord[k]![1]!]);
    const found = layout.merges.map(({ left, right, leftHeight, rightHeight, height }) => [
      10 * left + 5,
      10 * right + 5,
      leftHeight,
      rightHeight,
      height,
      height,
    ]);
    assert.deepEqual(found.sort(byPlace), scipy.sort(byPlace));
  }
});

test("clusters below 0.7 of the largest distance are groups, as SciPy's colours", () => {
  for (const { linkage, most, icoord, dcoord, colours } of trees) {
    const merges = Float64Array.from(linkage.flat());
    const layout = mergeLayout(merges, most);
    const threshold = 0.7 * Math.max(...linkage.map((row) => row[2]!));
    const groups = groupsBelow(merges, layout, threshold);
    for (const { node, left, right, height } of layout.merges) {
      const k = icoord.findIndex(
        (x, i) => x[0] === 10 * left + 5 && x[3] === 10 * right + 5 && dcoord[i]![1] === height,
      );
      assert.equal(groups.get(node)! + 1, colours[k], `merge ${node}`);
    }
  }
});

test("a picture of three samples has its marks in known places", () => {
  const linkage = f64([
    [0, 2, 1, 2],
    [1, 3, 4, 3],
  ]);
  const picture = plots.dendrogram(linkage, { labels: ["a", "b", "c"], distanceThreshold: 2 });
  // Leaves b, a, c stand 40 pixels apart; 4.12 is at 32, and 0 at 292.
  const y = (distance: number) => 292 - (260 * distance) / 4.12;
  const paths = marks(picture, "path", "line of").map((each) => corners(each.get("d")!));
  const near = (found: [number, number][], want: [number, number][]) => {
    for (const [i, [a, b]] of found.entries())
      assert.ok(Math.hypot(a - want[i]![0], b - want[i]![1]) < 0.11, `${found}, not ${want}`);
  };
  near(paths[0]!, [[122, y(0)], [122, y(1)], [162, y(1)], [162, y(0)]]); // biome-ignore format: corners
  near(paths[1]!, [[82, y(0)], [82, y(4)], [142, y(4)], [142, y(1)]]); // biome-ignore format: corners
  assert.deepEqual(texts(picture, "tick").slice(-3), ["b", "a", "c"]);
  assert.equal(marks(picture, "path", "line of g0").length, 1);
  assert.equal(marks(picture, "path", "line of rest").length, 1);
  assert.equal(marks(picture, "path", "expected").length, 1);
});

describeOnTensorDevices("dendrograms of models", () => {
  test("show the last merges of many samples", async () => {
    const x = Array.from({ length: 300 }, (_, i) => [Math.sin(7 * i), Math.cos(3 * i) + (i % 3)]);
    const { learned } = await agglomerativeClustering().fit(x);
    const picture = plots.dendrogram(learned.linkage, { most: 20 });
    assert.equal(marks(picture, "path", "line of").length, 19);
    const names = texts(picture, "tick").slice(-20);
    const samples = names.map((name) => (name.startsWith("(") ? Number(name.slice(1, -1)) : 1));
    assert.equal(samples.reduce((a, b) => a + b), 300); // biome-ignore format: a sum
  });
});

test("a chain of thousands of merges is drawn", () => {
  const count = 20_000;
  const rows = Array.from({ length: count - 1 }, (_, k) => [k === 0 ? 0 : count + k - 1, k + 1, k + 1, k + 2]);
  const picture = plots.dendrogram(f64(rows));
  assert.equal(marks(picture, "path", "line of").length, 59);
  assert.ok(picture.svg.length < 30_000);
});

test("what is no tree of merges is refused with its remedy", () => {
  assert.throws(() => plots.dendrogram(f64([[0, 1, 1]])), ShapeError);
  assert.throws(() => plots.dendrogram(f64([[0, 5, 1, 2]])), /merges cluster 5, which is not there/);
  assert.throws(() => plots.dendrogram(f64([[0, 1, 1, 2]]), { labels: ["a"] }), /1 labels and 2 samples/);
  assert.throws(() => plots.dendrogram(f64([[0, 1, 1, 2]]), { most: 1 }), ArgumentError);
  assert.throws(() => plots.dendrogram(f64([[0, 1, 1, 2]]), { distanceThreshold: -1 }), ArgumentError);
  assert.throws(() => plots.dendrogram(tensor([], { shape: [0, 4] }) as never), /there is nothing to draw/);
});

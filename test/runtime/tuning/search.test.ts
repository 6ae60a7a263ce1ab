/** The search for a tiling: what it times, how often, and what wins, with times that a test makes up. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TileProfile } from "../../../src/compiler/target/tile-profile.js";
import { planProduct } from "../../../src/compiler/tiles/plan.js";
import { describeTiling, type ProductShape, type Tiling } from "../../../src/compiler/tiles/product-shape.js";
import { searchTiling } from "../../../src/runtime/tuning/search.js";

const gpu: TileProfile = { kind: "shared", sharedBytes: 49152, maxLanes: 1024, units: 128 };
const long: ProductShape = { batch: 1, m: 128, n: 128, k: 262144, dtype: "f32" };
const wordsOf = (tiling: Tiling) => describeTiling(tiling, long.k);

/** Every tiling takes 2 ms but the one that is named, which takes `best`. */
const timesWith =
  (best: Readonly<Record<string, number>>, asked: string[] = []) =>
  (tiling: Tiling) => {
    asked.push(wordsOf(tiling));
    return best[wordsOf(tiling)] ?? 2;
  };

test("the fastest tiling wins, and its time is the median of its samples", () => {
  const asked: string[] = [];
  const all: string[] = [];
  searchTiling(long, gpu, timesWith({}, all));
  const favourite = [...new Set(all)].find((words) => words !== wordsOf(planProduct(long, gpu)!))!;
  const finding = searchTiling(long, gpu, timesWith({ [favourite]: 1 }, asked))!;
  assert.deepEqual([finding.tiling, finding.milliseconds, finding.millisecondsBefore], [favourite, 1, 2]);
  assert.equal(finding.before, wordsOf(planProduct(long, gpu)!));
  assert.equal(finding.tried, new Set(asked).size);
  assert.ok(finding.tried >= 20 && finding.tried <= 32, String(finding.tried));
  const count = asked.filter((words) => words === favourite).length;
  assert.equal(count, 6, "once with all of them, then in five rounds");
});

test("the present tiling stays where nothing is clearly better", () => {
  const before = wordsOf(planProduct(long, gpu)!);
  const finding = searchTiling(long, gpu, (tiling) => (wordsOf(tiling) === before ? 2 : 1.99))!;
  assert.equal(finding.tiling, before);
});

test("an outlier in one round does not decide", () => {
  const before = wordsOf(planProduct(long, gpu)!);
  let round = 0;
  const finding = searchTiling(long, gpu, (tiling) => {
    if (wordsOf(tiling) === before) return 2;
    round++;
    return round === 1 ? 0.1 : 3;
  })!;
  assert.equal(finding.tiling, before);
});

test("tilings that fail are left out, and without the present one there is no finding", () => {
  const before = wordsOf(planProduct(long, gpu)!);
  assert.equal(searchTiling(long, gpu, (tiling) => (wordsOf(tiling) === before ? 2 : null))!.tried, 1);
  assert.equal(
    searchTiling(long, gpu, (tiling) => (wordsOf(tiling) === before ? null : 2)),
    null,
  );
});

test("there is nothing to choose for a product that is too small for tiles, or without tiles", () => {
  const never = () => assert.fail("timed");
  assert.equal(searchTiling({ ...long, m: 4, n: 4, k: 16 }, gpu, never), null);
  assert.equal(searchTiling(long, { ...gpu, kind: "none" }, never), null);
});

test("a second search starts from what the first one found", () => {
  const { products, tiling, before } = searchTiling(long, gpu, (each) => (wordsOf(each).includes("in 128") ? 1 : 2))!;
  assert.notEqual(tiling, before);
  const again = searchTiling(long, { ...gpu, tuned: { [products]: tiling } }, timesWith({}))!;
  assert.equal(again.before, tiling);
});

/** Fewer marks for the same picture. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { spread, thinned, thinnedCurve } from "../../src/plots/thinning.js";

test("a spread is even, and all of a short list", () => {
  assert.deepEqual(spread([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 5), [0, 2, 4, 6, 8]);
  assert.deepEqual(spread([1, 2], 5), [1, 2]);
  assert.deepEqual(spread([], 5), []);
});

/** A cloud of points in a square of 300 pixels, with one far away. */
function cloud(count: number): [number, number][] {
  let state = 7;
  const next = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  const points = Array.from({ length: count }, (): [number, number] => [300 * next(), 300 * next()]);
  points[count >> 1] = [900, 900];
  return points;
}

test("few points are all drawn, in their order; what is not finite is not", () => {
  assert.deepEqual(thinned([[1, 2], [1, 2], [Number.NaN, 0], [0, Number.POSITIVE_INFINITY], [5, 5]]), [0, 1, 4]); // biome-ignore format: points
});

test("of many points so many are drawn at most, none is far from a drawn one, and the far one stays", () => {
  const points = cloud(50_000);
  const kept = thinned(points, 2000);
  assert.ok(kept.length <= 2000 && kept.length > 1000, `${kept.length} points`);
  assert.ok(kept.includes(25_000));
  const drawn = kept.map((i) => points[i]!);
  for (let i = 0; i < points.length; i += 997) {
    const [x, y] = points[i]!;
    const nearest = Math.min(...drawn.map(([a, b]) => Math.hypot(a - x, b - y)));
    assert.ok(nearest < 15, `point ${i} is ${nearest} pixels from the next drawn one`);
  }
});

test("each group is thinned by itself", () => {
  const points = cloud(8000);
  const one = points.length - 1;
  const groups = points.map((_, i) => (i === one ? 1 : 0));
  points[one] = [...points[0]!];
  assert.ok(thinned(points, 500, groups).includes(one), "a point under another group's is drawn");
  assert.ok(!thinned(points, 500).includes(one), "a point under another of its group is not");
  assert.ok(
    thinned(
      points,
      500,
      points.map((_, i) => i),
    ).length <= 500,
  );
});

test("a curve keeps its ends, and no place of it is far from the line", () => {
  const points = Array.from({ length: 40_000 }, (_, i): [number, number] => [i / 100, 100 * Math.sin(i / 4000)]);
  const kept = thinnedCurve(points, 600);
  assert.ok(kept.length <= 600 && kept.length > 300);
  assert.deepEqual([kept[0], kept.at(-1)], [points[0], points.at(-1)]);
  for (let k = 1; k < kept.length; k++) {
    assert.ok(Math.hypot(kept[k]![0] - kept[k - 1]![0], kept[k]![1] - kept[k - 1]![1]) < 2);
  }
  assert.equal(thinnedCurve(points.slice(0, 600), 600).length, 600);
});

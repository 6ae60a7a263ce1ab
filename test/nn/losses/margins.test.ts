/** Hinges, soft margins, rankings. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { losses } from "../../../src/nn/index.js";
import { drawn, near, testLossesAgainstTorch, testSlopes } from "../../support/loss-cases.js";
import { f64, numbersOf } from "../../support/tensors.js";

const { hinge, squaredHinge, categoricalHinge, softMargin, marginRanking } = losses;
const each = { reduction: "none" } as const;

testLossesAgainstTorch({
  softMargin: ([p], [t], o) => softMargin(p!, t!, o),
  marginRanking: ([a, b], [t], o) => marginRanking([a!, b!], t!, { ...o, margin: 0.5 }),
});

testSlopes({
  hinge: [hinge, drawn([5], -2, -1.5), drawn([5], 0.5, 1)],
  squaredHinge: [squaredHinge, drawn([5], -2, -1.5), drawn([5], 0.5, 1)],
  softMargin: [softMargin, drawn([5], -3, 3), drawn([5], -1, 1)],
  marginRanking: [
    (a, b) => marginRanking([a, b], f64([1, -1, 1]), { margin: 9 }),
    drawn([3], -2, 2),
    drawn([3], -2, 2),
  ],
});

test("hinges are those of the formulas", () => {
  const p = f64([0.3, -2, 1.5, -0.5]);
  const t = tensor([1, 1, 1, -1], { dtype: "i32", device: "cpu" });
  near(numbersOf(hinge(p, t, each)), [0.7, 3, 0, 0.5], 1e-12, "hinge");
  near(numbersOf(squaredHinge(p, t, each)), [0.49, 9, 0, 0.25], 1e-12, "squaredHinge");
  const scores = f64([[0.5, 2, 1], [-3, -1, -2]]); // biome-ignore format: rows
  const labels = f64([[1, 0, 0], [0, 1, 0]]); // biome-ignore format: rows
  // The best wrong scores are 2 and -2; a zero in the place of the right one must not win.
  near(numbersOf(categoricalHinge(scores, labels, each)), [2.5, 0], 1e-12, "categoricalHinge");
  const numbers = (values: number[]) => tensor(values, { dtype: "i32", device: "cpu" });
  near(numbersOf(categoricalHinge(scores, numbers([0, 1]), each)), [2.5, 0], 1e-12, "class numbers");
  near(numbersOf(categoricalHinge(scores, numbers([2, 0]), each)), [2, 3], 1e-12, "class numbers");
  assert.deepEqual(numbersOf(categoricalHinge(scores, numbers([3, -1]), each)), [Number.NaN, Number.NaN]);
  assert.throws(() => categoricalHinge(scores, f64([0, 1])), { name: "ShapeError", message: /^categoricalHinge/ });
});

test("softMargin does not overflow, and pairs of different shapes are refused", () => {
  const p = tensor([1e4, -1e4], { device: "cpu" });
  assert.deepEqual(numbersOf(softMargin(p, tensor([1, 1], { device: "cpu" }), each)), [0, 1e4]);
  assert.throws(() => marginRanking([p, f64([1])], p), { name: "ShapeError", message: /^marginRanking: .*second/ });
});

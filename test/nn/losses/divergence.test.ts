/** The Kullback-Leibler divergence. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, type Tensor } from "../../../src/index.js";
import { losses } from "../../../src/nn/index.js";
import { drawn, near, testLossesAgainstTorch, testSlopes } from "../../support/loss-cases.js";
import { f64, numbersOf } from "../../support/tensors.js";

const { klDivergence } = losses;

testLossesAgainstTorch({
  "klDivergence logits": ([p], [t], o) => klDivergence(p!, t!, { ...o, fromLogits: true }),
});

testSlopes({
  klDivergence: [klDivergence, drawn([2, 3], 0.1, 0.9), drawn([2, 3], 0.1, 0.9)],
  "klDivergence of logits": [
    (p, t) => klDivergence(p, t, { fromLogits: true }),
    drawn([2, 3], -3, 3),
    drawn([2, 3], 0.1, 0.9),
  ],
});

test("shares of zero add nothing, and equal distributions are at distance zero", () => {
  const [p, t] = [f64([[0, 0.25, 0.75]]), f64([[0, 1, 0]])];
  near(numbersOf(klDivergence(p, t)), [Math.log(4)], 1e-12, "one class");
  near(numbersOf(klDivergence(p, p)), [0], 1e-15, "itself");
  near(numbersOf(grad((x: Tensor) => klDivergence(x, t))(p)), [0, -4, 0], 1e-12, "gradient");
  assert.ok(Number.isFinite(numbersOf(klDivergence(t, p))[0]!));
});

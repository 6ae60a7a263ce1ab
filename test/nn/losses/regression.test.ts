/** Losses of numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, type Tensor, tensor } from "../../../src/index.js";
import { losses } from "../../../src/nn/index.js";
import { drawn, near, testLossesAgainstTorch, testSlopes } from "../../support/loss-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const { meanSquaredError, meanAbsoluteError, huber, logCosh, poisson } = losses;

testLossesAgainstTorch({
  meanSquaredError: ([p], [t], o) => meanSquaredError(p!, t!, o),
  meanAbsoluteError: ([p], [t], o) => meanAbsoluteError(p!, t!, o),
  huber: ([p], [t], o) => huber(p!, t!, o),
  "huber 0.5": ([p], [t], o) => huber(p!, t!, { ...o, delta: 0.5 }),
  poisson: ([p], [t], o) => poisson(p!, t!, o),
  "poisson log": ([p], [t], o) => poisson(p!, t!, { ...o, fromLogs: true }),
});

testSlopes({
  meanSquaredError: [meanSquaredError, drawn([3, 2], -2, 2), drawn([3, 2], -2, 2)],
  huber: [huber, drawn([5], -3, -2), drawn([5], 0, 0.5)],
  logCosh: [logCosh, drawn([7], -0.9, 0.9), drawn([7], -0.05, 0.05)],
  "logCosh far away": [logCosh, drawn([7], 2, 4), drawn([7], -0.5, 0.5)],
  poisson: [poisson, drawn([4], 0.5, 2), drawn([4], 1, 3)],
});

describeOnTensorDevices("far from zero", () => {
  test("huber and logCosh are lines, and small errors keep their digits", () => {
    const [p, t] = [tensor([1e4, -1e4, 1e30, 1e-3]), tensor([0, 0, 0, 0])];
    const each = { reduction: "none" } as const;
    near(numbersOf(huber(p, t, each)), [9999.5, 9999.5, 1e30, 5e-7], 1e-6, "huber");
    const far = numbersOf(logCosh(p, t, each));
    near(far, [1e4 - Math.LN2, 1e4 - Math.LN2, 1e30, Math.log(Math.cosh(1e-3))], 1e-6, "logCosh");
    assert.ok(Math.abs(far[3]! / 4.99999916667e-7 - 1) < 1e-6);
    for (const loss of [huber, logCosh]) {
      near(numbersOf(grad((x: Tensor) => loss(x, t, { reduction: "sum" }))(p)), [1, -1, 1, 1e-3], 1e-6, loss.name);
    }
  });
});

test("a Poisson rate of zero costs nothing where nothing was counted", () => {
  const rates = f64([0, 2]);
  const counts = f64([0, 0]);
  assert.deepEqual(numbersOf(poisson(rates, counts, { reduction: "none" })), [0, 2]);
  assert.deepEqual(numbersOf(grad((r: Tensor) => poisson(r, counts, { reduction: "sum" }))(rates)), [1, 1]);
});

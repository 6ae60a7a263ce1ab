/** The lasso and the elastic net against scikit-learn, to the last sweep, and by their optimality. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, vmap } from "../../../src/index.js";
import { elasticNet, lasso } from "../../../src/learn/index.js";
import { closeTo } from "../../support/learn-cases.js";
import { compareLinear, linearData } from "../../support/linear-cases.js";
import { f64, numbersOf } from "../../support/tensors.js";

compareLinear(["lasso", "elasticNet"], {
  make: ({ kind, name, options }, dtype) => {
    const tol = name === "default tolerance" ? {} : { tol: dtype === "f64" ? 1e-12 : 1e-6, maxIter: 100_000 };
    return kind === "lasso" ? lasso({ ...options, ...tol }) : elasticNet({ ...options, ...tol });
  },
  within: [1e-9, 1e-4],
  async more(model, each) {
    if (model.learned.coefficients!.dtype !== "f64") return;
    assert.deepEqual(numbersOf(model.learned.iterations!), [each.iterations].flat(), "sweeps");
  },
});

const { x: rows, y } = linearData("standard diabetes");

test("at the minimum, columns of zero coefficients pull less than the penalty, others exactly as much", async () => {
  const [alpha, count] = [4, rows.length];
  const model = await lasso({ alpha, tol: 1e-13, maxIter: 100_000 }).fit(f64(rows as number[][]), f64(y as number[]));
  const w = numbersOf(model.learned.coefficients);
  const residual = numbersOf(model.predict(f64(rows as number[][]))).map((value, i) => y[i]! - value);
  w.forEach((value, j) => {
    const pull = rows.reduce((sum, row, i) => sum + row[j]! * residual[i]!, 0) / count;
    if (value === 0) assert.ok(Math.abs(pull) <= alpha * (1 + 1e-9));
    else assert.ok(Math.abs(pull - alpha * Math.sign(value)) < 1e-8, `${pull} for ${value}`);
  });
  assert.ok(w.includes(0) && w.some((value) => value !== 0));
});

test("a path of penalties is one vmap: coefficients leave zero one after the other", async () => {
  const fit = (alpha: Tensor) =>
    lasso({ alpha, tol: 1e-10 }).fitTensors(f64(rows as number[][]), f64(y as number[])).learned.coefficients;
  const path = vmap(fit)(f64([100, 10, 1]));
  const counts = numbersOf(path.notEqual(0).sum({ axis: 1 }) as Tensor);
  assert.ok(counts[0] === 0 && counts[1]! > 0 && counts[2]! > counts[1]!, String(counts));
  const alone = await lasso({ alpha: 10, tol: 1e-10 }).fit(f64(rows as number[][]), f64(y as number[]));
  await closeTo(path.at(1) as Tensor, numbersOf(alone.learned.coefficients), 1e-9, "coefficients");
});

test("misuse is refused by name", () => {
  assert.throws(() => lasso({ alpha: -1 }), /lasso: alpha is -1/);
  assert.throws(() => elasticNet({ l1Ratio: 1.5 }), /elasticNet: l1Ratio is 1.5; it is a number, from 0 to 1/);
  assert.throws(() => lasso({ maxIter: 0 }), /lasso: maxIter is a whole number from 1 on/);
});

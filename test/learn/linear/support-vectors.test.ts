/** Linear support vector machines against LIBLINEAR's optima, as scikit-learn finds them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor, vmap } from "../../../src/index.js";
import { linearSvc, linearSvr } from "../../../src/learn/index.js";
import { closeTo } from "../../support/learn-cases.js";
import { called, compareLinear, linearData } from "../../support/linear-cases.js";
import { f64, numbersOf } from "../../support/tensors.js";

const tolerance = (dtype: string) => (dtype === "f64" ? 1e-9 : 1e-5);

compareLinear(["linearSvc"], {
  make: ({ options }, dtype) => linearSvc({ ...options, tol: tolerance(dtype) }),
  areLabels: true,
  within: [1e-6, 1e-4],
  async more(model, each, x, within) {
    await closeTo(called(model, "decisionFunction", x.at("::7")), each.decisions, within, "decisions");
  },
});

compareLinear(["linearSvr"], {
  make: ({ options }, dtype) => linearSvr({ ...options, tol: tolerance(dtype) }),
  within: [1e-6, 1e-3],
});

test("penalties are mapped over by vmap, with both losses", async () => {
  const { x: rows, y: labels } = linearData("cancer");
  const [x, y] = [f64(rows as number[][]), tensor(labels as number[], { dtype: "i32", device: "cpu" })];
  for (const loss of ["hinge", "squaredHinge"] as const) {
    const fit = (c: Tensor) =>
      linearSvc({ c, loss, tol: 1e-9 }).fitTensors(x, y, { classes: [0, 1] }).learned.coefficients;
    const many = vmap(fit)(f64([0.05, 0.5]));
    const alone = await linearSvc({ c: 0.5, loss, tol: 1e-9 }).fit(x, labels);
    await closeTo(many.at(1) as Tensor, numbersOf(alone.learned.coefficients), 1e-7, loss);
  }
});

test("the widest margin between two points is half way", async () => {
  const model = await linearSvc({ loss: "hinge", c: 1000, interceptScaling: 100, tol: 1e-8 }).fit(
    f64([[0], [4]]),
    [0, 1],
  );
  const [w] = numbersOf(model.learned.coefficients);
  assert.ok(Math.abs(w! - 0.5) < 1e-3, String(w));
  assert.ok(Math.abs(numbersOf(model.decisionFunction(f64([[2]])))[0]!) < 1e-3);
});

test("misuse is refused by name", () => {
  assert.throws(
    () => linearSvc({ penalty: "l1", loss: "hinge" }),
    /the penalty "l1" goes with the loss "squaredHinge"/,
  );
  assert.throws(() => linearSvc({ interceptScaling: 0 }), /interceptScaling is 0/);
  assert.throws(() => linearSvr({ epsilon: -1 }), /linearSvr: epsilon is -1/);
  assert.throws(() => linearSvr({ loss: "hinge" as "epsilonInsensitive" }), /the loss is "hinge"/);
});

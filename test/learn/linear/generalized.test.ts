/** Generalised linear models against scikit-learn, and closed forms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gammaRegressor, poissonRegressor, tweedieRegressor } from "../../../src/learn/index.js";
import { compareLinear } from "../../support/linear-cases.js";
import { f64, numbersOf } from "../../support/tensors.js";

const MAKERS = { gammaRegressor, poissonRegressor, tweedieRegressor };

compareLinear(["poissonRegressor", "gammaRegressor", "tweedieRegressor"], {
  make: ({ kind, options }, dtype) =>
    MAKERS[kind as keyof typeof MAKERS]({ ...options, tol: dtype === "f64" ? 1e-11 : 1e-6 }),
  within: [1e-6, 1e-4],
});

test("a feature that tells groups apart gives the means of the groups", async () => {
  const x = f64([[0], [0], [0], [1], [1]]);
  const counts = [1, 2, 6, 10, 20];
  for (const make of [poissonRegressor, gammaRegressor]) {
    const model = await make({ alpha: 0, tol: 1e-12 }).fit(x, counts);
    const [first, , , last] = numbersOf(model.predict(x));
    assert.ok(Math.abs(first! - 3) < 1e-8 && Math.abs(last! - 15) < 1e-8);
  }
});

test("targets and powers that no distribution has are refused", async () => {
  const fit = (options: object, y: number[]) => tweedieRegressor(options).fit([[1], [2]], y, { device: "cpu" });
  await assert.rejects(
    async () => fit({ power: 1 }, [-1, 2]),
    /a target is -1; with the power 1 targets are zero or more/,
  );
  await assert.rejects(async () => fit({ power: 2 }, [0, 2]), /a target is 0; with the power 2 targets are above zero/);
  assert.throws(() => tweedieRegressor({ power: 0.5 }), /the power is 0.5; no distribution has one between 0 and 1/);
  assert.throws(() => tweedieRegressor({ link: "sqrt" as "log" }), /the link is "sqrt"/);
  await assert.rejects(
    async () =>
      poissonRegressor().fit(
        f64([[1], [2]]),
        f64([
          [1, 2],
          [3, 4],
        ]),
      ),
    /the targets have 2 columns; it predicts one number/,
  );
});

/** Estimators: the checks that all must pass, on those that stand in no family of their own, and their runs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pipeline, ridge, standardScaler } from "../../../src/learn/index.js";
import { sweepEstimators } from "../../support/learn-sweep.js";

const device = "cpu";

sweepEstimators([{ make: () => pipeline(standardScaler(), ridge()), targets: "numbers", method: "predict" }]);

test("a run of a pipeline tells its steps to those who watch", async () => {
  const seen: number[] = [];
  for await (const { step } of pipeline(standardScaler(), ridge()).fit([[1], [2], [4]], [1, 2, 3], { device }))
    seen.push(step);
  assert.deepEqual(seen, [1, 2]);
});

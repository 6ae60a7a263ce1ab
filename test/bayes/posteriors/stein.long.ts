/** Stein's identities of all reference posteriors under all of their reference draws. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { setDefaultDevice } from "../../../src/tensor/index.js";
import { referenceDraws, withoutReference } from "../../support/reference-data.js";
import { referenceModels } from "../models/index.js";
import { makeIn } from "../models/reference-model.js";
import { steinScores, worstOf } from "../models/stein.js";

describe("Stein's identities hold under reference draws", () => {
  before(() => setDefaultDevice("cpu"));
  for (const one of referenceModels) {
    const file = `posteriordb/${one.name}/draws.json.gz`;
    if (one.name === "regime_returns") continue;
    test(one.name, { skip: withoutReference(file) }, async () => {
      const reference = referenceDraws(file);
      const scores = await steinScores(one.posterior(makeIn("f64", "cpu")), reference);
      const { of, z } = worstOf(scores);
      console.log(`${one.name}: |z| ≤ ${Math.abs(z).toFixed(2)} (${of}) of ${scores.length} identities`);
      assert.ok(Math.abs(z) <= 4, `${of}: ${z} standard errors off`);
    });
  }
});

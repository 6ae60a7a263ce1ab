/** Stein's identities under the reference draws of a few posteriors; `npm run test:posteriors` has them all. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { setDefaultDevice } from "../../src/tensor/index.js";
import { referenceDraws, withoutReference } from "../support/reference-data.js";
import { eightSchools } from "./models/eight-schools.js";
import { makeIn, type ReferenceModel } from "./models/reference-model.js";
import { steinScores, worstOf } from "./models/stein.js";
import { hmmExample } from "./models/time-series.js";

describe("Stein's identities under reference draws", () => {
  before(() => setDefaultDevice("cpu"));
  const read = ({ name }: ReferenceModel) => `posteriordb/${name}/draws.json.gz`;
  const scores = (one: ReferenceModel, shift: number) =>
    steinScores(one.posterior(makeIn("f64", "cpu")), referenceDraws(read(one)), shift);
  for (const one of [eightSchools, hmmExample]) {
    test(`hold: ${one.name}`, { skip: withoutReference(read(one)) }, async () => {
      const { of, z } = worstOf(await scores(one, 0));
      assert.ok(Math.abs(z) <= 4, `${of}: ${z} standard errors off`);
    });
    test(`do not a tenth of a deviation away: ${one.name}`, { skip: withoutReference(read(one)) }, async () => {
      const { z } = worstOf(await scores(one, 0.1));
      assert.ok(Math.abs(z) > 8, `${z} standard errors off only`);
    });
  }
});

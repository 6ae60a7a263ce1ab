/** Sampling the posteriors of posteriordb: mean and mean square of every parameter against the reference draws. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { backendFor, setDefaultDevice } from "../../../src/tensor/index.js";
import { referenceDraws, withoutReference } from "../../support/reference-data.js";
import { testDevices } from "../../support/tensors.js";
import { referenceModels } from "../models/index.js";
import { makeIn } from "../models/reference-model.js";
import { compared, complaintOf } from "./comparison.js";

const LEAST_ESS = 4000;
/** Regressions on which nothing may diverge. */
const plain = [
  "sblrc-blr",
  "kidiq-kidscore_momiq",
  "kidiq-kidscore_interaction",
  "earnings-earn_height",
  "mesquite-mesquite",
];
/** Sums of f32 are too coarse for these: predictors on raw scales, nearly collinear. */
const onlyF64 = [
  "kidiq-kidscore_momiq",
  "kidiq-kidscore_interaction",
  "earnings-earn_height",
  "kilpisjarvi_mod-kilpisjarvi",
  "mesquite-mesquite",
];

/** All of them, unless PUMICE_POSTERIORS chooses: "cpu f64,vulkan f32". */
const VARIANTS = ["cpu f64", "vulkan f64", "cpu f32", "vulkan f32"];
const chosen = (process.env.PUMICE_POSTERIORS?.trim() || VARIANTS.join(",")).split(",").map((each) => each.trim());
const unknown = chosen.find((each) => !VARIANTS.includes(each));
assert.equal(unknown, undefined, `PUMICE_POSTERIORS is a list of ${VARIANTS.join(", ")}, not of "${unknown}".`);

const sampledModels = referenceModels.filter(({ name }) => name !== "regime_returns");
let number = 0;

for (const [device, dtype] of chosen.map((each) => each.split(" ")) as [string, "f32" | "f64"][]) {
  const isThere = testDevices().includes(device);
  const cannot = isThere && dtype === "f64" && !backendFor(device).hasDoubles && "the device has no doubles";
  const missing = isThere ? cannot : `missing: ${device}`;
  describe(`reference posteriors, ${dtype} on ${device}`, () => {
    before(() => setDefaultDevice(device));
    for (const one of sampledModels) {
      const file = `posteriordb/${one.name}/draws.json.gz`;
      const tooCoarse = dtype === "f32" && onlyF64.includes(one.name) && "its sums are too coarse in f32";
      number++;
      const title = `${number} of ${chosen.length * sampledModels.length}, ${device} ${dtype}: ${one.name}`;
      test(one.name, { skip: missing || tooCoarse || withoutReference(file) }, async () => {
        console.log(`${title} …`);
        const reference = referenceDraws(file);
        const began = performance.now();
        const posterior = one.posterior(makeIn(dtype, device));
        const fit = await posterior.sample({
          chains: 8,
          draws: 8000,
          warmup: 1000,
          seed: 20,
          until: { essBulk: LEAST_ESS },
        });
        const found = compared(fit.draws, reference);
        const diverged = fit.draws.stat("divergent")!.values.reduce((a, b) => a + b, 0);
        console.log(
          `${title}: |z| ≤ ${Math.abs(found.worst.z).toFixed(2)} (${found.worst.of}), ESS ${Math.round(found.ess)}, ` +
            `${diverged} divergences, ${((performance.now() - began) / 1000).toFixed(0)} s`,
        );
        assert.equal(complaintOf(found, LEAST_ESS), null);
        if (plain.includes(one.name)) assert.equal(diverged, 0);
      });
    }
  });
}

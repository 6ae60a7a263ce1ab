/** Sampling the posteriors of posteriordb: mean and mean square of every parameter against the reference draws. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { mcseMean } from "../../../src/bayes/index.js";
import { setDefaultDevice } from "../../../src/tensor/devices.js";
import { referenceGzip, withoutReference } from "../../support/reference-data.js";
import { testDevices } from "../../support/tensors.js";
import { zOfMean } from "../chains/support.js";
import { referenceModels } from "../models/index.js";
import { makeIn } from "../models/reference-model.js";

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

/** The reference calls the first element 1. */
const ourName = (name: string): string => name.replace(/\d+(?=[\],])/g, (index) => String(Number(index) - 1));

/** PUMICE_POSTERIORS chooses variants: "cpu f64,vulkan f32"; f64 on the CPU unless told. */
const variants = (process.env.PUMICE_POSTERIORS ?? "cpu f64").split(",").map((each) => each.trim().split(" "));

for (const [device, dtype] of variants as [string, "f32" | "f64"][]) {
  const missing = testDevices().includes(device) ? false : `missing: ${device}`;
  describe(`reference posteriors, ${dtype} on ${device}`, () => {
    before(() => setDefaultDevice(device));
    for (const one of referenceModels) {
      const file = `posteriordb/${one.name}/draws.json.gz`;
      if (one.name === "regime_returns" || (dtype === "f32" && onlyF64.includes(one.name))) continue;
      test(one.name, { skip: missing || withoutReference(file) }, async () => {
        const posterior = one.posterior(makeIn(dtype, device));
        const fit = await posterior.sample({
          chains: 8,
          draws: 8000,
          warmup: 1000,
          seed: 20,
          until: { essBulk: LEAST_ESS },
        });
        const reference = JSON.parse(referenceGzip(file)) as Record<string, number[]>[];
        const worst = { z: 0, of: "" };
        for (const name of Object.keys(reference[0]!)) {
          for (const [label, of] of [
            ["mean", (x: number) => x],
            ["mean square", (x: number) => x * x],
          ] as const) {
            const values = Float64Array.from(reference.flatMap((chain) => chain[name]!.map(of)));
            const expected = values.reduce((sum, x) => sum + x, 0) / values.length;
            const error = mcseMean({ values, chains: reference.length, draws: reference[0]![name]!.length });
            const z = zOfMean(fit, ourName(name), expected, of, error);
            if (Math.abs(z) > Math.abs(worst.z)) Object.assign(worst, { z, of: `${label} of ${name}` });
          }
        }
        const ess = Math.min(
          ...fit
            .summary()
            .rows.map(({ essBulk }) => essBulk)
            .filter(Number.isFinite),
        );
        const diverged = fit.draws.stat("divergent")!.values.reduce((a, b) => a + b, 0);
        console.log(
          `${one.name}: |z| ≤ ${Math.abs(worst.z).toFixed(2)} (${worst.of}), ESS ${Math.round(ess)}, ${diverged} divergences`,
        );
        assert.ok(Math.abs(worst.z) <= 4, `${worst.of}: ${worst.z} standard errors off`);
        assert.ok(ess >= LEAST_ESS, `an effective sample size of ${ess}`);
        if (plain.includes(one.name)) assert.equal(diverged, 0);
      });
    }
  });
}

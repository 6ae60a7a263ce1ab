/** Sampling the posteriors of posteriordb: mean and mean square of every parameter against the reference draws. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { mcseMean } from "../../../src/bayes/index.js";
import { backendFor, setDefaultDevice } from "../../../src/tensor/devices.js";
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

/** All of them, unless PUMICE_POSTERIORS chooses: "cpu f64,vulkan f32". */
const VARIANTS = ["cpu f64", "vulkan f64", "cpu f32", "vulkan f32"];
const chosen = process.env.PUMICE_POSTERIORS?.split(",").map((each) => each.trim()) ?? VARIANTS;
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
        const began = performance.now();
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
          `${title}: |z| ≤ ${Math.abs(worst.z).toFixed(2)} (${worst.of}), ESS ${Math.round(ess)}, ` +
            `${diverged} divergences, ${((performance.now() - began) / 1000).toFixed(0)} s`,
        );
        assert.ok(Math.abs(worst.z) <= 4, `${worst.of}: ${worst.z} standard errors off`);
        assert.ok(ess >= LEAST_ESS, `an effective sample size of ${ess}`);
        if (plain.includes(one.name)) assert.equal(diverged, 0);
      });
    }
  });
}

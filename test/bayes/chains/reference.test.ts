/** A few reference posteriors, quickly: `npm run test:posteriors` has them all. And lanes that share observations. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { model, normal } from "../../../src/bayes/index.js";
import { type Tensor, tensor } from "../../../src/tensor/index.js";
import { referenceJson, withoutReference } from "../../support/reference-data.js";
import { describeOnTensorDevices, testDevices } from "../../support/tensors.js";
import { referenceModels } from "../models/index.js";
import { makeIn } from "../models/reference-model.js";
import { expectExact, normals, zOfMean } from "./support.js";

/** Draws that the reference has of each. */
const REFERENCE_DRAWS = 10000;

describeOnTensorDevices("means of reference posteriors", (device) => {
  const names = ["eight_schools-eight_schools_noncentered", ...(device === "cpu" ? ["garch-garch11"] : [])];
  for (const one of referenceModels.filter(({ name }) => names.includes(name))) {
    const file = `posteriordb/${one.name}/reference.json`;
    test(one.name, { skip: withoutReference(file) }, async () => {
      const { summary } = referenceJson(file) as { summary: Record<string, { mean: number; sd: number }> };
      const dtype = device === "cpu" ? "f64" : "f32";
      const posterior = one.posterior(makeIn(dtype, device));
      const fit = await posterior.sample({ chains: 16, draws: 150, warmup: 300, seed: 6 });
      for (const [name, { mean, sd }] of Object.entries(summary)) {
        const ours = name.replace(/\d+(?=\])/, (index) => String(Number(index) - 1));
        const z = zOfMean(fit, ours, mean, undefined, sd / Math.sqrt(REFERENCE_DRAWS));
        assert.ok(Math.abs(z) < 4, `${name}: ${z} standard errors off`);
      }
    });
  }
});

test("lanes share the observations of a chain", {
  skip: testDevices().includes("vulkan") ? false : "missing: a Vulkan device",
}, async () => {
  const random = normals(21);
  const x = Array.from({ length: 150 }, random);
  const y = x.map((value) => 0.7 * value + random());
  const make = (values: number[]) => tensor(values, { device: "vulkan" });
  const line = model(({ x }: { x: Tensor }) => {
    const b = normal(0, 1);
    return { b, y: normal(x.mul(b), 1) };
  }).given({ y: make(y) }, { x: make(x) });
  const precision = 1 + x.reduce((sum, value) => sum + value * value, 0);
  const mean = x.reduce((sum, value, i) => sum + value * y[i]!, 0) / precision;
  for (const lanes of [1, 32, 64, 128]) {
    const fit = await line.sample({ chains: lanes > 32 ? 4 : 16, draws: 100, warmup: 100, seed: 4, lanes });
    expectExact(fit, "b", mean, 1 / precision);
  }
});

/** The reference models' log densities and gradients against CmdStan's, which drops constants and includes Jacobians. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../src/tensor/index.js";
import { referenceJson, withoutReference } from "../support/reference-data.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { referenceModels } from "./models/index.js";
import { type AnyPosterior, makeIn, type ReferenceModel } from "./models/reference-model.js";

const file = "cmdstan/log_density_gradients.json";
const skip = withoutReference(file);

interface Known {
  readonly log_density: number;
  readonly gradient: readonly number[];
}

/** The point CmdStan was evaluated at. */
const point = (i: number): number => 0.1 + 0.05 * (i % 7) - 0.15 * (i % 3);

/** For each of our free numbers, its place in CmdStan's vector. */
function placesInStan({ order }: ReferenceModel, posterior: AnyPosterior): number[] {
  const size = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);
  const sizes = new Map(posterior.latents.map(({ name, freeShape }) => [name, size(freeShape)]));
  const starts = new Map<string, number>();
  let next = 0;
  for (const name of order) {
    starts.set(name, next);
    next += sizes.get(name)!;
  }
  return posterior.latents.flatMap(({ name }) =>
    Array.from({ length: sizes.get(name)! }, (_, i) => starts.get(name)! + i),
  );
}

describeOnTensorDevices("log densities and gradients equal CmdStan's", (device) => {
  const known = skip ? {} : (referenceJson(file) as Record<string, Known>);
  for (const one of referenceModels) {
    const { stan } = one;
    if (!stan) continue;
    test(one.name, { skip }, () => {
      const posterior = one.posterior(makeIn("f64", device));
      const { log_density, gradient } = known[stan]!;
      const places = placesInStan(one, posterior);
      const u = tensor(places.map(point), { dtype: "f64", device });
      const [value, slopes] = posterior.logDensityAndGrad(u, { normalized: false });
      expectClose("log density", value.itemSync() as number, log_density - (one.keptByStan ?? 0));
      const found = Array.from(slopes.dataSync() as Float64Array);
      for (const [i, place] of places.entries()) expectClose(`gradient ${place}`, found[i]!, gradient[place]!);
    });
  }
});

function expectClose(what: string, actual: number, expected: number): void {
  const error = Math.abs(actual - expected) / Math.abs(expected);
  assert.ok(error <= 1e-8, `${what}: ${actual}, not ${expected}: off by ${error} of it`);
}

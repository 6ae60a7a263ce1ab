/** Samplers run to the end, moments in standard errors, and a target with exact draws to start from. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fit } from "../../../src/bayes/chains/fit.js";
import type { SampleOptions } from "../../../src/bayes/chains/options.js";
import { Sampler } from "../../../src/bayes/chains/sampler.js";
import { samplingOf } from "../../../src/bayes/chains/sampling.js";
import { readFit } from "../../../src/bayes/chains/saved-fit-reader.js";
import type { Draws } from "../../../src/bayes/draws/draws.js";
import { mcseMean, model, normal } from "../../../src/bayes/index.js";
import type { SampledTarget } from "../../../src/bayes/target/target.js";

/** A run to its end. */
export const sampled = (posterior: SampledTarget, options: SampleOptions): Promise<Fit> =>
  runToEnd(new Sampler(samplingOf(posterior, options)));

export async function runToEnd(sampler: Sampler): Promise<Fit> {
  const steps = sampler.run(false);
  for (;;) {
    const { done, value } = await steps.next();
    if (done) return value;
  }
}

/** A buffer of a fit's chains, of f64. */
export async function savedNumbers(fit: Fit, name: "metric" | "wishes"): Promise<Float64Array> {
  const folder = await mkdtemp(join(tmpdir(), "pumice-chains-"));
  try {
    await fit.save(join(folder, "fit"));
    const { chains } = await readFit(join(folder, "fit"));
    return new Float64Array(Uint8Array.from(chains.buffers[name]!).buffer);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Standard normal numbers from a seed, by a generator that is not ours. */
export function normals(seed: number): () => number {
  let state = seed >>> 0;
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit());
}

const RHO = 0.9;
/** Standard normal numbers, the first two of them correlated: a target of which exact draws are easy. */
export const correlated = () =>
  model(() => {
    const x = normal(0, 1);
    return { x, y: normal(x.mul(RHO), Math.sqrt(1 - RHO * RHO)), z: normal(0, 1) };
  }).given({});

/** One of them for every chain. */
export function exactDraws(chains: number): number[][] {
  const random = normals(17);
  return Array.from({ length: chains }, () => {
    const first = random();
    return [first, RHO * first + Math.sqrt(1 - RHO * RHO) * random(), random()];
  });
}

/** How far mean and mean square of independent standard normal numbers are off, in standard errors: the larger. */
export function worstMoment(values: ArrayLike<number>): number {
  const { length } = values;
  const mean = Array.from(values).reduce((sum, x) => sum + x, 0) / length;
  const square = Array.from(values).reduce((sum, x) => sum + x * x, 0) / length;
  return Math.max(Math.abs(mean) * Math.sqrt(length), Math.abs(square - 1) * Math.sqrt(length / 2));
}

/** How far the mean of draws is from the true one, in Monte Carlo standard errors. */
export function zOfMean(
  { draws }: { readonly draws: Draws },
  name: string,
  expected: number,
  of: (x: number) => number = (x) => x,
  errorOfExpected = 0,
): number {
  const chains = draws.scalar(name);
  const values = chains.values.map(of);
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  return (mean - expected) / Math.hypot(mcseMean({ ...chains, values }), errorOfExpected);
}

/** Mean and mean square of a scalar against the exact ones. */
export function expectExact(fit: Fit, name: string, mean: number, variance: number): void {
  const zs = [zOfMean(fit, name, mean), zOfMean(fit, name, variance, (x) => (x - mean) ** 2)];
  for (const z of zs)
    assert.ok(Math.abs(z) < 4, `${name}: off by ${zs.map((each) => each.toFixed(2))} standard errors`);
}

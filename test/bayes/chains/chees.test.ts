/**
 * ChEES. Its kernel, trajectories of a random share of a time, leaves the target as it is: from exact draws, without a
 * warmup, which the sampler itself would not do. What the warmup does is in pooled.test.ts.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { ChainSettings } from "../../../src/bayes/chains/chain-settings.js";
import { NutsChains } from "../../../src/bayes/chains/nuts-chains.js";
import { densityOf } from "../../../src/bayes/kernels/density.js";
import { NOTED, RUN_REALS } from "../../../src/bayes/kernels/layout.js";
import { HMC } from "../../../src/bayes/kernels/nuts/trajectories.js";
import type { FloatDType } from "../../../src/bayes/target/target.js";
import { backendFor, setDefaultDevice } from "../../../src/tensor/index.js";
import { expectDistribution, normalDistribution } from "../../support/goodness-of-fit.js";
import { describeOnTensorDevices, testDevices } from "../../support/tensors.js";
import { withStaleDensity } from "./broken-samplers.js";
import { correlated, exactDraws, worstMoment } from "./support.js";

before(() => setDefaultDevice("cpu"));

type Variant = Partial<ChainSettings> & {
  readonly chains: number;
  readonly device: string;
  readonly dtype?: FloatDType;
  /** The time of which each trajectory has a share. */
  readonly time?: number;
  readonly draws?: number;
};

interface Outcome {
  /** The largest |z| of means and mean squares of the last draws, one per chain. */
  readonly worst: number;
  /** Steps of each draw of each chain, and how often their ends were accepted. */
  readonly leapfrogs: readonly number[];
  readonly acceptance: number;
}

async function outcomeOf({ device, dtype = "f64", time = 2.5, draws: count = 4, ...rest }: Variant): Promise<Outcome> {
  const settings: ChainSettings = {
    ...{ trajectories: HMC, steps: null, adaptation: "none", warmup: 0, together: 1, seed: 5, stepSize: 0.4, lanes: 1 },
    ...{ maxTreeDepth: 10, energyDType: dtype, isDense: false, targetAcceptance: 0.8, initRadius: 2, metric: null },
    ...rest,
    inits: exactDraws(rest.chains).flat(),
  };
  const density = densityOf(correlated(), dtype, device);
  const chains = new NutsChains(density, settings);
  try {
    const saved = await chains.saved();
    numbersOf(saved.buffers.wishes!, settings.energyDType)[RUN_REALS.indexOf("trajectory")] = time;
    chains.restore(saved, 0);
    for await (const { failed } of chains.advance(count, 0)) assert.deepEqual(failed, []);
    const block = chains.block.take();
    const draws = numbersOf(await density.backend.read(block.draws), dtype);
    const noted = numbersOf(await density.backend.read(block.noted), settings.energyDType);
    block.draws.dispose();
    block.noted.dispose();
    const last = [0, 1, 2].map((d) => rowOf(draws, (count - 1) * density.dim + d, settings.chains));
    if (settings.trajectories === HMC) {
      for (const [d, row] of last.entries()) expectDistribution(row, normalDistribution, `${d}`);
    }
    const notes = (name: (typeof NOTED)[number]) =>
      Array.from({ length: count }, (_, n) => [
        ...rowOf(noted, n * NOTED.length + NOTED.indexOf(name), settings.chains),
      ]).flat();
    const accepted = notes("acceptance").reduce((sum, x) => sum + x, 0) / (count * settings.chains);
    return { worst: Math.max(...last.map(worstMoment)), leapfrogs: notes("leapfrogs"), acceptance: accepted };
  } finally {
    chains.dispose();
  }
}

const numbersOf = (bytes: Uint8Array, dtype: FloatDType): Float64Array | Float32Array =>
  dtype === "f64" ? new Float64Array(bytes.buffer, bytes.byteOffset) : new Float32Array(bytes.buffer, bytes.byteOffset);
const rowOf = (all: Float64Array | Float32Array, row: number, size: number) => all.slice(row * size, (row + 1) * size);

/** Inverse masses that are not the target's: whatever they are, the target stays. */
const UNEVEN = [0.5, 1.5, 0.8];
const TILTED = [1, 0.5, 0, 0.5, 1.2, 0.1, 0, 0.1, 0.7];
const variants: Readonly<Record<string, Partial<Variant>>> = {
  "in f64": { dtype: "f64" },
  "in f32": { dtype: "f32" },
  "a coarse step": { stepSize: 0.6, dtype: "f32" },
  "a time of less than a step": { time: 0.3, dtype: "f32" },
  "a diagonal metric": { metric: UNEVEN, dtype: "f32" },
  "a dense metric": { metric: TILTED, isDense: true, dtype: "f32" },
};

describeOnTensorDevices("a transition of ChEES leaves the distribution as it is, from exact draws", (device) => {
  const chains = device === "cpu" ? 8192 : 4096;
  for (const [title, variant] of Object.entries(variants)) {
    test(title, async (t) => {
      if (variant.dtype === "f64" && !backendFor(device).hasDoubles) return t.skip("the device has no doubles");
      const { worst, leapfrogs, acceptance } = await outcomeOf({ chains, device, ...variant });
      assert.ok(worst < 4, `off by ${worst} standard errors`);
      // All chains take the same share of the time, another one for each draw.
      const lengths = Array.from({ length: 4 }, (_, n) => new Set(leapfrogs.slice(n * chains, (n + 1) * chains)));
      const most = Math.ceil((variant.time ?? 2.5) / (variant.stepSize ?? 0.4));
      for (const length of lengths) assert.ok(length.size === 1 && Math.max(...length) <= most);
      if (most > 1) assert.ok(new Set(lengths.flatMap((length) => [...length])).size > 1);
      assert.ok(
        acceptance > 0.3 && acceptance < 0.99,
        `accepted ${acceptance}: too often to tell, or not often enough`,
      );
    });
  }
});

test("the shares of successive draws are spread evenly over the time, from a start that is the seed's", async () => {
  const orders = await Promise.all(
    [1, 2, 3, 4].map(async (seed) => {
      const chains = 64;
      const outcome = await outcomeOf({ chains, device: "cpu", seed, draws: 16, stepSize: 0.1, time: 1.6 });
      const leapfrogs = outcome.leapfrogs.filter((_, at) => at % chains === 0);
      const all = Array.from({ length: 16 }, (_, n) => n + 1);
      assert.deepEqual(
        leapfrogs.toSorted((a, b) => a - b),
        all,
      );
      // Of any two draws, one has a share of less than half.
      for (let n = 0; n < 16; n += 2) assert.notEqual(leapfrogs[n]! <= 8, leapfrogs[n + 1]! <= 8);
      return leapfrogs.join(" ");
    }),
  );
  assert.ok(new Set(orders).size > 1);
});

const skip = testDevices().includes("vulkan") ? false : "missing: a Vulkan device";
test("a workgroup per chain on Vulkan leaves it, too", { skip }, async () => {
  const { worst } = await outcomeOf({ chains: 256, device: "vulkan", dtype: "f32", lanes: 32 });
  assert.ok(worst < 4, `off by ${worst} standard errors`);
});

test("a density that is a step behind does not", async () => {
  const { worst } = await outcomeOf({ chains: 8192, device: "cpu", trajectories: withStaleDensity(HMC) });
  assert.ok(worst > 8, `off by ${worst} standard errors only`);
});

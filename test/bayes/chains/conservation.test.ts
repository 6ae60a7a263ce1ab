/**
 * Every variant of the kernel leaves the target as it is: chains that start at exact draws stay exact. All draws of a
 * chain count, since a mistake of some per cent in the weights of a trajectory shows in hundreds of thousands of draws only;
 * and steps go from fine to coarse, since different choices matter in long trajectories and in ones of uneven weights.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { ChainSettings } from "../../../src/bayes/chains/chain-settings.js";
import { NutsChains } from "../../../src/bayes/chains/nuts-chains.js";
import { model, normal } from "../../../src/bayes/index.js";
import { densityOf } from "../../../src/bayes/kernels/density.js";
import { HMC, NUTS } from "../../../src/bayes/kernels/nuts/trajectories.js";
import type { FloatDType } from "../../../src/bayes/target/target.js";
import { backendFor, setDefaultDevice } from "../../../src/tensor/index.js";
import { testDevices } from "../../support/tensors.js";
import { normals } from "./support.js";

before(() => setDefaultDevice("cpu"));

const DRAWS = 40;
const DIM = 3;
/** The correlation of the first two; the third is by itself. All have variance 1. */
const RHO = 0.5;
const REST = Math.sqrt(1 - RHO * RHO);

interface Variant extends Partial<Omit<ChainSettings, "inits">> {
  readonly device?: string;
  readonly dtype?: FloatDType;
}

/** How far expectations under all draws are from the exact ones, in standard errors between chains: the furthest. */
async function worst({ device = "cpu", dtype = "f64", chains = 1024, ...rest }: Variant): Promise<number> {
  const random = normals(17);
  const exact = () => {
    const first = random();
    return [first, RHO * first + REST * random(), random()];
  };
  const settings: ChainSettings = {
    ...{
      trajectories: NUTS,
      steps: null,
      adaptation: "none",
      warmup: 0,
      together: 1,
      seed: 5,
      stepSize: 0.9,
      lanes: 1,
    },
    ...{ maxTreeDepth: 10, energyDType: dtype, isDense: false, targetAcceptance: 0.8, initRadius: 2, metric: null },
    ...rest,
    chains,
    inits: Array.from({ length: chains }, exact).flat(),
  };
  const target = model(() => {
    const x = normal(0, 1);
    return { x, y: normal(x.mul(RHO), REST), z: normal(0, 1) };
  }).given({});
  const density = densityOf(target, dtype, device);
  const kernel = new NutsChains(density, settings);
  try {
    for await (const { failed } of kernel.advance(DRAWS, 0)) assert.deepEqual(failed, []);
    const block = kernel.block.take();
    const bytes = await density.backend.read(block.draws);
    block.draws.dispose();
    block.noted.dispose();
    const Numbers = { f32: Float32Array, f64: Float64Array }[dtype];
    const values = new Numbers(Uint8Array.from(bytes).buffer);
    const at = (draw: number, chain: number, d: number) => values[(draw * DIM + d) * chains + chain]!;
    const expectations: ((of: (d: number) => number) => number)[] = [
      (q) => q(0) + q(1) + q(2),
      (q) => q(0) ** 2 + q(1) ** 2 + q(2) ** 2 - DIM,
      (q) => q(0) * q(1) - RHO,
      (q) => q(2) ** 2 - 1,
    ];
    return Math.max(
      ...expectations.map((expectation) => {
        const means = Array.from({ length: chains }, (_, chain) => {
          let sum = 0;
          for (let draw = 0; draw < DRAWS; draw++) sum += expectation((d) => at(draw, chain, d));
          return sum / DRAWS;
        });
        const mean = means.reduce((sum, m) => sum + m, 0) / chains;
        const variance = means.reduce((sum, m) => sum + (m - mean) ** 2, 0) / (chains - 1);
        return Math.abs(mean) / Math.sqrt(variance / chains);
      }),
    );
  } finally {
    kernel.dispose();
  }
}

const hmc: Variant = { trajectories: HMC, steps: 3 };
/** Metrics that do not fit the target, so that every factor of theirs matters. */
const uneven: Variant = { metric: [0.6, 1.5, 1] };
const dense: Variant = { isDense: true, metric: [1, -0.3, 0.2, -0.3, 0.8, 0.1, 0.2, 0.1, 1.2] };

function expectConserved(variants: Readonly<Record<string, Variant>>, more: Variant = {}): void {
  for (const [title, variant] of Object.entries(variants)) {
    test(title, async (t) => {
      const { device = "cpu", dtype = "f64", energyDType = dtype } = { ...variant, ...more };
      if (!testDevices().includes(device)) return t.skip(`missing: ${device}`);
      const needsDoubles = dtype === "f64" || energyDType === "f64";
      if (needsDoubles && !backendFor(device).hasDoubles) return t.skip("the device has no doubles");
      const z = await worst({ ...variant, ...more });
      assert.ok(z < 4, `off by ${z.toFixed(1)} standard errors`);
    });
  }
}

describe("NUTS on the CPU leaves the target as it is", () => {
  expectConserved({
    "steps of 0.5": { stepSize: 0.5 },
    "steps of 0.9": {},
    "steps of 1.3": { stepSize: 1.3 },
    "trajectories that are cut short": { stepSize: 0.5, maxTreeDepth: 2 },
    "an uneven metric": uneven,
    "a dense metric": dense,
    "f32 with energies in f64": { dtype: "f32", energyDType: "f64" },
    "all in f32": { dtype: "f32" },
  });
});

describe("trajectories of known length on the CPU leave the target as it is", () => {
  expectConserved({
    "steps of 0.9": hmc,
    "steps of 1.3": { ...hmc, stepSize: 1.3 },
    "a dense metric": { ...hmc, ...dense },
  });
});

describe("on Vulkan", () => {
  expectConserved(
    {
      "NUTS with a dense metric": { ...dense, chains: 256 },
      "NUTS, 32 lanes of a chain": { ...uneven, lanes: 32, chains: 64 },
      "known length": { ...hmc, dtype: "f32", chains: 256 },
      "known length with a dense metric": { ...hmc, ...dense, chains: 256 },
      "known length, 32 lanes of a chain": { ...hmc, ...uneven, lanes: 32, chains: 64 },
    },
    { device: "vulkan" },
  );
});

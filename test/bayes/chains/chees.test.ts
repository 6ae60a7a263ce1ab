/**
 * ChEES. Its kernel, trajectories of a random share of a time, leaves the target as it is: from exact draws, without a
 * warmup, which the sampler itself would not do. Its criterion has the gradient that differences have.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cheesGradient } from "../../../src/bayes/chains/chees.js";
import { densityOf, type FloatDType } from "../../../src/bayes/chains/density.js";
import { type ChainSettings, NutsChains } from "../../../src/bayes/chains/nuts-chains.js";
import { NOTED, WISHES } from "../../../src/bayes/chains/nuts-layout.js";
import { tensor } from "../../../src/tensor/creation.js";
import { backendFor, setDefaultDevice } from "../../../src/tensor/devices.js";
import { expectDistribution, normalDistribution } from "../../support/goodness-of-fit.js";
import { describeOnTensorDevices, testDevices } from "../../support/tensors.js";
import { correlated, exactDraws, normals, worstMoment } from "./support.js";

before(() => setDefaultDevice("cpu"));

const DRAWS = 4;
type Variant = Partial<ChainSettings> & {
  readonly chains: number;
  readonly device: string;
  readonly dtype?: FloatDType;
  /** The time of which each trajectory has a share. */
  readonly time?: number;
};

interface Outcome {
  /** The largest |z| of means and mean squares of the last draws, one per chain. */
  readonly worst: number;
  /** Steps of each draw of each chain, and how often their ends were accepted. */
  readonly leapfrogs: readonly number[];
  readonly acceptance: number;
}

async function outcomeOf({ device, dtype = "f64", time = 2.5, ...rest }: Variant): Promise<Outcome> {
  const settings: ChainSettings = {
    ...{ kernel: "hmc", steps: null, adaptation: "none", warmup: 0, together: 1, seed: 5, stepSize: 0.4, lanes: 1 },
    ...{ maxTreeDepth: 10, energyDType: dtype, isDense: false, targetAcceptance: 0.8, initRadius: 2, metric: null },
    ...rest,
    inits: exactDraws(rest.chains).flat(),
  };
  const density = densityOf(correlated(), dtype, device);
  const chains = new NutsChains(density, settings);
  try {
    const saved = await chains.saved();
    numbersOf(saved.buffers.wishes!, settings.energyDType)[WISHES.indexOf("trajectory")] = time;
    chains.restore(saved);
    for await (const { failed } of chains.advance(DRAWS, 0)) assert.deepEqual(failed, []);
    const block = chains.take();
    const draws = numbersOf(await density.backend.read(block.draws), dtype);
    const noted = numbersOf(await density.backend.read(block.noted), settings.energyDType);
    block.draws.dispose();
    block.noted.dispose();
    const last = [0, 1, 2].map((d) => rowOf(draws, (DRAWS - 1) * density.dim + d, settings.chains));
    if (!settings.mistake) for (const [d, row] of last.entries()) expectDistribution(row, normalDistribution, `${d}`);
    const notes = (name: (typeof NOTED)[number]) =>
      Array.from({ length: DRAWS }, (_, n) => [
        ...rowOf(noted, n * NOTED.length + NOTED.indexOf(name), settings.chains),
      ]).flat();
    const accepted = notes("acceptance").reduce((sum, x) => sum + x, 0) / (DRAWS * settings.chains);
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
      const lengths = Array.from({ length: DRAWS }, (_, n) => new Set(leapfrogs.slice(n * chains, (n + 1) * chains)));
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

const skip = testDevices().includes("vulkan") ? false : "missing: a Vulkan device";
test("a workgroup per chain on Vulkan leaves it, too", { skip }, async () => {
  const { worst } = await outcomeOf({ chains: 256, device: "vulkan", dtype: "f32", lanes: 32 });
  assert.ok(worst < 4, `off by ${worst} standard errors`);
});

test("a density that is a step behind does not", async () => {
  const { worst } = await outcomeOf({ chains: 8192, device: "cpu", mistake: "stale density" });
  assert.ok(worst > 8, `off by ${worst} standard errors only`);
});

describeOnTensorDevices("the gradient of ChEES", (device) => {
  for (const dtype of backendFor(device).hasDoubles ? (["f32", "f64"] as const) : (["f32"] as const)) {
    describe(`in ${dtype}`, () => testGradient(device, dtype));
  }
});

function testGradient(device: string, dtype: FloatDType): void {
  const [dim, chains] = [2, 400];
  const random = normals(9);
  const draw = () => Array.from({ length: dim * chains }, random);
  const [start, velocity] = [draw(), draw()];
  const make = (values: number[], shape = [dim, chains]) => tensor(values, { dtype, device }).reshape(shape);
  const time = 0.8;
  // Free motion: the end is the start plus time times velocity, so that the criterion has a plain derivative.
  const endAt = (time: number) => start.map((q, i) => q + time * velocity[i]!);
  const found = (end: number[], acceptances: number[]) =>
    cheesGradient({
      ...{ start: make(start), end: make(end), velocity: make(velocity), acceptances: make(acceptances, [chains]) },
    }).itemSync() as number;

  test("is that of the mean squared change of squared distances, by chances to be accepted", () => {
    const acceptances = Array.from({ length: chains }, (_, c) => (c % 3) / 2);
    const weight = acceptances.reduce((sum, w) => sum + w, 0);
    const meanOf = (x: number[], d: number, weigh: (c: number) => number) =>
      Array.from({ length: chains }, (_, c) => weigh(c) * x[d * chains + c]!).reduce((sum, value) => sum + value, 0);
    const dims = Array.from({ length: dim }, (_, d) => d);
    const before = dims.map((d) => meanOf(start, d, () => 1 / chains));
    const means = dims.map((d) => meanOf(endAt(time), d, (c) => acceptances[c]! / weight));
    const criterion = (time: number) => {
      const end = endAt(time);
      let total = 0;
      for (let c = 0; c < chains; c++) {
        const changes = dims.map((d) => {
          const at = d * chains + c;
          return (end[at]! - means[d]!) ** 2 - (start[at]! - before[d]!) ** 2;
        });
        total += (acceptances[c]! * changes.reduce((sum, change) => sum + change, 0) ** 2) / 4 / weight;
      }
      return total;
    };
    const slope = (criterion(time + 1e-5) - criterion(time - 1e-5)) / 2e-5;
    const gradient = found(endAt(time), acceptances);
    assert.ok(
      Math.abs(gradient - slope) < (dtype === "f64" ? 1e-6 : 1e-3) * Math.abs(slope),
      `${gradient}, not ${slope}`,
    );
  });

  test("knows nothing of ends that diverged, and is 0 where all did", () => {
    const acceptances = Array.from({ length: chains }, (_, c) => (c === 7 ? 0 : 1));
    const astray = endAt(time).map((q, i) => (i % chains === 7 ? Number.NaN : q));
    assert.equal(found(astray, acceptances), found(endAt(time), acceptances));
    assert.notEqual(found(astray, acceptances), 0);
    assert.equal(found(endAt(time), new Array<number>(chains).fill(0)), 0);
  });
}

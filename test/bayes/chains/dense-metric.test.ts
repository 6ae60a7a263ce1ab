/** A dense metric as a chain factors it for itself: right where there is a factor, of variances where rounding has left none. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { ChainSettings } from "../../../src/bayes/chains/chain-settings.js";
import { NutsChains } from "../../../src/bayes/chains/nuts-chains.js";
import { model, normal } from "../../../src/bayes/index.js";
import { densityOf } from "../../../src/bayes/kernels/density.js";
import { INTS, PHASE } from "../../../src/bayes/kernels/layout.js";
import { NUTS } from "../../../src/bayes/kernels/nuts/trajectories.js";
import { setDefaultDevice, type Tensor, tensor } from "../../../src/tensor/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

before(() => setDefaultDevice("cpu"));

const CHAINS = 3;
const DIM = 3;

/** Metric and factor of each of the chains, which were given a metric each to factor before they make a draw. */
async function factored(device: string, metrics: readonly (readonly number[])[]) {
  const settings: ChainSettings = {
    ...{
      trajectories: NUTS,
      steps: null,
      adaptation: "none",
      warmup: 0,
      together: 1,
      seed: 5,
      stepSize: 0.1,
      lanes: 1,
    },
    ...{ maxTreeDepth: 5, energyDType: "f32", isDense: true, targetAcceptance: 0.8, initRadius: 2, metric: null },
    chains: CHAINS,
    inits: new Array<number>(CHAINS * DIM).fill(0.5),
  };
  const posterior = model(() => ({ x: normal(0, 1).shape(DIM) })).given({});
  const chains = new NutsChains(densityOf(posterior, "f32", device), settings);
  try {
    for await (const { failed } of chains.advance(1, 0)) assert.deepEqual(failed, []);
    const saved = await chains.saved();
    const numbers = (name: string) => new Float32Array(Uint8Array.from(saved.buffers[name]!).buffer);
    const ints = new Int32Array(Uint8Array.from(saved.buffers.ints!).buffer);
    const set = (name: (typeof INTS)[number], value: number) =>
      ints.fill(value, INTS.indexOf(name) * CHAINS, (INTS.indexOf(name) + 1) * CHAINS);
    set("phase", PHASE.factor);
    set("leaf", 0);
    const metric = numbers("metric");
    metrics.forEach((each, chain) => {
      each.forEach((value, element) => {
        metric[element * CHAINS + chain] = value;
      });
    });
    const bytes = (values: Int32Array | Float32Array) => new Uint8Array(values.buffer);
    chains.restore({ ...saved, buffers: { ...saved.buffers, ints: bytes(ints), metric: bytes(metric) } }, 0);
    for await (const { failed } of chains.advance(2, 1)) assert.deepEqual(failed, []);
    const { buffers } = await chains.saved();
    const matricesOf = (name: string) => {
      const all = new Float32Array(Uint8Array.from(buffers[name]!).buffer);
      return metrics.map((_, chain) => Array.from({ length: DIM * DIM }, (_, e) => all[e * CHAINS + chain]!));
    };
    return { metrics: matricesOf("metric"), factors: matricesOf("factor") };
  } finally {
    chains.dispose();
  }
}

/** Factors within some units in the last place: a GPU's square root and division may be off by two and a half. */
function expectRoots(found: readonly (readonly number[])[], expected: readonly (readonly number[])[]): void {
  found.forEach((factor, which) => {
    factor.forEach((x, at) => {
      const wanted = expected[which]![at]!;
      assert.ok(Math.abs(x - wanted) <= 2e-6, `factor ${which}, element ${at}: ${x}, not ${wanted}`);
    });
  });
}

describeOnTensorDevices("a chain that factors its dense metric", (device) => {
  const healthy = [4, 2, -2, 2, 10, 2, -2, 2, 6];
  const root = [2, 0, 0, 1, 3, 0, -1, 1, 2];

  test("finds the lower triangle whose square it is", async () => {
    const { metrics, factors } = await factored(device, [healthy, healthy.map((x) => 4 * x), healthy]);
    assert.deepEqual(metrics, [healthy, healthy.map((x) => 4 * x), healthy]);
    expectRoots(factors, [root, root.map((x) => 2 * x), root]);
  });

  test("takes its variances where none is left by rounding, or where a number is none", async () => {
    // The second differs from the first by a little less than f32 can tell from rounding.
    const singular = [1e6, 1e6, 1e6, 1e6, 1e6 + 0.125, 1e6, 1e6, 1e6, 1e6 + 0.125];
    const broken = [4, 2, Number.NaN, 2, 9, 2, Number.NaN, 2, 16];
    const { metrics, factors } = await factored(device, [singular, broken, healthy]);
    assert.deepEqual(metrics[0], [1e6, 0, 0, 0, 1e6 + 0.125, 0, 0, 0, 1e6 + 0.125]);
    assert.deepEqual(factors[0]!.map(Math.round), [1000, 0, 0, 0, 1000, 0, 0, 0, 1000]);
    assert.deepEqual(metrics[1], [4, 0, 0, 0, 9, 0, 0, 0, 16]);
    expectRoots([factors[1]!], [[2, 0, 0, 0, 3, 0, 0, 0, 4]]);
    // A neighbour has its own.
    assert.deepEqual(metrics[2], healthy);
    expectRoots([factors[2]!], [root]);
  });

  test("goes on where the target is thinner than f32 can tell", async () => {
    const posterior = model(({ zero }: { zero: Tensor }) => {
      const a = normal(zero, 1000);
      return { a, x: normal(a, 0.001).shape(20) };
    }).given({}, { zero: tensor(0, { dtype: "f32", device }) });
    const fit = await posterior.sample({ chains: 4, draws: 20, warmup: 500, seed: 1, metric: "dense" });
    assert.ok(fit.draws.scalar("a").values.every(Number.isFinite));
  });
});

/**
 * The time of trajectories that ChEES finds, against the best one of normal targets, for which the criterion has a closed form:
 * along a direction of variance λ the squared distance from the mean has autocorrelation cos²(t/√λ).
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type Fit, model, normal } from "../../../src/bayes/index.js";
import { RUN_REALS } from "../../../src/bayes/kernels/layout.js";
import type { SampledTarget } from "../../../src/bayes/target/target.js";
import { setDefaultDevice } from "../../../src/tensor/index.js";
import { f64 } from "../../support/tensors.js";
import { sampled, savedNumbers } from "./support.js";

before(() => setDefaultDevice("cpu"));

/**
 * The least time T at which Σ λ² sin²(t/√λ) no longer grows, on average over trajectories of ⌈uT/ε⌉ steps of ε. The variances
 * are those under the metric; steps of ε turn a direction by arccos(1 - ε²/2λ).
 */
function bestTime(variances: readonly number[], stepSize: number): number {
  const growth = (steps: number) => {
    const slopes = variances.map((variance) => {
      const angle = Math.acos(1 - stepSize ** 2 / (2 * variance));
      return variance ** 1.5 * Math.sin(2 * steps * angle);
    });
    return steps * stepSize * slopes.reduce((sum, slope) => sum + slope, 0);
  };
  const average = (time: number) => {
    const whole = Math.floor(time / stepSize);
    const full = Array.from({ length: whole }, (_, n) => growth(n + 1)).reduce((sum, slope) => sum + slope, 0);
    return (stepSize * full + (time - whole * stepSize) * growth(whole + 1)) / time;
  };
  let time = stepSize / 10;
  while (average(time) > 0) time *= 1.001;
  return time;
}

/** The step size, the time of which trajectories have a share, and the longest one that was taken. */
async function foundBy(fit: Fit): Promise<Readonly<Record<"stepSize" | "time" | "longest", number>>> {
  const stepSize = fit.draws.stat("stepSize")!.values[0]!;
  const most = fit.draws.stat("leapfrogs")!.values.reduce((a, b) => Math.max(a, b));
  const wishes = await savedNumbers(fit, "wishes");
  return { stepSize, time: wishes[RUN_REALS.indexOf("trajectory")]!, longest: most * stepSize };
}

interface Settings {
  readonly chains?: number;
  readonly warmup?: number;
  /** The least share of the best time that will do. */
  readonly least?: number;
}

/** `variancesIn`: of the target along its axes, in units of a metric. */
async function expectBest(
  target: SampledTarget,
  variancesIn: (metric: readonly number[]) => readonly number[],
  { chains = 64, warmup = 300, least = 0.67 }: Settings,
): Promise<void> {
  for (const seed of [1, 2, 3, 4]) {
    const settings = { kernel: "chees", chains, warmup, seed, draws: 64, dtype: "f64", device: "cpu" } as const;
    const fit = await sampled(target, settings);
    const { stepSize, time, longest } = await foundBy(fit);
    const metric = [...(await savedNumbers(fit, "metric"))].filter((_, at) => at % chains === 0);
    const best = bestTime(variancesIn(metric), stepSize);
    const what = `seed ${seed}: a time of ${time}, the longest ${longest}; the best is ${best} with steps of ${stepSize}`;
    // Beyond 1.7 times the best one the criterion grows again.
    assert.ok(time > least * best && time < 1.5 * best, what);
    assert.ok(longest < time + stepSize, what);
  }
}

test("the best time for a normal target, in small steps, is where tan 2T = 2T", () => {
  const best = bestTime([1, 1], 0.001);
  assert.ok(Math.abs(Math.tan(2 * best) / (2 * best) - 1) < 0.05 && best > 2 && best < 2.5, `${best}`);
  assert.ok(Math.abs(bestTime([9], 0.001) / best - 3) < 0.01);
});

describe("ChEES finds the time", () => {
  const independent = (scales: readonly number[]) => (metric: readonly number[]) =>
    scales.map((scale, d) => scale ** 2 / metric[d]!);

  for (const dim of [2, 10, 100])
    for (const warmup of [150, 300, 2000]) {
      test(`of ${dim} standard normal numbers in ${warmup} draws`, async () => {
        const target = model(() => ({ x: normal(0, 1).shape(dim) })).given({});
        await expectBest(target, independent(new Array<number>(dim).fill(1)), { warmup });
      });
    }

  for (const warmup of [100, 150, 300, 1000]) {
    test(`of normal numbers of different scales, in the metric that it finds in ${warmup} draws`, async () => {
      const scales = [0.1, 0.5, 1, 4, 10, 10];
      const target = model(() => ({ x: normal(3, f64(scales)) })).given({});
      // A hundred draws are too few to find out about 10 in steps of 0.1: the time may be short then, but never too long.
      await expectBest(target, independent(scales), { warmup, least: warmup === 100 ? 0 : 0.67 });
    });
  }

  for (const warmup of [150, 300, 1000]) {
    test(`of a pair that is so correlated that a diagonal metric leaves it long and narrow, in ${warmup} draws`, async () => {
      const rho = 0.95;
      const target = model(() => {
        const x = normal(0, 1);
        return { x, y: normal(x.mul(rho), Math.sqrt(1 - rho * rho)) };
      }).given({});
      const variances = ([a, b]: readonly number[]) => {
        const [trace, determinant] = [1 / a! + 1 / b!, (1 - rho * rho) / (a! * b!)];
        const root = Math.sqrt(trace ** 2 / 4 - determinant);
        return [trace / 2 + root, trace / 2 - root];
      };
      await expectBest(target, variances, { warmup });
    });
  }

  test("by few chains in a long warmup", async () => {
    const target = model(() => ({ x: normal(0, 1).shape(10) })).given({});
    for (const chains of [4, 8])
      await expectBest(target, independent(new Array<number>(10).fill(1)), { chains, warmup: 1000 });
  });
});

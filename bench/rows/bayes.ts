/**
 * Effective draws per second: the least bulk effective sample size of all scalars, over the time of a whole run with its
 * warmup, once the kernel is compiled and the GPU's clock is up. The same models, data and numbers of draws as
 * bench/peers/bayes.py gives NumPyro. The time from nothing to a first draw. And of the CPU engine gradients per second of a
 * core, and the time of a gradient of one chain, beside those of Stan (bench/peers/rstan.R).
 */
import { Sampler } from "../../src/bayes/chains/sampler.js";
import { samplingOf } from "../../src/bayes/chains/sampling.js";
import { leastEss } from "../../src/bayes/diagnostics/effective-sample-size.js";
import { full, zeros } from "../../src/index.js";
import { type PosteriorName, posteriors } from "../bayes-models.js";
import { type Context, repeat } from "../harness.js";
import { runProgram } from "../programs.js";
import type { Row, Target } from "../row.js";
import { stanData, stanModels } from "../stan-models.js";
import { median } from "../statistics.js";
import type { TensorContext } from "../tensor-work.js";
import { withCacheFolders } from "./start.js";

const DRAWS = 500;

/** NumPyro on the GPU and on the processor's cores, doing as many chains, or as many as it can do in time. */
const numpyro = (name: PosteriorName, chains: number, onCores: number | null = chains): Record<string, string> => ({
  numpyro: `numpyro/${name}-${chains}`,
  ...(onCores !== null && { "numpyro cpu": `numpyro-cpu/${name}-${onCores}` }),
});
const bothPlaces = ["numpyro", "numpyro cpu"];

function row(name: PosteriorName, chains: number, targets: readonly Target[], peers = numpyro(name, chains)): Row {
  const draws = chains > 100 ? DRAWS / 2 : 2 * DRAWS;
  return {
    name: `bayes-${name}-${chains}`,
    title: `${name}, ${chains} chains: effective draws per second, warmup included`,
    unit: "ESS/s",
    better: "higher",
    targets,
    peers,
    run: async ({ isSoftware, isQuick, tensors, pace, note }: TensorContext) => {
      const count = isSoftware ? Math.min(chains, 16) : chains;
      if (count < chains) note(`${count} chains on this device`);
      const posterior = posteriors[name](tensors);
      let seed = 0;
      const run = () => posterior.sample({ chains: count, draws, warmup: DRAWS, seed: seed++ });
      const warmUntil = performance.now() + 1000 * pace.warmUp;
      do await run();
      while (performance.now() < warmUntil);
      const [rates, times]: number[][] = [[], []];
      while (rates.length < (isQuick ? 1 : pace.minimum)) {
        // While the host counts effective draws, the GPU's clock falls: another run brings it up.
        if (rates.length > 0) await run();
        const start = performance.now();
        const fit = await run();
        const seconds = (performance.now() - start) / 1000;
        times.push(seconds);
        rates.push(leastEss(fit.draws) / seconds);
      }
      note(`${draws} draws of each chain after ${DRAWS} in ${median(times).toPrecision(3)} s`);
      return rates;
    },
  };
}

// ---------------------------------------------------------------------------------------------- the first draw

/** What first-draw.ts prints. */
interface FirstDraw {
  readonly draw: number;
  readonly sinceStart: number;
  readonly warmed: number;
}

function firstDrawRow(name: PosteriorName, isCold: boolean): Row {
  return {
    name: `bayes-first-${name}-${isCold ? "cold" : "warm"}`,
    title: `${name}, 4 chains: from a posterior to its first draw, caches ${isCold ? "empty" : "filled"}`,
    unit: "ms",
    better: "lower",
    targets: [{ atMost: isCold ? 1500 : 300 }],
    run: (context: Context) =>
      withCacheFolders(isCold, async (environment) => {
        const seen: FirstDraw[] = [];
        const samples = await repeat(context.isQuick ? 1 : 5, async () => {
          seen.push(await runProgram<FirstDraw>("first-draw", [context.tensors, name], environment()));
          return seen.at(-1)!.draw;
        });
        const middle = (of: (one: FirstDraw) => number) => median(seen.slice(1).map(of)).toFixed(0);
        const sinceStart = middle((one) => one.sinceStart);
        const warmed = middle((one) => one.warmed);
        context.note(`${sinceStart} ms after the process started; one with 500 of warmup takes another ${warmed} ms`);
        return samples;
      }),
  };
}

// ---------------------------------------------------------------------------------------------- gradients

/** Leapfrog steps per second that the processor's cores spent, in f64 as Stan's are, warmup included. */
function gradientRow(name: "schools" | "regime", draws: number): Row {
  return {
    name: `cpu-bayes-gradients-${name}`,
    title: `${name}, 64 chains in f64: gradients per second and core, in whole transitions`,
    unit: "gradients/s",
    better: "higher",
    place: "cpu",
    targets: [{ ratio: 0.5, to: ["rstan"] }],
    peers: { rstan: `rstan/${name}-gradients` },
    run: (context) => {
      const posterior = posteriors[name](context.tensors);
      let seed = 0;
      return repeat(context.isQuick ? 1 : 5, async () => {
        const before = process.cpuUsage();
        const options = { chains: 64, draws, warmup: draws, dtype: "f64", seed: seed++ } as const;
        const run = new Sampler(samplingOf(posterior, options)).run(false);
        let leapfrogs = 0;
        for await (const now of run) leapfrogs = now.leapfrogs.reduce((sum, count) => sum + count, 0);
        const { user, system } = process.cpuUsage(before);
        return (1e6 * leapfrogs) / (user + system);
      });
    },
  };
}

/** A gradient of a model of posteriordb in the leapfrog kernel of one chain, by one core's time, beside Stan's program. */
function stanGradientRow(name: string): Row {
  const data = stanData(name);
  return {
    name: `cpu-bayes-gradient-${name.replaceAll("_", "-")}`,
    title: `${name} of posteriordb, one chain in f64: a gradient`,
    unit: "µs",
    better: "lower",
    place: "cpu",
    targets: [{ ratio: 1, to: ["rstan"] }],
    peers: { rstan: `rstan/${name}-gradient` },
    run: async ({ isQuick, tensors }) => {
      const posterior = stanModels[name]!.posterior(data, tensors);
      const point = { dtype: "f64", device: tensors } as const;
      const [q, p] = [full([posterior.dim], 0.1, point), zeros([posterior.dim], point)];
      const timed = async (steps: number) => {
        const before = process.cpuUsage();
        await posterior.leapfrog(q, p, { eps: 1e-300, steps }).logp.data();
        const { user, system } = process.cpuUsage(before);
        return (user + system) / steps;
      };
      // A kernel of other steps is another one: it is compiled in its first run, and well only after a few.
      const warmed = async (steps: number) => Math.min(...(await repeat(3, () => timed(steps))));
      let steps = 100;
      while ((await warmed(steps)) * steps < GRADIENT_MICROSECONDS) steps *= 4;
      return repeat(isQuick ? 1 : 5, () => timed(steps));
    },
  };
}

/** Of processor time in a sample of a gradient row. */
const GRADIENT_MICROSECONDS = 30_000;

export const bayesRows: readonly Row[] = [
  row("schools", 4, [{ ratio: 20, to: bothPlaces }, { atLeast: 3_800 }]),
  row("schools", 4096, [{ ratio: 100, to: ["numpyro"] }, { atLeast: 2_600_000 }], numpyro("schools", 4096, null)),
  row("regime", 4, [{ ratio: 10, to: bothPlaces }, { atLeast: 890 }]),
  // On the processor fewer chains of theirs, as many as the cores do well: so many do not end in minutes there.
  row("regime", 1024, [{ ratio: 100, to: bothPlaces }, { atLeast: 8_900 }], numpyro("regime", 1024, 4)),
  row("logistic", 256, [{ ratio: 10, to: bothPlaces }, { atLeast: 132_000 }], numpyro("logistic", 256, 16)),
  ...(["schools", "regime"] as const).flatMap((name) => [firstDrawRow(name, true), firstDrawRow(name, false)]),
  gradientRow("schools", 500),
  gradientRow("regime", 30),
  // Their data lie beside the repository, and are not part of it.
  ...Object.keys(stanModels)
    .filter((name) => stanData(name) !== null)
    .map(stanGradientRow),
];

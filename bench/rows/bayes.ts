/**
 * Effective draws per second: the least bulk effective sample size of all scalars, over the time of a whole run with its
 * warmup, once the kernel is compiled. The same models, data and numbers of draws as bench/peers/bayes.py gives NumPyro.
 * And of the CPU engine gradients per second of a core, beside those of Stan (bench/peers/rstan.R).
 */
import { Sampler } from "../../src/bayes/chains/sample.js";
import { leastEss } from "../../src/bayes/diagnostics/effective-sample-size.js";
import { tensor } from "../../src/index.js";
import { logistic, regimes, schools } from "../bayes-models.js";
import { repeat } from "../harness.js";
import type { Row, Target } from "../row.js";
import type { TensorContext } from "../tensor-work.js";

/** Numbers between 0 and 1 that Python makes in the same way. */
function unitNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

function normalNumbers(seed: number): () => number {
  const unit = unitNumbers(seed);
  return () => Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit());
}

/** Returns of three regimes, one after another. */
function returns(): { readonly y: number[]; readonly previous: number[] } {
  const random = normalNumbers(7);
  const all = [0];
  for (let t = 0; t < 200; t++) {
    const z = random();
    const before = all[t]!;
    const next = [0.045 * z, 0.009 + 0.0075 * z, 0.025 + 0.82 * (before - 0.025) + 0.0063 * z];
    all.push(next[Math.floor(t / 20) % 3]!);
  }
  return { y: all.slice(1), previous: all.slice(0, -1) };
}

function design(): { readonly x: number[][]; readonly y: number[] } {
  const [random, unit] = [normalNumbers(11), unitNumbers(13)];
  const x = Array.from({ length: 5000 }, () => Array.from({ length: 20 }, random));
  const y = x.map((row) => {
    const eta = row.reduce((sum, value, j) => sum + value * 0.2 * Math.sin(j), 0);
    return unit() < 1 / (1 + Math.exp(-eta)) ? 1 : 0;
  });
  return { x, y };
}

/** Posteriors with their data on a device. */
const posteriors = {
  schools: (device: string) =>
    schools.given(
      { y: tensor([28, 8, -3, 7, -1, 1, 18, 12], { device }) },
      { s: tensor([15, 10, 16, 11, 9, 11, 10, 18], { device }) },
    ),
  regime: (device: string) => {
    const { y, previous } = returns();
    return regimes.given({ y: tensor(y, { device }) }, { previous: tensor(previous, { device }) });
  },
  logistic: (device: string) => {
    const { x, y } = design();
    return logistic.given({ y: tensor(y, { device }) }, { x: tensor(x, { device }) });
  },
};

const DRAWS = 500;

function row(name: keyof typeof posteriors, chains: number, targets: readonly Target[]): Row {
  const draws = chains > 100 ? DRAWS / 2 : 2 * DRAWS;
  return {
    name: `bayes-${name}-${chains}`,
    title: `${name}, ${chains} chains: effective draws per second, warmup included`,
    unit: "ESS/s",
    better: "higher",
    targets,
    peers: { numpyro: `numpyro/${name}-${chains}` },
    run: async (context: TensorContext) => {
      const count = context.isSoftware ? Math.min(chains, 16) : chains;
      if (count < chains) context.note(`${count} chains on this device`);
      const posterior = posteriors[name](context.tensors);
      let seed = 0;
      return repeat(context.isQuick ? 1 : 3, async () => {
        const start = performance.now();
        const fit = await posterior.sample({ chains: count, draws, warmup: DRAWS, seed: seed++ });
        const seconds = (performance.now() - start) / 1000;
        return leastEss(fit.draws) / seconds;
      });
    },
  };
}

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
        const run = new Sampler(posterior, { chains: 64, draws, warmup: draws, dtype: "f64", seed: seed++ }).run(false);
        let leapfrogs = 0;
        for await (const now of run) leapfrogs = now.leapfrogs.reduce((sum, count) => sum + count, 0);
        const { user, system } = process.cpuUsage(before);
        return (1e6 * leapfrogs) / (user + system);
      });
    },
  };
}

export const bayesRows: readonly Row[] = [
  row("schools", 4, [{ ratio: 20, to: ["numpyro"] }, { atLeast: 3_800 }]),
  row("schools", 4096, [{ ratio: 100, to: ["numpyro"] }, { atLeast: 2_600_000 }]),
  row("regime", 4, [{ ratio: 10, to: ["numpyro"] }, { atLeast: 890 }]),
  row("regime", 1024, [{ atLeast: 8_900 }]),
  row("logistic", 256, [{ ratio: 10, to: ["numpyro"] }, { atLeast: 132_000 }]),
  gradientRow("schools", 500),
  gradientRow("regime", 30),
];

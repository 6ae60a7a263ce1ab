/**
 * The comments of a Stan CSV file, which readers take their settings from: rstan's `read_stan_csv` wants to know the metric,
 * where the adaptation ended and how long it all took, as CmdStan says it. Written by stan-csv.ts.
 */
import type { Draws } from "../draws/draws.js";

/** Options of a run that the comments mention; those left out have Stan's defaults. */
interface RunSettings {
  readonly warmup: number;
  readonly seed: number;
  readonly kernel?: "nuts" | "hmc" | "chees";
  readonly metric?: "diagonal" | "dense";
  readonly targetAcceptance?: number;
  readonly stepSize?: number;
}

/** Facts about a run besides its draws. A fit knows them, draws from elsewhere do not. */
export interface RunFacts {
  readonly options: RunSettings;
  /** By chain: variances, or the rows of a covariance. */
  readonly inverseMasses: readonly Float64Array[];
  /** Seconds of all chains together. */
  readonly seconds: { readonly warmup: number; readonly sampling: number };
}

const commented = (lines: readonly string[]): string => lines.map((line) => `# ${line}\n`).join("");

/** The head of a chain's file: how many draws there are, and that none of them is of the warmup. */
export function settingsComment(draws: Draws, chain: number, model: string, facts?: RunFacts): string {
  const {
    warmup = 0,
    kernel = "nuts",
    metric = "diagonal",
    targetAcceptance = 0.8,
    stepSize = 1,
    seed,
  } = facts?.options ?? {};
  const depth = draws.maxTreeDepth === undefined ? [] : [`            max_depth = ${draws.maxTreeDepth}`];
  const adapt = [
    "    adapt",
    `      engaged = ${warmup > 0 ? 1 : 0}`,
    "      gamma = 0.05",
    `      delta = ${targetAcceptance}`,
    "      kappa = 0.75",
    "      t0 = 10",
  ];
  return commented([
    "stan_version_major = 2",
    "stan_version_minor = 35",
    "stan_version_patch = 0",
    `model = ${model}`,
    "written by pumice, in the layout of that version of Stan",
    "method = sample (Default)",
    "  sample",
    `    num_samples = ${draws.length}`,
    `    num_warmup = ${warmup}`,
    "    save_warmup = 0",
    "    thin = 1",
    ...(facts ? adapt : []),
    "    algorithm = hmc (Default)",
    "      hmc",
    ...(kernel === "nuts"
      ? ["        engine = nuts (Default)", "          nuts", ...depth]
      : ["        engine = static"]),
    `        metric = ${metric === "dense" ? "dense_e" : "diag_e"}`,
    `        stepsize = ${stepSize}`,
    `id = ${chain + 1}`,
    ...(seed === undefined ? [] : ["random", `  seed = ${seed}`]),
  ]);
}

/** The results of the warmup, before the first draw. */
export function adaptationComment(stepSize: number, chain: number, facts?: RunFacts): string {
  const found = ["Adaptation terminated", `Step size = ${stepSize}`];
  if (!facts) return commented(found);
  const masses = Array.from(facts.inverseMasses[chain]);
  if (facts.options.metric !== "dense") {
    return commented([...found, "Diagonal elements of inverse mass matrix:", masses.join(", ")]);
  }
  const size = Math.sqrt(masses.length);
  const rows = Array.from({ length: size }, (_, row) => masses.slice(row * size, (row + 1) * size).join(", "));
  return commented([...found, "Elements of inverse mass matrix:", ...rows]);
}

/** The last lines. */
export function timeComment({ seconds: { warmup, sampling } }: RunFacts): string {
  return commented([
    "",
    ` Elapsed Time: ${warmup.toFixed(3)} seconds (Warm-up)`,
    `               ${sampling.toFixed(3)} seconds (Sampling)`,
    `               ${(warmup + sampling).toFixed(3)} seconds (Total)`,
    "",
  ]);
}

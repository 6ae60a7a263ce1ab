/** The options of `posterior.sample`: their defaults, and the checks before anything runs. */
import { checkChoice, checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import {
  type RunOptions as AnyRunOptions,
  checkPositive,
  checkRunOptions,
  RUN_OPTION_KINDS,
} from "../../runs/options.js";
import { Tensor } from "../../tensor/index.js";
import { type FreeNumbers, freeNumbersOf, UNCONSTRAIN } from "../target/free-numbers.js";
import type { FloatDType } from "../target/target.js";

/** Effective sample sizes to reach: at least one of them. */
export interface EssGoal {
  readonly essBulk?: number;
  readonly essTail?: number;
}

/** Options of one run, not of its chains: when it ends, progress, and where it is saved. */
export interface RunOptions extends AnyRunOptions {
  /** Ends the run early; what was drawn by then is returned. */
  readonly signal?: AbortSignal;
  /**
   * Ends the run when every scalar that varies has these effective sample sizes, of its bulk, its tails or both; `draws` is
   * then the most.
   */
  readonly until?: EssGoal;
  /** Draws a line of progress on the terminal; where there is none, a line every ten seconds and one at the end, to stderr. */
  readonly progress?: boolean;
  /**
   * A file in which the run is saved now and then, so that `posterior.resume` can go on should it be killed. Where none can be
   * written, the run is refused; where that fails later, it goes on, with a warning, and tries again the next time.
   */
  readonly checkpoint?: string;
  /** Seconds between such: 60 unless told. */
  readonly checkpointSeconds?: number;
}

/** The options of `resume`, for the runs to come. */
export type ResumeOptions = Omit<RunOptions, "until">;

/** Options of `posterior.sample`. */
export interface SampleOptions extends RunOptions {
  /** 4 unless told. */
  readonly chains?: number;
  /** Per chain, after the warmup: 1000 unless told. */
  readonly draws?: number;
  /** Draws of each chain that adapt step size and metric and are not kept: 1000 unless told. */
  readonly warmup?: number;
  /** A whole number. The same seed gives the same draws on the same device, to the last bit. */
  readonly seed?: number;
  /** The dtype; that of the data unless told. */
  readonly dtype?: FloatDType;
  /** The device to sample on: that of the data unless told. Data on other devices are copied there. */
  readonly device?: string;
  /**
   * nuts: trajectories end where they turn; unless told. hmc: they have `steps` steps on average. chees: all take a random
   * share of a time that is adapted to the target, which suits many chains side by side; its adaptation is always pooled.
   */
  readonly kernel?: "nuts" | "hmc" | "chees";
  /**
   * Leapfrog steps of a trajectory of hmc on average: 16 unless told. Each has from 1 to twice as many, drawn at random, since
   * trajectories of one length return to where they began on some targets.
   */
  readonly steps?: number;
  /**
   * Whether chains share one step size and one metric, adapted to all of them together; otherwise each has its own: unless
   * told, but with chees. With hundreds of chains a warmup of 100 draws is then enough.
   */
  readonly pooled?: boolean;
  /** The mean acceptance that the step size is adapted to: 0.8 unless told. Higher takes smaller steps. */
  readonly targetAcceptance?: number;
  /** Doublings of a trajectory of nuts, at most: 10 unless told. */
  readonly maxTreeDepth?: number;
  /** The covariances that the metric adapts to: "diagonal" unless told. */
  readonly metric?: "diagonal" | "dense";
  /** The step size to begin with, or, without a warmup, to keep. */
  readonly stepSize?: number;
  /** Starting points as free numbers, [chains, dim]; uniform between -2 and 2 unless told. */
  readonly inits?: Tensor | readonly FreeNumbers[];
  /**
   * The number of groups of consecutive chains that start at one point each. The summary then has nested R-hat, which tells
   * whether many short chains agree where R-hat cannot. Chosen by itself for 32 chains or more of at most 250 draws; 1 is none.
   */
  readonly superchains?: number;
  /** The dtype of energies and adaptation: f64 where the device has it. */
  readonly energies?: FloatDType;
  /** Threads that share a chain, a power of two: chosen by `lanesFor` unless told. 1 on the CPU. */
  readonly lanes?: number;
}

/** The options of a run, with the defaults filled in. */
export type FilledOptions = SampleOptions &
  Required<Pick<SampleOptions, "chains" | "draws" | "warmup" | "seed" | "dtype" | "superchains">>;

/** Every option, and what it may be. */
const RUN_KINDS: OptionKinds<RunOptions> = { until: "any", ...RUN_OPTION_KINDS };
const KINDS: OptionKinds<SampleOptions> = {
  chains: "number",
  draws: "number",
  warmup: "number",
  seed: "number",
  dtype: "any",
  device: "text",
  kernel: "any",
  steps: "number",
  pooled: "flag",
  targetAcceptance: "number",
  maxTreeDepth: "number",
  metric: "any",
  stepSize: "number",
  inits: "any",
  superchains: "number",
  energies: "any",
  lanes: "number",
  ...RUN_KINDS,
};
const FLOATS = ["f32", "f64"];
/** Options that are one of some words. */
const CHOICES = { dtype: FLOATS, kernel: ["nuts", "hmc", "chees"], metric: ["diagonal", "dense"], energies: FLOATS };

/**
 * Superchains are chosen for at least so many chains, of at most so many draws; their most and least number, and draws of each.
 */
const MANY_CHAINS = 32;
const SHORT = 250;
const MAX_SUPERCHAINS = 16;
const LEAST_SUPERCHAINS = 4;
const SUPERCHAIN_DRAWS = 500;

/** As many as divide the chains and have enough draws each for nested R-hat to come near 1; 1 where it is not needed. */
function superchainsFor(chains: number, draws: number): number {
  if (chains < MANY_CHAINS || draws > SHORT) return 1;
  for (let count = MAX_SUPERCHAINS; count >= LEAST_SUPERCHAINS; count--) {
    if (chains % count === 0 && (chains / count) * draws >= SUPERCHAIN_DRAWS) return count;
  }
  return 1;
}

export function filledOptions(given: SampleOptions, dtype: FloatDType): FilledOptions {
  checkOptions("sample", given, KINDS);
  const { chains = 4, draws = 1000 } = given;
  const options: FilledOptions = {
    ...given,
    chains,
    draws,
    warmup: given.warmup ?? 1000,
    seed: given.seed ?? 0,
    dtype: given.dtype ?? dtype,
    maxTreeDepth: given.maxTreeDepth ?? (given.kernel === undefined || given.kernel === "nuts" ? 10 : undefined),
    superchains: given.superchains ?? (given.inits ? 1 : superchainsFor(chains, draws)),
  };
  check(options);
  return options;
}

function refuse(operation: string, name: string, value: unknown, what: string): never {
  throw new ArgumentError(`${operation}: ${name} is ${shown(value)}; it is ${what}.`);
}

/** Throws on what `extend` and `resume` cannot be told; returns it with `own`, what holds unless told. */
export function checkedRunOptions(
  operation: "extend" | "resume",
  options: RunOptions,
  own: RunOptions = {},
): RunOptions {
  const { until: _, ...forResume } = RUN_KINDS;
  checkOptions(operation, options, operation === "extend" ? RUN_KINDS : (forResume as typeof RUN_KINDS));
  const all = { ...own, ...options };
  checkRun(operation, all);
  return all;
}

function checkGoal(operation: string, until: EssGoal): void {
  if (typeof until !== "object" || until === null) {
    refuse(operation, "until", until, "{ essBulk: … }, { essTail: … } or both");
  }
  checkOptions(`${operation}, until`, until, { essBulk: "number", essTail: "number" });
  const { essBulk, essTail } = until;
  if (essBulk === undefined && essTail === undefined) {
    throw new ArgumentError(`${operation}: until says nothing; write { essBulk: 400 }, { essTail: 400 } or both.`);
  }
  checkPositive(operation, "until.essBulk", essBulk);
  checkPositive(operation, "until.essTail", essTail);
}

function checkRun(operation: string, options: RunOptions): void {
  if (options.until !== undefined) checkGoal(operation, options.until);
  checkRunOptions(operation, options, "run.fit");
}

/** A table on the device says of each draw of the warmup what it adapts: 64 MiB of it, a thousand times what anybody needs. */
const MOST_WARMUP = 2 ** 24;

function check(options: FilledOptions): void {
  const refused = (name: string, value: unknown, what: string): never => refuse("sample", name, value, what);
  for (const [name, words] of Object.entries(CHOICES)) {
    checkChoice("sample", name, options[name as keyof typeof CHOICES], words);
  }
  const count = (
    name: "chains" | "draws" | "warmup" | "maxTreeDepth" | "lanes" | "steps",
    least: number,
    most: number,
  ) => {
    const value = options[name];
    if (value === undefined || (Number.isSafeInteger(value) && value >= least && value <= most)) return;
    refused(name, value, `a whole number from ${least} to ${most}`);
  };
  const most = 2 ** 31 - 1;
  count("chains", 1, most);
  count("draws", 1, most);
  count("warmup", 0, MOST_WARMUP);
  count("maxTreeDepth", 1, 24);
  count("lanes", 1, 1024);
  count("steps", 1, 2 ** 20);
  checkPositive("sample", "stepSize", options.stepSize);
  const { chains, warmup, seed, kernel = "nuts", superchains, targetAcceptance = 0.8, lanes = 1 } = options;
  const { steps, maxTreeDepth, pooled } = options;
  if (!Number.isInteger(Math.log2(lanes))) refused("lanes", lanes, "a power of two");
  if (steps !== undefined && kernel !== "hmc") {
    refused("steps", steps, `for { kernel: "hmc" }; trajectories of ${kernel} find their own length`);
  }
  if (maxTreeDepth !== undefined && kernel !== "nuts") {
    refused("maxTreeDepth", maxTreeDepth, `for { kernel: "nuts" }; trajectories of ${kernel} do not double`);
  }
  if (!Number.isSafeInteger(seed)) refused("seed", seed, "a whole number between -2^53 and 2^53");
  if (!(targetAcceptance > 0 && targetAcceptance < 1)) refused("targetAcceptance", targetAcceptance, "between 0 and 1");
  if (!Number.isSafeInteger(superchains) || superchains < 1 || chains % superchains) {
    refused("superchains", superchains, `a number of groups of equal size, which divides the ${chains} chains`);
  }
  checkRun("sample", options);
  if (kernel !== "chees") return;
  if (pooled === false) refused("pooled", pooled, "true with chees, whose trajectories are as long in all chains");
  if (chains === 1) refused("chains", chains, "2 or more with chees, which looks at how they differ");
  if (warmup === 0) {
    throw new ArgumentError("sample: chees needs a warmup, in which it finds how long trajectories are to be.");
  }
}

/** Starting points by chain, one after the other; null where none are given. */
export function initsOf({ inits, chains, superchains }: FilledOptions, dim: number): Float64Array | null {
  if (inits === undefined) return null;
  const given: unknown = inits instanceof Tensor ? inits.arraySync() : inits;
  const rows = Array.isArray(given) ? given.map(freeNumbersOf) : [];
  if (rows.length !== chains || !rows.every((row) => row?.length === dim)) {
    throw new ArgumentError(
      `sample: inits are ${chains} chains × ${dim} free numbers: a list of so long lists, or a tensor; ${UNCONSTRAIN}.`,
    );
  }
  const flat = Float64Array.from((rows as number[][]).flat());
  const bad = flat.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) {
    throw new ArgumentError(
      `sample: inits[${Math.floor(bad / dim)}][${bad % dim}] is ${flat[bad]}; it is a finite number.`,
    );
  }
  const size = chains / superchains;
  const isAlike = flat.every((value, i) => value === flat[i - (i % (size * dim)) + (i % dim)]);
  if (superchains > 1 && !isAlike) {
    throw new ArgumentError(
      `sample: chains of a superchain start at the same point; inits differ within groups of ${size} chains.`,
    );
  }
  return flat;
}

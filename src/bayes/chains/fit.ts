/** The result of sampling: draws with their diagnostics, and the chains, which can go on. */
import { checkString } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Key } from "../../random/key.js";
import { type Check, check } from "../diagnostics/check.js";
import { type Loo, type LooOptions, loo } from "../diagnostics/loo.js";
import { type Summary, summary } from "../diagnostics/summary.js";
import { Draws, type NameFilter } from "../draws/draws.js";
import { saveArviz } from "../export/arviz.js";
import type { InferenceData } from "../export/inference-data.js";
import { type StanCsvOptions, writeStanCsv } from "../export/stan-csv.js";
import type { ReportOptions } from "../report/page.js";
import { report } from "../report/report.js";
import { checkDrawsFit } from "./draws-memory.js";
import { checkedRunOptions, type FilledOptions, type RunOptions } from "./options.js";
import { logLikelihoodOf, predictiveOf } from "./predictions.js";
import { type Progress, SampleRun } from "./run.js";
import type { Sampler } from "./sampler.js";

/** A turn in the queue for the chains, which do one thing at a time. */
interface Turn {
  readonly begins: Promise<void>;
  end(): void;
}

/** `N`: the names of the variables that were drawn; `O`: of those that were observed. */
export class Fit<N extends string = string, O extends string = string> {
  /** The options of the run, with defaults filled in. */
  readonly options: FilledOptions;
  /** The SHA-256 of the sampler's kernel. */
  readonly kernel: string;
  private last: Promise<void> = Promise.resolve();
  private extending: SampleRun<N, O> | null = null;

  /** @internal Made by `posterior.sample`. */
  constructor(
    readonly draws: Draws<N>,
    private readonly sampler: Sampler,
  ) {
    const { options, chains } = sampler.sampling;
    this.options = options;
    this.kernel = chains.address;
  }

  /** The names of what is sampled. */
  private get latents(): readonly string[] {
    return this.sampler.sampling.posterior.latents.map(({ name }) => name);
  }

  /** Means, standard errors, quantiles, effective sample sizes and R-hat of every scalar, or of some. */
  summary(filter?: NameFilter<N>): Summary {
    return summary(this.draws, filter);
  }

  /** In words: what is wrong with the draws, and what to try. */
  check(): Check {
    return check(this.draws, undefined, this.latents);
  }

  /** Writes a page with plots and diagnostics. */
  report(path: string, options: ReportOptions = {}): Promise<void> {
    return report(this.draws, path, options, this.latents);
  }

  /** The log density of every observation at every draw: what `loo` and `compare` look at. */
  logLikelihood(): Promise<Draws<O>> {
    return this.inTurn(() => logLikelihoodOf(this.sampler.sampling, this.draws)) as Promise<Draws<O>>;
  }

  /**
   * The expected log predictive density of observations that the model has not seen, by PSIS-LOO: of all observations, or of
   * those of some observed variables. `compare({ a: await a.loo(), b: await b.loo() })` sets models side by side.
   */
  async loo(only?: O | readonly O[], options: LooOptions = {}): Promise<Loo> {
    const names: readonly O[] | undefined = typeof only === "string" ? [only] : only;
    if (names !== undefined) checkNames(names);
    const all = await this.logLikelihood();
    if (names === undefined) return loo(all, options);
    const some = new Draws({
      chains: all.chains,
      variables: Object.fromEntries(names.map((name) => [name, all.variables.get(name) ?? missing(name, all)])),
    });
    some.append({ values: Object.fromEntries(names.map((name) => [name, all.values(name)])) });
    return loo(some, options);
  }

  /** New observations as the model would make them, one of each observed variable at every draw, in the shape of the data. */
  predictive(key: Key): Promise<Draws<O>> {
    return this.inTurn(() => predictiveOf(this.sampler.sampling, this.draws, key)) as Promise<Draws<O>>;
  }

  /**
   * Draws `count` more from every chain, which go on where they stopped. Like `sample`, it can be awaited or watched, ends at
   * an effective sample size (of all draws), and takes a file for checkpoints. What it is not told is as for the run before:
   * `until` is not, nor is a signal that has been used.
   */
  extend(count: number, options: RunOptions = {}): SampleRun<N, O> {
    const turn = this.nextTurn();
    this.extending = new SampleRun((isWatched) => this.extension(count, options, isWatched, turn), true);
    return this.extending;
  }

  private async *extension(
    count: number,
    given: RunOptions,
    isWatched: boolean,
    turn: Turn,
  ): AsyncGenerator<Progress, Fit<N, O>> {
    try {
      const { signal, progress, checkpoint, checkpointSeconds } = this.options;
      const own = { progress, checkpoint, checkpointSeconds, ...(!signal?.aborted && { signal }) };
      const told = checkedRunOptions("extend", given, own);
      if (!Number.isSafeInteger(count) || count < 0 || count >= 2 ** 31) {
        throw new ArgumentError(`extend: ${shown(count)} draws; it is a whole number from 0 on.`);
      }
      checkDrawsFit("extend", this.sampler.sampling, this.draws.length + count, told.until);
      await turn.begins;
      yield* this.sampler.extend(this.draws, count, told, isWatched);
      return this;
    } finally {
      turn.end();
    }
  }

  /** Writes draws and chains to a file, from which `posterior.resume` goes on. A file of that name is replaced at once. */
  async save(path: string): Promise<void> {
    checkString("save", "the path", path);
    await this.inTurn(() => this.sampler.save(this.draws, path));
  }

  /** Writes a file that `arviz.from_json` reads: the draws, and what else there is, such as `{ posteriorPredictive }`. */
  saveArviz(path: string, more: Omit<InferenceData, "posterior"> = {}): Promise<void> {
    return saveArviz(path, { ...more, posterior: this.draws });
  }

  /**
   * Writes `<prefix>_1.csv`, `<prefix>_2.csv` …, a chain each, as CmdStan does, and returns their paths. ArviZ's `from_cmdstan`
   * and rstan's `read_stan_csv` read them.
   */
  saveStanCsv(prefix: string, options: StanCsvOptions = {}): Promise<string[]> {
    return this.inTurn(async () => writeStanCsv(prefix, this.draws, options, await this.sampler.facts()));
  }

  /**
   * One thing at a time: chains that are extended cannot be saved or extended meanwhile. An extension that somebody waits for
   * goes on by itself, since that may be the one who watches it.
   */
  private nextTurn(): Turn {
    const before = this.extending;
    queueMicrotask(() => void before?.finish());
    const begins = this.last;
    let end = () => {};
    this.last = new Promise((resolve) => {
      end = resolve;
    });
    return { begins, end };
  }

  private async inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.nextTurn();
    try {
      await turn.begins;
      return await task();
    } finally {
      turn.end();
    }
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Fit(${this.draws.chains} chains × ${this.draws.length} draws)\n${this.summary()}`;
  }
}

function checkNames(names: unknown): void {
  if (Array.isArray(names) && names.every((name) => typeof name === "string")) return;
  throw new ArgumentError(
    `loo: takes the name of an observed variable or a list of names first, not ${shown(names)}; without one, ` +
      "options still come second: fit.loo(undefined, { relativeEfficiency: 1 }).",
  );
}

function missing(name: string, { variables }: Draws): never {
  throw new ArgumentError(`loo: ${name} is not observed; there are ${[...variables.keys()].join(", ")}.`);
}

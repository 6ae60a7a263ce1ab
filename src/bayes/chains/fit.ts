/** What sampling returns: draws with their diagnostics, and the chains, which can go on. */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Key } from "../../random/key.js";
import { type Check, check } from "../diagnostics/check.js";
import { type Loo, type LooOptions, loo } from "../diagnostics/loo.js";
import { type Summary, summary } from "../diagnostics/summary.js";
import { Draws, type NameFilter } from "../draws.js";
import type { ReportOptions } from "../report/page.js";
import { report } from "../report/report.js";
import type { SampleOptions } from "./options.js";
import type { Sampler } from "./sample.js";

/** `N`: the names of the variables that were drawn; `O`: of those that were observed. */
export class Fit<N extends string = string, O extends string = string> {
  private last: Promise<unknown> = Promise.resolve();

  /** @internal Made by `posterior.sample`. */
  constructor(
    readonly draws: Draws<N>,
    /** What was asked for, with defaults filled in. */
    readonly options: SampleOptions,
    /** The SHA-256 of the sampler's kernel. */
    readonly kernel: string,
    private readonly sampler: Sampler,
  ) {}

  /** Means, standard errors, quantiles, effective sample sizes and R-hat of every scalar, or of some. */
  summary(filter?: NameFilter<N>): Summary {
    return summary(this.draws, filter);
  }

  /** In words: what is wrong with the draws, and what to try. */
  check(): Check {
    return check(this.draws, undefined, this.sampler.latents);
  }

  /** Writes a page with plots and diagnostics. */
  report(path: string, options: ReportOptions = {}): Promise<void> {
    return report(this.draws, path, options, this.sampler.latents);
  }

  /** The log density of every observation at every draw: what `loo` and `compare` look at. */
  logLikelihood(): Promise<Draws<O>> {
    return this.inTurn(() => this.sampler.logLikelihood(this.draws)) as Promise<Draws<O>>;
  }

  /**
   * How well the model predicts observations it has not seen, by PSIS-LOO: of all observations, or of those of some observed
   * variables. `compare({ a: await a.loo(), b: await b.loo() })` sets models side by side.
   */
  async loo(only?: O | readonly O[], options: LooOptions = {}): Promise<Loo> {
    const all = await this.logLikelihood();
    if (only === undefined) return loo(all, options);
    const names = typeof only === "string" ? [only] : only;
    const some = new Draws({
      chains: all.chains,
      variables: Object.fromEntries(names.map((name) => [name, all.variables.get(name) ?? missing(name, all)])),
    });
    some.append({ values: Object.fromEntries(names.map((name) => [name, all.values(name)])) });
    return loo(some, options);
  }

  /** New observations as the model would make them, one of each observed variable at every draw, in the shape of the data. */
  predictive(key: Key): Promise<Draws<O>> {
    return this.inTurn(() => this.sampler.predictive(this.draws, key)) as Promise<Draws<O>>;
  }

  /**
   * Draws `count` more from every chain, which go on where they stopped. A signal ends it early; that of the run does too,
   * unless it has been used.
   */
  async extend(count: number, options: { readonly signal?: AbortSignal } = {}): Promise<this> {
    checkOptions("extend", options, { signal: "signal" });
    if (!Number.isSafeInteger(count) || count < 0 || count >= 2 ** 31) {
      throw new ArgumentError(`extend: ${count} draws; it is a whole number from 0 on.`);
    }
    await this.inTurn(() => {
      const own = this.options.signal;
      return this.sampler.extend(this.draws, count, options.signal ?? (own?.aborted ? undefined : own));
    });
    return this;
  }

  /** Writes draws and chains to a file, from which `posterior.resume` goes on. A file of that name is replaced at once. */
  save(path: string): Promise<void> {
    return this.inTurn(() => this.sampler.save(this.draws, path));
  }

  /** One thing at a time: chains that are extended cannot be saved or extended meanwhile. */
  private inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = this.last.then(task);
    this.last = done.catch(() => {});
    return done;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Fit(${this.draws.chains} chains × ${this.draws.length} draws)\n${this.summary()}`;
  }
}

function missing(name: string, { variables }: Draws): never {
  throw new ArgumentError(`loo: ${name} is not observed; there are ${[...variables.keys()].join(", ")}.`);
}

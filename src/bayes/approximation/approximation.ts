/**
 * The result of a method that is not a Markov chain: draws, a summary that knows how much they are worth, and warnings in words.
 * `advi`, `pathfinder` and `smc` return kinds of it.
 */
import { Check, check, type Problem } from "../diagnostics/check.js";
import type { SummaryRow } from "../diagnostics/scalar-summary.js";
import { Summary, summary } from "../diagnostics/summary.js";
import type { Chains, Draws, NameFilter } from "../draws/draws.js";

/** An approximation of a posterior: what all of them have, whichever method made them. */
export abstract class Approximation {
  constructor(
    /** One chain of draws, whose order says nothing. */
    readonly draws: Draws,
  ) {}

  /** The effective number of independent draws, for the mean of a scalar. */
  protected abstract effectiveDraws(x: Chains): number;

  /** Problems that the method itself reports, besides those found in the draws. */
  protected abstract doubts(): readonly Problem[];

  /** The text of `check()` where there are no problems. */
  protected abstract praise(): string;

  /**
   * Mean, spread and quantiles of every scalar, or of those a filter names. The effective draws and the standard error
   * are about the noise of drawing: how far the approximation is off, only `check()` can hint at. There is no R-hat.
   */
  summary(filter?: NameFilter): Summary {
    const rows = [...summary(this.draws, filter)].map((row): SummaryRow => {
      const ess = Number.isNaN(row.essBulk) ? Number.NaN : this.effectiveDraws(this.draws.scalar(row.name));
      return { ...row, essBulk: ess, essTail: ess, mcseMean: row.sd / Math.sqrt(ess), rHat: Number.NaN };
    });
    return new Summary(rows, 1, this.draws.length);
  }

  /** Problems and doubts in words, and what to try. */
  check(): Check {
    const shown = check(this.draws, this.summary()).problems.filter(({ kind }) => kind !== "one-chain");
    return new Check([...this.doubts(), ...shown], this.praise());
  }

  toString(): string {
    return `${this.summary()}\n${this.check()}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

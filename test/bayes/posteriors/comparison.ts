/**
 * Draws against reference draws: how far means and mean squares are off, and how many draws the worst scalar is worth. What
 * is not a number is worse than any number, so that neither a parameter that is NaN nor one that never moves gets by.
 */
import type { Draws } from "../../../src/bayes/draws/draws.js";
import { essBulk, mcseMean } from "../../../src/bayes/index.js";
import type { ReferenceDraws } from "../../support/reference-data.js";
import { zOfMean } from "../chains/support.js";
import { worstOf } from "../models/stein.js";

/** The reference calls the first element 1. */
export const ourName = (name: string): string => name.replace(/\d+(?=[\],])/g, (index) => String(Number(index) - 1));

export interface Compared {
  /** The moment that is off the most, in standard errors. */
  readonly worst: { readonly of: string; readonly z: number };
  /** The least effective sample size of what varies in the reference. */
  readonly ess: number;
}

export function compared(draws: Draws, reference: ReferenceDraws): Compared {
  const valuesOf = (name: string) => Float64Array.from(reference.flatMap((chain) => chain[name]!));
  // A constant has no standard error.
  const names = Object.keys(reference[0]!).filter((name) => valuesOf(name).some((x, _, all) => x !== all[0]));
  const scores = names.flatMap((name) =>
    [
      { label: "mean", of: (x: number) => x },
      { label: "mean square", of: (x: number) => x * x },
    ].map(({ label, of }) => {
      const values = valuesOf(name).map(of);
      const expected = values.reduce((sum, x) => sum + x, 0) / values.length;
      const error = mcseMean({ values, chains: reference.length, draws: values.length / reference.length });
      return { of: `${label} of ${name}`, z: zOfMean({ draws }, ourName(name), expected, of, error) };
    }),
  );
  // A minimum with NaN is NaN, and no number of draws is enough for that.
  const ess = Math.min(...names.map((name) => essBulk(draws.scalar(ourName(name)))));
  return { worst: worstOf(scores), ess };
}

/** Complains of what is off by more than four standard errors or worth too few draws. */
export function complaintOf({ worst, ess }: Compared, leastEss: number): string | null {
  if (!(Math.abs(worst.z) <= 4)) return `${worst.of}: ${worst.z} standard errors off`;
  return ess >= leastEss ? null : `an effective sample size of ${ess}`;
}

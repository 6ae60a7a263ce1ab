/** The cases of make-cases.py, with arguments made into what users write. */
import { readFileSync } from "node:fs";
import * as distributions from "../../../src/bayes/distributions/index.js";
import type { RandomVariable } from "../../../src/bayes/variables/variable.js";

type Plain = number | string | readonly Plain[] | { readonly [key: string]: Plain };

export interface Case {
  readonly title: string;
  readonly make: () => RandomVariable;
  /** As written, for tests that put other arguments in their place. */
  readonly args: readonly unknown[];
  readonly x: readonly (number | readonly number[])[];
  readonly logDensity: readonly number[];
  readonly mean?: unknown;
  readonly variance?: unknown;
  readonly bins?: {
    readonly edges: readonly number[];
    readonly probabilities: readonly number[];
    readonly weights?: readonly number[];
  };
}

export type Maker = (...args: unknown[]) => RandomVariable;

const makers = distributions as unknown as Readonly<Record<string, Maker>>;

/** A distribution function by name. */
export function makerOf(name: string): Maker {
  const maker = makers[name];
  if (!maker) throw new Error(`there is no distribution "${name}"`);
  return maker;
}

export const distributionNames: readonly string[] = Object.keys(distributions);

/** Strings of infinite numbers become these, and descriptions of distributions become variables. */
function revived(value: Plain): unknown {
  if (typeof value === "string") return Number(value);
  if (typeof value === "number") return value;
  if (Array.isArray(value)) return value.map(revived);
  const record = value as { readonly [key: string]: Plain };
  if ("distribution" in record) return makerOf(record.distribution as string)(...(revived(record.args!) as unknown[]));
  return Object.fromEntries(Object.entries(record).map(([key, part]) => [key, revived(part)]));
}

const file = new URL("../../../../test/bayes/distributions/cases.json", import.meta.url);
const stored = JSON.parse(readFileSync(file, "utf8")) as Record<string, (Case & { args: Plain[] })[]>;

/** Cases by distribution. */
export const cases: ReadonlyMap<string, readonly Case[]> = new Map(
  Object.entries(stored).map(([name, group]) => [
    name,
    group.map((one, i) => {
      const { args, ...rest } = one;
      const shown = JSON.stringify(args).slice(1, -1);
      return {
        ...(revived(rest as unknown as Plain) as Omit<Case, "title" | "make" | "args">),
        title: `${name}(${shown.length > 60 ? `${shown.slice(0, 60)}…, case ${i}` : shown})`,
        args: args.map(revived),
        make: () => makerOf(name)(...args.map(revived)),
      };
    }),
  ]),
);

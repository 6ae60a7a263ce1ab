/**
 * A benchmark row as data: what is measured, in which unit, against which limit, peers and targets. The rows themselves
 * are under bench/rows, one file per family; main.ts runs them and table.ts shows them. What follows from a row and its
 * samples (ratio, share of the limit, verdict) is decided here, by functions without state.
 */
import type { Context } from "./harness.js";

/** Seconds in one of each unit of time; rates have none. */
const SECONDS = { ns: 1e-9, µs: 1e-6, ms: 1e-3, s: 1 } as const;
/** What one of each unit of rate is per second, in bytes or operations. */
const PER_SECOND = { "GB/s": 1e9, "TFLOP/s": 1e12 } as const;

export type Unit = keyof typeof SECONDS | keyof typeof PER_SECOND | (string & {});

/** The hardware's own bounds, as measured in the same run (ceilings.ts). */
export type Ceiling = "bandwidth" | "flops";

export interface Limit {
  readonly of: Ceiling;
  /** Bytes moved or operations done in one measured run. Rows whose unit is a rate leave it out. */
  work?(context: Context): number;
}

/** A goal for the row's median. */
export type Target =
  | { readonly atMost: number }
  | { readonly atLeast: number }
  /** At least `ratio` times as fast as the best of these peers, named by their labels. */
  | { readonly ratio: number; readonly to: readonly string[] }
  /** At least this part of the row's limit. */
  | { readonly share: number };

export interface Row {
  /** Short, in kebab case: what `--only` matches and later runs compare by. */
  readonly name: string;
  /** One line: what the figure is. */
  readonly title: string;
  readonly unit: Unit;
  readonly better: "lower" | "higher";
  readonly targets?: readonly Target[];
  readonly limit?: Limit;
  /** Label in the table → "package/row" in bench/peers. A peer measures the same work in the same unit. */
  readonly peers?: Readonly<Record<string, string>>;
  /** Rows of the CPU engine: `context.device` and its ceilings are not there. */
  readonly place?: "cpu";
  /** The samples, in the row's unit. */
  run(context: Context): Promise<readonly number[]>;
}

/** How many times as fast we are: above 1, we win. */
export function ratioTo(better: Row["better"], ours: number, theirs: number): number {
  return better === "lower" ? theirs / ours : ours / theirs;
}

/** The part of a ceiling (bytes or operations per second) that a median reaches. */
export function shareOf(ceiling: number, unit: Unit, value: number, work?: number): number {
  if (unit in PER_SECOND) return (value * PER_SECOND[unit as keyof typeof PER_SECOND]) / ceiling;
  const seconds = SECONDS[unit as keyof typeof SECONDS];
  if (seconds === undefined || work === undefined) {
    throw new RangeError(`A limit needs a row in a unit of rate, or of time with \`work\`; this one is in ${unit}.`);
  }
  return work / (value * seconds) / ceiling;
}

/** What is known about a row when its targets are judged. */
export interface Figures {
  readonly value: number;
  readonly share: number | null;
  /** Ratios to the peers that gave a figure, by label. */
  readonly ratios: ReadonlyMap<string, number>;
}

/** Whether a target is met; null when the peers or the limit it speaks of gave no figure. */
export function isMet(target: Target, { value, share, ratios }: Figures): boolean | null {
  if ("atMost" in target) return value <= target.atMost;
  if ("atLeast" in target) return value >= target.atLeast;
  if ("share" in target) return share === null ? null : share >= target.share;
  const found = target.to.map((label) => ratios.get(label)).filter((ratio) => ratio !== undefined);
  return found.length < target.to.length ? null : Math.min(...found) >= target.ratio;
}

/** A target in words. */
export function describeTarget(target: Target, unit: Unit): string {
  if ("atMost" in target) return `≤ ${target.atMost} ${unit}`;
  if ("atLeast" in target) return `≥ ${target.atLeast} ${unit}`;
  if ("share" in target) return `≥ ${Math.round(100 * target.share)} % of limit`;
  return `≥ ${Number(target.ratio.toPrecision(2))}× ${target.to.join(" and ")}`;
}

/** The rows whose name contains one of the patterns; a pattern with `*` must match the whole name. No pattern: all. */
export function selectRows<R extends { readonly name: string }>(rows: readonly R[], patterns: readonly string[]): R[] {
  if (patterns.length === 0) return [...rows];
  const matchers = patterns.map((pattern) => {
    if (!pattern.includes("*")) return (name: string) => name.includes(pattern);
    const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
    const glob = new RegExp(`^${parts.join(".*")}$`);
    return (name: string) => glob.test(name);
  });
  return rows.filter(({ name }) => matchers.some((matches) => matches(name)));
}

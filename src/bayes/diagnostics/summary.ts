/**
 * The table that everyone looks at first: for every scalar its mean, spread and quantiles, and whether to believe them.
 * `fit.summary()`, the report and `check` use this.
 */
import { checkDraws, type Draws, type NameFilter } from "../draws/draws.js";
import type { SummaryRow } from "./scalar-summary.js";
import { summarizeAll } from "./summary-threads.js";
import { alignColumns } from "./table.js";

/** The columns as they are printed: heading, value, and how many digits matter. */
const COLUMNS: readonly (readonly [
  heading: string,
  key: Exclude<keyof SummaryRow, "name">,
  format: "value" | "count" | "ratio",
])[] = [
  ["mean", "mean", "value"],
  ["sd", "sd", "value"],
  ["mcse_mean", "mcseMean", "value"],
  ["q5", "q5", "value"],
  ["median", "median", "value"],
  ["q95", "q95", "value"],
  ["ess_bulk", "essBulk", "count"],
  ["ess_tail", "essTail", "count"],
  ["rhat", "rHat", "ratio"],
  ["nested_rhat", "nestedRHat", "ratio"],
];

/** The rows, in the order of the draws. Prints as a table. */
export class Summary implements Iterable<SummaryRow> {
  constructor(
    readonly rows: readonly SummaryRow[],
    readonly chains: number,
    readonly draws: number,
  ) {}

  [Symbol.iterator](): Iterator<SummaryRow> {
    return this.rows[Symbol.iterator]();
  }

  /** The row of a scalar, or undefined. */
  get(name: string): SummaryRow | undefined {
    return this.rows.find((row) => row.name === name);
  }

  /** One number of every row, in order: `summary.column("essBulk")`. */
  column(key: Exclude<keyof SummaryRow, "name">): Float64Array {
    return Float64Array.from(this.rows, (row) => row[key] ?? Number.NaN);
  }

  /** Headings and cells as text. */
  cells(): { readonly headings: readonly string[]; readonly rows: readonly (readonly string[])[] } {
    const columns = COLUMNS.filter(([, key]) => this.rows.some((row) => row[key] !== undefined));
    return {
      headings: columns.map(([heading]) => heading),
      rows: this.rows.map((row) => columns.map(([, key, format]) => formatCell(row[key] ?? Number.NaN, format))),
    };
  }

  /** The table, of so many rows at most. */
  toString(most = Infinity): string {
    const { headings, rows } = this.cells();
    const shown = rows.slice(0, most).map((row, i) => [this.rows[i].name, ...row]);
    const rest = rows.length > most ? `… and ${rows.length - most} more; name the variables to see them\n` : "";
    const count = `${this.chains} chain${this.chains === 1 ? "" : "s"} × ${this.draws} draws`;
    return `${alignColumns([["", ...headings], ...shown])}\n${rest}${count}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString(MOST_PRINTED);
  }
}

/** Beyond this many rows, printing stops. */
const MOST_PRINTED = 200;

function formatCell(value: number, format: "value" | "count" | "ratio"): string {
  if (!Number.isFinite(value) || format === "value") return formatValue(value);
  return format === "count" ? value.toFixed(0) : formatRatio(value);
}

/** R-hat; chains that never moved have an infinite one but for rounding. */
export function formatRatio(value: number): string {
  return value < 10 ? value.toFixed(3) : value < 1e6 ? value.toFixed(0) : "∞";
}

/** Three decimals where they show three digits, else three significant digits; what does not exist is a dash. */
export function formatValue(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "-∞";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2);
  return size >= 0.1 ? value.toFixed(size >= 1000 ? 1 : size >= 100 ? 2 : 3) : value.toPrecision(3);
}

/** The summary of the draws, or of the variables a filter names: `summary(draws, "theta")`, `summary(draws, /^beta/)`. */
export function summary(draws: Draws, filter?: NameFilter): Summary {
  checkDraws("summary", draws);
  return new Summary(summarizeAll(draws, draws.match(filter)), draws.chains, draws.length);
}

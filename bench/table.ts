/** Results as text: one line per row, and one more for each further peer; then the remarks and what has no figure. */
import type { PeerResult, Result } from "./results.js";
import type { Summary } from "./statistics.js";

/** Three significant digits; more only where they stand before the point. */
export function formatNumber(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return value.toExponential(2);
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Number(size.toPrecision(3)))));
  return value.toFixed(digits);
}

/** The median, and in parentheses the range of the middle 80 % of the samples. */
export function formatFigure(summary: Summary | null, unit: string): string {
  if (!summary) return "–";
  const { median, p10, p90 } = summary;
  return `${formatNumber(median)} ${unit} (${formatNumber(p10)}–${formatNumber(p90)})`;
}

const HEADER = ["row", "ours", "limit", "peer", "theirs", "ratio", "target", ""];

/** Columns of figures stand to the right. */
const IS_NUMERIC = [false, true, true, false, true, true, false, false];

export function formatTable(results: readonly Result[]): string {
  const lines = [HEADER, ...results.flatMap(linesOf)];
  const widths = HEADER.map((_, column) => Math.max(...lines.map((line) => [...line[column]!].length)));
  const rule = widths.map((width) => "─".repeat(width)).join("──");
  const text = lines.map((line) =>
    line
      .map((cell, column) => {
        const blanks = " ".repeat(widths[column]! - [...cell].length);
        return IS_NUMERIC[column] ? blanks + cell : cell + blanks;
      })
      .join("  ")
      .trimEnd(),
  );
  text.splice(1, 0, rule);
  return text.join("\n");
}

/** The row's own line with its first peer and target; further peers and targets below, the other cells empty. */
function linesOf({ name, unit, summary, share, peers, targets, error }: Result): string[][] {
  const height = Math.max(1, peers.length, targets.length);
  return Array.from({ length: height }, (_, i) => {
    const isFirst = i === 0;
    const target = targets[i];
    return [
      isFirst ? name : "",
      isFirst ? (error ? "failed" : formatFigure(summary, unit)) : "",
      isFirst && share !== null ? `${(100 * share).toFixed(0)} %` : "",
      ...peerCells(peers[i], unit),
      target?.text ?? "",
      target ? verdict(target.met) : "",
    ];
  });
}

function peerCells(peer: PeerResult | undefined, unit: string): [string, string, string] {
  if (!peer) return ["", "", ""];
  const { label, summary, ratio, missing } = peer;
  const theirs = summary ? formatFigure(summary, unit) : missing?.startsWith("absent") ? "absent" : "no figure";
  return [label, theirs, ratio === null ? "" : `${formatNumber(ratio)}×`];
}

const verdict = (met: boolean | null): string => (met === null ? "" : met ? "met" : "MISSED");

/** What the table has no room for: failures, remarks, peers without a figure; each text once, with all it is true of. */
export function formatRemarks(results: readonly Result[]): string {
  const failures = results.flatMap(({ name, error }) => (error ? [`${name}: failed: ${error}`] : []));
  const notes = grouped(results.flatMap(({ name, notes }) => notes.map((note) => [note, name] as const)));
  const missing = results
    .flatMap(({ peers }) => peers)
    .flatMap(({ row, missing: why }) => (why ? [[why, row] as const] : []));
  return [
    ...failures,
    ...notes.map(([note, names]) => `${names.join(", ")}: ${note}`),
    ...grouped(missing).map(([reason, rows]) => `no figure from ${rows.join(", ")}: ${reason}`),
  ].join("\n");
}

/** The distinct values of each key, in order of appearance. */
function grouped(pairs: readonly (readonly [string, string])[]): [string, string[]][] {
  const groups = new Map<string, Set<string>>();
  for (const [key, value] of pairs) groups.set(key, (groups.get(key) ?? new Set()).add(value));
  return [...groups].map(([key, values]) => [key, [...values]]);
}

/** The record of a training: its metrics at the end of each epoch, or at each validation. */
import type { Metrics } from "./meter.js";

/** One line of the record. */
export interface HistoryRecord {
  /** The epoch that was under way or has ended, counted from 1, and the steps that were done. */
  readonly epoch: number;
  readonly step: number;
  /** Means over the epoch, and those of the validation as "validation.loss" … */
  readonly metrics: Metrics;
  /** The factor of the optimiser's rate. */
  readonly rate: number;
  readonly seconds: number;
}

/** Lines that are shown at most. */
const SHOWN = 12;

/** The record as a table; of a long one, its beginning and its end. */
export function historyTable(history: readonly HistoryRecord[]): string {
  const [first] = history;
  if (!first) return "no epoch was completed";
  const names = [...new Set(history.flatMap(({ metrics }) => Object.keys(metrics)))];
  const head = ["epoch", "step", ...names, "s"];
  const row = ({ epoch, step, metrics, seconds }: HistoryRecord): string[] => [
    String(epoch),
    String(step),
    ...names.map((name) => shownNumber(metrics[name])),
    seconds.toFixed(1),
  ];
  const isLong = history.length > SHOWN;
  const rows = (isLong ? [...history.slice(0, 3), ...history.slice(3 - SHOWN)] : history).map(row);
  if (isLong)
    rows.splice(
      3,
      0,
      head.map(() => "…"),
    );
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((cells) => (cells[i] as string).length)));
  return [head, ...rows]
    .map((cells) => cells.map((cell, i) => cell.padStart(widths[i] as number)).join("  "))
    .join("\n");
}

/** A metric with four digits. */
export const shownNumber = (value: number | undefined): string =>
  value === undefined ? "" : Number.isFinite(value) ? String(Number(value.toPrecision(4))) : String(value);

/**
 * Profiles: the times of all commands while a profile was open, as a table per kernel and as a trace for chrome://tracing and
 * Perfetto.
 */
import { writeFileSync } from "node:fs";

export interface ProfileEvent {
  readonly name: string;
  /** Microseconds since the profile's first command. */
  readonly start: number;
  readonly duration: number;
}

interface ProfileRow {
  readonly name: string;
  readonly count: number;
  readonly total: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  /** Part of the time the GPU was busy. */
  readonly share: number;
}

/** The result of `device.profile`. Times are microseconds. */
export class Profile {
  constructor(readonly events: readonly ProfileEvent[]) {}

  get rows(): ProfileRow[] {
    const rows = new Map<string, { name: string; count: number; total: number; min: number; max: number }>();
    for (const { name, duration } of this.events) {
      const row = rows.get(name) ?? { name, count: 0, total: 0, min: duration, max: duration };
      rows.set(name, row);
      row.count++;
      row.total += duration;
      row.min = Math.min(row.min, duration);
      row.max = Math.max(row.max, duration);
    }
    const all = this.events.reduce((sum, event) => sum + event.duration, 0) || 1;
    return [...rows.values()]
      .map((row) => ({ ...row, mean: row.total / row.count, share: row.total / all }))
      .sort((a, b) => b.total - a.total);
  }

  /** One line per kernel, the longest total first. */
  table(): string {
    const cells = this.rows.map((row) => [
      row.name,
      String(row.count),
      row.total.toFixed(1),
      row.mean.toFixed(2),
      row.min.toFixed(2),
      row.max.toFixed(2),
      `${(100 * row.share).toFixed(1)} %`,
    ]);
    const lines = [["kernel", "calls", "total µs", "mean", "min", "max", "share"], ...cells];
    const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length))) ?? [];
    return lines
      .map((line) =>
        line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
      )
      .join("\n");
  }

  /** The Trace Event Format. */
  chromeTrace(): object {
    return {
      displayTimeUnit: "ns",
      traceEvents: [
        { ph: "M", pid: 1, name: "process_name", args: { name: "GPU" } },
        ...this.events.map(({ name, start, duration }) => ({
          ph: "X",
          pid: 1,
          tid: 1,
          name,
          ts: start,
          dur: duration,
        })),
      ],
    };
  }

  save(path: string): void {
    writeFileSync(path, JSON.stringify(this.chromeTrace()));
  }

  toString(): string {
    return this.table();
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.table();
  }
}

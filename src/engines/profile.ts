/**
 * Profiles: the times of all commands while a profile was open, and of compiling what they ran, as a table and as a trace for
 * chrome://tracing and Perfetto.
 */
import { unwritable } from "../files/named-file.js";
import { replaceFileSync } from "../files/replace-file.js";

export interface ProfileEvent {
  readonly name: string;
  /** Microseconds since the profile's first command; of compiling, since the profile began. */
  readonly start: number;
  readonly duration: number;
}

/** The compilers: ours makes kernels of graphs; the engine's, which is the driver's or WebAssembly's, makes them run. */
type Compiler = "pumice" | "engine";

interface CompileEvent extends ProfileEvent {
  readonly by: Compiler;
  /** Microseconds of its own work: our compiler waits for the engine's in between. */
  readonly busy: number;
}

/** A compilation by the host's clock, in milliseconds of performance.now(). */
export interface CompileSpan {
  readonly name: string;
  readonly by: Compiler;
  readonly start: number;
  readonly end: number;
  /** All of it unless told. */
  readonly busy?: number;
}

/** By the host's clock, in milliseconds: when a profile began, and when its first command was recorded, if there was one. */
interface ProfileStart {
  /** The device that ran the commands; names their process in a trace. */
  readonly on: "CPU" | "GPU";
  readonly began: number;
  readonly firstCommand: number | null;
}

interface ProfileRow {
  readonly name: string;
  readonly count: number;
  readonly total: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  /** Part of the time that all kernels took. */
  readonly share: number;
}

/** Spans of compiling, under their name in the table. */
type CompileRow = Omit<ProfileRow, "share"> & { readonly by: Compiler };

const COMPILER_NAMES: Readonly<Record<Compiler, string>> = { pumice: "(compiling)", engine: "(compiling: driver)" };

/** The result of `device.profile`. Times are microseconds. */
export class Profile {
  /** Programs that Pumice compiled, and kernels that the driver, or the WebAssembly engine, did. */
  readonly compilations: readonly CompileEvent[];

  constructor(
    readonly events: readonly ProfileEvent[],
    spans: readonly CompileSpan[] = [],
    private readonly start: ProfileStart = { on: "GPU", began: 0, firstCommand: null },
  ) {
    this.compilations = spans
      .map((span) => ({
        name: span.name,
        by: span.by,
        start: 1000 * (span.start - start.began),
        duration: 1000 * (span.end - span.start),
        busy: 1000 * (span.busy ?? span.end - span.start),
      }))
      .sort((a, b) => a.start - b.start);
  }

  /** @internal The same profile, with compilations that the engine did not see. */
  with(spans: readonly CompileSpan[]): Profile {
    const { began } = this.start;
    const known = this.compilations.map((event) => {
      const start = began + event.start / 1000;
      return { name: event.name, by: event.by, start, end: start + event.duration / 1000, busy: event.busy / 1000 };
    });
    return new Profile(this.events, [...known, ...spans], this.start);
  }

  get rows(): ProfileRow[] {
    const all = this.events.reduce((sum, event) => sum + event.duration, 0) || 1;
    return summed(this.events.map(({ name, duration }) => ({ name, time: duration })))
      .map((row) => ({ ...row, share: row.total / all }))
      .sort((a, b) => b.total - a.total);
  }

  /** One row for each compiler that had something to do. */
  get compileRows(): CompileRow[] {
    return (["pumice", "engine"] as const).flatMap((by) => {
      const own = this.compilations.filter((event) => event.by === by);
      return summed(own.map(({ busy }) => ({ name: COMPILER_NAMES[by], time: busy }))).map((row) => ({ ...row, by }));
    });
  }

  /** One line per kernel, the longest total first; then how long compiling took. */
  table(): string {
    const figures = (row: Omit<ProfileRow, "share">) => [
      row.name,
      String(row.count),
      row.total.toFixed(1),
      row.mean.toFixed(2),
      row.min.toFixed(2),
      row.max.toFixed(2),
    ];
    const cells = [
      ...this.rows.map((row) => [...figures(row), `${(100 * row.share).toFixed(1)} %`]),
      ...this.compileRows.map((row) => [...figures(row), ""]),
    ];
    const lines = [["kernel", "calls", "total µs", "mean", "min", "max", "share"], ...cells];
    const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length))) ?? [];
    return lines
      .map((line) =>
        line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
      )
      .join("\n");
  }

  /**
   * The Trace Event Format. Kernels and compilations are by different clocks. The first kernel is put where it was recorded,
   * which is a little before it ran.
   */
  chromeTrace(): object {
    const { on, began, firstCommand } = this.start;
    const offset = firstCommand === null || this.compilations.length === 0 ? 0 : 1000 * (firstCommand - began);
    const complete = (pid: number, tid: number, { name, start, duration }: ProfileEvent, from = 0) => ({
      ph: "X",
      pid,
      tid,
      name,
      ts: from + start,
      dur: duration,
    });
    const compilers: readonly Compiler[] = ["pumice", "engine"];
    const compiling = [
      { ph: "M", pid: 2, name: "process_name", args: { name: "compiling" } },
      ...compilers.map((by, i) => ({ ph: "M", pid: 2, tid: i + 1, name: "thread_name", args: { name: by } })),
      ...this.compilations.map((event) => {
        const name = `compile ${event.name}`;
        return complete(2, 1 + compilers.indexOf(event.by), { ...event, name });
      }),
    ];
    return {
      displayTimeUnit: "ns",
      traceEvents: [
        { ph: "M", pid: 1, name: "process_name", args: { name: on } },
        ...this.events.map((event) => complete(1, 1, event, offset)),
        ...(this.compilations.length > 0 ? compiling : []),
      ],
    };
  }

  save(path: string): void {
    try {
      replaceFileSync(path, Buffer.from(JSON.stringify(this.chromeTrace())));
    } catch (error) {
      throw unwritable("save: the profile", path, error);
    }
  }

  toString(): string {
    return this.table();
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.table();
  }
}

/** Times by name, added up. */
function summed(timed: readonly { readonly name: string; readonly time: number }[]): Omit<ProfileRow, "share">[] {
  const rows = new Map<string, { name: string; count: number; total: number; min: number; max: number }>();
  for (const { name, time } of timed) {
    const row = rows.get(name) ?? { name, count: 0, total: 0, min: time, max: time };
    rows.set(name, row);
    row.count++;
    row.total += time;
    row.min = Math.min(row.min, time);
    row.max = Math.max(row.max, time);
  }
  return [...rows.values()].map((row) => ({ ...row, mean: row.total / row.count }));
}

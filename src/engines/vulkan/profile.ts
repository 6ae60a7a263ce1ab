/**
 * Where the GPU's time goes: timestamps around every command while a profile is open, gathered into a table per kernel
 * and into a trace that chrome://tracing and Perfetto show.
 */
import { writeFileSync } from "node:fs";
import { type DeviceFunction, type FunctionTable, type Handle, PipelineStage } from "./api.js";
import * as L from "./layouts.js";
import { addressOf } from "./native.js";
import { check } from "./results.js";
import { Arena } from "./structs.js";

export interface ProfileEvent {
  readonly name: string;
  /** Microseconds since the profile's first command. */
  readonly start: number;
  readonly duration: number;
}

export interface ProfileRow {
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

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.table();
  }
}

interface QueryPool {
  readonly handle: Handle;
  readonly commands: Handle;
  readonly names: string[];
}

/** Writes timestamps into the batches of a stream while a profile is open. */
export class CommandClock {
  private readonly pools: QueryPool[] = [];
  private current: QueryPool | null = null;

  constructor(
    private readonly calls: FunctionTable<DeviceFunction>,
    private readonly device: Handle,
    private readonly commandsPerBatch: number,
    private readonly settings: { readonly nsPerTick: number; readonly mask: bigint },
  ) {}

  begin(commands: Handle): void {
    const arena = new Arena(512);
    const out = arena.room(8);
    const queryCount = 2 * this.commandsPerBatch;
    const info = arena.pack(L.VkQueryPoolCreateInfo, { queryType: 2, queryCount });
    check("vkCreateQueryPool", this.calls.vkCreateQueryPool(this.device, info, 0, out));
    this.current = { handle: arena.handle(out), commands, names: [] };
    this.pools.push(this.current);
    this.calls.vkCmdResetQueryPool(commands, this.current.handle, 0, queryCount);
  }

  /** Both stamps wait for all earlier commands, so a kernel is not charged for its predecessor's tail. */
  before(commands: Handle, name: string): void {
    if (!this.current) return;
    this.calls.vkCmdWriteTimestamp(commands, PipelineStage.bottom, this.current.handle, 2 * this.current.names.length);
    this.current.names.push(name);
  }

  after(commands: Handle): void {
    if (!this.current) return;
    this.calls.vkCmdWriteTimestamp(
      commands,
      PipelineStage.bottom,
      this.current.handle,
      2 * this.current.names.length - 1,
    );
  }

  end(_commands: Handle): void {
    this.current = null;
  }

  /** Forgets the last batch in these commands: it was not submitted, and its stamps will never be written. */
  discard(commands: Handle): void {
    const index = this.pools.findLastIndex((pool) => pool.commands === commands);
    for (const { handle } of index < 0 ? [] : this.pools.splice(index, 1)) {
      this.calls.vkDestroyQueryPool(this.device, handle, 0);
    }
  }

  /** Reads the stamps. The GPU must have passed everything. A command that failed half-way has none. */
  events(): ProfileEvent[] {
    const stamps: { name: string; start: bigint; end: bigint }[] = [];
    for (const { handle, names } of this.pools) {
      if (names.length === 0) continue;
      const bytes = addressOf(32 * names.length);
      // 64-bit results, each followed by whether it is there
      const result = this.calls.vkGetQueryPoolResults(
        this.device,
        handle,
        0,
        2 * names.length,
        32 * names.length,
        bytes.address,
        16,
        1 | 4,
      );
      check("vkGetQueryPoolResults", result);
      const stamp = (query: number) => bytes.view.getBigUint64(16 * query, true) & this.settings.mask;
      const isThere = (query: number) => bytes.view.getBigUint64(16 * query + 8, true) !== 0n;
      names.forEach((name, i) => {
        if (isThere(2 * i + 1)) stamps.push({ name, start: stamp(2 * i), end: stamp(2 * i + 1) });
      });
    }
    const origin = stamps.reduce((least, { start }) => (start < least ? start : least), stamps[0]?.start ?? 0n);
    const microseconds = (ticks: bigint) => (Number(ticks) * this.settings.nsPerTick) / 1000;
    return stamps.map(({ name, start, end }) => ({
      name,
      start: microseconds(start - origin),
      duration: microseconds(end - start),
    }));
  }

  destroy(): void {
    for (const { handle } of this.pools) this.calls.vkDestroyQueryPool(this.device, handle, 0);
    this.pools.length = 0;
    this.current = null;
  }
}

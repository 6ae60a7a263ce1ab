/** Times GPU commands with timestamps around each, while a profile is open (see ../profile.ts). */
import type { ProfileEvent } from "../../profile.js";
import { type DeviceFunction, type FunctionTable, type Handle, PipelineStage } from "../driver/api.js";
import * as L from "../driver/layouts.js";
import { addressOf } from "../driver/native.js";
import { check } from "../driver/results.js";
import { Arena } from "../driver/structs.js";

interface QueryPool {
  readonly handle: Handle;
  readonly commands: Handle;
  readonly names: string[];
}

/** Writes timestamps into the batches of a stream while a profile is open. */
export class CommandClock {
  private readonly pools: QueryPool[] = [];
  private current: QueryPool | null = null;
  /** When the first command was recorded, by the host's clock. */
  firstCommand: number | null = null;

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

  /** Both stamps wait for all earlier commands, so that a kernel's time does not include the end of the one before. */
  before(commands: Handle, name: string): void {
    if (!this.current) return;
    this.firstCommand ??= performance.now();
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

/**
 * Batches of commands: a command buffer each, with a pool of its own, and everything that is kept until the GPU is done with
 * it. The stream records into one at a time. A batch is reused when the timeline has passed it.
 */
import type { DeviceFunction, FunctionTable, Handle } from "../driver/api.js";
import * as L from "../driver/layouts.js";
import { check, resultError } from "../driver/results.js";
import { Arena } from "../driver/structs.js";
import type { Allocation, MemoryPool } from "../memory/memory-pool.js";

export interface Batch {
  readonly pool: Handle;
  readonly commands: Handle;
  /** The value of the timeline when it is done. */
  value: number;
  length: number;
  /** Bytes that its commands touch. */
  bytes: number;
  firstEpoch: number;
  /** Names of recorded commands, for the error of a lost device. */
  names: string[];
  /** Staging memory to return when the batch is done. */
  borrowed: { pool: MemoryPool; allocation: Allocation }[];
  onDone: (() => void)[];
}

/** The parts of a device that batches need. */
interface BatchOwner {
  readonly calls: FunctionTable<DeviceFunction>;
  readonly handle: Handle;
  readonly queueFamily: number;
}

const MAX_IN_FLIGHT = 32;

export class Batches {
  /** Submitted ones, the oldest first. */
  readonly inFlight: Batch[] = [];
  private readonly idle: Batch[] = [];
  private count = 0;

  /** `recycled`: what else hangs on the commands of a batch is free again. */
  constructor(
    private readonly owner: BatchOwner,
    private readonly recycled: (commands: Handle) => void,
  ) {}

  /** One to record into: an idle or a new one. Where the CPU is far ahead, it waits for the oldest. */
  take(wait: (value: number) => void): Batch {
    const ready = this.idle.pop();
    if (ready) return ready;
    if (this.count < MAX_IN_FLIGHT) return this.create();
    wait((this.inFlight[0] as Batch).value);
    return this.idle.pop() ?? this.create();
  }

  /** One that was taken and not used. */
  putBack(batch: Batch): void {
    this.idle.push(batch);
  }

  /** Recycles the batches that the timeline has passed. */
  retire(completed: number): void {
    while (this.inFlight.length > 0 && (this.inFlight[0] as Batch).value <= completed) {
      this.recycle(this.inFlight.shift() as Batch);
    }
  }

  recycle(batch: Batch): void {
    const { calls, handle } = this.owner;
    for (const { pool, allocation } of batch.borrowed) pool.free(allocation);
    for (const action of batch.onDone) action();
    batch.borrowed = [];
    batch.onDone = [];
    batch.names = [];
    this.recycled(batch.commands);
    const result = calls.vkResetCommandPool(handle, batch.pool, 0);
    if (result < 0) {
      // The pool could not be reset, so it cannot be recorded into again.
      calls.vkDestroyCommandPool(handle, batch.pool, 0);
      this.count--;
    } else this.idle.push(batch);
  }

  /** Names of submitted commands that have not finished, for the error of a lost device. */
  unfinishedWork(completed: number): string {
    const names = this.inFlight.filter(({ value }) => value > completed).flatMap((batch) => batch.names);
    const distinct = [...new Set(names)];
    const shown = distinct.slice(0, 6).join(", ");
    return distinct.length === 0 ? "nothing" : distinct.length > 6 ? `${shown} and ${distinct.length - 6} more` : shown;
  }

  /** Destroys all of them, and `open`, the one that is recorded into. The GPU must be idle or lost. */
  destroy(open: Batch | null): void {
    const { calls, handle } = this.owner;
    for (const batch of [...this.inFlight, ...this.idle, ...(open ? [open] : [])]) {
      for (const action of batch.onDone) action();
      calls.vkDestroyCommandPool(handle, batch.pool, 0);
    }
    this.inFlight.length = 0;
    this.idle.length = 0;
  }

  private create(): Batch {
    const { calls, handle, queueFamily } = this.owner;
    const arena = new Arena(512);
    const out = arena.room(8);
    const poolInfo = arena.pack(L.VkCommandPoolCreateInfo, { flags: 1, queueFamilyIndex: queueFamily });
    check("vkCreateCommandPool", calls.vkCreateCommandPool(handle, poolInfo, 0, out));
    const pool = arena.handle(out);
    const info = arena.pack(L.VkCommandBufferAllocateInfo, { commandPool: pool, level: 0, commandBufferCount: 1 });
    const result = calls.vkAllocateCommandBuffers(handle, info, out);
    if (result < 0) {
      calls.vkDestroyCommandPool(handle, pool, 0);
      throw resultError("vkAllocateCommandBuffers", result);
    }
    this.count++;
    return {
      pool,
      commands: arena.handle(out),
      value: 0,
      length: 0,
      bytes: 0,
      firstEpoch: 0,
      names: [],
      borrowed: [],
      onDone: [],
    };
  }
}

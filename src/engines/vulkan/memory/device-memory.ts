/**
 * The memory of a device: its pools, the leases that tie buffers to memory, and when garbage is collected and idle blocks go
 * back to the driver. The device owns one, and its pools ask it for help when the driver has no memory left.
 */
import { GarbageBudget } from "../../garbage.js";
import { Leases } from "../../leases.js";
import { Rest } from "../../rest.js";
import { giveUp } from "../../suballocator.js";
import type { DeviceFunction, FunctionTable, Handle } from "../driver/api.js";
import type { DevicePlan, PhysicalDevice } from "../plan.js";
import type { Stream } from "../submission/stream.js";
import { type Allocation, type MemoryOwner, MemoryPool } from "./memory-pool.js";
import { PIECE } from "./transfers.js";

/** The parts of a device that its memory uses. */
export interface MemoryDevice {
  readonly calls: FunctionTable<DeviceFunction>;
  readonly handle: Handle;
  readonly name: string;
  readonly plan: DevicePlan;
  readonly properties: PhysicalDevice;
  readonly stream: Stream;
  readonly isClosed: boolean;
  readonly isLost: boolean;
  /** Bytes of each heap that this process may use and does use, by the driver; null where it does not say. */
  heapBudgets(): { readonly budget: readonly number[]; readonly usage: readonly number[] } | null;
  /** Drops compiled kernels that nobody can reach. */
  sweepKernels(): void;
}

/** Memory for arguments: written by the host through `view`, read by kernels at `address`. */
export interface ArgumentBlock {
  readonly address: bigint;
  readonly view: DataView;
  free(): void;
}

const MiB = 1024 * 1024;

export class DeviceMemory implements MemoryOwner {
  readonly calls: FunctionTable<DeviceFunction>;
  readonly handle: Handle;
  readonly pools: Readonly<Record<"device" | "upload" | "readback" | "arguments", MemoryPool>>;
  readonly leases = new Leases<Allocation>(
    () => this.garbage.noteSweep(this.pools.device.usedBytes),
    (allocation) => giveUp(allocation, this.pools.device),
  );
  private readonly garbage: GarbageBudget;
  private readonly rest = new Rest((isQuiet) => this.lookAfter(isQuiet));
  private isGone = false;

  constructor(private readonly device: MemoryDevice) {
    const { plan } = device;
    this.calls = device.calls;
    this.handle = device.handle;
    const obtainable = () => this.obtainableBytes();
    this.garbage = new GarbageBudget(plan.garbage, plan.deviceHeapBytes, obtainable, undefined, plan.dearGarbage);
    const staging = Math.min(4 * PIECE, Math.max(4 * MiB, plan.blockBytes));
    this.pools = {
      device: this.pool("device", plan.memory.device, false, plan.blockBytes, this.garbage),
      upload: this.pool("upload", plan.memory.upload, true, staging),
      readback: this.pool("read-back", plan.memory.readback, true, staging),
      arguments: this.pool("arguments", plan.memory.arguments, true, MiB),
    };
  }

  private pool(name: string, memoryType: number, isMapped: boolean, blockBytes: number, garbage?: GarbageBudget) {
    const { plan, properties } = this.device;
    const heapBytes = properties.memoryHeaps[properties.memoryTypes[memoryType]?.heap ?? 0]?.size ?? 0;
    const sizes = { unit: plan.alignment, blockBytes, heapBytes, maxBlockBytes: plan.limits.maxBufferSize };
    return new MemoryPool(this, { name, memoryType, isMapped, ...sizes }, garbage);
  }

  /** Memory for a buffer. Its contents are undefined. */
  allocate(byteLength: number): Allocation {
    this.rest.note();
    return this.pools.device.allocate(Math.max(1, byteLength));
  }

  /**
   * Memory that the host writes and kernels read without a copy in between. Before writing it again, the caller must wait until
   * the GPU has read it.
   */
  argumentBlock(byteLength: number): ArgumentBlock {
    const allocation = this.pools.arguments.allocate(Math.max(1, byteLength));
    const { block, offset } = allocation;
    const mapped = block.mapped as Uint8Array;
    return {
      address: block.address + BigInt(offset),
      view: new DataView(mapped.buffer, mapped.byteOffset + offset, byteLength),
      free: () => this.whenDone(() => this.pools.arguments.free(allocation)),
    };
  }

  // ---------------------------------------------------------------------------------------------- giving back

  trim(): void {
    const { device } = this;
    // A lost device may still be at work on its memory; closing waits for it and gives back everything.
    if (device.isClosed || device.isLost) return;
    this.drain();
    for (const pool of Object.values(this.pools)) pool.trim();
  }

  collect(): boolean {
    const began = performance.now();
    const swept = this.leases.collect();
    this.device.sweepKernels();
    this.garbage.noteCollection(this.pools.device.usedBytes, performance.now() - began);
    this.returnIdle(this.garbage.reserve + this.device.plan.blockBytes);
    return swept > 0;
  }

  tidy(): boolean {
    return this.garbage.tidy({
      usedBytes: () => this.pools.device.usedBytes,
      collectRecent: () => this.leases.collectRecent(),
      collect: () => this.collect(),
    });
  }

  get collections(): number {
    return this.garbage.collections;
  }

  /** Returns memory of the pool beyond so many idle bytes to the driver. */
  private returnIdle(beyond: number): void {
    if (this.device.isLost || this.pools.device.idleBytes <= beyond) return;
    this.device.stream.timeline.poll();
    this.pools.device.keepIdle(beyond);
  }

  /** Called once a second: returns memory for other processes; an idle program keeps little. True to be called again. */
  private lookAfter(isQuiet: boolean): boolean {
    const { device, garbage } = this;
    if (device.isClosed || device.isLost) return false;
    const { usedBytes } = this.pools.device;
    try {
      const isSpent = garbage.examine(usedBytes);
      if (isSpent || (isQuiet && garbage.isWorthARest(usedBytes))) this.collect();
      this.returnIdle(isQuiet ? garbage.worthwhile : garbage.reserve + device.plan.blockBytes);
    } catch {
      // A lost device: its next use throws.
    }
    return !isQuiet;
  }

  whenDone(action: () => void): void {
    this.device.stream.whenDone(action);
  }

  drain(): void {
    if (!this.device.isLost) this.device.stream.flushAndWait();
  }

  // ---------------------------------------------------------------------------------------------- figures

  /** Whether the driver's budget has no room for so many bytes while other processes hold at least as many. */
  isCrowdedOut(bytes: number): boolean {
    const memory = this.budget();
    if (!memory || memory.budget - memory.usage >= bytes) return false;
    return this.device.plan.deviceHeapBytes - memory.budget >= bytes;
  }

  /** Bytes of device memory that buffers hold. */
  get usedBytes(): number {
    return this.isGone ? 0 : this.pools.device.usedBytes;
  }

  /** Bytes taken from the driver, staging included, and in how many blocks. */
  reserved(): { readonly reservedBytes: number; readonly blocks: number } {
    const pools = Object.values(this.pools);
    return {
      reservedBytes: pools.reduce((sum, pool) => sum + pool.blockBytes, 0),
      blocks: pools.reduce((sum, pool) => sum + pool.blockCount, 0),
    };
  }

  /** Bytes still available: by the driver's budget if it has one, else the heap minus our own blocks. */
  remainingBytes(): number {
    const memory = this.budget();
    if (memory) return Math.max(0, memory.budget - memory.usage);
    return Math.max(0, this.device.plan.deviceHeapBytes - this.pools.device.blockBytes);
  }

  /** Bytes that this process may use of the tensors' heap and those that it uses; null where the driver does not say. */
  private budget(): { readonly budget: number; readonly usage: number } | null {
    const found = this.device.heapBudgets();
    const heap = this.device.properties.memoryTypes[this.device.plan.memory.device]?.heap ?? 0;
    return found && { budget: found.budget[heap] ?? 0, usage: found.usage[heap] ?? 0 };
  }

  /** Bytes that buffers could come to hold: those of the pool and those still available. */
  private obtainableBytes(): number {
    return this.isGone ? 0 : this.pools.device.blockBytes + this.remainingBytes();
  }

  memoryReport(): string {
    const { name, plan } = this.device;
    return (
      `${name}: ${this.usedBytes} bytes in ${this.leases.size} buffers, ${this.pools.device.blockBytes} held by the pool, ` +
      `${this.remainingBytes()} more available of ${plan.deviceHeapBytes}.`
    );
  }

  // ---------------------------------------------------------------------------------------------- the end

  /** Ends all leases: buffers are gone, though their memory still belongs to the pools. */
  endLeases(): void {
    this.rest.end();
    this.leases.close();
  }

  /** Gives all memory back to the driver. */
  destroy(): void {
    for (const pool of Object.values(this.pools)) pool.destroy();
    this.isGone = true;
  }
}

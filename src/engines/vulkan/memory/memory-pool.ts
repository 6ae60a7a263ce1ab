/**
 * Device memory in large blocks. Three pools, one per memory type the plan chose: tensors, uploads, read-backs.
 *
 * A block is one VkDeviceMemory with one VkBuffer over all of it; small requests are suballocated, large ones get a
 * block of their own that is kept for reuse. Freed memory may be handed out again at once, before the GPU is done with
 * it: every command runs on one queue, and the hazard state that stays with the memory makes the stream put a barrier
 * between the old use and the new. Waiting for the GPU instead would make a loop of k temporaries hold k times the
 * memory. Only memory that goes back to the driver, or that the host writes, waits for the timeline.
 *
 * Garbage in the tensors' pool has a budget (../garbage.ts). Memory that a collection freed stays in the pool for the next
 * results, as long as other processes leave so much.
 */
import { OutOfMemoryError, UnsupportedError } from "../../../core/errors.js";
import { debug } from "../../debug.js";
import type { GarbageBudget } from "../../garbage.js";
import { type Chunk, newChunk, roundToClass, Suballocator } from "../../suballocator.js";
import { BufferUsage, type DeviceFunction, type FunctionTable, type Handle } from "../driver/api.js";
import * as L from "../driver/layouts.js";
import { viewOf } from "../driver/native.js";
import { check } from "../driver/results.js";
import { Arena } from "../driver/structs.js";

export interface Block {
  readonly memory: Handle;
  readonly buffer: Handle;
  readonly address: bigint;
  /** The address in two words. */
  readonly addressLow: number;
  readonly addressHigh: number;
  readonly size: number;
  /** The mapped bytes of host-visible blocks. */
  readonly mapped: Uint8Array | null;
  readonly isLarge: boolean;
}

/** An address as a block stores it. */
export const addressWords = (address: bigint) => ({
  address,
  addressLow: Number(address & 0xffffffffn),
  addressHigh: Number(address >> 32n),
});

export type Allocation = Chunk<Block>;

/** Writes the address of an allocation, or of a place in it, for a kernel. As two words: bigints are slow. */
export function putAddress(view: DataView, at: number, { block, offset }: Allocation, inside = 0): void {
  const low = block.addressLow + offset + inside;
  view.setUint32(at, low, true);
  view.setUint32(at + 4, block.addressHigh + Math.floor(low / 2 ** 32), true);
}

/** The parts of the device that the pool uses. */
export interface MemoryOwner {
  readonly calls: FunctionTable<DeviceFunction>;
  readonly handle: Handle;
  /** Collects garbage and frees what was dropped; true when something came back. */
  collect(): boolean;
  /** The same, of new objects alone if that is likely to do. */
  tidy(): boolean;
  /** Waits until the GPU has passed everything recorded. */
  drain(): void;
  /** Gives every idle block of every pool back to the driver. */
  trim(): void;
  /** Calls back when the GPU has passed everything recorded so far. */
  whenDone(action: () => void): void;
  /** Whether other processes may soon return memory, so that asking again is worth a wait. */
  isCrowdedOut(bytes: number): boolean;
  /** The figures for an out-of-memory message. */
  memoryReport(): string;
}

const MiB = 1024 * 1024;

/** A full device is asked again this often, after so many milliseconds each: idle processes return memory after 1 s. */
const [ATTEMPTS, PAUSE] = [15, 100];

export class MemoryPool {
  private readonly small: Suballocator<Block>;
  private readonly idleLarge: Allocation[] = [];
  private readonly blocks = new Set<Block>();
  private largeUsed = 0;
  blockBytes = 0;
  /** Bytes of blocks that go back to the driver when the GPU is done with them. */
  private leavingBytes = 0;

  constructor(
    private readonly owner: MemoryOwner,
    private readonly settings: {
      readonly name: string;
      readonly memoryType: number;
      readonly isMapped: boolean;
      readonly unit: number;
      readonly blockBytes: number;
      readonly heapBytes: number;
      /** The largest buffer the driver makes. */
      readonly maxBlockBytes: number;
    },
    /** For memory that the garbage collector frees. */
    private readonly garbage: GarbageBudget | null = null,
  ) {
    this.small = new Suballocator(settings.unit);
  }

  get usedBytes(): number {
    return this.small.usedBytes + this.largeUsed;
  }

  get idleBytes(): number {
    return this.blockBytes - this.leavingBytes - this.usedBytes;
  }

  get blockCount(): number {
    return this.blocks.size;
  }

  allocate(bytes: number): Allocation {
    if (this.garbage?.isSpent(this.usedBytes, bytes)) this.owner.tidy();
    if (bytes > this.settings.blockBytes / 4) return this.allocateLarge(bytes);
    return this.small.allocate(bytes) ?? this.allocateSlowly(bytes);
  }

  free(allocation: Allocation): void {
    if (!allocation.block.isLarge) this.small.free(allocation);
    else {
      if (allocation.isFree) throw new Error("MemoryPool: allocation freed twice");
      allocation.isFree = true;
      this.largeUsed -= allocation.size;
      this.idleLarge.push(allocation);
    }
  }

  /** Gives blocks with nothing in them back to the driver. The GPU must have passed their last use. */
  trim(): number {
    let freed = 0;
    for (const block of [...this.small.takeEmptyBlocks(), ...this.idleLarge.splice(0).map((chunk) => chunk.block)]) {
      freed += block.size;
      this.destroyBlock(block);
    }
    return freed;
  }

  /** Gives idle blocks back, once the GPU has passed their last use. At least about this many idle bytes are left. */
  keepIdle(bytes: number): void {
    let excess = this.idleBytes - bytes;
    if (excess <= 0) return;
    const given: Block[] = [];
    // The oldest first: the last ones are used again next.
    while (this.idleLarge.length > 0 && (this.idleLarge[0] as Allocation).size <= excess) {
      const { block } = this.idleLarge.shift() as Allocation;
      given.push(block);
      excess -= block.size;
    }
    given.push(...this.small.takeEmptyBlocks(excess));
    if (given.length === 0) return;
    const leaving = given.reduce((sum, { size }) => sum + size, 0);
    this.leavingBytes += leaving;
    this.owner.whenDone(() => {
      this.leavingBytes -= leaving;
      for (const block of given) this.destroyBlock(block);
    });
  }

  /** Destroys every block, whatever is in them: for closing the device. */
  destroy(): void {
    for (const block of this.blocks) this.destroyBlock(block);
  }

  private allocateSlowly(bytes: number): Allocation {
    if (this.collectIfWorthwhile()) {
      const found = this.small.allocate(bytes);
      if (found) return found;
    }
    // The first blocks are small: a program that needs 1 MiB should not take 256.
    const grown = Math.min(this.settings.blockBytes, Math.max(this.settings.blockBytes / 16, this.blockBytes));
    const least = roundToClass(Math.ceil(bytes / this.settings.unit)) * this.settings.unit;
    const block = this.createBlock(Math.max(grown, 4 * bytes), least, false, () => this.small.allocate(bytes));
    if ("isFree" in block) return block;
    this.small.addBlock(block, block.size);
    return this.small.allocate(bytes) as Allocation;
  }

  private allocateLarge(bytes: number): Allocation {
    const size = Math.ceil(bytes / (2 * MiB)) * 2 * MiB;
    const reused = this.takeIdleLarge(size);
    if (reused) return this.markLargeUsed(reused);
    if (this.collectIfWorthwhile()) {
      const freed = this.takeIdleLarge(size);
      if (freed) return this.markLargeUsed(freed);
    }
    const block = this.createBlock(size, size, true, () => this.takeIdleLarge(size));
    return this.markLargeUsed("isFree" in block ? block : newChunk(block, 0, block.size));
  }

  private markLargeUsed(chunk: Allocation): Allocation {
    chunk.isFree = false;
    this.largeUsed += chunk.size;
    return chunk;
  }

  /** The smallest idle large block that fits without wasting more than a quarter; among equals the last used. */
  private takeIdleLarge(size: number): Allocation | null {
    let best = -1;
    let bestSize = size * 1.25 + 1;
    for (let i = this.idleLarge.length - 1; i >= 0 && bestSize > size; i--) {
      const each = (this.idleLarge[i] as Allocation).size;
      if (each < size || each >= bestSize) continue;
      best = i;
      bestSize = each;
    }
    return best < 0 ? null : (this.idleLarge.splice(best, 1)[0] as Allocation);
  }

  private collectIfWorthwhile(): boolean {
    return this.garbage?.isWorthwhile(this.usedBytes) === true && this.owner.tidy();
  }

  /** A new block, of at least `least` bytes; or the result of `retry`, if collecting garbage made room. */
  private createBlock(
    size: number,
    least: number,
    isLarge: boolean,
    retry: () => Allocation | null,
  ): Block | Allocation {
    if (size > this.settings.heapBytes) {
      throw new OutOfMemoryError(
        `Allocating ${size} bytes: the device's memory heap holds ${this.settings.heapBytes}. ${this.owner.memoryReport()}`,
      );
    }
    if (size > this.settings.maxBlockBytes) {
      throw new OutOfMemoryError(
        `Allocating ${size} bytes: the device's largest buffer has ${this.settings.maxBlockBytes}. ${this.owner.memoryReport()}`,
      );
    }
    try {
      return this.newBlock(size, isLarge);
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
    }
    if (this.owner.collect()) {
      const found = retry();
      if (found) return found;
    }
    this.owner.drain();
    this.owner.trim();
    try {
      return this.newBlockInTurn(least, isLarge);
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
      throw new OutOfMemoryError(
        `Allocating ${least} bytes of ${this.settings.name} memory failed (${error.message}) after collecting garbage ` +
          `and trimming the pool. ${this.owner.memoryReport()}`,
        { cause: error },
      );
    }
  }

  /** Asks again for a while if other processes hold the memory: those that are at rest return theirs. */
  private newBlockInTurn(size: number, isLarge: boolean): Block {
    for (let attempt = 1; ; attempt++) {
      // Asked before the attempt: memory that is returned in between is there at the next one.
      const isCrowdedOut = this.owner.isCrowdedOut(size);
      try {
        return this.newBlock(size, isLarge);
      } catch (error) {
        if (!isCrowdedOut || attempt === ATTEMPTS || !(error instanceof OutOfMemoryError)) throw error;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
    }
  }

  /** Asks the driver for a block. When a step fails, nothing is left behind. */
  private newBlock(size: number, isLarge: boolean): Block {
    const { calls, handle } = this.owner;
    const arena = new Arena(2048);
    const out = arena.room(8);
    const { transferSrc, transferDst, storage, deviceAddress, indirect } = BufferUsage;
    const usage = transferSrc | transferDst | storage | deviceAddress | indirect;
    const bufferInfo = arena.pack(L.VkBufferCreateInfo, { size, usage });
    check("vkCreateBuffer", calls.vkCreateBuffer(handle, bufferInfo, 0, out));
    const buffer = arena.handle(out);
    const undo: (() => void)[] = [() => calls.vkDestroyBuffer(handle, buffer, 0)];
    try {
      const requirements = arena.room(L.VkMemoryRequirements.size);
      calls.vkGetBufferMemoryRequirements(handle, buffer, requirements);
      const needed = arena.number(L.VkMemoryRequirements, requirements, "size");
      const types = arena.number(L.VkMemoryRequirements, requirements, "memoryTypeBits");
      if (((types >>> this.settings.memoryType) & 1) === 0) {
        throw new UnsupportedError(
          `The driver refuses buffers in ${this.settings.name} memory (type ${this.settings.memoryType}).`,
        );
      }
      // NVIDIA's driver gives memory that belongs to one buffer pages of 2 MiB, and other memory pages of 64 KiB: reading
      // 1e7 elements of 40 MB at random places took 0.11 ms instead of 0.19 on an H200.
      const dedicated = arena.pack(L.VkMemoryDedicatedAllocateInfo, { buffer });
      const flags = arena.pack(L.VkMemoryAllocateFlagsInfo, { flags: 2 }, dedicated);
      const info = arena.pack(
        L.VkMemoryAllocateInfo,
        { allocationSize: needed, memoryTypeIndex: this.settings.memoryType },
        flags,
      );
      check("vkAllocateMemory", calls.vkAllocateMemory(handle, info, 0, out));
      const memory = arena.handle(out);
      undo.push(() => calls.vkFreeMemory(handle, memory, 0));
      check("vkBindBufferMemory", calls.vkBindBufferMemory(handle, buffer, memory, 0));
      let mapped: Uint8Array | null = null;
      if (this.settings.isMapped) {
        check("vkMapMemory", calls.vkMapMemory(handle, memory, 0, size, 0, out));
        mapped = new Uint8Array(viewOf(arena.handle(out), size));
      }
      const addressInfo = arena.pack(L.VkBufferDeviceAddressInfo, { buffer });
      const address = BigInt(calls.vkGetBufferDeviceAddress(handle, addressInfo));
      const block: Block = { memory, buffer, ...addressWords(address), size, mapped, isLarge };
      this.blocks.add(block);
      this.blockBytes += size;
      debug(
        1,
        () => `${this.settings.name} memory: block of ${(size / MiB).toFixed(1)} MiB, ${this.blocks.size} in all`,
      );
      return block;
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw error;
    }
  }

  private destroyBlock(block: Block): void {
    const { calls, handle } = this.owner;
    if (block.mapped) calls.vkUnmapMemory(handle, block.memory);
    calls.vkDestroyBuffer(handle, block.buffer, 0);
    calls.vkFreeMemory(handle, block.memory, 0);
    this.blocks.delete(block);
    this.blockBytes -= block.size;
  }
}

/**
 * The memory of a host device: one shared WebAssembly memory that every kernel on every thread sees at the same addresses.
 * It starts small and grows; buffers are cut out of it by the same allocator that cuts up blocks of GPU memory.
 *
 * WebAssembly addresses have 32 bits, so a device holds at most 4 GiB, and WebAssembly memory never shrinks. A memory reserves
 * address space for its maximum, so the memories of closed devices are reused.
 */
import { freemem } from "node:os";
import { OutOfMemoryError } from "../../core/errors.js";
import { type WasmMemory, WebAssembly } from "../../core/webassembly.js";
import { debug } from "../debug.js";
import type { GarbageBudget } from "../garbage.js";
import { type Chunk, newChunk, roundToClass, Suballocator } from "../suballocator.js";

export type HostChunk = Chunk<"heap">;

/** The parts of the device that the memory uses. */
export interface HostMemoryOwner {
  /** The last epoch of the queue: work up to it may use memory that is freed now. */
  readonly epoch: number;
  /** Collects garbage and frees what was dropped; true when something came back. */
  collect(): boolean;
  /** The same, of new objects alone if that is likely to do. */
  tidy(): boolean;
  readonly garbage: GarbageBudget;
  /** The figures for an out-of-memory message. */
  memoryReport(): string;
}

const PAGE = 65536;
const MAX_PAGES = 65536;
const MiB = 1024 * 1024;
/** A cache line; more than any vector needs. */
const UNIT = 64;
/** The first page is the engine's: no buffer is at address 0, and kernels find their arguments there. */
const RESERVED = PAGE;
const FIRST_PAGES = 64;
/** Growing by halves, but by no more than this beyond what is needed, in pages. */
const LARGEST_STEP = (64 * MiB) / PAGE;

/** So few bytes are copied one by one. */
const FEW_BYTES = 64;

/** The address of a kernel's arguments, and their largest size. */
export const ARGUMENTS = { address: 256, bytes: RESERVED - 256 } as const;

interface Spare {
  readonly memory: WasmMemory;
  readonly maxPages: number;
  /** Addresses from here on have never been written. */
  readonly touched: number;
}

const spares: Spare[] = [];

export class HostMemory {
  readonly memory: WasmMemory;
  private readonly maxPages: number;
  private readonly heap = new Suballocator<"heap">(UNIT);
  /** Addresses from here on have never been written, so they hold zeros. */
  private touched: number;
  private buffer: ArrayBufferLike;
  /** All of it: making a view of a few bytes takes longer than copying them. */
  private bytes: Uint8Array;

  constructor(
    private readonly owner: HostMemoryOwner,
    maxBytes = MAX_PAGES * PAGE,
  ) {
    const maxPages = Math.min(MAX_PAGES, Math.max(FIRST_PAGES, Math.ceil(maxBytes / PAGE)));
    const at = spares.findIndex((candidate) => candidate.maxPages === maxPages);
    const spare = at < 0 ? newMemory(maxPages) : (spares.splice(at, 1)[0] as Spare);
    this.memory = spare.memory;
    this.maxPages = spare.maxPages;
    this.touched = spare.touched;
    this.buffer = spare.memory.buffer;
    this.bytes = new Uint8Array(this.buffer);
    this.heap.addBlock("heap", this.buffer.byteLength - RESERVED);
  }

  get usedBytes(): number {
    return this.heap.usedBytes;
  }

  /** Bytes the memory has grown to. */
  get reservedBytes(): number {
    return this.buffer.byteLength;
  }

  get maxBytes(): number {
    return this.maxPages * PAGE;
  }

  /** Bytes that it could come to hold: as many as the machine has, up to its limit. */
  get obtainableBytes(): number {
    return Math.min(this.maxBytes, this.touched + freeOnMachine());
  }

  addressOf(chunk: HostChunk): number {
    return RESERVED + chunk.offset;
  }

  /** A chunk of at least `bytes`, and whether it holds zeros already. */
  allocate(bytes: number): { chunk: HostChunk; isZero: boolean } {
    if (this.owner.garbage.isSpent(this.usedBytes, bytes)) this.owner.tidy();
    const chunk = this.heap.allocate(bytes) ?? this.allocateSlowly(bytes);
    const isZero = this.addressOf(chunk) >= this.touched;
    this.touched = Math.max(this.touched, this.addressOf(chunk) + chunk.size);
    return { chunk, isZero };
  }

  free(chunk: HostChunk): void {
    chunk.readEpoch = this.owner.epoch;
    this.heap.free(chunk);
  }

  /** The bytes at an address. The view stays valid when the memory grows, but its bytes may be freed and reused. */
  view(address: number, byteLength: number): Uint8Array {
    return new Uint8Array(this.buffer, address, byteLength);
  }

  /** Copies bytes to an address. */
  put(address: number, bytes: Uint8Array): void {
    this.bytes.set(bytes, address);
  }

  /** Copies the bytes at an address. */
  get(address: number, into: Uint8Array): void {
    if (into.length > FEW_BYTES) into.set(this.view(address, into.length));
    else for (let i = 0; i < into.length; i++) into[i] = this.bytes[address + i];
  }

  words(address: number, count: number): Uint32Array {
    return new Uint32Array(this.buffer, address, count);
  }

  /** Keeps the memory for the next device. */
  retire(): void {
    spares.push({ memory: this.memory, maxPages: this.maxPages, touched: this.touched });
  }

  private allocateSlowly(bytes: number): HostChunk {
    if (this.owner.garbage.isWorthwhile(this.usedBytes) && this.owner.tidy()) {
      const found = this.heap.allocate(bytes);
      if (found) return found;
    }
    if (!this.grow(bytes)) {
      const found = this.owner.collect() && this.heap.allocate(bytes);
      if (found) return found;
      if (!this.grow(bytes)) {
        throw new OutOfMemoryError(
          `Allocating ${bytes} bytes failed after collecting garbage. ${this.owner.memoryReport()} ` +
            "A host device holds at most 4 GiB, what a WebAssembly kernel can address.",
        );
      }
    }
    return this.heap.allocate(bytes) as HostChunk;
  }

  /** Makes room for `bytes` at the end; false when the limit or the system forbids. */
  private grow(bytes: number): boolean {
    const last = this.lastChunk();
    const wanted = roundToClass(Math.ceil(bytes / UNIT)) * UNIT;
    const needed = Math.ceil(Math.max(0, wanted - (last.isFree ? last.size : 0)) / PAGE);
    const pages = this.buffer.byteLength / PAGE;
    const room = this.maxPages - pages;
    if (needed > room) return false;
    const generous = Math.min(room, Math.max(needed, Math.ceil(Math.min(pages / 2, LARGEST_STEP))));
    const added = this.tryGrow(generous) || (generous > needed && this.tryGrow(needed));
    if (!added) return false;
    // A chunk appended as if in use and then freed joins a free neighbour and the free lists.
    const before = pages * PAGE;
    this.buffer = this.memory.buffer;
    this.bytes = new Uint8Array(this.buffer);
    const tail = newChunk<"heap">("heap", before - RESERVED, this.buffer.byteLength - before);
    tail.isFree = false;
    tail.before = last;
    last.after = tail;
    this.heap.usedBytes += tail.size;
    this.heap.free(tail);
    debug(1, () => `host memory: grown to ${this.buffer.byteLength / MiB} MiB`);
    return true;
  }

  private tryGrow(pages: number): boolean {
    try {
      this.memory.grow(pages);
      return true;
    } catch {
      return false;
    }
  }

  private lastChunk(): HostChunk {
    let last: HostChunk | undefined;
    for (const chunk of this.heap.chunks()) last = chunk;
    return last as HostChunk;
  }
}

/** Node counts the limits of a container from 20.13 on. */
const freeOnMachine = (): number => process.availableMemory?.() ?? freemem();

/** A memory that may grow to `maxPages`, or, where address space is short, to less. */
function newMemory(maxPages: number): Spare {
  for (let maximum = maxPages; ; maximum = Math.ceil(maximum / 2)) {
    try {
      const initial = Math.min(FIRST_PAGES, maximum);
      const memory = new WebAssembly.Memory({ initial, maximum, shared: true });
      return { memory, maxPages: maximum, touched: RESERVED };
    } catch (error) {
      if (maximum > FIRST_PAGES) continue;
      throw new OutOfMemoryError(`No address space for a WebAssembly memory: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
}

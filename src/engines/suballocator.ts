/**
 * Splits large blocks into chunks: two-level segregated fit (Masmano et al., "TLSF", 2004). Requests are rounded up to
 * one of eight size classes per power of two, so a freed chunk fits the next request of its kind exactly; neighbours
 * coalesce, so mixed sizes do not fragment a block for good. Allocation and release are O(1) and touch no driver.
 *
 * A chunk also carries the hazard state of its memory (`readEpoch`, `writeEpoch`): splitting copies it, merging keeps
 * the later, so memory that is reused at once is still ordered after its last use (see `vulkan/submission/stream.ts`).
 *
 * Buffers may share a chunk: each holds all of it or a part, and it is free when the last holder has given it up. Engines see
 * a part as a chunk. Its hazard state is copied when it is made and merged when it ends, so nobody may write the memory in
 * between.
 */

export interface Chunk<Block> {
  readonly block: Block;
  offset: number;
  size: number;
  isFree: boolean;
  /** Epoch of the stream in which the memory was last read or written by a recorded command. */
  readEpoch: number;
  writeEpoch: number;
  /** The chunk that this one is a part of, and the number of holders beside the first. */
  whole: Chunk<Block> | null;
  sharers: number;
  /** Neighbours in the block. */
  before: Chunk<Block> | null;
  after: Chunk<Block> | null;
  /** Neighbours in the free list of the chunk's class. */
  previousFree: Chunk<Block> | null;
  nextFree: Chunk<Block> | null;
}

export function newChunk<Block>(block: Block, offset: number, size: number): Chunk<Block> {
  return {
    block,
    offset,
    size,
    isFree: true,
    readEpoch: 0,
    writeEpoch: 0,
    whole: null,
    sharers: 0,
    before: null,
    after: null,
    previousFree: null,
    nextFree: null,
  };
}

/** A part of a chunk for one more holder, from `offset` on. */
export function partOf<Block>(chunk: Chunk<Block>, offset: number, size: number): Chunk<Block> {
  const part = newChunk(chunk.block, chunk.offset + offset, size);
  part.isFree = false;
  part.whole = chunk.whole ?? chunk;
  part.whole.sharers++;
  keepLater(part, chunk);
  return part;
}

/** Whether a chunk is whole and has one holder, which may then write it. */
export const isUnshared = ({ whole, sharers }: Chunk<unknown>): boolean => whole === null && sharers === 0;

/** Gives up one holder's share of a chunk; the last one frees it. */
export function giveUp<Block>(chunk: Chunk<Block>, memory: { free(whole: Chunk<Block>): void }): void {
  const whole = chunk.whole ?? chunk;
  if (whole !== chunk) keepLater(whole, chunk);
  if (whole.sharers > 0) whole.sharers--;
  else memory.free(whole);
}

function keepLater(into: Chunk<unknown>, { readEpoch, writeEpoch }: Chunk<unknown>): void {
  into.readEpoch = Math.max(into.readEpoch, readEpoch);
  into.writeEpoch = Math.max(into.writeEpoch, writeEpoch);
}

/** Eight linear classes below 8 units, then eight per power of two; 2^31 units is the end. */
const CLASSES = 8 * 30;

function classOf(units: number): number {
  if (units < 8) return units;
  const power = 31 - Math.clz32(units);
  return (power - 2) * 8 + ((units >>> (power - 3)) & 7);
}

/** The smallest class size that holds `units`. */
export function roundToClass(units: number): number {
  if (units < 8) return Math.max(1, units);
  const step = 2 ** (31 - Math.clz32(units) - 3);
  return Math.ceil(units / step) * step;
}

export class Suballocator<Block> {
  private readonly heads: (Chunk<Block> | null)[] = new Array(CLASSES).fill(null);
  private readonly occupied = new Uint32Array(Math.ceil(CLASSES / 32));
  private readonly first = new Map<Block, Chunk<Block>>();
  usedBytes = 0;

  constructor(private readonly unit: number) {}

  addBlock(block: Block, size: number): void {
    const chunk = newChunk(block, 0, Math.floor(size / this.unit) * this.unit);
    this.first.set(block, chunk);
    this.link(chunk);
  }

  /** A chunk of at least `bytes`, or null when no block has one. */
  allocate(bytes: number): Chunk<Block> | null {
    const units = roundToClass(Math.ceil(bytes / this.unit));
    const found = this.search(classOf(units));
    if (!found) return null;
    this.unlink(found);
    const size = units * this.unit;
    const rest = found.size - size;
    if (rest >= this.unit) {
      const tail = newChunk(found.block, found.offset + size, rest);
      tail.readEpoch = found.readEpoch;
      tail.writeEpoch = found.writeEpoch;
      tail.before = found;
      tail.after = found.after;
      if (found.after) found.after.before = tail;
      found.after = tail;
      found.size = size;
      this.link(tail);
    }
    found.isFree = false;
    this.usedBytes += found.size;
    return found;
  }

  free(chunk: Chunk<Block>): void {
    if (chunk.isFree) throw new Error("Suballocator: chunk freed twice");
    this.usedBytes -= chunk.size;
    chunk.isFree = true;
    let merged = chunk;
    const { before, after } = chunk;
    if (after?.isFree) {
      this.unlink(after);
      this.absorb(merged, after);
    }
    if (before?.isFree) {
      this.unlink(before);
      this.absorb(before, merged);
      merged = before;
    }
    this.link(merged);
  }

  /** Takes out blocks with nothing allocated in them, of no more than so many bytes in all, and returns them. */
  takeEmptyBlocks(bytes = Number.POSITIVE_INFINITY): Block[] {
    const empty: Block[] = [];
    let left = bytes;
    for (const [block, chunk] of this.first) {
      if (!chunk.isFree || chunk.after || chunk.size > left) continue;
      left -= chunk.size;
      this.unlink(chunk);
      this.first.delete(block);
      empty.push(block);
    }
    return empty;
  }

  /** Every chunk in address order, for tests and diagnosis. */
  *chunks(): Generator<Chunk<Block>> {
    for (const head of this.first.values()) for (let c: Chunk<Block> | null = head; c; c = c.after) yield c;
  }

  /** `into` is directly before `gone`. */
  private absorb(into: Chunk<Block>, gone: Chunk<Block>): void {
    into.size += gone.size;
    into.after = gone.after;
    if (gone.after) gone.after.before = into;
    keepLater(into, gone);
  }

  /** Head of the first non-empty class at or above `from`. */
  private search(from: number): Chunk<Block> | null {
    let word = from >>> 5;
    let bits = (this.occupied[word] as number) & (-1 << (from & 31));
    while (bits === 0) {
      if (++word >= this.occupied.length) return null;
      bits = this.occupied[word] as number;
    }
    return this.heads[word * 32 + 31 - Math.clz32(bits & -bits)] as Chunk<Block>;
  }

  /** A free chunk is listed under the class at or below its size, so that every member of a class fits its class. */
  private link(chunk: Chunk<Block>): void {
    const index = classOf(chunk.size / this.unit);
    const head = this.heads[index] as Chunk<Block> | null;
    chunk.previousFree = null;
    chunk.nextFree = head;
    if (head) head.previousFree = chunk;
    this.heads[index] = chunk;
    this.occupied[index >>> 5] = (this.occupied[index >>> 5] as number) | (1 << (index & 31));
  }

  private unlink(chunk: Chunk<Block>): void {
    const { previousFree, nextFree } = chunk;
    if (nextFree) nextFree.previousFree = previousFree;
    if (previousFree) previousFree.nextFree = nextFree;
    else {
      const index = classOf(chunk.size / this.unit);
      this.heads[index] = nextFree;
      if (!nextFree) this.occupied[index >>> 5] = (this.occupied[index >>> 5] as number) & ~(1 << (index & 31));
    }
    chunk.previousFree = null;
    chunk.nextFree = null;
  }
}

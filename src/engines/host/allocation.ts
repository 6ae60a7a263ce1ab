/**
 * A buffer of host memory. It ends on `dispose()`, on garbage collection or when the device closes, and throws when used
 * afterwards; memory that was given to another buffer is never reached through this handle.
 */
import { ArgumentError, DisposedError, SizeMismatchError } from "../../core/errors.js";
import { asBytes, type ByteSource, unwrittenBytes } from "../byte-source.js";
import type { Lease, LeaseGroup } from "../leases.js";
import type { LifeSign } from "../recent-objects.js";
import { isUnshared, partOf } from "../suballocator.js";
import { isTurnDue, turn } from "../turns.js";
import type { HostDevice } from "./device.js";
import type { HostChunk } from "./memory.js";

/** Bytes that are copied between two looks at the clock: a millisecond or two. */
const PIECE = 4 * 1024 * 1024;

export class HostAllocation {
  private chunk: HostChunk | null;
  /** A lease of its own, or the group of tiny buffers that it belongs to, and its place there. */
  private lease: Lease | null = null;
  /** Shows, while the buffer is new, that it is alive; little ones have none. */
  protected sign: LifeSign<Lease> | null = null;
  private group: LeaseGroup<HostChunk> | null = null;
  private place = 0;
  /** Zeros are written on first use, so that a buffer filled at once is not filled twice. */
  private isZeroPending: boolean;

  /** @internal Use `device.alloc` or `device.upload`. */
  constructor(
    readonly device: HostDevice,
    readonly byteLength: number,
    chunk: HostChunk,
    isZeroPending: boolean,
  ) {
    this.chunk = chunk;
    this.isZeroPending = isZeroPending;
  }

  /** @internal */
  attach(lease: Lease, sign: LifeSign<Lease> | null): void {
    this.lease = lease;
    this.sign = sign;
  }

  /** @internal */
  joinLast(group: LeaseGroup<HostChunk>): void {
    this.group = group;
    this.place = group.parts.length - 1;
  }

  get isDisposed(): boolean {
    return this.chunk === null || this.device.isClosed;
  }

  /** The buffer's address in the memory of the kernels: a multiple of 64, valid as long as the buffer lives. */
  get address(): number {
    return this.contents("address");
  }

  /** Replaces the contents. The bytes must be exactly as many as the buffer holds. */
  write(source: ByteSource): void {
    const bytes = asBytes(source);
    if (bytes.byteLength !== this.byteLength) {
      throw new SizeMismatchError(`write: ${bytes.byteLength} bytes for a buffer of ${this.byteLength}.`);
    }
    this.put(this.locate("write"), bytes, true);
  }

  /** @internal Replaces the first bytes. `mayChange`: the caller may change the array afterwards. */
  put(address: number, bytes: Uint8Array, mayChange = false): void {
    const { queue, memory } = this.device;
    const { chunk } = this;
    this.isZeroPending = false;
    if (queue.isWritable(chunk as HostChunk)) {
      memory.put(address, bytes);
      queue.forget(chunk as HostChunk);
      return;
    }
    const target = memory.view(address, bytes.byteLength);
    const contents = mayChange ? bytes.slice() : bytes;
    queue.later(() => target.set(contents), contents.byteLength);
    this.mark(true);
  }

  /** The contents as of now. With `into`, fills and returns that array. */
  async read(into?: Uint8Array): Promise<Uint8Array> {
    const target = this.target(into);
    const address = this.contents("read");
    const { queue, memory } = this.device;
    const chunk = this.chunk as HostChunk;
    queue.assertNotLost(chunk);
    if (queue.isReadable(chunk) && this.byteLength <= PIECE) {
      memory.get(address, target);
      if (isTurnDue()) await turn();
      return target;
    }
    const source = memory.view(address, this.byteLength);
    const arrival = queue.whenDone(copied(source, target));
    this.mark(false);
    await arrival;
    return target;
  }

  /** @internal */
  readNow(offset: number, into: Uint8Array): boolean {
    const address = this.contents("read");
    const { queue, memory } = this.device;
    const chunk = this.chunk as HostChunk;
    if (queue.hasLost || !queue.isReadable(chunk) || isTurnDue()) return false;
    memory.get(address + offset, into);
    return true;
  }

  readSync(into?: Uint8Array): Uint8Array {
    const target = this.target(into);
    const address = this.contents("read");
    const { queue, memory } = this.device;
    const chunk = this.chunk as HostChunk;
    queue.drain(chunk.writeEpoch);
    queue.assertNotLost(chunk);
    memory.get(address, target);
    return target;
  }

  /** Copies another buffer of the same size and device into this one. */
  copyFrom(source: HostAllocation): void {
    if (source.device !== this.device) throw new ArgumentError("copyFrom: the buffers are on different devices.");
    if (source.byteLength !== this.byteLength) {
      throw new SizeMismatchError(`copyFrom: ${source.byteLength} bytes for a buffer of ${this.byteLength}.`);
    }
    if (source === this || this.byteLength === 0) return;
    const { memory, queue } = this.device;
    const from = memory.view(source.contents("copyFrom"), this.byteLength);
    const to = memory.view(this.locate("copyFrom"), this.byteLength);
    this.isZeroPending = false;
    queue.assertNotLost(source.chunk as HostChunk);
    if (queue.isReadable(source.chunk as HostChunk) && queue.isWritable(this.chunk as HostChunk)) {
      to.set(from);
      queue.forget(this.chunk as HostChunk);
      return;
    }
    queue.later(() => to.set(from));
    source.mark(false);
    this.mark(true);
  }

  /** @internal Notes that the last entry of the queue reads it, or writes it. */
  mark(isWritten: boolean): void {
    const chunk = this.chunk as HostChunk;
    const { last } = this.device.queue;
    if (isWritten) chunk.writeEpoch = last;
    else chunk.readEpoch = last;
  }

  /** @internal Throws if what was to write it failed. */
  assertNotLost(): void {
    this.device.queue.assertNotLost(this.chunk as HostChunk);
  }

  /**
   * @internal A part of its bytes as another buffer over the same memory. The memory is freed when both have ended; nobody may
   * write it meanwhile.
   */
  part(offset: number, byteLength: number): HostAllocation {
    this.contents("part");
    return this.device.holding(partOf(this.chunk as HostChunk, offset, byteLength), byteLength);
  }

  /** @internal Whether it is a whole allocation with no other holder. */
  get isUnshared(): boolean {
    return this.chunk !== null && isUnshared(this.chunk);
  }

  get keptBytes(): number {
    return this.chunk === null ? 0 : (this.chunk.whole ?? this.chunk).size;
  }

  /** Frees the memory now. Disposing twice is harmless. */
  dispose(): void {
    if (!this.chunk) return;
    this.chunk = null;
    if (this.group) this.device.leaveGroup(this.group, this.place);
    else if (this.lease) this.device.endLease(this.lease);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** @internal The address, with pending zeros written: for kernels that read the buffer or write parts of it. */
  contents(operation: string): number {
    const address = this.locate(operation);
    if (this.isZeroPending) this.fill(address);
    return address;
  }

  private fill(address: number): void {
    const { queue, memory } = this.device;
    const target = memory.view(address, this.byteLength);
    this.isZeroPending = false;
    if (queue.isWritable(this.chunk as HostChunk)) {
      target.fill(0);
      queue.forget(this.chunk as HostChunk);
      return;
    }
    queue.later(() => target.fill(0));
    this.mark(true);
  }

  private target(into: Uint8Array | undefined): Uint8Array {
    if (into && into.byteLength !== this.byteLength) {
      throw new SizeMismatchError(`read: a target of ${into.byteLength} bytes for a buffer of ${this.byteLength}.`);
    }
    return into ?? unwrittenBytes(this.byteLength);
  }

  private locate(operation: string): number {
    if (!this.chunk) throw new DisposedError(`${operation}: this buffer of ${this.byteLength} bytes was disposed.`);
    this.device.assertUsable(operation);
    return this.device.memory.addressOf(this.chunk);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `HostAllocation { ${this.byteLength} bytes on ${this.device.name}${this.isDisposed ? ", disposed" : ""} }`;
  }
}

/** Copies bytes piece by piece. */
function* copied(source: Uint8Array, target: Uint8Array): Generator<null> {
  for (let at = 0; at < source.byteLength; at += PIECE) {
    target.set(source.subarray(at, at + PIECE), at);
    yield null;
  }
}

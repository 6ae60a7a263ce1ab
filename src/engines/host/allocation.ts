/**
 * A buffer of host memory. It ends on `dispose()`, on garbage collection or when the device closes, and throws when used
 * afterwards; memory that was given to another buffer is never reached through this handle.
 */
import { ArgumentError, DisposedError, SizeMismatchError } from "../../core/errors.js";
import { asBytes, type ByteSource, unwrittenBytes } from "../byte-source.js";
import type { Lease } from "../leases.js";
import { isUnshared, partOf } from "../suballocator.js";
import type { HostDevice } from "./device.js";
import type { HostChunk } from "./memory.js";

export class HostAllocation {
  private chunk: HostChunk | null;
  private lease: Lease | null = null;
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
  attach(lease: Lease): void {
    this.lease = lease;
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
    const address = this.locate("write");
    this.isZeroPending = false;
    this.device.memory.view(address, this.byteLength).set(bytes);
  }

  /** The contents as of now. With `into`, fills and returns that array. */
  async read(into?: Uint8Array): Promise<Uint8Array> {
    return this.readSync(into);
  }

  readSync(into?: Uint8Array): Uint8Array {
    if (into && into.byteLength !== this.byteLength) {
      throw new SizeMismatchError(`read: a target of ${into.byteLength} bytes for a buffer of ${this.byteLength}.`);
    }
    const target = into ?? unwrittenBytes(this.byteLength);
    target.set(this.device.memory.view(this.contents("read"), this.byteLength));
    return target;
  }

  /** Copies another buffer of the same size and device into this one. */
  copyFrom(source: HostAllocation): void {
    if (source.device !== this.device) throw new ArgumentError("copyFrom: the buffers are on different devices.");
    if (source.byteLength !== this.byteLength) {
      throw new SizeMismatchError(`copyFrom: ${source.byteLength} bytes for a buffer of ${this.byteLength}.`);
    }
    if (source === this || this.byteLength === 0) return;
    const from = source.contents("copyFrom");
    const to = this.locate("copyFrom");
    this.isZeroPending = false;
    const { memory } = this.device;
    memory.view(to, this.byteLength).set(memory.view(from, this.byteLength));
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
    if (this.lease) this.device.endLease(this.lease);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** @internal The address, with pending zeros written: for kernels that read the buffer or write parts of it. */
  contents(operation: string): number {
    const address = this.locate(operation);
    if (this.isZeroPending) {
      this.isZeroPending = false;
      this.device.memory.view(address, this.byteLength).fill(0);
    }
    return address;
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

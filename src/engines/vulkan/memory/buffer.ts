/**
 * A buffer of device memory. It exposes no driver handle: it reaches its allocation through a lease that ends on `dispose()`,
 * on garbage collection or when the device closes, and throws when used afterwards.
 */
import { ArgumentError, DeviceError, DisposedError, SizeMismatchError } from "../../../core/errors.js";
import { asBytes, type ByteSource, describe, unwrittenBytes } from "../../byte-source.js";
import type { Lease, LeaseGroup } from "../../leases.js";
import type { LifeSign } from "../../recent-objects.js";
import { isUnshared, partOf } from "../../suballocator.js";
import type { VulkanDevice } from "../device.js";
import type { Allocation } from "./memory-pool.js";

/** Memory on a GPU. `device.alloc` and `device.upload` make it. */
export class DeviceBuffer {
  private allocation: Allocation | null;
  /** A lease of its own, or the group of tiny buffers that it belongs to, and its place there. */
  private lease: Lease | null = null;
  /** Shows, while the buffer is new, that it is alive; little ones have none. */
  protected sign: LifeSign<Lease> | null = null;
  private group: LeaseGroup<Allocation> | null = null;
  private place = 0;
  /** Zeros are written on first use, so that a buffer filled at once is not filled twice. */
  private isZeroPending: boolean;
  /** The error of a write that failed part-way: the contents are undefined until the next complete write. */
  private brokenBy: unknown = null;

  /** @internal Use `device.alloc` or `device.upload`. */
  constructor(
    readonly device: VulkanDevice,
    readonly byteLength: number,
    allocation: Allocation,
    isZeroed: boolean,
  ) {
    this.allocation = allocation;
    this.isZeroPending = isZeroed;
  }

  /** @internal */
  attach(lease: Lease, sign: LifeSign<Lease> | null): void {
    this.lease = lease;
    this.sign = sign;
  }

  /** @internal */
  joinLast(group: LeaseGroup<Allocation>): void {
    this.group = group;
    this.place = group.parts.length - 1;
  }

  get isDisposed(): boolean {
    return this.allocation === null || this.device.isClosed;
  }

  /** The buffer's address on the device, for kernels that take addresses in their push block. */
  get address(): bigint {
    const { block, offset } = this.memory("address");
    return block.address + BigInt(offset);
  }

  /** Replaces the contents. The bytes must be exactly as many as the buffer holds. */
  write(source: ByteSource): void {
    const bytes = asBytes(source);
    if (bytes.byteLength !== this.byteLength) {
      throw new SizeMismatchError(`write: ${bytes.byteLength} bytes for a buffer of ${this.byteLength}.`);
    }
    const memory = this.memory("write");
    this.overwrite(() => this.device.uploadTo(memory, bytes));
  }

  /** The contents as of now. Does not block the event loop. With `into`, fills and returns that array. */
  async read(into?: Uint8Array): Promise<Uint8Array> {
    const target = this.target(into);
    await this.device.downloadFrom(this.contents("read"), target, into === undefined);
    return target;
  }

  /** @internal The bytes have to come from the device. */
  readNow(): boolean {
    return false;
  }

  /** The contents as of now, blocking until they are here. */
  readSync(into?: Uint8Array): Uint8Array {
    const target = this.target(into);
    this.device.downloadFromSync(this.contents("readSync"), target);
    return target;
  }

  /** Copies another buffer of the same size and device into this one, on the device. */
  copyFrom(source: DeviceBuffer): void {
    if (!(source instanceof DeviceBuffer)) throw new ArgumentError(`copyFrom: ${describe(source)} is not a buffer.`);
    if (source.device !== this.device) throw new ArgumentError("copyFrom: the buffers are on different devices.");
    if (source.byteLength !== this.byteLength) {
      throw new SizeMismatchError(`copyFrom: ${source.byteLength} bytes for a buffer of ${this.byteLength}.`);
    }
    if (source === this || this.byteLength === 0) return;
    const from = source.contents("copyFrom");
    const to = this.memory("copyFrom");
    this.overwrite(() => this.device.stream.copy(from, 0, to, 0, this.byteLength));
  }

  /**
   * @internal A part of its bytes as another buffer over the same memory. The memory is freed when both have ended; nobody may
   * write it meanwhile.
   */
  part(offset: number, byteLength: number): DeviceBuffer {
    return this.device.holding(partOf(this.contents("part"), offset, byteLength), byteLength);
  }

  /** @internal Whether it is a whole allocation with no other holder. */
  get isUnshared(): boolean {
    return this.allocation !== null && isUnshared(this.allocation);
  }

  get keptBytes(): number {
    return this.allocation === null ? 0 : (this.allocation.whole ?? this.allocation).size;
  }

  /** Frees the memory now. Disposing twice is harmless. */
  dispose(): void {
    if (!this.allocation) return;
    this.allocation = null;
    if (this.group) this.device.leaveGroup(this.group, this.place);
    else if (this.lease) this.device.endLease(this.lease);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** @internal The memory, with pending zeros written: for commands that read it or write parts of it. */
  contents(operation: string): Allocation {
    const memory = this.memory(operation);
    if (this.brokenBy) {
      throw new DeviceError(
        `${operation}: the contents of this buffer of ${this.byteLength} bytes were lost: writing them failed ` +
          `(${(this.brokenBy as Error).message}). Write it again.`,
        { cause: this.brokenBy },
      );
    }
    if (this.isZeroPending) {
      if (this.byteLength > 0) this.device.stream.fill(memory, this.byteLength);
      this.isZeroPending = false;
    }
    return memory;
  }

  /** Records a command that replaces all of the contents. */
  private overwrite(record: () => void): void {
    try {
      record();
      this.isZeroPending = false;
      this.brokenBy = null;
    } catch (error) {
      this.brokenBy = error;
      throw error;
    }
  }

  private memory(operation: string): Allocation {
    if (!this.allocation) {
      throw new DisposedError(`${operation}: this buffer of ${this.byteLength} bytes was disposed.`);
    }
    this.device.assertUsable(operation);
    return this.allocation;
  }

  private target(into: Uint8Array | undefined): Uint8Array {
    if (into !== undefined && !(into instanceof Uint8Array)) {
      throw new ArgumentError(`read: the target must be a Uint8Array, not ${describe(into)}.`);
    }
    if (into && into.byteLength !== this.byteLength) {
      throw new SizeMismatchError(`read: a target of ${into.byteLength} bytes for a buffer of ${this.byteLength}.`);
    }
    return into ?? unwrittenBytes(this.byteLength);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `DeviceBuffer { ${this.byteLength} bytes on ${this.device.name}${this.isDisposed ? ", disposed" : ""} }`;
  }
}

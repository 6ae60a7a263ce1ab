/** A compiled kernel: checks the arguments of each run against the interface of the module. */
import { ArgumentError, SizeMismatchError } from "../../../core/errors.js";
import { asBytes, type ByteSource } from "../../byte-source.js";
import type { VulkanDevice } from "../device.js";
import { DeviceBuffer } from "../memory/buffer.js";
import type { Allocation } from "../memory/memory-pool.js";
import type { BoundBuffer } from "./descriptors.js";
import type { Pipeline } from "./pipeline-compiler.js";

/** The arguments of one dispatch, for `kernel.run`. */
export interface RunOptions {
  /** The storage buffers at set 0, bindings 0…n-1. */
  readonly buffers?: readonly DeviceBuffer[];
  /** The push block. */
  readonly push?: ByteSource;
  /** Workgroups along x, y, z. */
  readonly groups: readonly [number] | readonly [number, number] | readonly [number, number, number];
  /** Buffers that the kernel reaches by address, not by a binding: those it only reads, and those it writes. */
  readonly reads?: readonly DeviceBuffer[];
  readonly writes?: readonly DeviceBuffer[];
}

const none: readonly DeviceBuffer[] = [];

/** A compute shader that is ready to run. `device.kernel` makes it. */
export class Kernel {
  /** @internal Use `device.kernel`. */
  constructor(
    readonly device: VulkanDevice,
    private readonly pipeline: Pipeline,
  ) {}

  get name(): string {
    return this.pipeline.name;
  }

  /** Threads of a workgroup along x, y, z. */
  get localSize(): readonly [number, number, number] {
    return this.pipeline.localSize;
  }

  get bindingCount(): number {
    return this.pipeline.bindings.length;
  }

  /** Size of the push block in bytes. */
  get pushBytes(): number {
    return this.pipeline.pushBytes;
  }

  /** Records one dispatch. It runs after everything recorded before it that it depends on. */
  run({ buffers = none, push, groups, reads = none, writes = none }: RunOptions): void {
    const { device, pipeline } = this;
    const { bindings, pushBytes } = pipeline;
    if (buffers.length !== bindings.length) {
      throw new ArgumentError(`${this.name} binds ${bindings.length} buffers; ${buffers.length} were given.`);
    }
    this.checkGroups(groups);
    const pushed = push === undefined ? null : asBytes(push);
    this.checkPush(pushed === null ? 0 : pushed.byteLength);

    const read: Allocation[] = [];
    const written: Allocation[] = [];
    const bound: BoundBuffer[] = [];
    for (let i = 0; i < buffers.length; i++) {
      const buffer = buffers[i] as DeviceBuffer;
      const allocation = this.memory(buffer, "buffers", i);
      bound.push({ allocation, range: this.range(buffer, i) });
      (bindings[i]?.isReadOnly ? read : written).push(allocation);
    }
    for (let i = 0; i < reads.length; i++) read.push(this.memory(reads[i] as DeviceBuffer, "reads", i));
    for (let i = 0; i < writes.length; i++) written.push(this.memory(writes[i] as DeviceBuffer, "writes", i));
    device.assertUsable("run");
    if (pushed !== null && pushBytes > 0) {
      const { u8 } = device.stream.push;
      for (let i = 0; i < pushBytes; i++) u8[i] = pushed[i] as number;
    }
    const descriptors = bound.length > 0 ? bound : null;
    device.stream.dispatch(pipeline, read, written, groups[0], groups[1] ?? 1, groups[2] ?? 1, descriptors);
  }

  private memory(buffer: DeviceBuffer, list: string, index: number): Allocation {
    if (!(buffer instanceof DeviceBuffer)) {
      throw new ArgumentError(`${this.name}: ${list}[${index}] is not a buffer made by device.alloc or device.upload.`);
    }
    if (buffer.device !== this.device) {
      throw new ArgumentError(
        `${this.name}: ${list}[${index}] is on ${buffer.device.name}, the kernel on ${this.device.name}, opened apart.`,
      );
    }
    return buffer.contents("run");
  }

  /** A descriptor's range is never zero and whole words; allocations are padded to hold them. */
  private range(buffer: DeviceBuffer, index: number): number {
    const range = Math.max(4, Math.ceil(buffer.byteLength / 4) * 4);
    const limit = this.device.plan.limits.maxStorageBufferRange;
    if (range > limit) {
      throw new ArgumentError(
        `${this.name}: buffers[${index}] has ${buffer.byteLength} bytes; ${this.device.name} binds at most ${limit}. Pass its address instead.`,
      );
    }
    return range;
  }

  private checkGroups(groups: readonly number[]): void {
    if (!Array.isArray(groups) || groups.length < 1 || groups.length > 3) {
      throw new ArgumentError(`${this.name}: groups must be [x], [x, y] or [x, y, z].`);
    }
    const limits = this.device.plan.limits.maxComputeWorkGroupCount;
    for (let axis = 0; axis < groups.length; axis++) {
      const count = groups[axis] as number;
      const limit = limits[axis] as number;
      if (Number.isInteger(count) && count >= 1 && count <= limit) continue;
      throw new ArgumentError(
        `${this.name}: ${count} groups along ${"xyz"[axis]}; ${this.device.name} takes whole numbers from 1 to ${limit}.`,
      );
    }
  }

  private checkPush(given: number): void {
    const { pushBytes, name } = this.pipeline;
    if (given === pushBytes) return;
    const limit = this.device.plan.limits.maxPushConstantsSize;
    if (given > limit) {
      throw new ArgumentError(`${name}: a push block of ${given} bytes; ${this.device.name} allows ${limit}.`);
    }
    if (given % 4 !== 0) {
      throw new ArgumentError(`${name}: a push block of ${given} bytes; it must be whole 4-byte words.`);
    }
    // Blocks often come padded to a multiple of 16 bytes, as C and std140 lay structs out; the padding is not pushed.
    if (given < pushBytes || given > Math.ceil(pushBytes / 16) * 16) {
      throw new SizeMismatchError(`${name}: its push block has ${pushBytes} bytes; ${given} were given.`);
    }
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    const { name, localSize, bindings, pushBytes } = this.pipeline;
    return `Kernel { ${name}, ${localSize.join("×")} threads, ${bindings.length} buffers, ${pushBytes} push bytes }`;
  }
}

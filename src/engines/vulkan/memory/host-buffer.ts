/**
 * Host memory that the GPU copies to and from directly. It is ordinary JavaScript memory imported by the driver, so it stays
 * valid whatever happens to the device; only direct copies end with the device.
 */
import { markAsUntransferable } from "node:worker_threads";
import { OutOfMemoryError, UnsupportedError } from "../../../core/errors.js";
import { newChunk } from "../../suballocator.js";
import { BufferUsage, type DeviceFunction, type FunctionTable, type Handle } from "../driver/api.js";
import * as L from "../driver/layouts.js";
import { addressOfView } from "../driver/native.js";
import { check } from "../driver/results.js";
import { Arena } from "../driver/structs.js";
import { type Allocation, addressWords, type Block } from "./memory-pool.js";

const HOST_ALLOCATION = 0x80;

/** Memory of the host that the GPU copies from and to at full speed. `device.hostBuffer` makes it. */
export class HostBuffer {
  /** @internal Use `device.hostBuffer`. */
  constructor(
    /** The memory itself. */
    readonly bytes: Uint8Array,
    private readonly onDispose: () => void,
  ) {}

  get byteLength(): number {
    return this.bytes.byteLength;
  }

  /** Ends the import; the bytes stay usable as plain memory. */
  dispose(): void {
    this.onDispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** Memory at an address the driver can import: aligned in place and in length. */
export function alignedBytes(byteLength: number, alignment: number): { whole: Uint8Array; bytes: Uint8Array } {
  const rounded = Math.max(1, Math.ceil(byteLength / alignment)) * alignment;
  const raw = new Uint8Array(hostMemory(rounded + alignment));
  const start = (alignment - (addressOfView(raw) % alignment)) % alignment;
  return { whole: raw.subarray(start, start + rounded), bytes: raw.subarray(start, start + byteLength) };
}

function hostMemory(byteLength: number): ArrayBuffer {
  try {
    const memory = new ArrayBuffer(byteLength);
    // The driver knows its address, so it must not move to another owner.
    markAsUntransferable(memory);
    return memory;
  } catch (error) {
    throw new OutOfMemoryError(`hostBuffer: this process cannot have ${byteLength} bytes more.`, { cause: error });
  }
}

/** The host memory that a device has imported. */
export class HostImports {
  /** By the JavaScript memory. */
  private readonly allocations = new WeakMap<ArrayBufferLike, Allocation>();
  private readonly releases = new Set<() => void>();

  /** Imports memory; returns the function that ends the import. */
  add(calls: FunctionTable<DeviceFunction>, device: Handle, whole: Uint8Array): () => void {
    const { allocation, release } = importHostMemory(calls, device, whole);
    const { buffer: memory } = whole;
    this.allocations.set(memory, allocation);
    // The closure keeps the memory alive until the import has ended.
    const letGo = () => {
      this.releases.delete(letGo);
      if (this.allocations.get(memory) === allocation) this.allocations.delete(memory);
      release();
    };
    this.releases.add(letGo);
    return letGo;
  }

  /** The allocation that begins where these bytes do, if there is one. */
  allocationOf(bytes: Uint8Array): Allocation | null {
    const allocation = this.allocations.get(bytes.buffer);
    const isWithin =
      allocation?.block.mapped?.byteOffset === bytes.byteOffset && bytes.byteLength <= allocation.block.size;
    return allocation && isWithin && bytes.byteLength > 0 ? allocation : null;
  }

  releaseAll(): void {
    for (const release of [...this.releases]) release();
  }
}

/** Imports memory; returns an allocation over it and the function that ends the import. */
function importHostMemory(
  calls: FunctionTable<DeviceFunction>,
  device: Handle,
  bytes: Uint8Array,
): { allocation: Allocation; release: () => void } {
  if (!calls.vkGetMemoryHostPointerPropertiesEXT) throw new UnsupportedError("The device cannot import host memory.");
  const arena = new Arena(2048);
  const out = arena.room(8);
  const address = addressOfView(bytes);
  const properties = arena.pack(L.VkMemoryHostPointerPropertiesEXT, {});
  check(
    "vkGetMemoryHostPointerPropertiesEXT",
    calls.vkGetMemoryHostPointerPropertiesEXT(device, HOST_ALLOCATION, address, properties),
  );
  const types = arena.number(L.VkMemoryHostPointerPropertiesEXT, properties, "memoryTypeBits");
  const external = arena.pack(L.VkExternalMemoryBufferCreateInfo, { handleTypes: HOST_ALLOCATION });
  const info = arena.pack(
    L.VkBufferCreateInfo,
    { size: bytes.byteLength, usage: BufferUsage.transferSrc | BufferUsage.transferDst },
    external,
  );
  check("vkCreateBuffer", calls.vkCreateBuffer(device, info, 0, out));
  const buffer = arena.handle(out);
  const undo: (() => void)[] = [() => calls.vkDestroyBuffer(device, buffer, 0)];
  try {
    const requirements = arena.room(L.VkMemoryRequirements.size);
    calls.vkGetBufferMemoryRequirements(device, buffer, requirements);
    const allowed = types & arena.number(L.VkMemoryRequirements, requirements, "memoryTypeBits");
    if (allowed === 0) throw new UnsupportedError("The device has no memory type for imported host memory.");
    const pointer = arena.pack(L.VkImportMemoryHostPointerInfoEXT, {
      handleType: HOST_ALLOCATION,
      pHostPointer: address,
    });
    const allocate = arena.pack(
      L.VkMemoryAllocateInfo,
      { allocationSize: bytes.byteLength, memoryTypeIndex: 31 - Math.clz32(allowed & -allowed) },
      pointer,
    );
    check("vkAllocateMemory", calls.vkAllocateMemory(device, allocate, 0, out));
    const memory = arena.handle(out);
    undo.push(() => calls.vkFreeMemory(device, memory, 0));
    check("vkBindBufferMemory", calls.vkBindBufferMemory(device, buffer, memory, 0));
    const block: Block = { memory, buffer, ...addressWords(0n), size: bytes.byteLength, mapped: bytes, isLarge: true };
    return { allocation: newChunk(block, 0, bytes.byteLength), release: () => rollBack(undo) };
  } catch (error) {
    rollBack(undo);
    throw error;
  }
}

function rollBack(undo: (() => void)[]): void {
  for (const step of undo.splice(0)) step();
}

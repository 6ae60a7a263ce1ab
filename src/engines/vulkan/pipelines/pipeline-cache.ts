/**
 * The driver's compiled pipelines on disk, in a folder of the user's own (engines/disk/own-folder.ts). A file names its
 * device and driver and carries a checksum; one that does not match is ignored and replaced. Nothing here can fail a
 * program: without a cache it is only slower.
 */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { debug } from "../../debug.js";
import { LEFT_AFTER_MS, OwnFolder } from "../../disk/own-folder.js";
import type { DeviceFunction, FunctionTable, Handle } from "../driver/api.js";
import * as L from "../driver/layouts.js";
import { addressOf } from "../driver/native.js";
import { check } from "../driver/results.js";
import { Arena } from "../driver/structs.js";
import type { PhysicalDevice } from "../plan.js";

const MAGIC = "PUMICEPC";
const FORMAT = 1;
/** magic 8, format 4, driver version 4, device UUID 16, driver UUID 16, cache UUID 16, payload length 8, SHA-256 32. */
const HEADER = 104;
const SAVE_AFTER_MS = 2000;
/** The most bytes of a file: enough for everything that a driver has ever compiled. */
const MAX_BYTES = 1 << 29;

/**
 * The file's bytes for a payload.
 * @internal for tests: damaged files are made without a driver
 */
export function encodeCache(device: PhysicalDevice, payload: Uint8Array): Uint8Array {
  const file = Buffer.alloc(HEADER + payload.byteLength);
  file.write(MAGIC, 0, "latin1");
  file.writeUInt32LE(FORMAT, 8);
  file.writeUInt32LE(device.driverVersion, 12);
  file.write(device.deviceUUID, 16, "hex");
  file.write(device.driverUUID, 32, "hex");
  file.write(device.pipelineCacheUUID, 48, "hex");
  file.writeBigUInt64LE(BigInt(payload.byteLength), 64);
  createHash("sha256").update(payload).digest().copy(file, 72);
  file.set(payload, HEADER);
  return file;
}

/**
 * The payload, or why the file is not for this device and driver.
 * @internal for tests: damaged files are refused without a driver
 */
export function decodeCache(device: PhysicalDevice, file: Uint8Array): Uint8Array | { readonly why: string } {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (bytes.length < HEADER) return { why: "it is truncated" };
  if (bytes.toString("latin1", 0, 8) !== MAGIC || bytes.readUInt32LE(8) !== FORMAT)
    return { why: "it is of another format" };
  const isOurs =
    bytes.readUInt32LE(12) === device.driverVersion &&
    bytes.toString("hex", 16, 32) === device.deviceUUID &&
    bytes.toString("hex", 32, 48) === device.driverUUID &&
    bytes.toString("hex", 48, 64) === device.pipelineCacheUUID;
  if (!isOurs) return { why: "it is from another device or driver" };
  if (bytes.readBigUInt64LE(64) !== BigInt(bytes.length - HEADER)) return { why: "it is truncated" };
  const payload = bytes.subarray(HEADER);
  const sum = createHash("sha256").update(payload).digest();
  return sum.equals(bytes.subarray(72, 104)) ? payload : { why: "its checksum does not match" };
}

/** Removes old temporary files beside a file, left by processes that were killed while writing. */
function removeLeftovers(folder: string, own: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if (name.startsWith(`${own}.`) && Date.now() - lstatSync(file).mtimeMs > LEFT_AFTER_MS) rmSync(file);
    }
  } catch (error) {
    debug(1, () => `cache folder not tidied: ${(error as Error).message}`);
  }
}

/** Caches with new pipelines. One listener saves them all when the process ends. */
const unsaved = new Set<PipelineCacheFile>();
function saveAll(): void {
  for (const cache of unsaved) cache.save();
}

export class PipelineCacheFile {
  readonly handle: Handle;
  private readonly folder: OwnFolder | null;
  private readonly name: string;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly calls: FunctionTable<DeviceFunction>,
    private readonly device: Handle,
    private readonly physical: PhysicalDevice,
    folder: string | null,
  ) {
    const identity = createHash("sha256")
      .update(`${physical.deviceUUID}${physical.driverUUID}${physical.name}`)
      .digest("hex");
    this.folder = folder === null ? null : new OwnFolder(join(folder, "vulkan"), MAX_BYTES);
    this.name = `${identity.slice(0, 16)}.pipelines`;
    const known = this.read();
    this.handle = this.create(known) ?? (this.create(null, true) as Handle);
  }

  /** Call after compiling a pipeline: saves soon. */
  changed(): void {
    if (!this.folder || this.timer) return;
    this.timer = setTimeout(() => this.save(), SAVE_AFTER_MS);
    this.timer.unref();
    if (unsaved.size === 0) process.once("exit", saveAll);
    unsaved.add(this);
  }

  /** Writes new pipelines now. */
  save(): void {
    const { folder, name } = this;
    if (!this.timer || !folder) return;
    this.forget();
    const data = this.data();
    if (data && folder.write(name, encodeCache(this.physical, data))) {
      debug(1, () => `pipeline cache: ${data.byteLength} bytes to ${join(folder.path, name)}`);
      removeLeftovers(folder.path, name);
    }
  }

  destroy(isLost: boolean): void {
    if (isLost) this.forget();
    else this.save();
    this.calls.vkDestroyPipelineCache(this.device, this.handle, 0);
  }

  private forget(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    unsaved.delete(this);
    if (unsaved.size === 0) process.removeListener("exit", saveAll);
  }

  private read(): Uint8Array | null {
    const file = this.folder?.read(this.name);
    if (!file) return null;
    const found = decodeCache(this.physical, file);
    if (found instanceof Uint8Array) return found;
    debug(1, () => `pipeline cache ${this.name} ignored: ${found.why}`);
    return null;
  }

  private create(data: Uint8Array | null, isLastTry = false): Handle | null {
    const arena = new Arena(1024);
    const out = arena.room(8);
    const bytes = data && addressOf(data.byteLength);
    if (bytes && data) bytes.u8.set(data);
    const info = arena.pack(L.VkPipelineCacheCreateInfo, {
      initialDataSize: data?.byteLength ?? 0,
      pInitialData: bytes?.address ?? 0,
    });
    const result = this.calls.vkCreatePipelineCache(this.device, info, 0, out);
    if (isLastTry) check("vkCreatePipelineCache", result);
    return result < 0 ? null : arena.handle(out);
  }

  private data(): Uint8Array | null {
    const size = addressOf(8);
    if (this.calls.vkGetPipelineCacheData(this.device, this.handle, size.address, 0) < 0) return null;
    const bytes = addressOf(Number(size.view.getBigUint64(0, true)));
    if (this.calls.vkGetPipelineCacheData(this.device, this.handle, size.address, bytes.address) < 0) return null;
    return bytes.u8.subarray(0, Number(size.view.getBigUint64(0, true)));
  }
}

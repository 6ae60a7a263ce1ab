/**
 * The driver's compiled pipelines on disk. A file is written under another name and renamed, so a reader never sees half of
 * one; it names its device and driver and carries a checksum. A file that does not match is ignored and replaced. Nothing
 * here can fail a program: without a cache it is only slower.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { debug } from "../debug.js";
import type { DeviceFunction, FunctionTable, Handle } from "./api.js";
import * as L from "./layouts.js";
import { addressOf } from "./native.js";
import type { PhysicalDevice } from "./plan.js";
import { check } from "./results.js";
import { Arena } from "./structs.js";

const MAGIC = "PUMICEPC";
const FORMAT = 1;
/** magic 8, format 4, driver version 4, device UUID 16, driver UUID 16, cache UUID 16, payload length 8, SHA-256 32. */
const HEADER = 104;
const SAVE_AFTER_MS = 2000;
/** An older temporary file was left by a process that was killed. */
export const LEFT_AFTER_MS = 3600_000;

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

/** Replaces a file in one step. False when the folder cannot be written. */
export function writeAtomically(path: string, bytes: Uint8Array): boolean {
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2, 10)}`;
  try {
    makeFolder(dirname(path));
    writeFileSync(temporary, bytes);
    renameSync(temporary, path);
    return true;
  } catch (error) {
    debug(1, () => `cache not written: ${(error as Error).message}`);
    try {
      rmSync(temporary, { force: true });
    } catch {
      // an unwritable folder holds nothing to remove
    }
    return false;
  }
}

/** Makes a folder and those above it. Node's own recursion goes round for ever below /proc. */
function makeFolder(path: string): void {
  const make = () => {
    try {
      mkdirSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  };
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    make();
  }
}

/** Removes old temporary files beside a file, left by processes that were killed while writing. */
function removeLeftovers(path: string): void {
  try {
    for (const name of readdirSync(dirname(path))) {
      const file = join(dirname(path), name);
      if (name.startsWith(`${basename(path)}.`) && Date.now() - statSync(file).mtimeMs > LEFT_AFTER_MS) rmSync(file);
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
  private readonly path: string | null;
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
    this.path = folder && join(folder, "vulkan", `${identity.slice(0, 16)}.pipelines`);
    const known = this.read();
    this.handle = this.create(known) ?? (this.create(null, true) as Handle);
  }

  /** Call after compiling a pipeline: saves soon. */
  changed(): void {
    if (!this.path || this.timer) return;
    this.timer = setTimeout(() => this.save(), SAVE_AFTER_MS);
    this.timer.unref();
    if (unsaved.size === 0) process.once("exit", saveAll);
    unsaved.add(this);
  }

  /** Writes new pipelines now. */
  save(): void {
    if (!this.timer || !this.path) return;
    this.forget();
    const data = this.data();
    if (data && writeAtomically(this.path, encodeCache(this.physical, data))) {
      debug(1, () => `pipeline cache: ${data.byteLength} bytes to ${this.path}`);
      removeLeftovers(this.path);
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
    if (!this.path) return null;
    let file: Uint8Array;
    try {
      file = readFileSync(this.path);
    } catch {
      return null;
    }
    const found = decodeCache(this.physical, file);
    if (found instanceof Uint8Array) return found;
    debug(1, () => `pipeline cache ${this.path} ignored: ${found.why}`);
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

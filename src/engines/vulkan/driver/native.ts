/**
 * The one file that touches the foreign function interface: loading a library, binding functions by address, and
 * memory whose address the driver can be given. Everything above it deals in numbers.
 */
import { createRequire } from "node:module";
import type { KoffiFunc, TypeObject } from "koffi";
import { DeviceError } from "../../../core/errors.js";
import type { Handle, VulkanFunction } from "./api.js";

/**
 * Pipelines that may be on their way at a time. koffi refuses calls beyond its limit, and counts a call until the event loop has
 * turned, so a program of many kernels that is recorded in one go may have all of them on their way.
 */
export const MAX_CALLS_AHEAD = 960;
/** Other calls on other threads: waiting for devices. */
const CALLS_BESIDE = 64;

type Koffi = typeof import("koffi");
let loaded: Koffi | undefined;

/** The foreign function interface, loaded when the first driver is looked for: programs that stay on the CPU never do. */
export function koffi(): Koffi {
  try {
    if (!loaded) {
      loaded = createRequire(import.meta.url)("koffi") as Koffi;
      loaded.config({ max_async_calls: MAX_CALLS_AHEAD + CALLS_BESIDE });
    }
    return loaded;
  } catch (error) {
    const [reason] = (error as Error).message.split("\n");
    const message = `koffi, which calls the driver, does not load (${reason}); \`npx pumice doctor\` looks further.`;
    throw new DeviceError(message, { cause: error });
  }
}

/** Memory with a fixed address, alive as long as this object is. */
export interface Bytes {
  readonly address: number;
  readonly u8: Uint8Array;
  readonly view: DataView;
}

/**
 * Memory that the driver may read and write: always over an ArrayBuffer, which lives off the JavaScript heap and does not
 * move. A typed array of 64 bytes or fewer made without one may live on the heap and move.
 */
export function addressOf(length: number): Bytes {
  const buffer = new ArrayBuffer(Math.max(256, length));
  const u8 = new Uint8Array(buffer);
  return { address: Number(koffi().address(u8)), u8, view: new DataView(buffer) };
}

/** The address of bytes the caller keeps alive and that are backed by off-heap memory. */
export function addressOfView(bytes: Uint8Array): number {
  return Number(koffi().address(bytes));
}

/** A JavaScript window onto memory the driver mapped. It must not outlive the mapping. */
export function viewOf(address: Handle, length: number): ArrayBuffer {
  return koffi().view(BigInt(address), length);
}

const typeOf: Record<string, string> = {
  u64: "uint64_t",
  u32: "uint32_t",
  i32: "int32_t",
  void: "void",
};
const prototypes = new Map<string, TypeObject>();

/** Binds the function at an address. */
export function bind(address: Handle, signature: string): VulkanFunction {
  let prototype = prototypes.get(signature);
  if (!prototype) {
    const [result, args] = signature.split(": ") as [string, string];
    const parameters = args.split(" ").map((name) => typeOf[name] as string);
    prototype = koffi().proto(`pumice_${prototypes.size}`, typeOf[result] as string, parameters);
    prototypes.set(signature, prototype);
  }
  const call = koffi().decode(BigInt(address), prototype) as KoffiFunc<(...args: Handle[]) => number>;
  const bound = call as unknown as VulkanFunction & { async: unknown };
  const native = call.async;
  bound.async = (...args: Handle[]) =>
    new Promise<number>((resolve, reject) => {
      native.call(call, ...args, (error: Error | null, result: number) => (error ? reject(error) : resolve(result)));
    });
  return bound;
}

interface NativeLibrary {
  readonly path: string;
  /** Address of an exported symbol. */
  func(name: string, result: string, args: string[]): (...args: (Handle | string)[]) => number;
}

export function loadLibrary(path: string): NativeLibrary {
  const library = koffi().load(path);
  return {
    path,
    func: (name, result, args) => library.func(name, result, args),
  };
}

/** A callback the driver may call on the thread that called it. */
export function registerCallback(
  callback: (...args: number[]) => number,
  args: readonly string[],
): { address: bigint; release(): void } {
  const prototype = koffi().proto(`pumice_cb_${Math.random().toString(36).slice(2)}`, "uint32_t", [...args]);
  const address = koffi().register(callback, koffi().pointer(prototype));
  return { address, release: () => koffi().unregister(address) };
}

/** Reads a NUL-terminated string at an address. */
export function readCString(address: Handle): string {
  return koffi().decode.string(BigInt(address));
}

/** Reads an 8-byte pointer at an address. */
export function readPointer(address: Handle): Handle {
  return koffi().decode.uint64(BigInt(address));
}

type Copier = (target: number, source: number, length: number) => Promise<void>;
let copier: Copier | null | undefined;

/**
 * The C library's memcpy on worker threads, for large read-backs: one thread copies about 10 GB/s, PCIe brings five
 * times that. Null where no C library could be found; the caller then copies on its own thread.
 */
export function threadedCopy(): Copier | null {
  if (copier === undefined) {
    copier = null;
    for (const name of process.platform === "win32" ? ["ucrtbase.dll", "msvcrt.dll"] : [null]) {
      try {
        const memcpy = koffi().load(name).func("memcpy", "uint64_t", ["uint64_t", "uint64_t", "uint64_t"]);
        copier = (target, source, length) =>
          new Promise((resolve, reject) => {
            memcpy.async(target, source, length, (error: Error | null) => (error ? reject(error) : resolve()));
          });
        break;
      } catch {
        // the next name
      }
    }
  }
  return copier;
}

/** Runs kernels of the loop-nest language as they are, on any tensor device. */
import type { Kernel } from "../../src/compiler/ir/ir.js";
import type { Target } from "../../src/compiler/program/program.js";
import type { DeviceStorage } from "../../src/runtime/backend.js";
import { backendFor } from "../../src/tensor/devices.js";

type Numbers = Uint16Array | Float32Array | Float64Array | Int32Array | Uint32Array | BigInt64Array | Uint8Array;

/** What a backend does inside. */
interface Inside {
  readonly target: Target<unknown>;
  upload(bytes: Uint8Array): DeviceStorage;
  readSync(storage: DeviceStorage): Uint8Array;
  dispatch(
    step: { kernel: Kernel; code: unknown; slots: [] },
    memory: readonly DeviceStorage[],
    offsets: readonly number[],
  ): void;
}

/** Runs a kernel over copies of the arrays, one for each of its buffers, and returns what the buffers then hold. */
export function runKernel<const B extends readonly Numbers[]>(device: string, kernel: Kernel, buffers: B): B {
  const backend = backendFor(device) as unknown as Inside;
  const memory = buffers.map(({ buffer, byteOffset, byteLength }) =>
    backend.upload(new Uint8Array(buffer, byteOffset, byteLength)),
  );
  const step = { kernel, code: backend.target.emit(kernel, null), slots: [] as [] };
  backend.dispatch(
    step,
    memory,
    memory.map(() => 0),
  );
  return buffers.map((given, i) => {
    const bytes = backend.readSync(memory[i]!).slice();
    const Type = given.constructor as new (buffer: ArrayBufferLike) => Numbers;
    return new Type(bytes.buffer);
  }) as unknown as B;
}

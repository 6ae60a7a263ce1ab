/** Runs kernels of the loop-nest language as they are, on any tensor device. */
import type { Kernel } from "../../src/compiler/ir/ir.js";
import { backendFor } from "../../src/tensor/index.js";

type Numbers = Uint16Array | Float32Array | Float64Array | Int32Array | Uint32Array | BigInt64Array | Uint8Array;

/** Runs a kernel over copies of the arrays, one for each of its buffers, and returns what the buffers then hold. */
export function runKernel<const B extends readonly Numbers[]>(device: string, kernel: Kernel, buffers: B): B {
  const { engine, target } = backendFor(device);
  const memory = buffers.map(({ buffer, byteOffset, byteLength }) =>
    engine.upload(new Uint8Array(buffer, byteOffset, byteLength)),
  );
  const code = engine.load(target.encode(kernel, null), kernel);
  engine.dispatch(
    code,
    memory,
    memory.map(() => 0),
  );
  return buffers.map((given, i) => {
    const bytes = memory[i]!.readSync().slice();
    const Type = given.constructor as new (buffer: ArrayBufferLike) => Numbers;
    return new Type(bytes.buffer);
  }) as unknown as B;
}

/** Runs the plan of a routine, step by step, over plain arrays: for tests of routines without tensors. */
import type { RoutinePlan } from "../../src/compiler/target/routine.js";
import { DTYPES } from "../../src/core/dtype.js";
import { productOf } from "../../src/core/shape.js";
import { runKernel } from "./kernels.js";

/** The bytes of the result. Each step gets copies of its buffers, and what it wrote is copied back. */
export function runRoutine(
  plan: RoutinePlan,
  inputs: readonly Uint8Array[],
  resultBytes: number,
  device = "cpu",
): Uint8Array {
  const result = new Uint8Array(resultBytes);
  const temporaries = plan.temporaries.map(
    ({ dtype, shape }) => new Uint8Array(productOf(shape) * DTYPES[dtype].bytes),
  );
  for (const { kernel, buffers } of plan.steps) {
    const memory = buffers.map((buffer) => {
      if (buffer.kind === "input") return inputs[buffer.index]!;
      return buffer.kind === "temporary" ? temporaries[buffer.index]! : result.subarray(buffer.offset ?? 0);
    });
    const after = runKernel(
      device,
      kernel,
      memory.map((bytes) => bytes.slice()),
    );
    kernel.buffers.forEach(({ isWritten }, i) => {
      if (isWritten) memory[i]!.set(after[i]!);
    });
  }
  return result;
}

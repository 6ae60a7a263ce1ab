/** Runs the plan of a routine by the kernel interpreter, step by step: for tests of routines on devices of any size. */
import type { RoutinePlan } from "../../src/compiler/target/routine.js";
import { DTYPES } from "../../src/core/dtype.js";
import { productOf } from "../../src/core/shape.js";
import { interpretKernel } from "./kernel-interpreter.js";
import { UNDEFINED_WORD } from "./kernel-memory.js";

/** The bytes of the results, `resultBytes` of each. Temporaries and results begin with contents that show where they are used. */
export function interpretRoutine(
  plan: RoutinePlan,
  inputs: readonly Uint8Array[],
  resultBytes: readonly number[],
): Uint8Array[] {
  const results = resultBytes.map(undefinedBytes);
  const temporaries = plan.temporaries.map(({ dtype, shape }) =>
    undefinedBytes(productOf(shape) * DTYPES[dtype].bytes),
  );
  for (const { kernel, buffers } of plan.steps) {
    const memory = buffers.map((buffer) => {
      if (buffer.kind === "input") return inputs[buffer.index]!;
      if (buffer.kind === "temporary") return temporaries[buffer.index]!;
      return results[buffer.part ?? 0]!.subarray(buffer.offset ?? 0);
    });
    interpretKernel(kernel, memory);
  }
  return results;
}

/** Memory that nothing was written to. */
export function undefinedBytes(count: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(count / 4)).fill(UNDEFINED_WORD);
  return new Uint8Array(words.buffer, 0, count);
}

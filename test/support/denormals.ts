/** Denormals on devices: which of them may take denormal operands and results for zeros, and what they may then give. */
import type { DType } from "../../src/core/dtype.js";
import { describeGpu } from "../../src/runtime/open.js";
import type { Value } from "./element-oracle.js";
import { vulkanEngineOf } from "./engines.js";
import { isDenormal } from "./sweep-samples.js";

/**
 * Whether a device may flush denormals. The CPU does not. A Vulkan device may in every width for which our kernels do not ask
 * it to preserve them; they ask only where it offers that (shaderDenormPreserveFloat32). f16 and bf16 are computed as f32.
 */
export function mayFlush(device: string, dtype: DType): boolean {
  if (device === "cpu") return false;
  const { floatControls } = describeGpu(vulkanEngineOf(device));
  return floatControls[dtype === "f64" ? 64 : 32]?.denormals !== "preserve";
}

/** The operands as a device that flushes may read them: each denormal one as it is, or as zero of its sign. */
export function readingsOf(args: readonly Value[], dtypes: readonly DType[]): Value[][] {
  return args.reduce<Value[][]>(
    (readings, arg, i) => {
      const values = isDenormal(arg, dtypes[i]!) ? [arg, 0 * Number(arg)] : [arg];
      return readings.flatMap((reading) => values.map((value) => [...reading, value]));
    },
    [[]],
  );
}

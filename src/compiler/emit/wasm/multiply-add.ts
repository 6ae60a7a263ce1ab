/**
 * Multiply-adds of vectors, fused where the engine has relaxed SIMD: Node 22 and newer, and browsers of its time. One
 * instruction rounds once instead of twice, so products have other last bits there. The loop-nest language allows either for
 * `mulAdd`, which only products use; everything else, the math library above all, keeps its bits.
 */
import { WebAssembly } from "../../../core/webassembly.js";
import { ModuleBuilder } from "../../../wasm/builder.js";
import type { FunctionBuilder } from "../../../wasm/function-builder.js";
import type { Value } from "../../../wasm/value.js";

export function multiplyAdd(
  f: FunctionBuilder,
  shape: "f32x4" | "f64x2" | "i32x4",
  a: Value<"v128">,
  b: Value<"v128">,
  c: Value<"v128">,
): Value<"v128"> {
  if (shape !== "i32x4" && f.hasRelaxedSimd) return f[shape].relaxed_madd(a, b, c);
  return f[shape].add(f[shape].mul(a, b), c);
}

/** Whether this engine has relaxed SIMD. */
export function hasRelaxedSimd(): boolean {
  const m = new ModuleBuilder({ memory: null });
  m.function("probe", ["v128"], "v128", (f, x) => f.f32x4.relaxed_madd(x, x, x));
  return WebAssembly.validate(m.build());
}

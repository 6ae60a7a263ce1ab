/** The arithmetic of products: the type that elements are multiplied and summed in, and conversions to and from it. */
import type { DType } from "../../core/dtype.js";
import { accumulatorDType } from "../../graph/primitives/dot.js";
import { computeType, type Element, wrap } from "../elements/elements.js";
import type { IRType, Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import type { Lowering } from "../lower/lowering.js";

export interface ProductArithmetic {
  readonly type: IRType;
  readonly zero: Value;
  /** An operand's element in the type of the tiles. */
  enter(element: Element): Value;
  /** sum + a·b */
  step(a: Value, b: Value, sum: Value): Value;
  /** The sum as an element of the product. */
  leave(sum: Value): Element;
}

export function productArithmetic(k: KernelBuilder, lowering: Lowering, dtype: DType): ProductArithmetic {
  if (dtype === "bool") return booleanArithmetic(k);
  const wide = accumulatorDType(dtype);
  const type = computeType(wide);
  return {
    type,
    zero: k.constant(type, 0),
    enter: ({ value }) => value,
    step: (a, b, sum) => k.mulAdd(a, b, sum),
    // Narrow integers are wrapped once, at the end: the low bits do not depend on the high ones.
    leave: (sum) => {
      if (wide !== dtype) return lowering.ops.cast({ dtype: wide, value: sum }, dtype);
      return { dtype, value: wrap(k, dtype, sum) };
    },
  };
}

/** A product of bools is true where any pair is true. It is computed as u32, because bools have no vectors. */
function booleanArithmetic(k: KernelBuilder): ProductArithmetic {
  const [zero, one] = [k.constant("u32", 0), k.constant("u32", 1)];
  return {
    type: "u32",
    zero,
    enter: ({ value }) => k.select(value, one, zero),
    step: (a, b, sum) => k.binary("or", sum, k.binary("and", a, b)),
    leave: (sum) => ({ dtype: "bool", value: k.compare("ne", sum, zero) }),
  };
}

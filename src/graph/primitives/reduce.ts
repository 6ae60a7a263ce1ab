/** Reductions over a set of axes, which the result does not have. Params: axes. */
import { DTYPES, isComplex } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import type { Node } from "../node.js";
import type { ReduceOp, ReducePrimitive } from "../primitive.js";

const reduction = (op: ReduceOp): ReducePrimitive => ({
  name: op,
  kind: "reduce",
  op,
  infer: ([x], params) => {
    const { shape, dtype } = x as Node;
    const axes = params.axes as readonly number[];
    const isLogical = op === "all" || op === "any";
    if (isLogical !== (DTYPES[dtype].kind === "bool")) {
      throw new DTypeError(`${op}: takes ${isLogical ? "bool" : "numbers"}, not ${dtype}; cast it first.`);
    }
    if (isComplex(dtype) && op !== "sum" && op !== "product") {
      throw new DTypeError(`${op}: complex numbers have no order; take real(), imag() or abs() of ${dtype} first.`);
    }
    return { shape: shape.filter((_, axis) => !axes.includes(axis)), dtype };
  },
});

export const sum = reduction("sum");
export const product = reduction("product");
export const max = reduction("max");
export const min = reduction("min");
export const all = reduction("all");
export const any = reduction("any");

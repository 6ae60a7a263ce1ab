/** Methods of `Tensor`: running sums, products and extremes along an axis. Each is one routine, the same in every run. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { checkOrdered, type DType } from "../../core/dtype.js";
import { normalizeAxis } from "../../core/shape.js";
import { type CumulateOp, cumulate } from "../../graph/primitives/cumulate.js";
import { derive } from "../build.js";
import { sumDType } from "../reduce-node.js";
import type { FloatOf, SumOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { asFloat } from "./operands.js";

/** Options of `cumsum` and the other running totals. */
export interface CumulativeOptions {
  /** The axis; all elements in row-major order, as one axis, when left out. */
  readonly axis?: number;
  /** From the end towards the start. */
  readonly reverse?: boolean;
  /** Up to the element, without it: sums start with 0, products with 1. */
  readonly exclusive?: boolean;
}

/** The options of running extremes. */
type InclusiveOptions = Omit<CumulativeOptions, "exclusive">;

export class CumulativeMethods<D extends DType> {
  /** Running sums. Booleans and narrow integers are summed in i32 or u32, as `sum` does. */
  cumsum(this: Tensor, options: CumulativeOptions = {}): Tensor<SumOf<D>> {
    return cumulated("cumsum", "sum", widened(this), options);
  }

  /** Running products. */
  cumprod(this: Tensor, options: CumulativeOptions = {}): Tensor<SumOf<D>> {
    return cumulated("cumprod", "product", widened(this), options);
  }

  /** The largest so far; NaN from the first NaN on. */
  cummax(this: Tensor, options: InclusiveOptions = {}): Tensor<D> {
    return ordered(this, (x) => cumulated("cummax", "max", x, options));
  }

  /** The smallest so far; NaN from the first NaN on. */
  cummin(this: Tensor, options: InclusiveOptions = {}): Tensor<D> {
    return ordered(this, (x) => cumulated("cummin", "min", x, options));
  }

  /** log Σ exp so far, without overflow. */
  cumlogsumexp(this: Tensor, options: InclusiveOptions = {}): Tensor<FloatOf<D>> {
    return cumulated("cumlogsumexp", "logsumexp", asFloat("cumlogsumexp", this), options);
  }
}

const INCLUSIVE: OptionKinds<InclusiveOptions> = { axis: "number", reverse: "flag" };
const CUMULATIVE: OptionKinds<CumulativeOptions> = { ...INCLUSIVE, exclusive: "flag" };

function cumulated<T extends DType>(
  operation: string,
  op: CumulateOp,
  x: Tensor,
  options: CumulativeOptions,
): Tensor<T> {
  const isSum = op === "sum" || op === "product";
  if (isSum) checkOptions(operation, options, CUMULATIVE);
  else checkOptions<InclusiveOptions>(operation, options, INCLUSIVE);
  if (!isSum) checkOrdered(x.dtype, operation);
  const source = options.axis === undefined ? x.flatten() : x;
  const axis = normalizeAxis(options.axis ?? 0, source.rank, operation);
  const params = { axis, op, isReverse: options.reverse === true, isExclusive: options.exclusive === true };
  return x.tensorOf(derive(cumulate, source.node, params));
}

/** Sums of booleans count; narrow integers are summed in i32 or u32. */
const widened = (x: Tensor): Tensor => x.cast(sumDType(x.dtype));

/** Booleans are ordered as 0 and 1. */
function ordered<D extends DType>(x: Tensor, apply: (numbers: Tensor) => Tensor): Tensor<D> {
  return (x.dtype === "bool" ? apply(x.cast("u8")).cast("bool") : apply(x)) as Tensor<D>;
}

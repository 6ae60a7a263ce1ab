/**
 * Methods of `Tensor` whose results have a shape that depends on values: which elements are not zero, which are distinct.
 * How many there are is read back from the device, so each of these waits for it.
 */
import { inOperation } from "../../core/arguments.js";
import type { DType } from "../../core/dtype.js";
import { ShapeError } from "../../core/errors.js";
import { stridesOf } from "../../core/shape.js";
import { backendOf } from "../build.js";
import type { Tensor } from "../tensor.js";
import { concat, stack } from "./joining.js";
import { countingLike, scalarLike } from "./operands.js";
import { orderKey } from "./ordering.js";

export interface Unique<D extends DType = DType> {
  /** The distinct elements, rising; NaN, if any, is one and the last. */
  readonly values: Tensor<D>;
  /** Where each occurs first, in row-major order. */
  readonly indices: Tensor<"i32">;
  /** For each element of the tensor, which of the values it is. */
  readonly inverse: Tensor<"i32">;
  /** How often each occurs. */
  readonly counts: Tensor<"i32">;
}

export class SelectionMethods<D extends DType> {
  /** The positions of elements that are not zero: one tensor per axis, in row-major order. Waits for the device. */
  nonzero(this: Tensor): Tensor<"i32">[] {
    if (this.rank === 0) throw new ShapeError("nonzero: a scalar has no positions; reshape it to [1] first.");
    const flat = positionsOfTrue(this.cast("bool"));
    flat.realize();
    const strides = stridesOf(this.shape);
    return this.shape.map((extent, axis) => {
      const above = axis === 0 ? flat : flat.remainder(Math.max(1, extent * strides[axis]));
      return above.floorDivide(Math.max(1, strides[axis])) as Tensor<"i32">;
    });
  }

  /** The same as one tensor: a row per element, a column per axis. Waits for the device. */
  argwhere(this: Tensor): Tensor<"i32"> {
    return stack(
      inOperation("argwhere", () => this.nonzero()),
      { axis: 1 },
    );
  }

  /** The distinct elements, with their places and counts. Waits for the device. */
  unique(this: Tensor): Unique<D> {
    const flat = this.flatten();
    if (flat.size === 0) {
      const none = () => countingLike(this, 0);
      return { values: flat as Tensor<D>, indices: none(), inverse: none().reshape(this.shape), counts: none() };
    }
    const keys = orderKey("unique", flat, false);
    const order = flat.argsort();
    const sorted = keys.take(order, { axis: 0 });
    const isFirst = concat([scalarLike(this, true, "bool").reshape([1]), sorted.at("1:").notEqual(sorted.at("0:-1"))]);
    const numbers = isFirst.cumsum();
    backendOf(this.node).realize([order.node, sorted.node, numbers.node]);
    const found = Number(numbers.at(-1).itemSync());
    const starts = numbers.searchSorted(countingLike(this, found).add(1));
    starts.realize();
    const ends = concat([starts.at("1:"), scalarLike(starts, flat.size).reshape([1])]);
    const indices = order.take(starts, { axis: 0 });
    return {
      values: flat.take(indices, { axis: 0 }) as Tensor<D>,
      indices,
      inverse: sorted.take(starts, { axis: 0 }).searchSorted(keys).reshape(this.shape),
      counts: ends.sub(starts) as Tensor<"i32">,
    };
  }
}

/** Flat positions of true elements. */
function positionsOfTrue(mask: Tensor): Tensor<"i32"> {
  const running = mask.flatten().cumsum();
  if (running.size === 0) return countingLike(mask, 0);
  running.realize();
  const found = Number(running.at(-1).itemSync());
  // The n-th true element is where the count first reaches n.
  return running.searchSorted(countingLike(mask, found).add(1));
}

/**
 * Methods of `Tensor` whose results have a shape that depends on values: which elements are not zero, which are distinct.
 * Their number is read back from the device, so each of these waits for it.
 */
import { inOperation } from "../../core/arguments.js";
import type { DType } from "../../core/dtype.js";
import { ShapeError } from "../../core/errors.js";
import { stridesOf } from "../../core/shape.js";
import { backendOf } from "../build.js";
import type { Tensor } from "../tensor.js";
import { stack } from "./joining.js";
import { countingLike } from "./operands.js";
import { type UniqueOf, type UniqueOptions, uniqueOf } from "./uniqueness.js";

export class SelectionMethods<D extends DType> {
  /** The positions of elements that are not zero: one tensor per axis, in row-major order. Waits for the device. */
  nonzero(this: Tensor): Tensor<"i32">[] {
    if (this.rank === 0) throw new ShapeError("nonzero: a scalar has no positions; reshape it to [1] first.");
    const { flat, found } = positionsOfTrue(this.cast("bool"));
    const strides = stridesOf(this.shape);
    const along = this.shape.map((extent, axis) => {
      const above = axis === 0 ? flat : flat.remainder(Math.max(1, extent * strides[axis]));
      return above.floorDivide(Math.max(1, strides[axis])) as Tensor<"i32">;
    });
    backendOf(this.node).realize(along.map(({ node }) => node));
    return along.map((positions) => positions.at(`:${found}`));
  }

  /** The same as one tensor: a row per element, a column per axis. Waits for the device. */
  argwhere(this: Tensor): Tensor<"i32"> {
    return stack(
      inOperation("argwhere", () => this.nonzero()),
      { axis: 1 },
    );
  }

  /**
   * The distinct elements, with their places and counts; with an axis, the distinct slices along it, compared element by
   * element from the first on. Of complex numbers the real part is compared first. Waits for the device.
   */
  unique<O extends UniqueOptions = UniqueOptions>(this: Tensor, options?: O): UniqueOf<D, O> {
    return uniqueOf("unique", this as Tensor<D>, options ?? {}) as UniqueOf<D, O>;
  }
}

/**
 * Flat positions of true elements, and how many there are. Up to the next power of two, more positions follow: so a few programs
 * serve all counts, and the first ones are a part of their memory.
 */
function positionsOfTrue(mask: Tensor): { readonly flat: Tensor<"i32">; readonly found: number } {
  const running = mask.flatten().cumsum();
  if (running.size === 0) return { flat: countingLike(mask, 0), found: 0 };
  running.realize();
  const found = Number(running.at(-1).itemSync());
  const length = found === 0 ? 0 : Math.min(2 ** Math.ceil(Math.log2(found)), running.size);
  // The n-th true element is where the count first reaches n.
  return { flat: running.searchSorted(countingLike(mask, length).add(1)), found };
}

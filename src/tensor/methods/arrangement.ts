/** Methods of `Tensor` in which elements change places as a whole: partitions, quarter turns, and places of flat positions. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { checkOrdered, type DType, isInteger, positionDType } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import {
  checkShape,
  formatShape,
  normalizeAxes,
  normalizeAxis,
  type Shape,
  sizeOf,
  stridesOf,
} from "../../core/shape.js";
import type { Tensor } from "../tensor.js";
import { remedyForNumber } from "./taking.js";
import { where } from "./where.js";

const AXIS = { axis: "number" } as const;

export class ArrangementMethods<D extends DType> {
  /**
   * A copy in which the element at place k along an axis is the one that sorting would put there, with none larger before it
   * and none smaller after it. The others have no fixed order: Pumice sorts them.
   */
  partition(this: Tensor, k: number | readonly number[], options: { readonly axis?: number } = {}): Tensor<D> {
    checkOptions("partition", options, AXIS);
    return this.sort({ axis: checkPlaces("partition", this, k, options.axis) }) as Tensor<D>;
  }

  /** Positions (i32) that would partition along an axis. */
  argpartition(this: Tensor, k: number | readonly number[], options: { readonly axis?: number } = {}): Tensor<"i32"> {
    checkOptions("argpartition", options, AXIS);
    return this.argsort({ axis: checkPlaces("argpartition", this, k, options.axis) });
  }

  /** Turned by quarters, from the first of two axes towards the second: `x.rot90()`, `x.rot90(-1, { axes: [1, 2] })`. */
  rot90(this: Tensor, quarters = 1, options: { readonly axes?: readonly [number, number] } = {}): Tensor<D> {
    checkOptions("rot90", options, { axes: "list" });
    checkWhole("rot90", "the number of quarters", quarters);
    const named = options.axes ?? [0, 1];
    if (this.rank < 2) throw new ShapeError(`rot90: takes at least two axes, not ${formatShape(this.shape)}.`);
    const [a, b, ...more] = normalizeAxes(named, this.rank, "rot90");
    if (b === undefined || more.length > 0) {
      throw new ArgumentError(`rot90: axes ${formatShape(named)}; name the two of the plane.`);
    }
    const x = this as Tensor<D>;
    switch (((quarters % 4) + 4) % 4) {
      case 0:
        return x.again();
      case 1:
        return x.flip(b).swapAxes(a, b);
      case 2:
        return x.flip([a, b]);
      default:
        return x.swapAxes(a, b).flip(b);
    }
  }

  /**
   * The places along the axes of a shape that flat positions name, in row-major order: one tensor per axis. Negative
   * positions count from the end; positions outside give places outside.
   */
  unravelIndex(this: Tensor, shape: Shape): Tensor<"i32">[] {
    if (!isInteger(this.dtype)) {
      throw new DTypeError(`unravelIndex: positions are integers, not ${this.dtype}.${remedyForNumber(this)}`);
    }
    const size = sizeOf(checkShape(shape, "unravelIndex"));
    const positions = this.cast(positionDType(size));
    const flat = where(positions.less(0), positions.add(size), positions);
    const strides = stridesOf(shape);
    return shape.map((_, axis) => {
      const above = axis === 0 ? flat : flat.fmod(Math.max(1, strides[axis - 1]));
      return above.quotient(Math.max(1, strides[axis])) as Tensor<"i32">;
    });
  }
}

/** The axis, after the places along it were checked. */
function checkPlaces(operation: string, x: Tensor, k: number | readonly number[], axis = -1): number {
  checkOrdered(x.dtype, operation);
  const at = normalizeAxis(axis, x.rank, operation);
  for (const place of Array.isArray(k) ? (k as readonly number[]) : [k as number]) {
    checkWhole(operation, "a place", place);
    if (place >= -x.shape[at] && place < x.shape[at]) continue;
    throw new ArgumentError(`${operation}: place ${place} of the ${x.shape[at]} elements along axis ${at}.`);
  }
  return at;
}

/**
 * Methods of `Tensor`: the shape, and the order and the number of axes. Axes are transposed, moved, inserted, dropped and
 * walked backwards.
 */
import type { DType } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import {
  checkBroadcastTo,
  checkPermutation,
  formatShape,
  normalizeAxes,
  normalizeAxis,
  reshapeInfer,
  type Shape,
} from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import * as M from "../../graph/primitives/movement.js";
import { broadcastNode, derive, reshapeNode } from "../build.js";
import type { Tensor } from "../tensor.js";
import { isTensor } from "../tensor-checks.js";

export class AxisMethods<D extends DType> {
  /** The same elements in another shape: `x.reshape(2, -1)`; one -1 stands for what is left. */
  reshape(this: Tensor, ...shape: number[] | [Shape]): Tensor<D> {
    const wanted = (shape.length === 1 && typeof shape[0] !== "number" ? shape[0] : shape) as Shape;
    return this.tensorOf(reshapeNode(this.node, reshapeInfer(this.node.shape, wanted)));
  }

  /** One axis of all elements. */
  flatten(this: Tensor): Tensor<D> {
    return this.reshape(-1) as Tensor<D>;
  }

  /** Repeats axes of extent 1 to a larger shape, and adds axes in front. */
  broadcastTo(this: Tensor, shape: Shape): Tensor<D> {
    return this.tensorOf(broadcastNode(this.node, checkBroadcastTo("broadcastTo", this.node.shape, shape)));
  }

  /** Reverses the axes, or orders them as given. */
  permute(this: Tensor, ...axes: number[] | [readonly number[]]): Tensor<D> {
    return ordered(this, "permute", axes);
  }

  /** Another name of `permute`. */
  transpose(this: Tensor, ...axes: number[] | [readonly number[]]): Tensor<D> {
    return ordered(this, "transpose", axes);
  }

  /** The transpose: all axes reversed. */
  get T(): Tensor<D> {
    return (this as unknown as Tensor<D>).permute();
  }

  /** Swaps the last two axes. */
  get mT(): Tensor<D> {
    return (this as unknown as Tensor<D>).swapAxes(-1, -2);
  }

  /** Exchanges two axes. */
  swapAxes(this: Tensor, a: number, b: number): Tensor<D> {
    const axes = this.node.shape.map((_, axis) => axis);
    const [i, j] = [normalizeAxis(a, this.rank, "swapAxes"), normalizeAxis(b, this.rank, "swapAxes")];
    [axes[i], axes[j]] = [axes[j], axes[i]];
    return this.permute(axes) as Tensor<D>;
  }

  /** Moves an axis, or several, to other places; the others keep their order. */
  moveAxis(this: Tensor, from: number | readonly number[], to: number | readonly number[]): Tensor<D> {
    const [taken, places] = [axisList(from, this.rank, "moveAxis"), axisList(to, this.rank, "moveAxis")];
    if (taken.length !== places.length) {
      throw new ArgumentError(`moveAxis: ${taken.length} axes to ${places.length} places; give a place for each.`);
    }
    const others = this.node.shape.flatMap((_, axis) => (taken.includes(axis) ? [] : [axis]));
    const axes = this.node.shape.map((_, place) => {
      const moved = places.indexOf(place);
      return moved < 0 ? (others.shift() as number) : taken[moved];
    });
    return this.permute(axes) as Tensor<D>;
  }

  /** Drops axes of extent 1: all of them, or those that are named. */
  squeeze(this: Tensor, axis?: number | readonly number[]): Tensor<D> {
    checkNoOptions("squeeze", axis);
    const { shape } = this.node;
    const all = shape.flatMap((extent, i) => (extent === 1 ? [i] : []));
    const axes = axis === undefined ? all : normalizeAxes(axis, this.rank, "squeeze");
    for (const i of axes) {
      if (shape[i] !== 1) throw new ShapeError(`squeeze: axis ${i} of ${formatShape(shape)} is not 1.`);
    }
    return this.reshape(shape.filter((_, i) => !axes.includes(i))) as Tensor<D>;
  }

  /** Inserts axes of extent 1 at places of the result: `x.expandDims(0)`. */
  expandDims(this: Tensor, axis: number | readonly number[]): Tensor<D> {
    checkNoOptions("expandDims", axis);
    const count = Array.isArray(axis) ? axis.length : 1;
    const added = axisList(axis, this.rank + count, "expandDims");
    const extents = [...this.node.shape];
    const places = Array.from({ length: this.rank + count }, (_, place) => place);
    const shape = places.map((place) => (added.includes(place) ? 1 : (extents.shift() as number)));
    return this.reshape(shape) as Tensor<D>;
  }

  /** Reverses the elements along some axes, or along all. */
  flip(this: Tensor, axis?: number | readonly number[]): Tensor<D> {
    checkNoOptions("flip", axis);
    const { shape } = this.node;
    const axes = normalizeAxes(axis, this.rank, "flip");
    const start = shape.map((extent, i) => (axes.includes(i) ? Math.max(0, extent - 1) : 0));
    const step = shape.map((_, i) => (axes.includes(i) ? -1 : 1));
    return this.tensorOf(derive(M.slice, this.node, { start, step, shape: [...shape] }));
  }
}

/** These methods are about axes, so axes are an argument, not an option. */
function checkNoOptions(operation: string, axis: unknown): void {
  if (typeof axis !== "object" || axis === null || Array.isArray(axis) || isTensor(axis)) return;
  const named = "axis" in axis ? shown(axis.axis) : "0";
  throw new ArgumentError(`${operation}: the axis is an argument of its own, no option; write ${operation}(${named}).`);
}

/** The parameters of the transpose of a matrix. */
const TRANSPOSED = { axes: [1, 0] };

function ordered<D extends DType>(x: Tensor, operation: string, axes: number[] | [readonly number[]]): Tensor<D> {
  if (axes.length === 0 && x.rank === 2) return x.tensorOf(derive(M.permute, x.node, TRANSPOSED));
  const list = (Array.isArray(axes[0]) ? axes[0] : axes) as readonly number[];
  const wanted = list.length === 0 ? x.node.shape.map((_, i) => x.rank - 1 - i) : list;
  return x.tensorOf(derive(M.permute, x.node, { axes: checkPermutation(wanted, x.rank, operation) }));
}

/** One axis or several, each once, counted from the front. */
function axisList(axis: number | readonly number[], rank: number, operation: string): number[] {
  return normalizeAxes(Array.isArray(axis) ? axis : [axis as number], rank, operation);
}

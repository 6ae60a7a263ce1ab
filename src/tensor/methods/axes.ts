/** The order and the number of axes: transposing, moving, inserting and dropping them, and walking one backwards. */
import type { DType } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { checkPermutation, formatShape, normalizeAxes, normalizeAxis } from "../../core/shape.js";
import * as M from "../../graph/primitives/movement.js";
import { derive } from "../build.js";
import { Tensor } from "../tensor.js";

declare module "../tensor.js" {
  interface Tensor<D extends DType = DType> {
    /** Reverses the axes, or orders them as given. */
    permute(...axes: number[] | [readonly number[]]): Tensor<D>;
    /** Another name of `permute`. */
    transpose(...axes: number[] | [readonly number[]]): Tensor<D>;
    /** The transpose: all axes reversed. */
    readonly T: Tensor<D>;
    /** Swaps the last two axes. */
    readonly mT: Tensor<D>;
    swapAxes(a: number, b: number): Tensor<D>;
    /** Moves an axis, or several, to other places; the others keep their order. */
    moveAxis(from: number | readonly number[], to: number | readonly number[]): Tensor<D>;
    squeeze(axis?: number | readonly number[]): Tensor<D>;
    /** Inserts axes of extent 1: where they stand in the result. */
    expandDims(axis: number | readonly number[]): Tensor<D>;
    flip(axis?: number | readonly number[]): Tensor<D>;
  }
}

function ordered(x: Tensor, operation: string, axes: number[] | [readonly number[]]): Tensor {
  const list = (Array.isArray(axes[0]) ? axes[0] : axes) as readonly number[];
  const wanted = list.length === 0 ? x.node.shape.map((_, i) => x.rank - 1 - i) : list;
  return new Tensor(derive(M.permute, x.node, { axes: checkPermutation(wanted, x.rank, operation) }));
}

/** One axis or several, each once, counted from the front. */
function axisList(axis: number | readonly number[], rank: number, operation: string): number[] {
  return normalizeAxes(Array.isArray(axis) ? axis : [axis as number], rank, operation);
}

Tensor.prototype.permute = function (...axes) {
  return ordered(this, "permute", axes);
};

Tensor.prototype.transpose = function (...axes) {
  return ordered(this, "transpose", axes);
};

Object.defineProperty(Tensor.prototype, "T", {
  get: function T(this: Tensor) {
    return this.permute();
  },
});

Object.defineProperty(Tensor.prototype, "mT", {
  get: function mT(this: Tensor) {
    return this.swapAxes(-1, -2);
  },
});

Tensor.prototype.swapAxes = function (a, b) {
  const axes = this.node.shape.map((_, axis) => axis);
  const [i, j] = [normalizeAxis(a, this.rank, "swapAxes"), normalizeAxis(b, this.rank, "swapAxes")];
  [axes[i], axes[j]] = [axes[j], axes[i]];
  return this.permute(axes);
};

Tensor.prototype.moveAxis = function (from, to) {
  const [taken, places] = [axisList(from, this.rank, "moveAxis"), axisList(to, this.rank, "moveAxis")];
  if (taken.length !== places.length) {
    throw new ArgumentError(`moveAxis: ${taken.length} axes to ${places.length} places; give a place for each.`);
  }
  const others = this.node.shape.flatMap((_, axis) => (taken.includes(axis) ? [] : [axis]));
  const axes = this.node.shape.map((_, place) => {
    const moved = places.indexOf(place);
    return moved < 0 ? (others.shift() as number) : taken[moved];
  });
  return this.permute(axes);
};

Tensor.prototype.squeeze = function (axis) {
  const { shape } = this.node;
  const all = shape.flatMap((extent, i) => (extent === 1 ? [i] : []));
  const axes = axis === undefined ? all : normalizeAxes(axis, this.rank, "squeeze");
  for (const i of axes) {
    if (shape[i] !== 1) throw new ShapeError(`squeeze: axis ${i} of ${formatShape(shape)} is not 1.`);
  }
  return this.reshape(shape.filter((_, i) => !axes.includes(i)));
};

Tensor.prototype.expandDims = function (axis) {
  const count = Array.isArray(axis) ? axis.length : 1;
  const added = axisList(axis, this.rank + count, "expandDims");
  const extents = [...this.node.shape];
  const places = Array.from({ length: this.rank + count }, (_, place) => place);
  return this.reshape(places.map((place) => (added.includes(place) ? 1 : (extents.shift() as number))));
};

Tensor.prototype.flip = function (axis) {
  const { shape } = this.node;
  const axes = normalizeAxes(axis, this.rank, "flip");
  const start = shape.map((extent, i) => (axes.includes(i) ? Math.max(0, extent - 1) : 0));
  const step = shape.map((_, i) => (axes.includes(i) ? -1 : 1));
  return new Tensor(derive(M.slice, this.node, { start, step, shape: [...shape] }));
};

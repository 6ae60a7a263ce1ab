/** Functions of shapes, places and signals: `reshape(x, 2, 3)` is `x.reshape(2, 3)`. */
import { inOperation } from "../../core/arguments.js";
import type { DType } from "../../core/dtype.js";
import type { ConvolveMode, InterpOptions, Interpolated, Samples } from "../methods/interpolation.js";
import { broadcastTensors } from "../methods/joining.js";
import type { MeetingOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { ofMethod } from "./of-method.js";

/** The same elements in another shape; one -1 stands for what is left. */
export const reshape = ofMethod("reshape");
/** One axis of all elements. */
export const flatten = ofMethod("flatten");
/** Repeats axes of extent 1 to a larger shape, and adds axes in front. */
export const broadcastTo = ofMethod("broadcastTo");
/** Another name of `broadcastTensors`. */
export function broadcastArrays<T extends readonly Tensor[]>(...tensors: T): { -readonly [I in keyof T]: T[I] } {
  const stretched: readonly Tensor[] = inOperation("broadcastArrays", () =>
    broadcastTensors<readonly Tensor[]>(...tensors),
  );
  return stretched as { -readonly [I in keyof T]: T[I] };
}
/** Reverses the axes, or orders them as given. */
export const permute = ofMethod("permute");
/** Another name of `permute`. */
export const permuteDims = ofMethod("permuteDims");
/** Another name of `permute`. */
export const transpose = ofMethod("transpose");
/** Swaps the last two axes. */
export const matrixTranspose = ofMethod("matrixTranspose");
/** Exchanges two axes. */
export const swapAxes = ofMethod("swapAxes");
/** Moves an axis, or several, to other places. */
export const moveAxis = ofMethod("moveAxis");
/** Drops axes of extent 1. */
export const squeeze = ofMethod("squeeze");
/** Inserts axes of extent 1 at places of the result. */
export const expandDims = ofMethod("expandDims");
/** Reverses the elements along some axes, or along all. */
export const flip = ofMethod("flip");
/** Turned by quarters, from the first of two axes towards the second. */
export const rot90 = ofMethod("rot90");
/** Moves elements along an axis; what leaves at one end enters at the other. */
export const roll = ofMethod("roll");
/** The tensor side by side with itself. */
export const tile = ofMethod("tile");
/** Each element so often in a row along an axis. */
export const repeat = ofMethod("repeat");
/** Equal parts, parts that end before positions, or parts of some sizes. */
export const split = ofMethod("split");
/** The tensors along an axis, without it. */
export const unstack = ofMethod("unstack");
/** Zero above the given diagonal of the last two axes. */
export const tril = ofMethod("tril");
/** Zero below the given diagonal of the last two axes. */
export const triu = ofMethod("triu");
/** The elements of a diagonal of matrices, as the last axis. */
export const diagonal = ofMethod("diagonal");
/** Sum of the diagonal. */
export const trace = ofMethod("trace");

/** The elements along an axis at integer positions. */
export const take = ofMethod("take");
/** For each position along an axis, the element there; the other axes go in step. */
export const takeAlongAxis = ofMethod("takeAlongAxis");
/** The positions of elements that are not zero: one tensor per axis. */
export const nonzero = ofMethod("nonzero");
/** The same as one tensor: a row per element, a column per axis. */
export const argwhere = ofMethod("argwhere");
/** The places along the axes of a shape that flat positions name. */
export const unravelIndex = ofMethod("unravelIndex");

/** The sum of products along an axis of both; complex numbers of the first are conjugated. */
export const vecdot = ofMethod("vecdot") as <D extends DType, E extends DType>(
  x: Tensor<D>,
  y: Tensor<E>,
  options?: { readonly axis?: number },
) => Tensor<MeetingOf<D, E>>;
/** Values between points, along straight lines. */
export const interp = ofMethod("interp") as <S extends Samples>(
  x: Tensor,
  points: Samples,
  values: S,
  options?: InterpOptions,
) => Tensor<Interpolated<S>>;
/** The convolution of two signals of one axis. */
export const convolve = ofMethod("convolve") as <D extends DType, E extends DType>(
  x: Tensor<D>,
  y: Tensor<E>,
  options?: { readonly mode?: ConvolveMode },
) => Tensor<MeetingOf<D, E>>;

/** The first values of parameters: what layers ask of a function that makes them. The functions are in src/nn/initializers. */
import type { DType } from "../../core/dtype.js";
import { type Shape, sizeOf } from "../../core/shape.js";
import type { Key } from "../../random/index.js";
import type { Tensor } from "../../tensor/index.js";

/** Facts about a parameter, for its initialiser. */
export interface ParameterInfo {
  readonly dtype: DType;
  /** Terms that are added up for one result, and results that one input goes into. */
  readonly fanIn: number;
  readonly fanOut: number;
}

/**
 * The fans of a parameter whose layer does not give them, as Keras has them: [inputs, results] of the last two axes, times the extents of
 * the axes before them (the places of a kernel). A vector has its length as both.
 */
export function fansOf(shape: Shape): { readonly fanIn: number; readonly fanOut: number } {
  const last = shape.at(-1) ?? 1;
  const places = sizeOf(shape.slice(0, -2));
  return { fanIn: places * (shape.at(-2) ?? last), fanOut: places * last };
}

/** Makes a parameter's first values; equal keys give equal values. */
export type Initializer = (key: Key, shape: Shape, info: ParameterInfo) => Tensor;

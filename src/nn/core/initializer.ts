/** The first values of parameters: what layers ask of a function that makes them. The functions are in src/nn/initializers. */
import type { DType } from "../../core/dtype.js";
import type { Shape } from "../../core/shape.js";
import type { Key } from "../../random/index.js";
import type { Tensor } from "../../tensor/index.js";

/** Facts about a parameter, for its initialiser. */
export interface ParameterInfo {
  readonly dtype: DType;
  /** Terms that are added up for one result, and results that one input goes into. */
  readonly fanIn: number;
  readonly fanOut: number;
}

/** Makes a parameter's first values; equal keys give equal values. */
export type Initializer = (key: Key, shape: Shape, info: ParameterInfo) => Tensor;

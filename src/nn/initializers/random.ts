/**
 * Initialisers that draw: uniform, normal and truncated normal numbers of a given spread, those scaled by the fans of the
 * parameter (LeCun et al. 1998, Glorot & Bengio 2010, He et al. 2015), and orthogonal matrices (Saxe et al. 2014).
 */

import type { DType } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import type { Shape } from "../../core/shape.js";
import { formatShape, sizeOf } from "../../core/shape.js";
import { qr } from "../../linalg/index.js";
import type { Key } from "../../random/index.js";
import { normal as normalOf, truncatedNormal as truncatedNormalOf, uniform as uniformOf } from "../../random/index.js";
import type { Tensor } from "../../tensor/index.js";
import type { Initializer } from "../core/initializer.js";

/** Uniform between -scale and scale. */
export const uniform =
  (scale = 0.01): Initializer =>
  (key, shape, { dtype }) =>
    uniformOf(key, shape, { low: -scale, high: scale, dtype: drawn(dtype) }).cast(dtype) as Tensor;

/** Normal, with mean and standard deviation. */
export const normal =
  ({ mean = 0, scale = 0.01 }: { readonly mean?: number; readonly scale?: number } = {}): Initializer =>
  (key, shape, { dtype }) =>
    normalOf(key, shape, { dtype: drawn(dtype) })
      .mul(scale)
      .add(mean)
      .cast(dtype) as Tensor;

/** Normal within two standard deviations of the mean; `scale` is the deviation before cutting. */
export const truncatedNormal =
  ({ mean = 0, scale = 0.01 }: { readonly mean?: number; readonly scale?: number } = {}): Initializer =>
  (key, shape, { dtype }) =>
    truncatedNormalOf(key, -2, 2, shape, { dtype: drawn(dtype) })
      .mul(scale)
      .add(mean)
      .cast(dtype) as Tensor;

/** The standard deviation of a standard normal cut off at two deviations. */
const TRUNCATED_DEVIATION = 0.8796256610342398;

/** Options of `varianceScaling`. */
export interface VarianceScaling {
  /** The variance times the fan. */
  readonly scale?: number;
  readonly mode?: "fanIn" | "fanOut" | "fanAverage";
  readonly distribution?: "normal" | "truncatedNormal" | "uniform";
}

/** Numbers of variance `scale` over the fan: what passes through keeps its size. */
export function varianceScaling({
  scale = 1,
  mode = "fanIn",
  distribution = "truncatedNormal",
}: VarianceScaling = {}): Initializer {
  if (!(scale > 0)) throw new ArgumentError(`varianceScaling: the scale is a positive number, but not ${scale}.`);
  return (key, shape, info) => {
    const { fanIn, fanOut, dtype } = info;
    const fan = { fanIn, fanOut, fanAverage: (fanIn + fanOut) / 2 }[mode];
    if (fan === undefined)
      throw new ArgumentError(`varianceScaling: no mode "${mode}"; there are fanIn, fanOut, fanAverage.`);
    const deviation = Math.sqrt(scale / Math.max(1, fan));
    return spread(distribution, deviation, key, shape, dtype);
  };
}

function spread(distribution: string, deviation: number, key: Key, shape: Shape, dtype: DType): Tensor {
  const info = { dtype, fanIn: 1, fanOut: 1 };
  switch (distribution) {
    case "normal":
      return normal({ scale: deviation })(key, shape, info);
    case "truncatedNormal":
      return truncatedNormal({ scale: deviation / TRUNCATED_DEVIATION })(key, shape, info);
    case "uniform":
      return uniform(deviation * Math.sqrt(3))(key, shape, info);
    default:
      throw new ArgumentError(
        `varianceScaling: no distribution "${distribution}"; there are normal, truncatedNormal, uniform.`,
      );
  }
}

/** An initialiser under a name, by which printed layers show it. */
const named = (name: string, options: VarianceScaling): Initializer =>
  Object.defineProperty(varianceScaling(options), "name", { value: name });

/** Truncated normal of variance 1 / fanIn (LeCun et al. 1998). */
export const lecunNormal = named("lecunNormal", { scale: 1, mode: "fanIn", distribution: "truncatedNormal" });
/** Uniform of variance 1 / fanIn (LeCun et al. 1998). */
export const lecunUniform = named("lecunUniform", { scale: 1, mode: "fanIn", distribution: "uniform" });
/** Truncated normal of variance 2 / (fanIn + fanOut) (Glorot & Bengio 2010). */
export const glorotNormal = named("glorotNormal", { scale: 1, mode: "fanAverage", distribution: "truncatedNormal" });
/** Uniform of variance 2 / (fanIn + fanOut) (Glorot & Bengio 2010). */
export const glorotUniform = named("glorotUniform", { scale: 1, mode: "fanAverage", distribution: "uniform" });
/** Truncated normal of variance 2 / fanIn, for layers that relu follows (He et al. 2015). */
export const heNormal = named("heNormal", { scale: 2, mode: "fanIn", distribution: "truncatedNormal" });
/** Uniform of variance 2 / fanIn, for layers that relu follows (He et al. 2015). */
export const heUniform = named("heUniform", { scale: 2, mode: "fanIn", distribution: "uniform" });

/** A matrix with orthonormal columns or rows, whichever are fewer: the last axis against all others, times `gain`. */
export const orthogonal =
  (gain = 1): Initializer =>
  (key, shape, { dtype }) => {
    if (shape.length < 2) {
      throw new ShapeError(
        `orthogonal: a parameter of shape ${formatShape(shape)} is no matrix; it takes two axes or more.`,
      );
    }
    const columns = shape[shape.length - 1] as number;
    const rows = sizeOf(shape) / columns;
    const isWide = columns > rows;
    const drawnMatrix = normalOf(key, isWide ? [columns, rows] : [rows, columns], { dtype: drawn(dtype) });
    const { q, r } = qr(drawnMatrix);
    // The signs make the matrix uniform among the orthogonal ones (Mezzadri 2007).
    const signs = r.diagonal().sign();
    const square = q.mul(signs.add(signs.equal(0)));
    return (isWide ? square.T : square).mul(gain).reshape(shape).cast(dtype) as Tensor;
  };

/** Narrow floats are drawn in f32 and rounded. */
const drawn = (dtype: DType): "f32" | "f64" => (dtype === "f64" ? "f64" : "f32");

/**
 * Layers that add a vector for each position to tokens [batch, tokens, features]: waves of many lengths (Vaswani et al. 2017), or trained ones. In
 * a run with a cache (attention-cache.ts) positions count on.
 */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { stack, type Tensor, tensor, where } from "../../tensor/index.js";
import type { Initializer } from "../core/initializer.js";
import { type Layer, layer } from "../core/layer.js";
import { normal } from "../initializers/random.js";
import { placeOf } from "./attention-cache.js";

/** Options of `sinusoidalPositions`. */
export interface SinusoidalPositionsOptions {
  /** The longest wavelength over 2π; 10,000. */
  readonly base?: number;
}

/** Options of `learnedPositions`. */
export interface LearnedPositionsOptions {
  /** Normal with deviation 0.02 unless told. */
  readonly weights?: Initializer;
}

/** Adds sin(p·f) to even and cos(p·f) to odd features, at frequencies f from 1 to 1 / base: `sinusoidalPositions()`. */
export function sinusoidalPositions(options: SinusoidalPositionsOptions = {}): Layer {
  const name = "sinusoidalPositions";
  checkOptions(name, options, { base: "number" });
  const { base = 10_000 } = options;
  if (!(base > 0)) throw new ArgumentError(`${name}: the base is a positive number, not ${shown(base)}.`);
  return layer(name, { ...options }, (scope, x: Tensor) => {
    const [tokens, features] = extentsOf(name, x);
    const dtype = x.dtype === "f64" ? "f64" : "f32";
    const pairs = Math.ceil(features / 2);
    const speeds = Array.from({ length: pairs }, (_, i) => base ** ((-2 * i) / features));
    const { positions } = placeOf(scope, tokens, x.device);
    const angles = positions
      .cast(dtype)
      .expandDims(1)
      .mul(tensor(speeds, { dtype, device: x.device }));
    const waves = stack([angles.sin(), angles.cos()], { axis: -1 }).reshape([tokens, 2 * pairs]);
    const own = (features % 2 === 0 ? waves : waves.at(":", `:${features}`)) as Tensor;
    return (isNarrowFloat(x.dtype) ? x.cast("f32") : x).add(own).cast(x.dtype) as Tensor;
  });
}

/** Adds a trained vector for each of `count` positions: `learnedPositions(1024)`. Weights are [count, features]. */
export function learnedPositions(count: number, options: LearnedPositionsOptions = {}): Layer {
  const name = "learnedPositions";
  checkWhole(name, "the number of positions", count, 1);
  checkOptions(name, options, { weights: "function" });
  const { weights = normal({ scale: 0.02 }) } = options;
  return layer(name, { count, ...options }, (scope, x: Tensor) => {
    const [tokens, features] = extentsOf(name, x);
    if (tokens > count) throw new ShapeError(`${name}: ${tokens} tokens, but there are ${count} positions.`);
    const table = scope.parameter("weights", [count, features], weights, { fanIn: count, fanOut: features });
    const { positions, length } = placeOf(scope, tokens, x.device);
    if (length === null) return x.add(table.at(`:${tokens}`));
    // Positions behind the table have no vector: NaN, not the last one.
    return where(length.lessEqual(count), x.add(table.take(positions, { axis: 0 })), Number.NaN).cast(
      x.dtype,
    ) as Tensor;
  });
}

function extentsOf(name: string, x: Tensor): [tokens: number, features: number] {
  if (x.rank >= 2) return x.shape.slice(-2) as [number, number];
  throw new ShapeError(`${name} takes [batch, tokens, features], but the input is ${formatShape(x.shape)}.`);
}

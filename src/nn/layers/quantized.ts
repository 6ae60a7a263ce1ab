/**
 * Layers with narrow weights: dense and embedding, whose numbers are integers of 8 or 4 bits times a scale. A scale serves the weights of
 * one result, or a group of them along the inputs. The product's kernel makes floats of them as it reads; the wide matrix is never
 * stored. Narrow weights are not trained, so they are state. `quantized` makes these layers from trained ones.
 */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { type DType, isInteger, isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { type QuantizedDType, type Tensor, where } from "../../tensor/index.js";
import type { Initializer } from "../core/initializer.js";
import { type Layer, layer } from "../core/layer.js";
import type { Scope } from "../core/scope.js";
import { zeros } from "../initializers/constants.js";
import { glorotUniform } from "../initializers/random.js";

/** The form of narrow weights. */
export interface NarrowOptions {
  /** 8 or 4. */
  readonly bits: 8 | 4;
  /** So many weights along the inputs share a scale; without it, all weights of a result. */
  readonly group?: number;
  /** Whether numbers lie around zero; true. Otherwise each group has an offset, too, for weights that lie to one side. */
  readonly symmetric?: boolean;
}

/** Options of `quantizedDense`. */
export interface QuantizedDenseOptions extends NarrowOptions {
  /** Whether a vector is added; true. */
  readonly useBias?: boolean;
}

const NARROW: OptionKinds<NarrowOptions> = { bits: "number", group: "number", symmetric: "flag" };

/** Narrow weights: integers, their scales, and offsets where they are not symmetric. */
export interface NarrowWeights {
  readonly weights: Tensor;
  readonly scales: Tensor;
  readonly offsets?: Tensor;
}

/** x · weights + biases with weights of 8 or 4 bits: `quantizedDense(128, { bits: 4, group: 64 })`. State has `weights` [inputs, units]. */
export function quantizedDense(units: number, options: QuantizedDenseOptions): Layer {
  checkWhole("quantizedDense", "the number of units", units, 1);
  checkOptions("quantizedDense", options, { ...NARROW, useBias: "flag" });
  checkNarrow("quantizedDense", options);
  const { useBias = true } = options;
  return layer("quantizedDense", { units, ...options }, (scope, x: Tensor) => {
    if (x.rank === 0) {
      throw new ShapeError("quantizedDense takes tensors with at least one axis, but the input is a scalar.");
    }
    const inputs = x.shape[x.rank - 1] as number;
    const fans = { fanIn: inputs, fanOut: units };
    const found = narrowState(scope, [inputs, units], options, 0, fans);
    scope.countMultiplyAdds(sizeOf(x.shape) * units);
    const product = x.matmul(wideWeights(found, options, 0, x.dtype));
    return useBias ? product.add(scope.parameter("biases", [units], zeros)) : product;
  });
}

/** Vectors by integers, from a table of 8 or 4 bits: `quantizedEmbedding(50_000, 512, { bits: 8 })`. State has `weights` [count, features]. */
export function quantizedEmbedding(count: number, features: number, options: NarrowOptions): Layer {
  const name = "quantizedEmbedding";
  checkWhole(name, "the number of classes", count, 1);
  checkWhole(name, "the number of features", features, 1);
  checkOptions(name, options, NARROW);
  checkNarrow(name, options);
  return layer(name, { count, features, ...options }, (scope, x: Tensor) => {
    if (!isInteger(x.dtype)) throw new DTypeError(`${name} takes integers, but the input is ${x.dtype}; cast it.`);
    const { weights, scales, offsets } = narrowState(scope, [count, features], options, 1, {
      fanIn: count,
      fanOut: features,
    });
    const { compute, parameters } = scope.inherited.policy;
    const at = (table: Tensor): Tensor => table.take(x, { axis: 0 });
    // Rows that are looked up are made wide, not the table.
    const rows = { weights: at(weights), scales: at(scales), ...(offsets ? { offsets: at(offsets) } : {}) };
    return wideWeights(rows, options, x.rank, compute ?? parameters);
  });
}

function checkNarrow(operation: string, { bits, group }: NarrowOptions): void {
  if (bits !== 8 && bits !== 4) throw new ArgumentError(`${operation}: the option bits is 8 or 4, not ${shown(bits)}.`);
  if (group !== undefined) checkWhole(operation, "the option group", group, 1);
}

const narrowDType = ({ bits, symmetric = true }: NarrowOptions): QuantizedDType =>
  `${symmetric ? "i" : "u"}${bits}` as QuantizedDType;

/** The shape of scales: one for each result, or for each group along the axis of inputs. */
function scaleShape(shape: readonly number[], axis: number, group: number | undefined): number[] {
  if (group === undefined) return shape.map((extent, i) => (i === axis ? 1 : extent));
  return shape.map((extent, i) => (i === axis ? Math.ceil(extent / group) : extent));
}

/**
 * The narrow form of a matrix whose inputs lie along an axis. Errors are at most half a scale: symmetric scales reach the number
 * farthest from zero, others span from the smallest to the largest.
 */
export function narrowWeights(wide: Tensor, options: NarrowOptions, axis: number): NarrowWeights {
  const w = isNarrowFloat(wide.dtype) ? (wide.cast("f32") as Tensor) : wide;
  const dtype = narrowDType(options);
  const { group = w.shape[axis] as number, symmetric = true } = options;
  const places = { axis, blockSize: group };
  if (symmetric) {
    const { scale } = w.quantizationScale(dtype, places);
    return { weights: w.quantize(dtype, scale, places), scales: scale };
  }
  const [low, high] = ["min", "max"].map((which) => grouped(w, axis, group, which as "min" | "max")) as [
    Tensor,
    Tensor,
  ];
  const span = high.sub(low).div(2 ** options.bits - 1);
  const scales = where(span.equal(0), 1, span) as Tensor;
  const lowest = spread(low, w.shape, axis, group);
  return { weights: w.sub(lowest).quantize(dtype, scales, places) as Tensor, scales, offsets: low };
}

/** The smallest or largest number of each group; the last group may be shorter. */
function grouped(w: Tensor, axis: number, group: number, which: "min" | "max"): Tensor {
  const extent = w.shape[axis] as number;
  const count = Math.ceil(extent / group);
  const missing = count * group - extent;
  const padded =
    missing === 0
      ? w
      : w.pad(
          w.shape.map((_, i): [number, number] => [0, i === axis ? missing : 0]),
          { mode: "edge" },
        );
  const apart = padded.reshape(w.shape.flatMap((each, i) => (i === axis ? [count, group] : [each])));
  return (which === "min" ? apart.min({ axis: axis + 1 }) : apart.max({ axis: axis + 1 })) as Tensor;
}

/** A number for each group, for each weight. */
function spread(values: Tensor, shape: readonly number[], axis: number, group: number): Tensor {
  const count = values.shape[axis] as number;
  if (count === 1) return values;
  const apart = values
    .expandDims(axis + 1)
    .broadcastTo(values.shape.flatMap((each, i) => (i === axis ? [each, group] : [each])));
  const joined = apart.reshape(values.shape.map((each, i) => (i === axis ? each * group : each)));
  const extent = shape[axis] as number;
  return count * group === extent
    ? joined
    : joined.at(...shape.map((_, i) => (i === axis ? `:${extent}` : ":") as `:${number}` | ":"));
}

/** Weights as floats of a dtype. The arithmetic is that of the scales, and the result is rounded once. */
export function wideWeights(
  { weights, scales, offsets }: NarrowWeights,
  options: NarrowOptions,
  axis: number,
  dtype: DType,
): Tensor {
  const { group = weights.shape[axis] as number } = options;
  const scaled = (weights.cast(scales.dtype) as Tensor).mul(spread(scales, weights.shape, axis, group));
  const moved = offsets ? scaled.add(spread(offsets, weights.shape, axis, group)) : scaled;
  return moved.cast(dtype) as Tensor;
}

/** The state of a layer with narrow weights. `init` draws weights and narrows them. */
function narrowState(
  scope: Scope,
  shape: readonly number[],
  options: NarrowOptions,
  axis: number,
  fans: { readonly fanIn: number; readonly fanOut: number },
): NarrowWeights {
  let made: NarrowWeights | undefined;
  const first =
    (part: keyof NarrowWeights): Initializer =>
    (key, _, info) => {
      made ??= narrowWeights(glorotUniform(key, shape, { ...info, ...fans }), options, axis);
      return made[part] as Tensor;
    };
  const scaled = scaleShape(shape, axis, options.group);
  const weights = scope.state("weights", shape, first("weights"));
  const wanted = narrowDType(options);
  if (weights.dtype !== wanted) {
    throw new DTypeError(`${scope.label}: its weights are ${weights.dtype}, but ${options.bits} bits are ${wanted}.`);
  }
  const scales = scope.state("scales", scaled, first("scales"));
  if (options.symmetric ?? true) return { weights, scales };
  return { weights, scales, offsets: scope.state("offsets", scaled, first("offsets")) };
}

/**
 * Layers around a layer, which compute its weights from others: of a length that is trained apart from their direction (Salimans &
 * Kingma 2016), or divided by their largest singular value (Miyato et al. 2018). The inner layer runs with the computed weights
 * in place of its own.
 */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { normalizeAxis, sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { normal } from "../../random/index.js";
import { isTensor, type Tensor, where } from "../../tensor/index.js";
import { stopGradient } from "../../transforms/grad.js";
import { type AnyLayer, type Definition, Layer } from "../core/layer.js";
import { Scope } from "../core/scope.js";
import { findAt, isSubtree, type VariableTree } from "../core/variables.js";

/** Options of `weightNorm`. */
export interface WeightNormOptions {
  /** The name of the parameter in the inner layer; "weights". */
  readonly parameter?: string;
  /** The axis of results, of which each has a length of its own: the last of a matrix, the first of a kernel, unless told. */
  readonly axis?: number;
}

/** Options of `spectralNorm`. */
export interface SpectralNormOptions extends WeightNormOptions {
  /** Steps of the power iteration in each run that trains; 1. */
  readonly iterations?: number;
}

/**
 * A layer whose weights are a trained length times a direction: `weightNorm(dense(64))`. The lengths are the parameter `scale`. Weights of a
 * result that are all 0 have no direction: they stay 0 and are not trained.
 */
export function weightNorm<In, Out>(inner: Layer<In, Out>, options: WeightNormOptions = {}): Layer<In, Out> {
  checkInner("weightNorm", inner);
  checkOptions("weightNorm", options, { parameter: "text", axis: "number" });
  return wrapped("weightNorm", inner, { ...options }, (scope, weights) => {
    const kept = resultAxis("weightNorm", weights, options.axis);
    const axis = weights.shape.map((_, i) => i).filter((i) => i !== kept);
    const among = weights.shape.map((extent, i) => (i === kept ? extent : 1));
    // Weights that are all 0 have no direction: they stay 0, without a slope.
    const squares = weights.square().sum({ axis });
    const isZero = squares.equal(0);
    const lengths = where(isZero, 1, squares).sqrt().cast(weights.dtype) as Tensor;
    const first = where(isZero, 0, lengths);
    const { dtype } = weights;
    const scale = scope.parameter("scale", [weights.shape[kept]], (_key, _shape, info) => first.cast(info.dtype), {
      dtype,
    });
    return weights.mul(scale.div(lengths).reshape(among));
  });
}

/**
 * A layer whose weights are divided by their largest singular value: `spectralNorm(conv(64, 3))`. The state holds the singular vectors
 * `left` and `right`, which a run that trains brings nearer by steps of power iteration (`applyWithState`). Weights that are all 0 stay as
 * they are.
 */
export function spectralNorm<In, Out>(inner: Layer<In, Out>, options: SpectralNormOptions = {}): Layer<In, Out> {
  checkInner("spectralNorm", inner);
  checkOptions("spectralNorm", options, { parameter: "text", axis: "number", iterations: "number" });
  const iterations = checkWhole("spectralNorm", "the number of iterations", options.iterations ?? 1, 0);
  return wrapped("spectralNorm", inner, { ...options }, (scope, weights) => {
    const kept = resultAxis("spectralNorm", weights, options.axis);
    const rows = weights.shape[kept];
    const matrix = weights.moveAxis(kept, 0).reshape([rows, sizeOf(weights.shape) / rows]);
    const fixed = stopGradient(matrix);
    const started = startingPair(scope, fixed);
    const [left, right] = scope.isTraining ? iterated(fixed, started, iterations) : started;
    if (scope.isTraining) {
      scope.setState("left", left);
      scope.setState("right", right);
    }
    const [u, v] = [stopGradient(left), stopGradient(right)];
    const largest = matrix.matmul(v).mul(u).sum();
    return weights.div(where(largest.equal(0), 1, largest).cast(weights.dtype) as Tensor);
  });
}

type Pair = readonly [left: Tensor, right: Tensor];

/** The singular vectors of the state. They begin as random ones after fifteen steps. */
function startingPair(scope: Scope, matrix: Tensor): Pair {
  const [rows, columns] = matrix.shape as [number, number];
  const dtype = matrix.dtype as "f32" | "f64";
  let made: Pair | undefined;
  const start = (side: 0 | 1) => (key: Parameters<typeof normal>[0]) => {
    const drawn = (extent: number): Tensor => normal(key, [extent], { dtype });
    const [left, right] = [drawn(rows), drawn(columns)];
    made ??= iterated(matrix, [unit(left, left), unit(right, right)], 15);
    return made[side];
  };
  const [left, right] = [scope.state("left", [rows], start(0)), scope.state("right", [columns], start(1))];
  return [left.cast(dtype) as Tensor, right.cast(dtype) as Tensor];
}

function iterated(matrix: Tensor, pair: Pair, steps: number): Pair {
  let [left, right] = pair;
  for (let step = 0; step < steps; step++) {
    left = unit(matrix.matmul(right), left);
    right = unit(left.matmul(matrix), right);
  }
  return [left, right];
}

/** A vector of length 1 in the direction of x; where x is 0, the one before, so that the iteration goes on when the weights have moved. */
function unit(x: Tensor, before: Tensor): Tensor {
  const length = x.square().sum().sqrt();
  return where(length.equal(0), before, x.div(length.maximum(1e-12))).cast(x.dtype) as Tensor;
}

/** The axis of results: the last of a matrix, as in dense; the first of a kernel, as in conv. */
function resultAxis(operation: string, weights: Tensor, axis: number | undefined): number {
  if (weights.rank < 2) {
    throw new ArgumentError(`${operation}: weights with one axis or none have no results to tell apart.`);
  }
  return axis === undefined ? (weights.rank === 2 ? 1 : 0) : normalizeAxis(axis, weights.rank, operation);
}

/** A layer that runs another with one parameter computed from others. */
function wrapped<In, Out>(
  kind: string,
  given: Layer<In, Out>,
  options: WeightNormOptions & Record<string, unknown>,
  compute: (scope: Scope, weights: Tensor) => Tensor,
): Layer<In, Out> {
  const { parameter = "weights" } = options;
  const definitionOf = (parts: Readonly<Record<string, AnyLayer>>): Definition<In, Out> => ({
    kind,
    options,
    parts,
    run(scope, input) {
      const inner = parts.layer as unknown as Layer<In, Out>;
      const path = [...scope.path, "layer"];
      const inside = scope.inside("layer", inner.kind);
      // The first run makes the layer's own parameters.
      const first = scope.isInitializing ? inner.call(inside, input) : undefined;
      const own = findAt(scope.run.params, path);
      const weights = own !== undefined && isSubtree(own) ? own[parameter] : undefined;
      if (!isTensor(weights)) throw noParameter(kind, inner.kind, parameter, own);
      const wide = isNarrowFloat(weights.dtype) ? (weights.cast("f32") as Tensor) : weights;
      const computed = compute(scope, wide).cast(weights.dtype) as Tensor;
      if (first !== undefined) return first;
      const params = replacedAt(scope.run.params, [...path, parameter], computed);
      return inner.call(new Scope({ ...scope.run, params }, path, inner.kind, scope.inherited), input);
    },
    withParts: definitionOf,
  });
  return new Layer(definitionOf({ layer: given as unknown as AnyLayer }));
}

/** The tree with another tensor at a path. */
function replacedAt(tree: VariableTree, [name, ...rest]: readonly string[], value: Tensor): VariableTree {
  const next = rest.length === 0 ? value : replacedAt(tree[name] as VariableTree, rest, value);
  return { ...tree, [name]: next };
}

function checkInner(operation: string, inner: unknown): void {
  if (inner instanceof Layer) return;
  throw new ArgumentError(`${operation}: takes a layer, as in ${operation}(dense(64)), not ${shown(inner)}.`);
}

function noParameter(
  kind: string,
  inner: string,
  parameter: string,
  own: Tensor | VariableTree | undefined,
): ArgumentError {
  const names = own !== undefined && isSubtree(own) ? Object.keys(own).join(", ") : "";
  const there = names ? `there are ${names}` : "it has none";
  return new ArgumentError(
    `${kind}: the layer ${inner} has no parameter "${parameter}"; ${there}. Name one with { parameter }, and give a single layer.`,
  );
}

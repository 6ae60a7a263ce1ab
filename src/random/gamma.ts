/**
 * Gamma and beta numbers, by Marsaglia and Tsang (A simple method for generating gamma variables, 2000): a cubed normal,
 * accepted with a probability of at least 0.951. All of 8 rounds are rejected in less than 1 of 10^10 draws. The numbers
 * are not JAX's, whose loop ends at the first accepted candidate.
 */

import { checkNumber, checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { roundTo } from "../core/cast.js";
import type { DType } from "../core/dtype.js";
import { broadcastShapes, checkBroadcastTo, checkShape, type Shape } from "../core/shape.js";
import { type Operand, scalarLike, Tensor, where } from "../tensor/index.js";
import { pairOfWords, randomWords, unitFloats } from "./bits.js";
import { checkKey, type Key, split } from "./key.js";
import { normalFrom, workDType } from "./normal.js";
import { firstAccepted } from "./rejection.js";
import { DTYPE, type FloatOptions } from "./uniform.js";

const ROUNDS = 8;

/** A parameter of a distribution as a tensor of the shape drawn. */
export function parameter(key: Key, value: Operand, shape: Shape, dtype: DType, operation: string): Tensor {
  if (!(value instanceof Tensor)) checkNumber(`random.${operation}`, "a parameter that is no tensor", value as number);
  const given = value instanceof Tensor ? value.cast(dtype) : scalarLike(key, value as number, dtype);
  return given.broadcastTo(checkBroadcastTo(`random.${operation}`, given.shape, shape));
}

/** The shape of a result: the given one, else that of the parameters. */
export function drawnShape(operation: string, shape: Shape | undefined, ...values: readonly Operand[]): Shape {
  const shapes = values.map((value) => (value instanceof Tensor ? value.shape : []));
  return shape !== undefined
    ? checkShape(shape, `random.${operation}`)
    : broadcastShapes(`random.${operation}`, ...shapes);
}

interface GammaParts {
  /** The sample for a shape parameter of at least 1. */
  readonly base: Tensor;
  /** For a smaller parameter: what is added to its logarithm, and where there is a number at all. Null: no parameter is smaller. */
  readonly small: { readonly logBoost: Tensor; readonly isValid: Tensor } | null;
}

/** `given`: the parameter as the caller gave it. Of a number it is known here whether it is small: then less is built. */
function gammaParts(key: Key, a: Tensor, given: Operand, operation: string): GammaParts {
  const { shape } = a;
  const dtype = a.dtype as "f32" | "f64";
  const [candidates, boosts] = split(key);
  const isLarge = typeof given === "number" && roundTo(dtype, given) >= 1;
  const isSmall = a.less(1);
  const d = (isLarge ? a : where(isSmall, a.add(1), a)).sub(1 / 3);
  const c = d.mul(9).rsqrt();
  const candidate = (round: Tensor) => {
    const [normal, uniform] = pairOfWords(candidates, shape, operation, dtype, round);
    const x = normalFrom(normal, dtype, operation);
    const root = x.mul(c).add(1);
    // A number is made where it is asked for: one that nobody reads would keep the round that it belongs to.
    return { x, root, v: root.square().mul(root), u: () => unitFloats(uniform, dtype, operation) };
  };
  const accepted = firstAccepted(key, ROUNDS, a.rank, (round) => {
    const { x, root, v, u } = candidate(round);
    const limit = x
      .square()
      .mul(0.5)
      .add(d.mul(v.neg().add(1).add(v.log())));
    return root.greater(0).logicalAnd(u().log().less(limit));
  });
  const base = d.mul(candidate(accepted).v);
  if (isLarge) return { base, small: null };
  // If X has the shape a + 1 then X · U^(1/a) has the shape a.
  const u = unitFloats(randomWords(boosts, shape, operation), dtype, operation);
  const logBoost = where(isSmall, u.neg().log1p().div(a), 0);
  return { base, small: { logBoost, isValid: a.greater(0) } };
}

/** Gamma numbers of shape a and scale 1. NaN where a is not positive. */
export function gamma<D extends DType = "f32">(
  key: Key,
  a: Operand,
  shape?: Shape,
  options: FloatOptions<D> = {},
): Tensor<D> {
  checkCount("random.gamma", 4, arguments);
  checkOptions<FloatOptions>("random.gamma", options, DTYPE);
  checkKey(key, "gamma");
  const dtype: DType = options.dtype ?? "f32";
  const work = workDType(dtype, "gamma");
  const extent = drawnShape("gamma", shape, a);
  const { base, small } = gammaParts(key, parameter(key, a, extent, work, "gamma"), a, "gamma");
  const number = small ? where(small.isValid, base.mul(small.logBoost.exp()), Number.NaN) : base;
  return number.cast(dtype) as Tensor<D>;
}

/** The logarithms of gamma numbers: for small a the numbers themselves are too small for floats. */
export function logGamma<D extends DType = "f32">(
  key: Key,
  a: Operand,
  shape?: Shape,
  options: FloatOptions<D> = {},
): Tensor<D> {
  checkCount("random.logGamma", 4, arguments);
  checkOptions<FloatOptions>("random.logGamma", options, DTYPE);
  checkKey(key, "logGamma");
  const dtype: DType = options.dtype ?? "f32";
  const work = workDType(dtype, "logGamma");
  const extent = drawnShape("logGamma", shape, a);
  const { base, small } = gammaParts(key, parameter(key, a, extent, work, "logGamma"), a, "logGamma");
  const logarithm = base.log();
  const number = small ? where(small.isValid, logarithm.add(small.logBoost), Number.NaN) : logarithm;
  return number.cast(dtype) as Tensor<D>;
}

/** Beta numbers: X / (X + Y) of two gamma numbers. */
export function beta<D extends DType = "f32">(
  key: Key,
  a: Operand,
  b: Operand,
  shape?: Shape,
  options: FloatOptions<D> = {},
): Tensor<D> {
  checkCount("random.beta", 5, arguments);
  checkOptions<FloatOptions>("random.beta", options, DTYPE);
  checkKey(key, "beta");
  const dtype: DType = options.dtype ?? "f32";
  const work = workDType(dtype, "beta");
  const extent = drawnShape("beta", shape, a, b);
  const [first, second] = split(key);
  const draw = (from: Key, value: Operand) => {
    const given = parameter(key, value, extent, work, "beta");
    return logGamma(from, typeof value === "number" ? value : given, extent, { dtype: work });
  };
  const [x, y] = [draw(first, a), draw(second, b)];
  return x.sub(y).sigmoid().cast(dtype) as Tensor<D>;
}

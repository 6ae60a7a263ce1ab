/**
 * Activations that let positive numbers through and hold negative ones back: relu and its kin (He et al. 2015; Clevert et
 * al. 2016, elu; Klambauer et al. 2017, selu; Barron 2017, celu). Both sides are chosen by `where`, with the exponential of
 * the negative side alone: a large positive number then makes neither an infinity nor a NaN in the gradient.
 */
import { checkNumber, checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { type Tensor, where } from "../../tensor/index.js";
import { floatInput, ofFloats } from "./input.js";

/** Options of `elu` and `celu`. */
export interface AlphaOptions {
  /** The value that large negative numbers come to, with the sign turned: 1 unless told. */
  readonly alpha?: number;
}

/** Options of `leakyRelu`. */
export interface LeakyReluOptions {
  /** The slope of negative numbers: 0.01 unless told. */
  readonly slope?: number;
}

/** x where it is positive, else 0. */
export function relu(x: Tensor): Tensor {
  return floatInput("relu", x).relu();
}

/** x between 0 and 6. */
export function relu6(x: Tensor): Tensor {
  const given = floatInput("relu6", x);
  return where(given.greaterEqual(6), 6, given.relu());
}

/** x where it is positive, else slope·x. */
export function leakyRelu(x: Tensor, options: LeakyReluOptions = {}): Tensor {
  checkOptions("leakyRelu", options, { slope: "number" });
  const { slope = 0.01 } = options;
  return ofFloats("leakyRelu", x, (given) => where(given.greater(0), given, given.mul(slope)));
}

/** x where it is positive, else α·(eˣ - 1). */
export function elu(x: Tensor, options: AlphaOptions = {}): Tensor {
  checkOptions("elu", options, { alpha: "number" });
  const alpha = checkNumber("elu", "alpha", options.alpha ?? 1);
  return ofFloats("elu", x, (given) => rectified(given, (below) => below.expm1().mul(alpha)));
}

/** x where it is positive, else α·(exp(x/α) - 1), which has no corner for any α. */
export function celu(x: Tensor, options: AlphaOptions = {}): Tensor {
  checkOptions("celu", options, { alpha: "number" });
  const { alpha = 1 } = options;
  if (alpha === 0) throw new ArgumentError("celu: an alpha of 0, which exponents are divided by; relu is its limit.");
  return ofFloats("celu", x, (given) => rectified(given, (below) => below.div(alpha).expm1().mul(alpha)));
}

// Klambauer et al. 2017: layers of these keep mean 0 and variance 1.
const SELU_ALPHA = 1.6732632423543772;
const SELU_SCALE = 1.0507009873554805;

/** elu, scaled so that layers of it keep mean 0 and variance 1; with `initializers.lecunNormal`. */
export function selu(x: Tensor): Tensor {
  return ofFloats("selu", x, (given) => rectified(given, (below) => below.expm1().mul(SELU_ALPHA)).mul(SELU_SCALE));
}

/** x where it is positive, else f(x); f sees no positive number. */
function rectified(x: Tensor, f: (below: Tensor) => Tensor): Tensor {
  const isPositive = x.greater(0);
  return where(isPositive, x, f(where(isPositive, 0, x)));
}

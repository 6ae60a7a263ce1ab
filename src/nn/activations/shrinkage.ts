/** Activations that take small numbers to zero: the shrinkage functions of sparse coding. */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { type Tensor, where } from "../../tensor/index.js";
import { floatInput, ofFloats } from "./input.js";

/** Options of `softShrink` and `hardShrink`. */
export interface ShrinkOptions {
  /** Numbers up to this size become 0: 0.5 unless told. */
  readonly lambda?: number;
}

/** x less its sign times λ, and 0 from -λ to λ. */
export function softShrink(x: Tensor, options: ShrinkOptions = {}): Tensor {
  const lambda = lambdaOf("softShrink", options);
  return ofFloats("softShrink", x, (given) =>
    where(given.abs().lessEqual(lambda), 0, given.sub(given.sign().mul(lambda))),
  );
}

/** x, and 0 from -λ to λ. */
export function hardShrink(x: Tensor, options: ShrinkOptions = {}): Tensor {
  const lambda = lambdaOf("hardShrink", options);
  const given = floatInput("hardShrink", x);
  return where(given.abs().lessEqual(lambda), 0, given);
}

/** x - tanh(x). */
export function tanhShrink(x: Tensor): Tensor {
  return ofFloats("tanhShrink", x, (given) => given.sub(given.tanh()));
}

function lambdaOf(operation: string, options: ShrinkOptions): number {
  checkOptions(operation, options, { lambda: "number" });
  const { lambda = 0.5 } = options;
  if (!(lambda >= 0)) throw new ArgumentError(`${operation}: lambda is a number from 0 on, not ${lambda}.`);
  return lambda;
}

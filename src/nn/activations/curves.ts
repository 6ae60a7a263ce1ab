/**
 * Activations that bend a line: the identity, exp, and the functions with two flat ends (sigmoid, tanh and the cheap forms
 * of both). Those that tensors have as methods call them. At the corners of the cheap forms the slope is that of the flat
 * side, as in PyTorch.
 */
import { apartFrom, type Tensor, where } from "../../tensor/index.js";
import { floatInput, ofFloats } from "./input.js";

/** x itself. */
export function linear(x: Tensor): Tensor {
  const given = floatInput("linear", x);
  return apartFrom(x, given);
}

/** eˣ. */
export function exp(x: Tensor): Tensor {
  return floatInput("exp", x).exp();
}

/** 1 / (1 + e⁻ˣ). */
export function sigmoid(x: Tensor): Tensor {
  return ofFloats("sigmoid", x, (given) => given.sigmoid());
}

/** log(sigmoid(x)), accurate at both ends. */
export function logSigmoid(x: Tensor): Tensor {
  return ofFloats("logSigmoid", x, (given) => given.neg().softplus().neg());
}

/** The hyperbolic tangent. */
export function tanh(x: Tensor): Tensor {
  return ofFloats("tanh", x, (given) => given.tanh());
}

/** log(1 + eˣ), without overflow. */
export function softplus(x: Tensor): Tensor {
  return ofFloats("softplus", x, (given) => given.softplus());
}

/** x / (1 + |x|). */
export function softsign(x: Tensor): Tensor {
  return ofFloats("softsign", x, (given) => given.div(given.abs().add(1)));
}

/** x/6 + 1/2 between 0 and 1: sigmoid in three straight pieces. */
export function hardSigmoid(x: Tensor): Tensor {
  return ofFloats("hardSigmoid", x, (given) => {
    const isRight = given.greaterEqual(3);
    return where(isRight, 1, where(given.lessEqual(-3), 0, given.add(3).div(6)));
  });
}

/** x between -1 and 1. */
export function hardTanh(x: Tensor): Tensor {
  const given = floatInput("hardTanh", x);
  return where(given.abs().greaterEqual(1), given.sign(), given);
}

/**
 * Activations that multiply by a gate between 0 and 1: gelu (Hendrycks & Gimpel 2016), silu, mish (Misra 2019), and the gated
 * linear units (Dauphin et al. 2017; Shazeer 2020), whose gate is half of the input. Gates are written so that their small
 * values keep their digits: 1 + erf(x) would be 0 from x = -4 on.
 */
import { checkChoice, checkOptions } from "../../core/arguments.js";
import { isNarrowFloat } from "../../core/dtype.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape, normalizeAxis } from "../../core/shape.js";
import { type Tensor, where } from "../../tensor/index.js";
import { customGradient } from "../../transforms/custom.js";
import { hardSigmoid } from "./curves.js";
import { floatInput, ofFloats, roundedOnce } from "./input.js";
import { relu } from "./rectifiers.js";

/** Options of `gelu`. */
export interface GeluOptions {
  /** "none" is x·Φ(x) by erf, unless told; "tanh" is the cheaper form of GPT-2. */
  readonly approximate?: "none" | "tanh";
}

/** Options of gated linear units. */
export interface GluOptions {
  /** The axis that is halved: the last unless told. */
  readonly axis?: number;
}

/** x·Φ(x), where Φ is the normal distribution function. */
export function gelu(x: Tensor, options: GeluOptions = {}): Tensor {
  checkOptions("gelu", options, { approximate: "text" });
  checkChoice("gelu", "the option approximate", options.approximate, ["none", "tanh"]);
  const given = floatInput("gelu", x);
  const exactly = isNarrowFloat(given.dtype) ? geluOfSixDigits : geluByErfc;
  return roundedOnce(given, options.approximate === "tanh" ? geluByTanh : exactly);
}

const geluByErfc = (x: Tensor): Tensor => x.mul(0.5).mul(x.mul(-Math.SQRT1_2).erfc());

/** log(erfc(z)·exp(z²)/t) by powers of t = 1/(1 + z/2) from z = 0 on, to 7e-7: a minimax fit. */
const [C7, C6, ...LOWER] = [
  -0.187773973232897, 0.75192435390856, -1.00250141376862, 0.352145345220172, -0.0414672774799809, 0.394709083400257,
  0.998427038674444, -1.26546384911051,
] as const;

/** Φ(x) of f32, to six digits at either end: a quarter of the work of `erfc`, and enough for f16 and bf16. */
function normalBelow(x: Tensor): Tensor {
  const t = x
    .abs()
    .mul(Math.SQRT1_2 / 2)
    .add(1)
    .reciprocal();
  const logarithm = LOWER.reduce((sum, c) => sum.mul(t).add(c), t.mul(C7).add(C6));
  const tail = logarithm.sub(x.square().mul(0.5)).exp().mul(t).mul(0.5);
  return where(x.greater(0), tail.neg().add(1), tail) as Tensor;
}

/** The slope comes from x again, so that nothing is kept for it but x. */
const geluOfSixDigits = customGradient((x: Tensor): Tensor => x.mul(normalBelow(x)), {
  vjp: (cotangent: Tensor, _: Tensor, x: Tensor) => {
    const density = x
      .square()
      .mul(-0.5)
      .exp()
      .mul(1 / Math.sqrt(2 * Math.PI));
    return [cotangent.mul(normalBelow(x).add(x.mul(density)))];
  },
});

/** ½(1 + tanh u) is sigmoid(2u), which keeps its digits where tanh comes to -1. */
function geluByTanh(x: Tensor): Tensor {
  const twice = x.mul(x.square().mul(0.044715).add(1)).mul(2 * Math.sqrt(2 / Math.PI));
  return x.mul(twice.sigmoid());
}

/** x·sigmoid(x), also known as swish. */
export function silu(x: Tensor): Tensor {
  return ofFloats("silu", x, (given) => given.mul(given.sigmoid()));
}

/** x·tanh(softplus(x)). */
export function mish(x: Tensor): Tensor {
  return ofFloats("mish", x, (given) => given.mul(given.softplus().tanh()));
}

/** x·hardSigmoid(x): silu with a gate of three straight pieces. */
export function hardSilu(x: Tensor): Tensor {
  return ofFloats("hardSilu", x, (given) => given.mul(hardSigmoid(given)));
}

/** The name of `hardSilu` in PyTorch. */
export function hardSwish(x: Tensor): Tensor {
  return hardSilu(x);
}

/** a·sigmoid(b), where a and b are the halves of the input along an axis. */
export function glu(x: Tensor, options: GluOptions = {}): Tensor {
  return gated("glu", x, options, (gate) => gate.sigmoid());
}

/** a·silu(b), where a and b are the halves of the input along an axis. */
export function swiglu(x: Tensor, options: GluOptions = {}): Tensor {
  return gated("swiglu", x, options, silu);
}

/** a·gelu(b), where a and b are the halves of the input along an axis. */
export function geglu(x: Tensor, options: GluOptions = {}): Tensor {
  return gated("geglu", x, options, gelu);
}

/** a·relu(b), where a and b are the halves of the input along an axis. */
export function reglu(x: Tensor, options: GluOptions = {}): Tensor {
  return gated("reglu", x, options, relu);
}

function gated(operation: string, x: Tensor, options: GluOptions, open: (gate: Tensor) => Tensor): Tensor {
  checkOptions(operation, options, { axis: "number" });
  const given = floatInput(operation, x);
  const axis = normalizeAxis(options.axis ?? -1, given.rank, operation);
  const extent = given.shape[axis] as number;
  if (extent % 2 !== 0) {
    throw new ShapeError(
      `${operation}: axis ${axis} of ${formatShape(given.shape)} has no two halves; its extent must be even.`,
    );
  }
  return roundedOnce(given, (wide) => {
    const [value, gate] = wide.split(2, { axis }) as [Tensor, Tensor];
    return value.mul(open(gate));
  });
}

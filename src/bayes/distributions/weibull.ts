/** The Weibull distribution: waiting times whose rate rises or falls. */
import { refusingSurplus } from "../../core/arity.js";
import { exponential } from "../../random/exponential.js";
import { type Tensor, where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { nonNegative, positive } from "../constraints/numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { atEnd, finiteLog, isZero, withEnds } from "../definition/ends.js";
import { log1mExp } from "../definition/normal-probability.js";
import { positiveFloats } from "../numerics/float-range.js";
import { RandomVariable } from "../variables/variable.js";

type Tensors = Readonly<Record<"concentration" | "scale", Tensor>>;

/** (x/scale)^concentration, which is exponential; at 0 with the slope of a concentration of 1. */
const power = (x: Tensor, p: Tensors): Tensor => {
  const raised = finiteLog(x).sub(p.scale.log()).mul(p.concentration).exp();
  return where(isZero(x), x.div(p.scale), raised);
};

/** E X^n over scale^n. */
const moment = (p: Tensors, n: number): Tensor => p.concentration.reciprocal().mul(n).add(1).lgamma().exp();

const weibullDefinition: Definition<"concentration" | "scale"> = {
  name: "weibull",
  parameters: { concentration: parameter.positive, scale: parameter.positive },
  support: nonNegative,
  domain: ({ concentration }) =>
    withEnds(positive, nonNegative, [{ isEnd: isZero, argument: concentration, value: 1 }]),
  terms(x, p, { concentration }) {
    if (concentration === 1) return [x.div(p.scale).neg(), p.scale.log().neg()];
    const rise = p.concentration.sub(1);
    return [
      power(x, p).neg(),
      finiteLog(x)
        .mul(rise)
        .add(atEnd(isZero(x), rise)),
      p.scale.log().mul(p.concentration).neg(),
      p.concentration.log(),
    ];
  },
  draw({ key, shape, dtype }, p) {
    // 0 stands for numbers below the spacing of uniform ones, and is no Weibull number.
    const least = dtype === "f64" ? 2 ** -53 : 2 ** -24;
    const waited = exponential(key, shape, { dtype }).maximum(least);
    return positiveFloats(waited.pow(p.concentration.reciprocal()).mul(p.scale));
  },
  mean: (p) => moment(p, 1).mul(p.scale),
  variance: (p) => moment(p, 2).sub(moment(p, 1).square()).mul(p.scale.square()),
  logCdf: (x, p) => log1mExp(power(x, p)),
  logSurvival: (x, p) => power(x, p).neg(),
};

/** Weibull numbers: scale times an exponential number to the power 1/concentration. */
export const weibull = refusingSurplus(
  "weibull",
  (concentration: Argument, scale: Argument): RandomVariable =>
    new RandomVariable(bind(weibullDefinition, { concentration, scale })),
);

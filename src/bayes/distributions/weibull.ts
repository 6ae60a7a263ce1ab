/** The Weibull distribution: waiting times whose rate rises or falls. */
import { exponential } from "../../random/exponential.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Argument } from "../argument.js";
import { nonNegative, positive } from "../constraints/numbers.js";
import { RandomVariable } from "../model/variable.js";
import { bind, type Family, parameter } from "./distribution.js";
import { log1mExp } from "./normal-probability.js";

type Tensors = Readonly<Record<"concentration" | "scale", Tensor>>;

/** (x/scale)^concentration, which is exponential. */
const power = (x: Tensor, p: Tensors): Tensor => x.log().sub(p.scale.log()).mul(p.concentration).exp();

/** E X^n over scale^n. */
const moment = (p: Tensors, n: number): Tensor => p.concentration.reciprocal().mul(n).add(1).lgamma().exp();

const weibullFamily: Family<"concentration" | "scale"> = {
  name: "weibull",
  parameters: { concentration: parameter.positive, scale: parameter.positive },
  support: ({ concentration }) => (concentration === 1 ? nonNegative : positive),
  terms(x, p, { concentration }) {
    if (concentration === 1) return [x.div(p.scale).neg(), p.scale.log().neg()];
    const logX = x.log();
    const logScale = p.scale.log();
    return [
      logX.sub(logScale).mul(p.concentration).exp().neg(),
      logX.mul(p.concentration.sub(1)),
      logScale.mul(p.concentration).neg(),
      p.concentration.log(),
    ];
  },
  draw({ key, shape, dtype }, p) {
    // 0 stands for numbers below the spacing of uniform ones, and is no Weibull number.
    const least = dtype === "f64" ? 2 ** -53 : 2 ** -24;
    return exponential(key, shape, { dtype }).maximum(least).pow(p.concentration.reciprocal()).mul(p.scale);
  },
  mean: (p) => moment(p, 1).mul(p.scale),
  variance: (p) => moment(p, 2).sub(moment(p, 1).square()).mul(p.scale.square()),
  logCdf: (x, p) => log1mExp(power(x, p)),
  logSurvival: (x, p) => power(x, p).neg(),
};

/** Weibull numbers: scale times an exponential number to the power 1/concentration. */
export const weibull = (concentration: Argument, scale: Argument): RandomVariable =>
  new RandomVariable(bind(weibullFamily, { concentration, scale }));

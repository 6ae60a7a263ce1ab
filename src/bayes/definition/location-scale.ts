/**
 * Distributions of location + scale·z for a standard z: normal, Student's t, Cauchy, Laplace, logistic, Gumbel. Each describes
 * its z, and the rest is written here. Those symmetric around zero have a half, the distribution of |scale·z|.
 */
import { type Tensor, where } from "../../tensor/index.js";
import { type Argument, tensorOf } from "../arguments/argument.js";
import { type ParameterRule, parameter } from "../arguments/parameter.js";
import { nonNegative, real } from "../constraints/numbers.js";
import { negated, type Term } from "../numerics/terms.js";
import type { DrawRequest } from "./completed.js";
import { bind, type Definition } from "./definition.js";

type ShapeParameters<P extends string> = Readonly<Record<P, Tensor>>;

/** The distribution of z, given the shape parameters if there are any. */
export interface Standard<P extends string> {
  readonly name: string;
  /** Parameters besides location and scale. */
  readonly parameters: Readonly<Record<P, ParameterRule>>;
  terms(z: Tensor, p: ShapeParameters<P>): readonly Term[];
  draw(request: DrawRequest, p: ShapeParameters<P>): Tensor;
  /** Of z, as tensors or numbers. */
  mean(p: ShapeParameters<P>): Term;
  variance(p: ShapeParameters<P>): Term;
  readonly logCdf?: (z: Tensor, p: ShapeParameters<P>) => Tensor;
  readonly logSurvival?: (z: Tensor, p: ShapeParameters<P>) => Tensor;
}

/** (x - location) / scale and the log of the scale. A location of 0 and a scale of 1 cost nothing. */
export function standardize(x: Tensor, location: Argument, scale: Argument): { z: Tensor; logScale: Term } {
  const centred = location === 0 ? x : x.sub(tensorOf(location, x));
  if (scale === 1) return { z: centred, logScale: 0 };
  const factor = tensorOf(scale, x);
  const logScale = typeof scale === "number" ? Math.log(scale) : factor.log();
  // One division for many products, in the gradient too.
  return { z: factor.size < centred.size ? centred.mul(factor.reciprocal()) : centred.div(factor), logScale };
}

export function locationScale<P extends string>(standard: Standard<P>): Definition<P | "location" | "scale"> {
  const { logCdf, logSurvival } = standard;
  const definition: Definition<P | "location" | "scale"> = {
    name: standard.name,
    parameters: { ...standard.parameters, location: parameter.real, scale: parameter.positive } as Readonly<
      Record<P | "location" | "scale", ParameterRule>
    >,
    support: real,
    terms(x, p, given) {
      const { z, logScale } = standardize(x, given.location, given.scale);
      return [...standard.terms(z, p), negated(logScale)];
    },
    draw: (request, p) => standard.draw(request, p).mul(p.scale).add(p.location),
    mean: (p) => p.scale.mul(standard.mean(p)).add(p.location),
    variance: (p) => p.scale.square().mul(standard.variance(p)).add(p.location.mul(0)),
    ...(logCdf && { logCdf: (x, p) => logCdf(x.sub(p.location).div(p.scale), p) }),
    ...(logSurvival && { logSurvival: (x, p) => logSurvival(x.sub(p.location).div(p.scale), p) }),
    noncentered: (given) => ({
      base: bind(definition, { ...given, location: 0, scale: 1 }),
      forward: (z) => z.mul(tensorOf(given.scale, z)).add(tensorOf(given.location, z)),
      inverse: (x) => standardize(x, given.location, given.scale).z,
    }),
  };
  return definition;
}

interface Half<P extends string> {
  readonly name: string;
  /** Of |z|. */
  mean(p: ShapeParameters<P>): Term;
}

/** The distribution of |scale·z|, for z symmetric around zero. */
export function halved<P extends string>(standard: Standard<P>, half: Half<P>): Definition<P | "scale"> {
  const definition: Definition<P | "scale"> = {
    name: half.name,
    parameters: { ...standard.parameters, scale: parameter.positive } as Readonly<Record<P | "scale", ParameterRule>>,
    support: nonNegative,
    terms(x, p, given) {
      const { z, logScale } = standardize(x, 0, given.scale);
      return [...standard.terms(z, p), negated(logScale), Math.LN2];
    },
    draw: (request, p) => standard.draw(request, p).mul(p.scale).abs(),
    mean: (p) => p.scale.mul(half.mean(p)),
    variance(p) {
      const [mean, square] = [half.mean(p), standard.variance(p)].map((moment) => tensorOf(moment, p.scale));
      return p.scale.square().mul(where(mean.less(Infinity), square.sub(mean.square()), Infinity));
    },
    noncentered: (given) => ({
      base: bind(definition, { ...given, scale: 1 }),
      forward: (z) => z.mul(tensorOf(given.scale, z)),
      inverse: (x) => standardize(x, 0, given.scale).z,
    }),
  };
  return definition;
}

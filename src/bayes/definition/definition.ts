/**
 * The form of a distribution: one entry with its parameters, support, log density as a list of terms, and the function to
 * draw. `bind` joins it with arguments to a `Distribution`. Each file of ../distributions has such an entry; those that do not
 * fit the form, such as mixtures, start from `completed`.
 */
import { ArgumentError } from "../../core/errors.js";
import { broadcastShapes, type Shape } from "../../core/shape.js";
import { type Tensor, zeros } from "../../tensor/index.js";
import { deviceOf, floatOf, isArgument, shapeOfArgument, tensorOf } from "../arguments/argument.js";
import { type Arguments, argumentsOf, type Signature } from "../arguments/check-arguments.js";
import type { Constraint } from "../constraints/constraint.js";
import type { Term } from "../numerics/terms.js";
import type { Distribution, MomentOptions, Noncentered } from "../variables/distribution.js";
import { completed, type DrawRequest } from "./completed.js";

type Tensors<P extends string> = Readonly<Record<P, Tensor>>;

export interface Definition<P extends string> extends Signature<P> {
  /** Shape of one draw, from the shapes of the arguments; a number's unless told. */
  readonly eventShape?: (shapes: Readonly<Record<P, Shape>>) => Shape;
  readonly support: Constraint | ((given: Arguments<P>) => Constraint);
  readonly domain?: (given: Arguments<P>) => Constraint;
  /** `p` are the arguments as tensors in the dtype of x; `given` is what the user wrote. */
  terms(x: Tensor, p: Tensors<P>, given: Arguments<P>, isShort: boolean): readonly Term[];
  /** The terms by the free number that the bijection of the support makes x of. */
  freeTerms?(free: Tensor, p: Tensors<P>, given: Arguments<P>, isShort: boolean): readonly Term[];
  /** About how large the numbers of the short terms are for each draw, where there are two ways to write them. */
  readonly magnitude?: (x: Tensor, p: Tensors<P>) => Tensor;
  draw(request: DrawRequest, p: Tensors<P>): Tensor;
  readonly mean?: (p: Tensors<P>) => Tensor;
  readonly variance?: (p: Tensors<P>) => Tensor;
  readonly logCdf?: (x: Tensor, p: Tensors<P>) => Tensor;
  readonly logSurvival?: (x: Tensor, p: Tensors<P>) => Tensor;
  readonly noncentered?: (given: Arguments<P>) => Noncentered;
}

/** A sum below this is known to 1/100 in f32, and to 10^-8 in f64. */
const SMALL_SUM = { f32: 2 ** 17, f64: 2 ** 26 } as const;

/** Of what is sampled the size is not known: f64 has digits enough for a sampler until it is far beyond the usual. */
function isSmall(sizes: Tensor, { dtype, size }: Tensor): boolean {
  const limit = dtype === "f64" ? SMALL_SUM.f64 : SMALL_SUM.f32;
  if (sizes.node.isAbstract) return dtype === "f64";
  return (sizes.sum().itemSync() as number) * Math.max(1, size / sizes.size) < limit;
}

/** The distribution that a definition makes of arguments. */
export function bind<P extends string>(definition: Definition<P>, given: Arguments<P>): Distribution {
  const names = Object.keys(definition.parameters) as P[];
  const { problem, parameters, checkArguments } = argumentsOf(definition, given);
  const record = <T>(of: (name: P) => T) => Object.fromEntries(names.map((name) => [name, of(name)])) as Record<P, T>;
  const tensorsLike = (like: Tensor): Tensors<P> => record((name) => tensorOf(given[name], like));
  const all = names.map((name) => given[name]);
  const moment =
    (of: (p: Tensors<P>) => Tensor) =>
    ({ dtype = floatOf(all), device = deviceOf(all) }: MomentOptions = {}): Tensor =>
      of(tensorsLike(zeros([], { dtype, device })));
  const { mean, variance, logCdf, logSurvival, noncentered, magnitude } = definition;
  return completed({
    name: definition.name,
    get batchShape() {
      const shapes = names.map((name) => {
        if (problem !== null && !isArgument(given[name])) throw new ArgumentError(problem);
        const shape = shapeOfArgument(given[name]);
        return shape.slice(0, Math.max(0, shape.length - definition.parameters[name].rank));
      });
      return broadcastShapes(definition.name, ...shapes);
    },
    get eventShape() {
      return definition.eventShape?.(record((name) => shapeOfArgument(given[name]))) ?? [];
    },
    get support() {
      return typeof definition.support === "function" ? definition.support(given) : definition.support;
    },
    get domain() {
      return definition.domain?.(given);
    },
    terms: (x, isShort = false) => definition.terms(x, tensorsLike(x), given, isShort),
    ...(definition.freeTerms && {
      freeTerms: (free: Tensor, isShort = false) =>
        definition.freeTerms?.(free, tensorsLike(free), given, isShort) ?? [],
    }),
    ...(magnitude && {
      isShortEnough: (x: Tensor) => isSmall(magnitude(x, tensorsLike(x)), x),
    }),
    draw(request) {
      const like = zeros([], { dtype: request.dtype, device: request.key.device });
      return definition.draw(request, tensorsLike(like));
    },
    arguments: all,
    ...(mean && { mean: moment(mean) }),
    ...(variance && { variance: moment(variance) }),
    ...(logCdf && { logCdf: (x: Tensor) => logCdf(x, tensorsLike(x)) }),
    ...(logSurvival && { logSurvival: (x: Tensor) => logSurvival(x, tensorsLike(x)) }),
    ...(noncentered && { noncentered: () => noncentered(given) }),
    parameters,
    checkArguments,
  });
}

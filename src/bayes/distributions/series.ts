/** Series along the last axis, whose first values have a distribution of their own: shared by random walks and autoregressions. */
import { ArgumentError } from "../../core/errors.js";
import { countingLike, type Tensor } from "../../tensor/index.js";
import { type Argument, tensorOf } from "../arguments/argument.js";
import { argumentsOf, type Signature } from "../arguments/check-arguments.js";
import { areErrorsDeferred } from "../arguments/deferred-errors.js";
import { alongLastAxis } from "../arguments/parameter.js";
import { real } from "../constraints/numbers.js";
import { bind } from "../definition/definition.js";
import { LOG_SQRT_2PI } from "../definition/normal-probability.js";
import type { Term } from "../numerics/terms.js";
import type { Distribution, Noncentered } from "../variables/distribution.js";
import { normalDefinition } from "./normal.js";

export const seriesSupport = { ...real, description: "series of finite numbers" };

/** The normal terms of deviations along the last axis, for one scale per series. */
export function stepTerms(deviations: Tensor, scale: Tensor): Term[] {
  const count = deviations.shape.at(-1) as number;
  return [
    deviations.mul(scale.reciprocal().expandDims(-1)).square().sum({ axis: -1 }).mul(-0.5),
    scale.log().mul(-count),
    -LOG_SQRT_2PI * count,
  ];
}

/** The density of first values, each by itself. */
export function startTerms(start: Distribution, values: Tensor): Term[] {
  const isAnywhere = start.support.bijection === real.bijection;
  return (isAnywhere ? start.terms(values) : [start.logDensity(values)]).map((term) => {
    if (typeof term === "number") return term * (values.shape.at(-1) as number);
    return term.broadcastTo(values.shape).sum({ axis: -1 });
  });
}

export const isAmongFirst = (x: Tensor, count: number): Tensor => countingLike(x, x.shape.at(-1) as number).less(count);

export function checkSteps(name: string, steps: number, least: number): void {
  if (Number.isInteger(steps) && steps > least) return;
  throw new ArgumentError(`${name}: ${steps} steps; a series has more than ${least}.`);
}

/**
 * The distribution of first values: the one that was given, or normal(0, scale). It holds one number for each series, and
 * applies along the axis of the series.
 */
export const startOf = (given: Distribution | null, scale: Argument, like: Tensor): Distribution =>
  given ?? bind(normalDefinition, { location: 0, scale: tensorOf(scale, like).expandDims(-1) });

/** The way from standard numbers to first values; only normal ones have it. */
export function noncenteredStart(name: string, start: Distribution): Noncentered {
  if (start.name === "normal" && start.noncentered) return start.noncentered();
  throw new ArgumentError(`${name}: noncentered() needs a normal start, not ${start.name}.`);
}

/** The parameters of a series and of the distribution of its first values, and the check of both. */
export function seriesArguments<P extends string>(
  series: Signature<P>,
  given: Readonly<Record<P, Argument>>,
  start: Distribution | null,
): Pick<Distribution, "parameters" | "isImproper" | "checkArguments"> {
  const { parameters, checkArguments } = argumentsOf(series, given);
  const checkStart = () => {
    if (!start) return;
    const { isDiscrete, eventRank } = start.support;
    if (!isDiscrete && eventRank === 0 && start.eventShape.length === 0) return;
    throw new ArgumentError(
      `${series.name}: its start is ${start.name}(…), which takes ${start.support.description}; the values of a series are ` +
        "single numbers of any size, so give normal(…) or another distribution of such.",
    );
  };
  if (!areErrorsDeferred()) checkStart();
  return {
    parameters: [...parameters, ...alongLastAxis(start?.parameters)],
    isImproper: start?.isImproper,
    checkArguments() {
      checkArguments();
      checkStart();
      start?.checkArguments();
    },
  };
}

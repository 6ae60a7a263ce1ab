/** The terms that a variable adds to the log density, and what they are outside of where values and parameters belong. */
import type { Shape } from "../../core/shape.js";
import { type Tensor, where } from "../../tensor/index.js";
import { tensorOf } from "../arguments/argument.js";
import { type Parameter, parameterInside } from "../arguments/parameter.js";
import { type Constraint, eachInside } from "../constraints/constraint.js";
import { real } from "../constraints/numbers.js";
import { sumOfTerms, type Term } from "../numerics/terms.js";
import type { RandomVariable } from "../variables/variable.js";
import type { LatentValue } from "./latent-value.js";
import type { Unsure } from "./plan-entries.js";

/** Terms, and the shape they are summed over. */
interface SizedTerms {
  readonly terms: readonly Term[];
  readonly shape: Shape;
}

/** Whether a term depends on placeholders. */
export const isDependent = (term: Term): boolean => typeof term !== "number" && term.node.isAbstract;

/** The terms of a variable's density. `isShort`: see `Distribution.terms`. */
export function termsOf(
  { distribution }: RandomVariable,
  value: Tensor,
  latent?: LatentValue,
  isShort = false,
): SizedTerms {
  const { standard, free } = latent ?? {};
  if (standard && distribution.noncentered) {
    const { base } = distribution.noncentered();
    const draws = standard.shape.slice(0, standard.rank - base.eventShape.length);
    return { terms: base.terms(standard), shape: draws };
  }
  return {
    terms: free && distribution.freeTerms ? distribution.freeTerms(free, isShort) : distribution.terms(value, isShort),
    shape: value.shape.slice(0, value.rank - distribution.eventShape.length),
  };
}

/**
 * The constraints that no bijection sees to: all of them for data, and for a latent variable the support that
 * `.constrained(…)` replaced.
 */
export function constraintsOn(variable: RandomVariable, isObserved: boolean): readonly Constraint[] {
  const { support } = variable.distribution;
  if (isObserved) return variable.isNarrowed ? [support, variable.constraint] : [support];
  return variable.isNarrowed && support.bijection !== real.bijection ? [support] : [];
}

/** The terms as one, which is -Infinity where a value or a parameter that may lie outside does. */
export function termsInside(
  variable: RandomVariable,
  value: Tensor,
  { terms, shape }: SizedTerms,
  isObserved: boolean,
  { areValues, parameters }: Unsure,
): readonly Term[] {
  const { distribution } = variable;
  const eventRank = distribution.eventShape.length;
  const constraints = areValues ? constraintsOn(variable, isObserved) : [];
  const answers = [
    ...constraints.map((constraint) => eachInside(constraint, value, eventRank)),
    ...parameters.map((number) => parameterInside(distribution.parameters?.[number] as Parameter, value)),
  ];
  const inside = answers.reduce((a, b) => a.logicalAnd(b));
  // The standard numbers of a vector have a density each.
  const own = shape.slice(value.rank - eventRank).reduce<Tensor>((each) => each.expandDims(-1), inside);
  return [where(own, tensorOf(sumOfTerms(terms), value), -Infinity)];
}

/** The log density of a model with its data, in parts: of variables, Jacobians and factors. `Posterior` adds them up. */
import type { Shape } from "../../core/shape.js";
import { Tensor, where, zeros } from "../../tensor/index.js";
import { type Argument, deviceOf, tensorOf } from "../arguments/argument.js";
import { type Parameter, parameterInside } from "../arguments/parameter.js";
import { sumOfTerms, type Term } from "../numerics/terms.js";
import type { ParameterAt } from "../target/target.js";
import type { RandomVariable } from "../variables/variable.js";
import type { GivenData } from "./given-data.js";
import { type GivenModel, plainValue } from "./given-model.js";
import type { LatentValue } from "./latent-value.js";
import { isPartlyMissing, type Missing, observedOnly } from "./missing-values.js";
import type { ModelRun } from "./model-run.js";
import type { Latent, Observed, Plan } from "./plan-entries.js";
import { Sum } from "./sum.js";
import { termsInside, termsOf } from "./variable-terms.js";

/** The contribution of a variable, a factor or a Jacobian to the log density. */
interface DensityPart {
  readonly kind: "latent" | "observed" | "factor";
  readonly name: string;
  readonly terms: readonly Term[];
  readonly shape: Shape;
  /** The missing observations, if any are missing, and the number of axes of one draw. */
  readonly gaps?: { readonly missing: Missing; readonly eventRank: number };
}

/** Runs the model at free numbers and hands on what its log density sums. `isForSampler`: without constants. */
function partsAt<T>(
  model: GivenModel,
  u: Tensor,
  isForSampler: boolean,
  finish: (parts: readonly DensityPart[]) => T,
): T {
  const given = model.dataAt(u);
  const forSampler = isForSampler ? model.planIn(u.dtype, given) : null;
  return model.runAtFree(u, given, (run, latent) => {
    const parts: DensityPart[] = [];
    run.variables.forEach((variable, number) => {
      const entry = model.plan.variables.get(number);
      if (!entry) return;
      parts.push(variablePart(model, variable, number, given, forSampler, () => latent(number)));
      const { name } = model.plan.imputed.get(number) ?? entry;
      if (entry.kind === "observed" && name === entry.name) return;
      const value = plainValue(variable);
      const { logJacobian } = latent(number) as LatentValue;
      if (logJacobian === 0) return;
      const own = value.shape.slice(0, value.rank - variable.constraint.eventRank);
      parts.push({ kind: "latent", name: `Jacobian of ${name}`, terms: [logJacobian], shape: own });
    });
    run.factors.forEach((factor, i) => {
      const isNumber = typeof factor === "number";
      const terms = [isNumber ? factor : new Tensor(factor.node)];
      parts.push({ kind: "factor", name: `factor ${i + 1}`, terms, shape: isNumber ? [] : factor.shape });
    });
    return finish(parts);
  });
}

/** The contribution of a variable, without its Jacobian. */
function variablePart(
  model: GivenModel,
  variable: RandomVariable,
  number: number,
  given: GivenData<unknown>,
  forSampler: Plan | null = null,
  latent: () => LatentValue | undefined = () => undefined,
): DensityPart {
  const { plan } = model;
  const { kind, name } = plan.variables.get(number) as Latent | Observed;
  const isObserved = kind === "observed";
  const missing = model.missingIn(given, number);
  const value = isObserved && !missing ? (given.observed.get(name) as Tensor) : plainValue(variable);
  // Asked for after the value: a variable that nobody has used yet gets its free numbers with it.
  const own = isObserved ? undefined : latent();
  const { terms, shape } = termsOf(variable, value, own, forSampler?.short.has(number));
  const dependent = forSampler?.dependent.get(number);
  const needed = dependent ? terms.filter((_, at) => dependent[at]) : terms;
  const unsure = plan.unsure.get(number);
  const inside = unsure ? termsInside(variable, value, { terms: needed, shape }, isObserved, unsure) : needed;
  const gaps = missing && { missing, eventRank: variable.distribution.eventShape.length };
  return { kind, name, terms: inside, shape, gaps };
}

/** The log density at free numbers: of latent variables with their Jacobians, and of observations and factors. */
export function densityPartsAt(
  model: GivenModel,
  u: Tensor,
  isForSampler: boolean,
): { readonly prior: Tensor; readonly likelihood: Tensor } {
  return partsAt(model, u, isForSampler, (parts) => {
    const prior = new Sum(u);
    const likelihood = new Sum(u);
    for (const { kind, terms, shape, gaps } of parts) {
      if (gaps) {
        // Values that are missing are latent variables: their density is a part of the prior.
        const total = tensorOf(sumOfTerms(terms), u).broadcastTo(shape);
        const isMissing = isPartlyMissing(gaps.missing, gaps.eventRank);
        prior.add([where(isMissing, total, 0)], shape);
        likelihood.add([where(isMissing, 0, total)], shape);
      } else (kind === "latent" ? prior : likelihood).add(terms, shape);
    }
    return { prior: prior.total(), likelihood: likelihood.total() };
  });
}

/** The log density of every variable, factor and Jacobian, by name. */
export const breakdownAt = (model: GivenModel, u: Tensor): Record<string, Tensor> =>
  partsAt(model, u, false, (parts) => byName(parts, u));

/** The log density of each observation, by name, at free numbers or values of all latent variables. */
export function logLikelihoodAt(
  model: GivenModel,
  at: Tensor | Readonly<Record<string, Argument>>,
): Record<string, Tensor> {
  const observedParts = (run: ModelRun, given: GivenData<unknown>) =>
    run.variables.flatMap((variable, number) =>
      model.plan.variables.get(number)?.kind === "observed" ? variablePart(model, variable, number, given) : [],
    );
  if (at instanceof Tensor) {
    const given = model.dataAt(at);
    return model.runAtFree(at, given, (run) => byObservation(observedParts(run, given), at));
  }
  return model.runAtValues(at, undefined, (run, given, dtype) => {
    const like = zeros([], { dtype, device: deviceOf(Object.values(at)) ?? model.device });
    return byObservation(observedParts(run, given), like);
  });
}

const byName = (parts: readonly DensityPart[], like: Tensor): Record<string, Tensor> =>
  Object.fromEntries(
    parts.map(({ name, terms, shape }) => [name, tensorOf(sumOfTerms(terms), like).broadcastTo(shape)]),
  );

/** Log densities of what was observed: not of missing values, nor of draws that have some. */
function byObservation(parts: readonly DensityPart[], like: Tensor): Record<string, Tensor> {
  const all = byName(parts, like);
  for (const { name, gaps } of parts) {
    if (!gaps) continue;
    const found = observedOnly(all[name], gaps.missing, gaps.eventRank);
    if (found) all[name] = found;
    else delete all[name];
  }
  return all;
}

/** The parameters that may lie outside of what they may be, for messages. */
export function unsureParametersAt(model: GivenModel, u: Tensor): readonly ParameterAt[] {
  return model.runAtFree(u, model.dataAt(u), (run) =>
    [...model.plan.unsure].flatMap(([number, { parameters }]) => {
      const { name: variable } = model.plan.variables.get(number) as Latent | Observed;
      return parameters.map((at) => {
        const parameter = run.variables[number].distribution.parameters?.[at] as Parameter;
        const { name, rule } = parameter;
        return { variable, name, says: rule.says, isInside: parameterInside(parameter, u) };
      });
    }),
  );
}

/**
 * Variables as parameters of others: `normal(0, sd)` where sd may be negative is a mistake that samplers would only show as
 * divergences, and `poisson(x.mul(b))` has a formula that goes on where the rate is negative. `plan` refuses variables that are
 * parameters as they are; of what is computed it asks which densities have to look at it.
 */
import { ArgumentError } from "../../core/errors.js";
import type { Node } from "../../graph/node.js";
import { Tensor } from "../../tensor/index.js";
import { type Argument, tensorsIn } from "../arguments/argument.js";
import type { VariableKind } from "../arguments/joint-rules.js";
import type { Range } from "../arguments/parameter.js";
import { RandomVariable } from "../variables/variable.js";
import { knownRange } from "./known-range.js";

/** Primitives whose results are elements of their first input. */
const CHOOSING: ReadonlySet<string> = new Set([
  "reshape",
  "permute",
  "expand",
  "slice",
  "take",
  "takeAlongAxis",
  "gather",
]);

/** An error where a parameter is a variable that may lie outside of what the parameter takes. */
export function checkFitting(
  variable: RandomVariable,
  latents: ReadonlyMap<Node, RandomVariable>,
  nameOf: (variable: RandomVariable) => string,
): void {
  for (const { name, rule, argument } of variable.distribution.parameters ?? []) {
    for (const latent of variablesIn(argument, latents)) {
      const what = `${variable.distribution.name}: its ${name} is ${nameOf(latent)}`;
      if (rule.kind && argument instanceof Tensor && !isOfKind(latent, rule.kind)) {
        throw new ArgumentError(`${what}, which takes ${latent.constraint.description}; it is ${rule.kind.says}.`);
      }
      const range = rangeOf(latent);
      const why = range && rule.within && outside(range, rule.within);
      if (!why) continue;
      throw new ArgumentError(
        `${what}, ${why}; it is ${rule.says}. ` +
          `${rule.within?.[1] === 1 ? "Use beta(…) or .constrained(unitInterval)" : "Use halfNormal(…) or .constrained(positive)"}.`,
      );
    }
  }
}

const isOfKind = ({ distribution, constraint }: RandomVariable, kind: VariableKind): boolean =>
  kind.isOf(distribution.support) || kind.isOf(constraint);

/** The parameters, by number, that depend on sampled values and are not known to lie in their allowed range. */
export function unsureParameters(variable: RandomVariable, latents: ReadonlyMap<Node, RandomVariable>): number[] {
  const declared = (node: Node) => {
    const latent = latents.get(node);
    return latent && rangeOf(latent);
  };
  const isUnsure = (part: Tensor, within: Range): boolean => {
    // Asking an unused variable for its value would make it a sampled one.
    if (part instanceof RandomVariable && !part.isUsed) return false;
    return part.node.isAbstract && outside(knownRange(part.node, declared), within) !== null;
  };
  return (variable.distribution.parameters ?? []).flatMap(({ rule: { within }, argument }, number) =>
    within && tensorsIn([argument]).some((part) => isUnsure(part, within)) ? [number] : [],
  );
}

/** Why numbers of a range may not lie within another, if so. */
function outside([low, high]: Range, [least, most]: Range): string | null {
  if (low < least) return least === 0 ? "which may be negative" : `which may be below ${least}`;
  return high > most ? `which may be above ${most}` : null;
}

/** The range that is known of the values: the support, cut by what `.constrained(…)` says. */
export function rangeOf({ distribution, constraint }: RandomVariable): Range | undefined {
  const ranges = [distribution.support.range, constraint.range].filter((range) => range !== undefined);
  if (ranges.length < 2) return undefined;
  return [Math.max(...ranges.map(([low]) => low)), Math.min(...ranges.map(([, high]) => high))];
}

function variablesIn(argument: Argument, latents: ReadonlyMap<Node, RandomVariable>): RandomVariable[] {
  if (typeof argument === "number") return [];
  if (!(argument instanceof Tensor)) return argument.flatMap((part) => variablesIn(part, latents));
  // A variable is not asked for its value here: that would make it one that is sampled.
  if (argument instanceof RandomVariable) return [...latents.values()].includes(argument) ? [argument] : [];
  let { node } = argument;
  while (!latents.has(node) && node.inputs.length > 0 && CHOOSING.has(node.primitive.name)) [node] = node.inputs;
  const found = latents.get(node);
  return found ? [found] : [];
}

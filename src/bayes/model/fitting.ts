/**
 * Variables that are parameters of others as they are: `normal(0, sd)` where sd may be negative is a mistake that samplers would
 * only show as divergences. `plan` refuses it. What is computed from variables is nobody's to check.
 */
import { ArgumentError } from "../../core/errors.js";
import type { Node } from "../../graph/node.js";
import { Tensor } from "../../tensor/tensor.js";
import type { Argument } from "../argument.js";
import type { Range } from "../constraints/constraint.js";
import { RandomVariable } from "./variable.js";

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
      const why = rule.within && outside(rangeOf(latent), rule.within);
      if (!why) continue;
      throw new ArgumentError(
        `${variable.distribution.name}: its ${name} is ${nameOf(latent)}, ${why}; it is ${rule.says}. ` +
          `${rule.within?.[1] === 1 ? "Use beta(…) or .constrained(unitInterval)" : "Use halfNormal(…) or .constrained(positive)"}.`,
      );
    }
  }
}

/** Why numbers of a range may not lie within another, if so. */
function outside([low, high]: Range, [least, most]: Range): string | null {
  if (low < least) return least === 0 ? "which may be negative" : `which may be below ${least}`;
  return high > most ? `which may be above ${most}` : null;
}

/** Where values lie for all that is known: in the support and in what `.constrained(…)` keeps them to. */
function rangeOf({ distribution, constraint }: RandomVariable): Range {
  const ranges = [distribution.support.range, constraint.range].filter((range) => range !== undefined);
  // Unknown is not outside.
  if (ranges.length < 2) return [Infinity, -Infinity];
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

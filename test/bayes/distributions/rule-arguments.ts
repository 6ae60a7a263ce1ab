/**
 * Arguments for distributions by the rules of their parameters, so that a new distribution is tested without a case of its own:
 * whoever takes "a positive number" gets some. Distributions whose arguments are no plain numbers and lists (options, components)
 * have none here, and need cases in cases.json.
 */
import { deferringErrors } from "../../../src/bayes/arguments/deferred-errors.js";
import type { Parameter, ParameterRule } from "../../../src/bayes/arguments/parameter.js";
import { distributionNames, makerOf } from "./cases.js";

/** The parameters of a distribution function, in the order of its arguments; null where they are no plain numbers and lists. */
export function parametersOf(name: string): readonly Parameter[] | null {
  const maker = makerOf(name);
  if (maker.length === 0) return null;
  try {
    // Errors about values are deferred, so that any numbers show what is taken.
    const ones = new Array<number>(maker.length).fill(1);
    const { parameters } = deferringErrors(() => maker(...ones)).distribution;
    const isPlain = parameters?.length === maker.length && parameters.every(({ rule }) => rule.rank < 2);
    return isPlain ? parameters : null;
  } catch {
    return null;
  }
}

/** Names of the distributions that have arguments here. */
export const sweptNames: readonly string[] = distributionNames.filter((name) => parametersOf(name) !== null);

/** Three values for each kind of parameter; of several that may be any number, later ones are larger. */
function valuesFor({ rank, within, isValid, joint }: ParameterRule, position: number): readonly (number | number[])[] {
  const isProbability = within?.[1] === 1;
  if (rank === 1) {
    if (isProbability) {
      return [
        [0.2, 0.5, 0.3],
        [0.05, 0.15, 0.8],
        [0.4, 0.3, 0.3],
      ];
    }
    if (within) {
      return [
        [1.5, 0.8, 3],
        [1, 1, 1],
        [4, 2.5, 0.6],
      ];
    }
    if (joint && joint([2, 1], [2]) !== null) {
      return [
        [-1, 0.5, 2],
        [-0.1, 0, 0.1],
        [-3, 0.4, 6],
      ];
    }
    return [
      [0.5, -1, 2],
      [0, 0, 0],
      [-3, 1.2, 0.4],
    ];
  }
  if (isProbability) return [0.3, 0.05, 0.9];
  if (!isValid(0.5)) return [5, 1, 9];
  if (within) return [1.5, 3, 0.6];
  return [0.5, -2, 3].map((value) => value + 1.25 * position);
}

/** Lists of arguments for a distribution. */
export function argumentsFor(name: string): readonly (readonly (number | number[])[])[] {
  const parameters = parametersOf(name) ?? [];
  return [0, 1, 2].map((i) => parameters.map(({ rule }, position) => valuesFor(rule, position)[i]!));
}

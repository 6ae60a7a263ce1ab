/**
 * Parameters: the rules of what a distribution or constraint takes, such as "a positive number". A definition names a rule for
 * each of its parameters; check-arguments.ts holds known values against them, and posteriors look at what is sampled.
 */
import { DTYPES, type DType } from "../../core/dtype.js";
import type { Tensor } from "../../tensor/index.js";
import { allOverLast } from "../numerics/last-axes.js";
import { type Argument, tensorOf } from "./argument.js";
import type { JointRule, VariableKind } from "./joint-rules.js";

/** Lower and upper end of an interval; whether the ends belong to it is left open. */
export type Range = readonly [low: number, high: number];

/** The rule for an argument. Numbers are checked when the distribution is made, tensors when asked: they are read back. */
export interface ParameterRule {
  /** Trailing axes that belong to one draw. */
  readonly rank: number;
  /** Between which numbers it lies, where not all are taken. */
  readonly within?: Range;
  readonly isValid: (value: number) => boolean;
  /** Completes "it is …": "a positive number". */
  readonly says: string;
  /** Whether one number may stand for a whole vector of it. */
  readonly mayBeNumber?: boolean;
  /** A rule for the numbers of one vector or matrix together. */
  readonly joint?: JointRule;
  /** The kind of variable that may stand here, where not all may. */
  readonly kind?: VariableKind;
}

const rule = (rank: number, says: string, isValid: (value: number) => boolean): ParameterRule => ({
  rank,
  says,
  isValid,
});

/** The rules there are. */
export const parameter = {
  real: rule(0, "a finite number", Number.isFinite),
  bound: rule(0, "a number, which may be infinite", (x) => !Number.isNaN(x)),
  positive: { ...rule(0, "a positive number", (x) => x > 0 && x < Infinity), within: [0, Infinity] },
  nonNegative: { ...rule(0, "a number from 0 on", (x) => x >= 0 && x < Infinity), within: [0, Infinity] },
  probability: { ...rule(0, "a number from 0 to 1", (x) => x >= 0 && x <= 1), within: [0, 1] },
  count: { ...rule(0, "a whole number from 0 on", (x) => Number.isInteger(x) && x >= 0), within: [0, Infinity] },
  vector: rule(1, "a vector", Number.isFinite),
  positiveVector: { ...rule(1, "a vector of positive numbers", (x) => x > 0 && x < Infinity), within: [0, Infinity] },
  probabilities: { ...rule(1, "a vector of probabilities", (x) => x >= 0 && x <= 1), within: [0, 1] },
  location: { ...rule(1, "a number or a vector", Number.isFinite), mayBeNumber: true },
  matrix: rule(2, "a matrix", Number.isFinite),
} as const satisfies Readonly<Record<string, ParameterRule>>;

/** A parameter with the argument that was given for it. */
export interface Parameter {
  readonly name: string;
  readonly rule: ParameterRule;
  readonly argument: Argument;
}

/** Parameters of a distribution that applies along an axis of another's arguments, or of its draws. */
export const alongLastAxis = (parameters: readonly Parameter[] = []): readonly Parameter[] =>
  parameters.map((one) => ({ ...one, rule: { ...one.rule, rank: one.rule.rank + 1 } }));

/** By how many roundings a probability that is computed may be beyond 1. */
const ROUNDINGS = 8;

/** Whether a parameter lies where its rule says, one answer for each draw that it describes. NaN does not. */
export function parameterInside({ rule, argument }: Parameter, like: Tensor): Tensor {
  const [low, high] = rule.within ?? [-Infinity, Infinity];
  const value = tensorOf(argument, like);
  const isAbove = value.greaterEqual(low);
  const most = high * (1 + ROUNDINGS * DTYPES[like.dtype as DType].epsilon);
  const inside = high === Infinity ? isAbove : isAbove.logicalAnd(value.lessEqual(most));
  return allOverLast(inside, Math.min(rule.rank, value.rank));
}

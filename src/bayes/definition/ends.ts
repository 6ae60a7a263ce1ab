/**
 * Logarithms at the ends of supports and of what parameters may be. There 0·log 0 is 0, and no gradient is NaN: the branch that
 * does not count is not differentiated. A density with a factor x^power is finite at x = 0 where the power is 0; where it is 0
 * or infinite there the log density is -Infinity, because a density that is infinite somewhere would hold every sampler. Gamma,
 * beta, Weibull and Dirichlet densities and those of counts use this.
 */
import { scalarLike, type Tensor, where } from "../../tensor/index.js";
import { type Argument, tensorOf } from "../arguments/argument.js";
import type { Constraint } from "../constraints/constraint.js";

export const isZero = (x: Tensor): Tensor => x.equal(0);
export const isOne = (x: Tensor): Tensor => x.equal(1);

/** log x, but 0 at the end x = 0. */
export const finiteLog = (x: Tensor): Tensor => where(isZero(x), 1, x).log();

/** log(1 - x), but 0 at the end x = 1. */
export const finiteLog1m = (x: Tensor): Tensor => where(isOne(x), 0, x).neg().log1p();

/** The term of x^power at the end, besides power·finiteLog: -Infinity unless the power is 0. */
export const atEnd = (isEnd: Tensor, power: Tensor): Tensor =>
  where(isEnd.logicalAnd(power.notEqual(0)), scalarLike(power, -Infinity), 0);

/** log p of a probability, or a rate, that may be 0. */
export const logOf = (p: Tensor): Tensor => where(isZero(p), -Infinity, finiteLog(p));

/** log(1 - p) of a probability that may be 1. */
export const log1mOf = (p: Tensor): Tensor => where(isOne(p), -Infinity, finiteLog1m(p));

/** x·log y, which is 0 for x = 0 whatever y is. */
export const xLogY = (x: Tensor, logY: Tensor): Tensor => where(isZero(x), 0, x.mul(logY));

/** An end that belongs to a support if an argument has a value. */
interface End {
  readonly isEnd: (x: Tensor) => Tensor;
  readonly argument: Argument;
  readonly value: number;
}

/** Elements at an end that is known to belong to the support; of an argument that is sampled nothing is known. */
export function isAtKnownEnd(x: Tensor, { isEnd, argument, value }: End): Tensor {
  const given = tensorOf(argument, x);
  const answers = isEnd(x);
  return given.node.isAbstract ? answers.logicalAnd(false) : answers.logicalAnd(given.equal(value));
}

/** The range of data: inside, and those ends that belong to the support. `closed` has all of them. */
export function withEnds(inside: Constraint, closed: Constraint, ends: readonly End[]): Constraint {
  const isClosed = ends.every(({ argument, value }) => argument === value);
  return {
    ...inside,
    description: isClosed ? closed.description : inside.description,
    holds: (x) => ends.reduce((answers, end) => answers.logicalOr(isAtKnownEnd(x, end)), inside.holds(x)),
  };
}

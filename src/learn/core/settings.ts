/** Checks of settings that many kinds have: amounts, probabilities of classes, counts. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";

/** Throws unless a setting is a number in bounds, or a tensor of one number, so that `vmap` can go over it. */
export function checkAmount(kind: string, name: string, value: unknown, least = 0, most = Number.MAX_VALUE): void {
  if (isTensor(value) ? value.rank === 0 : typeof value === "number" && value >= least && value <= most) return;
  const isBounded = most < Number.MAX_VALUE;
  const where = isBounded ? `from ${least} to ${most}` : least === 0 ? "zero or more" : `${least} or more`;
  throw new ArgumentError(`${kind}: ${name} is ${shown(value)}; it is a number, ${where}, or a tensor of one.`);
}

/** Throws unless a setting is a number above zero, or a tensor of one number. */
export function checkPositive(kind: string, name: string, value: unknown): void {
  if (isTensor(value) ? value.rank === 0 : typeof value === "number" && value > 0 && Number.isFinite(value)) return;
  throw new ArgumentError(`${kind}: ${name} is ${shown(value)}; it is a number above zero, or a tensor of one.`);
}

/** A whole number from 1 to `most`, or an error that names the setting. */
export function checkWholeSetting(operation: string, name: string, value: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  throw new ArgumentError(`${operation}: ${name} is ${shown(value)}; it is a whole number from 1 to ${most} here.`);
}

/** Throws unless probabilities of classes are zero or more and have the sum 1. */
export function checkPriors(kind: string, priors: readonly number[] | undefined): void {
  if (priors === undefined) return;
  const total = priors.reduce((sum, each) => sum + each, 0);
  if (priors.every((each) => each >= 0) && Math.abs(total - 1) < 1e-6) return;
  throw new ArgumentError(`${kind}: priors are ${shown(priors)}; they are probabilities with the sum 1.`);
}

/** The logarithms of the classes' probabilities: those given, or their shares of `counts`, [classes]. */
export function logPriorsOf(kind: string, priors: readonly number[] | undefined, counts: Tensor): Tensor {
  const { device, dtype } = counts;
  const classes = counts.shape[0] as number;
  if (!priors) return counts.div(counts.sum()).log() as Tensor;
  if (priors.length === classes) return tensor(priors as number[], { device, dtype }).log() as Tensor;
  throw new ArgumentError(`${kind}.fit: there are ${priors.length} priors and ${classes} classes.`);
}

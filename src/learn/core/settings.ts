/** Checks of settings that many kinds have: amounts, probabilities of classes, counts. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";

/**
 * Throws unless a setting is a number from `least` on (above it, where it is `open`), or a tensor of one number, so that `vmap` can go
 * over it.
 */
export function checkAmount(kind: string, name: string, value: unknown, least = 0, open = false): void {
  const isFine = (given: unknown) =>
    typeof given === "number" && Number.isFinite(given) && (open ? given > least : given >= least);
  if (isTensor(value) ? value.rank === 0 : isFine(value)) return;
  const from = open ? `above ${least}` : least === 0 ? "zero or more" : `${least} or more`;
  throw new ArgumentError(`${kind}: ${name} is ${shown(value)}; it is a number, ${from}, or a tensor of one.`);
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

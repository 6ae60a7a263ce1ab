/**
 * Terms: a log density is kept as a list of summands, since those that do not depend on what is sampled need not be computed.
 * Constraints, distributions and posteriors all write and add them.
 */
import type { Tensor } from "../../tensor/index.js";

/** A summand of a log density: a tensor that broadcasts to the shape of the draws, or a number for each of them. */
export type Term = number | Tensor;

export const negated = (term: Term): Term => (typeof term === "number" ? -term : term.neg());

/** All terms together. Small ones are added to each other first, so that large ones are walked once. */
export function sumOfTerms(terms: readonly Term[]): Term {
  const size = (term: Term) => (typeof term === "number" ? 0 : term.size);
  const rising = [...terms].sort((a, b) => size(a) - size(b));
  return rising.reduce<Term>((a, b) => {
    if (typeof b === "number") return (a as number) + b;
    return a === 0 ? b : b.add(a);
  }, 0);
}

/**
 * Flat variables that nothing pins down: `flat(…)`, and densities of one's own that are the same everywhere. Their
 * posterior is as improper as their prior: chains wander off without an end, and no diagnostic is sure to notice. `plan`
 * finds them, and samplers refuse.
 */
import { inputsFirst, type Node } from "../../graph/node.js";
import type { Term } from "../numerics/terms.js";
import type { RandomVariable } from "../variables/variable.js";

/** The contribution of a variable or a factor to the log density. */
export interface Summand {
  /** null for a factor. */
  readonly variable: RandomVariable | null;
  readonly isObserved: boolean;
  /** The terms of the distribution's density, without those of supports and Jacobians. */
  readonly density: readonly Term[];
  readonly terms: readonly Term[];
}

/** `owners`: for each placeholder, the latent variable it stands for. */
export function improperIn(summands: readonly Summand[], owners: ReadonlyMap<Node, RandomVariable>): RandomVariable[] {
  const bearing = summands.map((summand) => ({ summand, on: latentsIn(summand.terms, owners) }));
  // Latent variables that are densities integrate to 1 given the others, and so say nothing about these by themselves.
  const pinned = new Set<RandomVariable>();
  const isAnchor = ({ variable, isObserved }: Summand, on: ReadonlySet<RandomVariable>) => {
    if (!variable || isObserved) return true;
    return on.size > 1 && (variable.distribution.isUnnormalized || variable.isNarrowed);
  };
  let before: number;
  do {
    before = pinned.size;
    for (const { summand, on } of bearing) {
      if (!isAnchor(summand, on) && ![...on].some((latent) => pinned.has(latent))) continue;
      for (const latent of on) pinned.add(latent);
    }
  } while (pinned.size > before);
  return summands.flatMap(({ variable, isObserved, density }) => {
    if (!variable || isObserved || pinned.has(variable)) return [];
    const { isImproper, isUnnormalized } = variable.distribution;
    if (!(isImproper || isUnnormalized) || variable.constraint.isBounded) return [];
    return isImproper || !latentsIn(density, owners).has(variable) ? [variable] : [];
  });
}

function latentsIn(terms: readonly Term[], owners: ReadonlyMap<Node, RandomVariable>): Set<RandomVariable> {
  const roots = terms.flatMap((term) => (typeof term === "number" ? [] : [term.node]));
  const behind = inputsFirst(roots, ({ isAbstract, inputs }) => (isAbstract ? inputs : []));
  return new Set(behind.flatMap((node) => owners.get(node) ?? []));
}

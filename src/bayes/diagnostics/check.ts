/**
 * Problems of a fit in words, and what to try: the sampler's own complaints first (divergences, trajectories cut
 * short, slow energy), then what the draws show (chains that disagree, too few effective draws). `fit.check()` and the
 * report print it.
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Chains, Draws } from "../draws/draws.js";
import { allFinite, isConstant } from "./chains.js";
import { eBfmi } from "./energy.js";
import type { SummaryRow } from "./scalar-summary.js";
import { sortWithOrder } from "./sort.js";
import { formatRatio, Summary, summary } from "./summary.js";

/** The kinds of problems that `check` finds. */
export type ProblemKind =
  | "too-few"
  | "non-finite"
  | "stuck"
  | "divergences"
  | "tree-depth"
  | "energy"
  | "r-hat"
  | "ess"
  | "one-chain"
  | "stopped"
  | "elbo"
  | "pareto-k"
  | "paths"
  | "particles";

/** A problem that `check` found, in words and numbers. */
export interface Problem {
  readonly kind: ProblemKind;
  /** An error makes the results wrong; a warning makes them doubtful or imprecise. */
  readonly severity: "error" | "warning";
  /** The problem. */
  readonly message: string;
  /** Advice. */
  readonly remedy: string;
  /** The scalars concerned, the worst first, with the figure that is bad. */
  readonly variables: readonly { readonly name: string; readonly value: number }[];
}

/** The limits that Vehtari et al. (2021) and the Stan team recommend. */
export const LIMITS = { rHat: 1.01, ess: 400, eBfmi: 0.3 } as const;

/** From these shares of the transitions on, divergences may be, and are, more than a blemish. */
const FEW_DIVERGE = 0.001;
const MANY_DIVERGE = 0.01;

/** From here on chains tend to be short. */
const MANY_CHAINS = 32;

/** The result of `check`. Prints as text. */
export class Check {
  constructor(
    readonly problems: readonly Problem[],
    /** The figures that are good, for the message that all is well. */
    private readonly praise: string,
  ) {}

  /** True when nothing was found. */
  get ok(): boolean {
    return this.problems.length === 0;
  }

  toString(): string {
    if (this.ok) return `All is well: ${this.praise}.`;
    return this.problems
      .map(({ severity, message, remedy }) => `${severity === "error" ? "✗" : "!"} ${message}\n  ${remedy}`)
      .join("\n");
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/**
 * Looks for common faults. Pass `table` if there is a summary already. `sampled` are variables that must vary; others may be
 * constants of the model.
 */
export function check(draws: Draws, table: Summary = summary(draws), sampled: readonly string[] = []): Check {
  if (!(table instanceof Summary)) {
    throw new ArgumentError(`check: ${shown(table)} stands where the summary does: check(draws, summary(draws)).`);
  }
  if (draws.length < 8) {
    const message = `There ${draws.length === 1 ? "is" : "are"} ${count(draws.length, "draw")} per chain, too few to judge.`;
    return new Check([problem("too-few", "error", message, "Draw at least 100 per chain.")], "");
  }
  const problems = [
    nonFinite(draws),
    stuck(draws),
    still(draws, sampled),
    divergences(draws),
    treeDepth(draws),
    energy(draws),
    disagreement(table),
    fewEffectiveDraws(table),
    oneChain(draws),
  ];
  return new Check(
    problems.filter((found) => found !== undefined),
    praise(draws, table),
  );
}

export function problem(
  kind: ProblemKind,
  severity: Problem["severity"],
  message: string,
  remedy: string,
  variables: Problem["variables"] = [],
): Problem {
  return { kind, severity, message, remedy, variables };
}

/** "1 draw", "3 draws". */
function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** "mu, theta[3] and 7 more". */
function list(items: readonly string[], most = 5): string {
  if (items.length <= most) return items.join(", ");
  return `${items.slice(0, most).join(", ")} and ${items.length - most} more`;
}

/** A number on its side of a limit, with as many digits as that takes. @internal for tests: its rounding is compared */
export function shownBeyond(value: number, limit: number, digits: number): string {
  const text = value.toFixed(digits);
  const isBeyond = value > limit ? Number(text) > limit : Number(text) < limit;
  return isBeyond || digits >= 12 ? text : shownBeyond(value, limit, digits + 1);
}

function percentage(part: number, whole: number): string {
  const share = (100 * part) / whole;
  return `${share >= 10 ? share.toFixed(0) : share >= 0.1 ? share.toFixed(1) : "less than 0.1"}%`;
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}

function nonFinite(draws: Draws): Problem | undefined {
  const variables = draws.names
    .filter((name) => !allFinite(draws.scalar(name).values))
    .map((name) => ({ name, value: draws.scalar(name).values.filter((value) => !Number.isFinite(value)).length }))
    .sort((a, b) => b.value - a.value);
  if (variables.length === 0) return undefined;
  const named = list(variables.map(({ name, value }) => `${name} (${count(value, "draw")})`));
  return problem(
    "non-finite",
    "error",
    `Some draws are NaN or infinite: ${named}.`,
    "Look for 0/0, log of 0 or overflow in what the model computes; a tighter prior often keeps values in range.",
    variables,
  );
}

/** Chains in which something never moved that moves in, or differs between, the others. */
function stuck(draws: Draws): Problem | undefined {
  const chains = new Set<number>();
  const variables: { name: string; value: number }[] = [];
  for (const name of draws.names) {
    const x = draws.scalar(name);
    if (isConstant(x.values)) continue; // a constant of the model, like the zeros of a triangular matrix
    const still = Array.from({ length: x.chains }, (_, c) => c).filter((c) => isConstant(chainOf(x, c)));
    if (still.length === 0) continue;
    variables.push({ name, value: still.length });
    for (const chain of still) chains.add(chain);
  }
  if (chains.size === 0) return undefined;
  const named = list([...chains].sort((a, b) => a - b).map(String));
  return problem(
    "stuck",
    "error",
    `${count(chains.size, "chain")} of ${draws.chains} never moved (${named}): ${list(variables.map(({ name }) => name))}.`,
    "The sampler rejected every step there: start elsewhere, warm up longer, or look for a density that is -∞ or NaN " +
      "around that point.",
    variables.sort((a, b) => b.value - a.value),
  );
}

/** Variables of which all elements are the same in every draw of every chain, whether they are constants or never moved. */
const constantsIn = (draws: Draws): string[] =>
  [...draws.variables.keys()].filter((name) =>
    draws.match(name).every((scalar) => {
      const { values } = draws.scalar(scalar);
      return isConstant(values) && Number.isFinite(values[0]);
    }),
  );

function still(draws: Draws, sampled: readonly string[]): Problem | undefined {
  const constants = constantsIn(draws);
  const isNothing = constants.length === draws.variables.size;
  const names = isNothing ? constants : constants.filter((name) => sampled.includes(name));
  if (names.length === 0) return undefined;
  return problem(
    "stuck",
    "error",
    `${isNothing ? "Nothing" : list(names)} ${isNothing ? "" : "never "}moved: it is the same in every draw of every chain.`,
    "Start the chains at different points and warm up; a value far larger than its spread wants f64.",
    names.map((name) => ({ name, value: draws.chains })),
  );
}

function chainOf(x: Chains, chain: number): Float64Array {
  return x.values.subarray(chain * x.draws, (chain + 1) * x.draws);
}

function divergences(draws: Draws): Problem | undefined {
  const divergent = draws.stat("divergent")?.values;
  const total = divergent ? sum(divergent) : 0;
  if (!divergent || total === 0) return undefined;
  const places = total >= 5 ? whereTheyGather(draws, divergent, total) : [];
  const where = places.map(({ name, value }) => `${value < 0 ? "small" : "large"} ${name}`).join(", ");
  const share = total / divergent.length;
  const verdict =
    share >= MANY_DIVERGE
      ? "so the estimates are biased"
      : share >= FEW_DIVERGE
        ? "so the estimates may be biased"
        : "and may have missed a part of it; so few bias the estimates little, if they are not all of that part";
  return problem(
    "divergences",
    share >= FEW_DIVERGE ? "error" : "warning",
    `${count(total, "transition")} of ${divergent.length} diverged (${percentage(total, divergent.length)})` +
      `${where && `, mostly at ${where}`}: the sampler could not follow the density there, ${verdict}.`,
    "Raise the target acceptance (0.9, then 0.99); write hierarchical variables non-centred (.noncentered()); give " +
      "scales priors that keep them away from 0.",
    places,
  );
}

/** The scalars whose divergent draws rank far from the others (Mann and Whitney's z), at most three. */
function whereTheyGather(draws: Draws, divergent: Float64Array, total: number): { name: string; value: number }[] {
  const size = divergent.length;
  const sd = Math.sqrt((total * (size - total) * (size + 1)) / 12);
  const scores = draws.names.map((name) => {
    const { order } = sortWithOrder(draws.scalar(name).values);
    let ranks = 0;
    for (let i = 0; i < size; i++) if (divergent[order[i]]) ranks += i + 1;
    return { name, value: (ranks - (total * (size + 1)) / 2) / sd };
  });
  return scores
    .filter(({ value }) => Math.abs(value) > 5)
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, 3);
}

function treeDepth(draws: Draws): Problem | undefined {
  const depths = draws.stat("treeDepth")?.values;
  const limit = draws.maxTreeDepth;
  if (!depths || limit === undefined) return undefined;
  const saturated = depths.reduce((total, depth) => total + (depth >= limit ? 1 : 0), 0);
  if (saturated === 0) return undefined;
  return problem(
    "tree-depth",
    "warning",
    `${count(saturated, "transition")} of ${depths.length} (${percentage(saturated, depths.length)}) stopped at the ` +
      `maximum tree depth of ${limit}: the draws are right, but they were slow to get.`,
    "Scales that differ widely or strong correlations cause this: standardise the data, reparameterise, use a dense mass " +
      "matrix, or warm up longer. Raise maxTreeDepth only when that does not help.",
  );
}

function energy(draws: Draws): Problem | undefined {
  const energies = draws.stat("energy");
  if (!energies) return undefined;
  const values = [...eBfmi(energies)];
  const low = values.filter((value) => value < LIMITS.eBfmi);
  // A few of thousands of short chains are low by chance.
  if (low.length === 0 || low.length < 0.005 * draws.chains) return undefined;
  return problem(
    "energy",
    "warning",
    `E-BFMI is below ${LIMITS.eBfmi} in ${count(low.length, "chain")} of ${draws.chains} (the lowest is ` +
      `${shownBeyond(Math.min(...low), LIMITS.eBfmi, 2)}): the sampler crosses the energies of this posterior slowly, and may miss its tails.`,
    "Heavy tails and funnels cause this: reparameterise (non-centred), or give priors lighter tails.",
  );
}

function disagreement(table: Summary): Problem | undefined {
  const isNested = table.rows.some((row) => row.nestedRHat !== undefined);
  const variables = [...table]
    .map(({ name, rHat, nestedRHat }) => ({ name, value: nestedRHat ?? rHat }))
    .filter(({ value }) => value > LIMITS.rHat)
    .sort((a, b) => b.value - a.value);
  if (variables.length === 0) return undefined;
  const named = list(
    variables.map(
      ({ name, value }) => `${name} (${value < 10 ? shownBeyond(value, LIMITS.rHat, 3) : formatRatio(value)})`,
    ),
  );
  const worst = variables[0].value;
  const isOne = table.chains === 1;
  return problem(
    "r-hat",
    worst > 1.05 ? "error" : "warning",
    `${isOne ? "The halves of the chain" : "The chains"} disagree: ${isNested ? "nested R-hat" : "R-hat"} is above ${LIMITS.rHat} for ${named}.`,
    (worst > 1.05
      ? "Do not use these estimates. Look at the trace plots: " +
        (isOne
          ? "a chain that drifts needs more warmup, one that jumps between places a model with one mode "
          : "drifting chains need more warmup, chains in different places a model with one mode ") +
        `(order the components, tighten priors), ${isOne ? "a slow one" : "slow ones"} a better parameterisation.`
      : "Warm up longer and draw more; if it stays, reparameterise.") +
      (table.chains >= MANY_CHAINS && !isNested
        ? " Many short chains keep R-hat above 1 for want of draws in each; started in superchains, nested R-hat tells."
        : ""),
    variables,
  );
}

/** The tails of 0 and 1 have no ESS of their own. */
const leastEssOf = ({ essBulk, essTail }: SummaryRow): number =>
  Number.isNaN(essTail) ? essBulk : Math.min(essBulk, essTail);

function fewEffectiveDraws(table: Summary): Problem | undefined {
  const variables = [...table]
    .map((row) => ({ name: row.name, value: leastEssOf(row) }))
    .filter(({ value }) => value < LIMITS.ess)
    .sort((a, b) => a.value - b.value);
  if (variables.length === 0) return undefined;
  const named = list(variables.map(({ name, value }) => `${name} (${shownBeyond(value, LIMITS.ess, 0)})`));
  const factor = LIMITS.ess / variables[0].value;
  return problem(
    "ess",
    "warning",
    `There are fewer than ${LIMITS.ess} effective draws, in the bulk or the tails, of ${named}: means and quantiles are ` +
      "imprecise, and so are these diagnostics.",
    `Draw about ${factor < 1.5 ? "1.5" : Math.ceil(factor)} times as much` +
      `${factor > 10 ? ", or rather reparameterise: the chains mix badly" : ""}.`,
    variables,
  );
}

function oneChain(draws: Draws): Problem | undefined {
  if (draws.chains > 1) return undefined;
  return problem(
    "one-chain",
    "warning",
    "There is one chain: R-hat compares its halves only, and cannot see what the chain never visited.",
    "Run 4 chains or more.",
  );
}

function praise(draws: Draws, table: Summary): string {
  const isNested = table.rows.some((row) => row.nestedRHat !== undefined);
  // NaN, of a constant, is neither the largest nor the smallest.
  const largest = table.column(isNested ? "nestedRHat" : "rHat").reduce((most, x) => (x > most ? x : most), -Infinity);
  const fewest = [...table].reduce((least, row) => {
    const x = leastEssOf(row);
    return x < least ? x : least;
  }, Infinity);
  const facts = [
    draws.stat("divergent") && "no divergences",
    draws.stat("treeDepth") && draws.maxTreeDepth !== undefined && "no trajectory cut short",
    draws.stat("energy") && "energies well explored",
    Number.isFinite(largest) && `${isNested ? "nested R-hat" : "R-hat"} at most ${largest.toFixed(3)}`,
    Number.isFinite(fewest) && `at least ${fewest.toFixed(0)} effective draws`,
    ...constantsIn(draws).map((name) => `and ${name} is the same in every draw`),
  ];
  return facts.filter(Boolean).join(", ") || "nothing looks wrong";
}

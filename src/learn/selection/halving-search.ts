/**
 * Successive halving: all candidates are tried with few resources, the better third of them with three times as much, and so on. Resources
 * are samples, or an option of the estimator, as the number of rounds. (Jamieson & Talwalkar 2016.)
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { permutation } from "../../core/seeded-order.js";
import type { AnyEstimator } from "../compose/steps.js";
import { countOf } from "../core/rows.js";
import { type Labels, labelsOf } from "../core/targets.js";
import { type Candidate, combinations, type Grid, withOptions } from "./candidates.js";
import { clockFor, type Evaluation, evaluated, type SearchRow } from "./evaluation.js";
import { bestOf, SEARCH, type SelectionOptions, searchMaker } from "./search.js";
import type { Split } from "./splits.js";

/** Options of `halvingSearch`. */
export interface HalvingSearchOptions extends SelectionOptions {
  /** The share of candidates that go on is one in so many, and their resources grow as much: 3 unless told. */
  readonly factor?: number;
  /** "samples", unless told, or an option of the estimator by its path, a whole number, as "maxIter". */
  readonly resource?: string;
  /** Resources of the first round: as many as use up all of them in the last one, unless told. */
  readonly minResources?: number;
  /** Resources of the last round, at most: all samples unless told. An option needs it. */
  readonly maxResources?: number;
  /** The seed by which samples are chosen: 0 unless told. */
  readonly seed?: number;
}

/** A round: how many candidates it has, and with how much. */
interface HalvingRound {
  readonly candidates: number;
  readonly resources: number;
}

/** The rounds of a halving search, as scikit-learn plans them. @internal for tests: a pure plan, held against scikit-learn's */
export function halvingRounds(
  candidates: number,
  factor: number,
  given: { readonly least: number; readonly isExact: boolean; readonly most: number },
): HalvingRound[] {
  const { most, isExact } = given;
  const wanted = 1 + wholeLog(candidates, factor);
  const least = isExact ? given.least : Math.max(given.least, Math.floor(most / factor ** (wanted - 1)));
  const possible = 1 + wholeLog(Math.floor(most / least), factor);
  const rounds: HalvingRound[] = [];
  let left = candidates;
  for (let round = 0; round < Math.min(wanted, possible); round++) {
    rounds.push({ candidates: left, resources: Math.min(most, Math.floor(factor ** round * least)) });
    left = Math.ceil(left / factor);
  }
  return rounds;
}

/** The largest whole number whose power of the base is not above the value. */
function wholeLog(value: number, base: number): number {
  let power = 0;
  while (base ** (power + 1) <= value) power++;
  return power;
}

/** Tries every combination of a grid with few resources, and the better ones with more. */
export const halvingSearch = searchMaker<Grid | readonly Grid[], HalvingSearchOptions>({
  kind: "halvingSearch",
  kinds: {
    ...SEARCH,
    factor: "number",
    resource: "text",
    minResources: "number",
    maxResources: "number",
    seed: "number",
  },
  check({ factor = 3, resource = "samples", minResources = 1, maxResources, seed = 0 }) {
    if (!(factor > 1 && Number.isFinite(factor))) {
      throw new ArgumentError(`halvingSearch: factor is ${factor}; it is a number above 1.`);
    }
    checkWhole("halvingSearch", "minResources", minResources, 1);
    checkWhole("halvingSearch", "the seed", seed, 0);
    if (maxResources !== undefined) checkWhole("halvingSearch", "maxResources", maxResources, minResources);
    else if (resource !== "samples") {
      throw new ArgumentError(`halvingSearch: the resource is ${resource}; say its largest value by maxResources.`);
    }
  },
  candidates: (grid) => combinations("halvingSearch", grid as Grid),
  searching: (options, estimator) =>
    async function* (candidates, evaluation, refit) {
      const rounds = await plannedRounds(candidates.length, options, estimator, evaluation);
      const total = rounds.reduce((sum, round) => sum + round.candidates, 0);
      const clock = clockFor(total, total * evaluation.splits.length);
      const results: SearchRow[] = [];
      let left: readonly Candidate[] = candidates;
      let place = 0;
      for (const [round, { resources }] of rounds.entries()) {
        const [own, part] = given(left, evaluation, resources, options, round);
        const rows = (yield* evaluated(own, part, clock)).map((row) => ({ ...row, resources, round }));
        place = results.length + bestOf(rows, refit);
        results.push(...rows);
        left = bestFirst(left, rows, refit).slice(0, rounds[round + 1]?.candidates ?? 0);
      }
      return { results, place };
    },
});

/** The rounds for these data. */
async function plannedRounds(
  candidates: number,
  { factor = 3, resource = "samples", minResources, maxResources }: HalvingSearchOptions,
  estimator: AnyEstimator,
  { samples, targets, splits }: Evaluation,
): Promise<HalvingRound[]> {
  const isOfSamples = resource === "samples";
  const all = countOf("halvingSearch", samples);
  const most = maxResources ?? all;
  if (isOfSamples && most > all) {
    throw new ArgumentError(`halvingSearch.fit: maxResources is ${most}, and there are ${all} samples.`);
  }
  const classes = estimator.predictsLabels ? new Set(await labelsOf("halvingSearch.fit", targets as Labels)).size : 1;
  const least = minResources ?? (isOfSamples ? 2 * splits.length * classes : 1);
  if (least > most) {
    throw new ArgumentError(`halvingSearch.fit: the first round needs ${least} ${resource}, and there are ${most}.`);
  }
  return halvingRounds(candidates, factor, { least, isExact: minResources !== undefined, most });
}

/** Candidates and data with these resources: an option of each, or a share of the samples of every split. */
function given(
  candidates: readonly Candidate[],
  evaluation: Evaluation,
  resources: number,
  { resource = "samples", seed = 0 }: HalvingSearchOptions,
  round: number,
): [readonly Candidate[], Evaluation] {
  if (resource !== "samples") {
    const own = candidates.map(({ options, estimator }) => {
      const more = { ...options, [resource]: resources };
      return { options: more, estimator: withOptions(estimator, { [resource]: resources }) };
    });
    return [own, evaluation];
  }
  const share = resources / countOf("halvingSearch", evaluation.samples);
  const splits = evaluation.splits.map((split, number): Split => {
    const stream = 2 * (round * evaluation.splits.length + number);
    return { train: someOf(split.train, share, seed, stream), test: someOf(split.test, share, seed, stream + 1) };
  });
  return [candidates, { ...evaluation, splits }];
}

/** A share of positions, in their order. */
function someOf(positions: Int32Array, share: number, seed: number, stream: number): Int32Array {
  if (share >= 1) return positions;
  const count = Math.max(1, Math.floor(share * positions.length));
  const chosen = permutation(positions.length, [0, seed >>> 0], stream)
    .slice(0, count)
    .sort();
  return Int32Array.from(chosen, (place) => positions[place] as number);
}

const bestFirst = (candidates: readonly Candidate[], rows: readonly SearchRow[], refit: string): Candidate[] =>
  [...candidates.keys()]
    .sort((a, b) => (rows[a]?.scores[refit]?.rank ?? 0) - (rows[b]?.scores[refit]?.rank ?? 0) || a - b)
    .map((place) => candidates[place] as Candidate);

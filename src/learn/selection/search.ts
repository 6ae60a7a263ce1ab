/**
 * Searches for the best options of an estimator: every combination of a grid, or some that are drawn. A search is an estimator itself: its
 * `fit` cross-validates the candidates and fits the best one to all samples, so that searches go into pipelines, cross-validations and
 * files. `halving-search.ts` has the search that gives the better candidates more samples.
 */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { Run } from "../../runs/run.js";
import { type AnyEstimator, checkEstimator } from "../compose/steps.js";
import { changedOption, changedOptions } from "../core/changed-options.js";
import type { Estimator, FitOptions } from "../core/estimator.js";
import { registerKind, takenApart } from "../core/kinds.js";
import { optionsOf, partOfSort } from "../core/parts.js";
import { countOf } from "../core/rows.js";
import type { Samples } from "../core/samples.js";
import type { Label } from "../core/targets.js";
import {
  type Candidate,
  type CandidateOptions,
  combinations,
  type Draws,
  drawn,
  type Grid,
  withOptions,
} from "./candidates.js";
import { type Scorer, type Scoring, scorersOf, splitsFor } from "./cross-validate.js";
import { clockFor, type Evaluation, evaluated, type SearchProgress, type SearchRow } from "./evaluation.js";
import { FittedSearch, type SearchedModel, searchedOf } from "./searched-model.js";
import type { Splitter } from "./splits.js";

/** Options that all searches have. */
export interface SelectionOptions {
  /** The rule of splitting, or a number of folds: 5 unless told, stratified for labels. */
  readonly splits?: Splitter | number;
  /** The score: by its name, several, or a function. */
  readonly scoring?: Scoring;
  /** Scores of one's own by name, beside those of `scoring`. */
  readonly scores?: Readonly<Record<string, Scorer>>;
  /** The score that chooses the best candidate, by its name: the first unless told. */
  readonly refit?: string;
  /** A group for each sample, for rules that keep groups whole. */
  readonly groups?: readonly Label[];
}

/** Kinds of the options of all searches. */
export const SEARCH: OptionKinds<SelectionOptions> = {
  splits: "any",
  scoring: "any",
  scores: "any",
  refit: "text",
  groups: "any",
};

/** Options of `randomSearch`. */
export interface RandomSearchOptions extends SelectionOptions {
  /** Candidates to draw: 10 unless told. */
  readonly nIter?: number;
  /** The seed of the draws: 0 unless told. */
  readonly seed?: number;
}

/** A search: `fit` gives the best model, with the table of results. */
export interface Search<E extends AnyEstimator, O extends object>
  extends Omit<Estimator<TargetsOf<E>, SearchedModel<ModelOf<E>>, O & { readonly estimator?: object }>, "fit"> {
  /** The run is awaited for the model, or watched: its progress counts fits and candidates, and estimates the time that is left. */
  fit(samples: Samples, targets: TargetsOf<E>, options?: FitOptions): Run<SearchProgress, SearchedModel<ModelOf<E>>>;
}

type ModelOf<E> = E extends Estimator<infer _Y, infer Mo, infer _O> ? Mo : never;
type TargetsOf<E> = E extends Estimator<infer Y, infer _Mo, infer _O> ? Y : never;

/** The rounds of a search: yields the progress, and gives the rows and the position of the best. */
type Searching = (
  candidates: readonly Candidate[],
  evaluation: Evaluation,
  refit: string,
) => AsyncGenerator<SearchProgress, { readonly results: readonly SearchRow[]; readonly place: number }>;

/** What a kind of search consists of. */
interface SearchDefinition<O extends SelectionOptions> {
  readonly kind: string;
  readonly kinds: OptionKinds<O>;
  check?(options: O): void;
  /** The options of all candidates. */
  candidates(space: unknown, options: O): CandidateOptions[];
  searching(options: O, estimator: AnyEstimator): Searching;
}

/** A maker of searches. */
export function searchMaker<S, O extends SelectionOptions>(definition: SearchDefinition<O>) {
  const { kind } = definition;
  const make = <E extends AnyEstimator>(estimator: E, space: S, options: O = {} as O): Search<E, O> => {
    checkEstimator(`${kind}: the first argument`, estimator, `${kind}(ridge(), { alpha: [0.1, 1] })`);
    checkOptions(kind, options, definition.kinds);
    definition.check?.(options);
    // Wrong options are found before anything is fitted.
    const candidates = definition
      .candidates(space, options)
      .map((each): Candidate => ({ options: each, estimator: withOptions(estimator, each) }));
    const made = {
      kind,
      options: { ...options, estimator },
      predictsLabels: estimator.predictsLabels,
      takesWeights: estimator.takesWeights,
      allowsMissing: estimator.allowsMissing,
      settings: [],
      fit: (samples: Samples, targets: unknown, given: FitOptions = {}) =>
        new Run(() => searched(definition, estimator, candidates, options, samples, targets, given)),
      fitTensors(): never {
        throw new ArgumentError(`${kind}.fitTensors: a search reads scores while it goes on; await its fit.`);
      },
      with({ estimator: changes, ...others }: Partial<O> & { readonly estimator?: object }) {
        const other = changes === undefined ? estimator : (changedOption(estimator, changes) as E);
        return make(other, space, changedOptions(options as object, others) as O);
      },
    };
    return takenApart("estimator", kind, made as unknown as Search<E, O>, () => ({ estimator, space, options }));
  };
  registerKind(kind, {
    estimator: ({ estimator, space, options }) =>
      make(partOfSort(kind, "estimator", estimator) as AnyEstimator, space as S, optionsOf(options) as O),
    model: (parts) => searchedOf(kind, parts),
  });
  return make;
}

async function* searched<O extends SelectionOptions>(
  { kind, searching }: SearchDefinition<O>,
  estimator: AnyEstimator,
  candidates: readonly Candidate[],
  options: O,
  samples: Samples,
  targets: unknown,
  given: FitOptions,
): AsyncGenerator<SearchProgress, FittedSearch> {
  const operation = `${kind}.fit`;
  if (countOf(operation, samples) === 0) throw new ArgumentError(`${operation}: there are no samples.`);
  const scorers = scorersOf(operation, options);
  const { refit = Object.keys(scorers)[0] as string } = options;
  if (!Object.hasOwn(scorers, refit)) {
    throw new ArgumentError(
      `${operation}: refit is ${shown(refit)}; the scores are ${Object.keys(scorers).join(", ")}.`,
    );
  }
  const splits = await splitsFor(operation, estimator, samples, targets, options);
  const evaluation: Evaluation = { samples, targets, options: given, splits, scorers };
  const outcome = yield* searching(options, estimator)(candidates, evaluation, refit);
  given.signal?.throwIfAborted();
  const best = withOptions(estimator, (outcome.results[outcome.place] as SearchRow).options);
  return new FittedSearch(kind, (await best.fit(samples, targets, given)) as never, outcome);
}

/** The position of the first row whose rank is 1. */
export const bestOf = (rows: readonly SearchRow[], refit: string): number =>
  rows.findIndex(({ scores }) => scores[refit]?.rank === 1);

/** One round for all candidates. */
const oneRound: Searching = async function* (candidates, evaluation, refit) {
  const clock = clockFor(candidates.length, candidates.length * evaluation.splits.length);
  const results = yield* evaluated(candidates, evaluation, clock);
  return { results, place: bestOf(results, refit) };
};

/**
 * Tries every combination: `gridSearch(pipeline(standardScaler(), ridge()), { "1.alpha": [0.1, 1, 10] })`. Candidates that differ in
 * penalties and other settings alone are fitted by one program where the estimator traces.
 */
export const gridSearch = searchMaker<Grid | readonly Grid[], SelectionOptions>({
  kind: "gridSearch",
  kinds: SEARCH,
  candidates: (grid) => combinations("gridSearch", grid as Grid),
  searching: () => oneRound,
});

/** Tries combinations that are drawn by a seed, of lists or of ranges: `randomSearch(ridge(), { alpha: { low: 1e-3, high: 1e3, log: true } })`. */
export const randomSearch = searchMaker<Draws, RandomSearchOptions>({
  kind: "randomSearch",
  kinds: { ...SEARCH, nIter: "number", seed: "number" },
  check({ nIter = 10, seed = 0 }) {
    checkWhole("randomSearch", "nIter", nIter, 1);
    checkWhole("randomSearch", "the seed", seed, 0);
  },
  candidates: (draws, { nIter = 10, seed = 0 }) => drawn("randomSearch", draws as Draws, nIter, seed),
  searching: () => oneRound,
});

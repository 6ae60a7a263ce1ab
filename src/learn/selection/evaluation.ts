/** Candidates fitted and scored on splits, batch after batch: the work that all searches do. Its progress counts fits. */
import type { FitOptions, FitProgress } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";
import { samplesAt, targetsAt } from "../core/rows.js";
import type { Samples } from "../core/samples.js";
import { batchesOf, type Candidate, type CandidateOptions } from "./candidates.js";
import { numberOf, type Scorer } from "./cross-validate.js";
import { batchFitter } from "./fits-at-once.js";
import type { Split } from "./splits.js";

/** The progress of a search: its steps are fits. */
export interface SearchProgress extends FitProgress {
  /** Candidates whose scores are known. */
  readonly candidatesDone: number;
  readonly candidates: number;
  /** Seconds that the rest takes, if it goes on as before. */
  readonly secondsLeft: number;
}

/** A score of a candidate: of each split, and over all of them. */
export interface CandidateScore {
  readonly splits: readonly number[];
  readonly mean: number;
  /** The standard deviation over the splits. */
  readonly std: number;
  /** The place by the mean, from 1 on; equals share the first of theirs. */
  readonly rank: number;
}

/** A row of the table of results. */
export interface SearchRow {
  readonly options: CandidateOptions;
  readonly scores: Readonly<Record<string, CandidateScore>>;
  /** Milliseconds of a fit and of a scoring, the mean over the splits. Fits of one program have equal shares of its time. */
  readonly fitMilliseconds: number;
  readonly scoreMilliseconds: number;
  /** Samples, or the value of the option, that the round of a halving search gave; absent elsewhere. */
  readonly resources?: number;
  /** The round of a halving search, from 0 on. */
  readonly round?: number;
}

/** The data and the rules of an evaluation. */
export interface Evaluation {
  readonly samples: Samples;
  readonly targets: unknown;
  readonly options: FitOptions;
  readonly splits: readonly Split[];
  readonly scorers: Readonly<Record<string, Scorer>>;
}

/** Counts fits and the time that they take. Several rounds of a search share one. */
interface Clock {
  readonly began: number;
  readonly fits: number;
  readonly candidates: number;
  fitsDone: number;
  candidatesDone: number;
}

export const clockFor = (candidates: number, fits: number): Clock => ({
  began: performance.now(),
  fits,
  candidates,
  fitsDone: 0,
  candidatesDone: 0,
});

const progressOf = ({ began, fits, candidates, fitsDone, candidatesDone }: Clock): SearchProgress => ({
  step: fitsDone,
  steps: fits,
  candidates,
  candidatesDone,
  secondsLeft: ((performance.now() - began) / 1000 / Math.max(1, fitsDone)) * (fits - fitsDone),
});

/** Numbers of one candidate, one for each split. */
interface Measured {
  readonly scores: Record<string, number[]>;
  fitMilliseconds: number;
  scoreMilliseconds: number;
}

/** The table of results of these candidates, in their order. */
export async function* evaluated(
  candidates: readonly Candidate[],
  evaluation: Evaluation,
  clock: Clock,
): AsyncGenerator<SearchProgress, SearchRow[]> {
  const { splits, scorers } = evaluation;
  const measured = candidates.map(
    (): Measured => ({
      scores: Object.fromEntries(Object.keys(scorers).map((name) => [name, []])),
      fitMilliseconds: 0,
      scoreMilliseconds: 0,
    }),
  );
  for (const batch of batchesOf(candidates)) {
    const fitter = batchFitter(candidates, batch);
    for (const [number, split] of splits.entries()) {
      evaluation.options.signal?.throwIfAborted();
      const began = performance.now();
      const models = await fitter.fit(partOf(evaluation, split.train));
      const share = (performance.now() - began) / models.length;
      for (const [i, model] of models.entries()) {
        const own = measured[batch.places[i] as number] as Measured;
        own.fitMilliseconds += share / splits.length;
        own.scoreMilliseconds += (await scored(model, evaluation, split.test, own)) / splits.length;
      }
      clock.fitsDone += models.length;
      if (number === splits.length - 1) clock.candidatesDone += models.length;
      yield progressOf(clock);
    }
  }
  return rowsOf(candidates, measured, Object.keys(scorers));
}

/** The samples at these positions, with their weights and groups. */
function partOf({ samples, targets, options }: Evaluation, positions: Int32Array) {
  const { weights, groups } = options;
  return {
    samples: samplesAt(samples, positions),
    targets: targetsAt(targets, positions),
    options: { ...options, weights: targetsAt(weights, positions), groups: targetsAt(groups, positions) },
  };
}

/** Adds the scores of a model, and tells the milliseconds that it took. */
async function scored(
  model: Fitted,
  { samples, targets, scorers }: Evaluation,
  test: Int32Array,
  { scores }: Measured,
): Promise<number> {
  const began = performance.now();
  const [x, y] = [samplesAt(samples, test), targetsAt(targets, test)];
  for (const [name, score] of Object.entries(scorers)) {
    (scores[name] as number[]).push(await numberOf(score(model, x, y)));
  }
  return performance.now() - began;
}

function rowsOf(
  candidates: readonly Candidate[],
  measured: readonly Measured[],
  names: readonly string[],
): SearchRow[] {
  const ranks = Object.fromEntries(
    names.map((name) => [name, ranksOf(measured.map(({ scores }) => meanOf(scores[name] as number[])))]),
  );
  return measured.map(({ scores, fitMilliseconds, scoreMilliseconds }, place) => ({
    options: (candidates[place] as Candidate).options,
    scores: Object.fromEntries(
      names.map((name) => [name, scoreOf(scores[name] as number[], (ranks[name] as number[])[place] as number)]),
    ),
    fitMilliseconds,
    scoreMilliseconds,
  }));
}

function scoreOf(splits: readonly number[], rank: number): CandidateScore {
  const mean = meanOf(splits);
  return { splits, mean, std: Math.sqrt(meanOf(splits.map((each) => (each - mean) ** 2))), rank };
}

const meanOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

/** Places by size, the largest first. NaN comes last. */
function ranksOf(means: readonly number[]): number[] {
  const sizes = means.map((mean) => (Number.isNaN(mean) ? Number.NEGATIVE_INFINITY : mean));
  return sizes.map((size) => 1 + sizes.filter((other) => other > size).length);
}

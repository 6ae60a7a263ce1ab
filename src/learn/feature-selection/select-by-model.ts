/**
 * Selections by a model of the columns: those that it makes much of (`selectFromModel`), what is left when the least important ones go one
 * after the other (`recursiveFeatureElimination`), and what a greedy search for the best cross-validated score takes
 * (`sequentialFeatureSelection`).
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/steps.js";
import type { Data } from "../core/estimator.js";
import { transformer } from "../core/sorts.js";
import { checkMember, fitMember, type Member, rowsOf } from "../ensemble/members.js";
import { crossValidate, numberOf, type Scoring, scorersOf, splitsFor } from "../selection/cross-validate.js";
import type { Splitter } from "../selection/splits.js";
import { type Chosen, columnsTensor, selecting, selectionMethods, selectorTargets } from "./chosen-columns.js";
import { importancesOf } from "./importances.js";

/** The columns that stay, and the importance of each column. */
export interface ImportanceLearned extends Chosen {
  readonly importances: Tensor;
}

/** Options of `selectFromModel`. */
export interface SelectFromModelOptions {
  /** The estimator whose model tells importances. */
  readonly estimator: AnyEstimator;
  /** Columns at or above it stay: a number, "mean" (unless told), "median", or a multiple as "1.25*mean". 1e-5 for a lasso unless told. */
  readonly threshold?: number | string;
  /** Columns that stay, at most. */
  readonly maxFeatures?: number;
}

const floats = (list: ArrayLike<number>, { device, dtype }: Tensor): Tensor =>
  tensor(Float64Array.from(list), { device, dtype }) as Tensor;

/** "1.25*mean" as its factor and the number that it is a multiple of. */
const MULTIPLE = /^\s*(?:([\d.]+(?:e[+-]?\d+)?)\s*\*\s*)?(mean|median)\s*$/i;

function thresholdOf(importances: Float64Array, { threshold, estimator }: SelectFromModelOptions): number {
  const { penalty } = estimator.options as { readonly penalty?: string };
  const isSparse = estimator.kind === "lasso" || penalty === "l1";
  const told = threshold ?? (isSparse ? 1e-5 : "mean");
  if (typeof told === "number") return told;
  const [, factor = "1", base] = MULTIPLE.exec(told) as RegExpExecArray;
  const sorted = [...importances].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const middle = ((sorted[Math.ceil(half) - 1] as number) + (sorted[Math.floor(half)] as number)) / 2;
  const mean = sorted.reduce((sum, each) => sum + each, 0) / sorted.length;
  return Number(factor) * (base?.toLowerCase() === "mean" ? mean : middle);
}

const fromModelMethods = selectionMethods<ImportanceLearned, SelectFromModelOptions>();

/** Keeps the columns that a model makes much of. */
export const selectFromModel = transformer<ImportanceLearned, SelectFromModelOptions, typeof fromModelMethods>({
  kind: "selectFromModel",
  options: { estimator: "any", threshold: "any", maxFeatures: "number" },
  targets: selectorTargets,
  check({ estimator, threshold = 0, maxFeatures = 1 }) {
    checkMember("selectFromModel", "estimator", estimator);
    checkWhole("selectFromModel", "maxFeatures", maxFeatures, 1);
    if (typeof threshold === "number" ? !Number.isNaN(threshold) : MULTIPLE.test(String(threshold))) return;
    throw new ArgumentError(
      `selectFromModel: threshold is ${shown(threshold)}; it is a number, "mean", "median" or a multiple as "1.25*mean".`,
    );
  },
  learn: (data, options) => async () => {
    const model = await fitMember(options.estimator, data, null);
    const importances = await importancesOf("selectFromModel.fit", model, 1);
    const threshold = thresholdOf(importances, options);
    const { maxFeatures = importances.length } = options;
    const order = [...importances.keys()].sort(
      (a, b) => (importances[b] as number) - (importances[a] as number) || a - b,
    );
    const kept = order.slice(0, maxFeatures).filter((j) => (importances[j] as number) >= threshold);
    if (kept.length === 0) {
      throw new ArgumentError(`selectFromModel.fit: no importance is ${threshold} or more; lower the threshold.`);
    }
    return {
      columns: columnsTensor(
        kept.sort((a, b) => a - b),
        data.x,
      ),
      importances: floats(importances, data.x),
    };
  },
  ...selecting,
  methods: fromModelMethods,
});

/** Options of `recursiveFeatureElimination`. */
export interface EliminationOptions {
  /** The estimator whose model tells importances. */
  readonly estimator: AnyEstimator;
  /** Columns that stay: half of them unless told, or as many as cross-validation finds best. */
  readonly nFeatures?: number;
  /** Columns that go at a time, or their share where it is below 1: 1 unless told. */
  readonly step?: number;
  /** A rule of splitting, or a number of folds: the number of columns is then the one of the best score. */
  readonly splits?: Splitter | number;
  /** The score of that cross-validation, by its name or a function: the estimator's own unless told. */
  readonly scoring?: Scoring;
  /** Columns that stay at least in a cross-validation: 1 unless told. */
  readonly minFeatures?: number;
}

/** The columns that stay, and the rank of each column: 1 for those, more for those that went earlier. */
export interface EliminationLearned extends Chosen {
  readonly ranking: Tensor;
}

/** The data with some of the columns. */
function columnsOf(data: Data, kept: readonly number[]): Data {
  const { names, categories } = data.facts.features;
  const at = <T>(list: readonly T[] | null): T[] | null => list && kept.map((place) => list[place] as T);
  const features = { count: kept.length, names: at(names), categories: at(categories) };
  const x = data.x.take(columnsTensor(kept, data.x), { axis: 1 }) as Tensor;
  return { ...data, x, facts: { ...data.facts, features } };
}

/** Lets the least important columns go until `least` are left. `seen` hears of every model, before its columns go. */
async function eliminated(
  data: Data,
  { estimator, step = 1 }: EliminationOptions,
  least: number,
  seen?: (model: Member, kept: readonly number[]) => Promise<void>,
): Promise<{ readonly kept: readonly number[]; readonly ranking: readonly number[] }> {
  const features = data.x.shape[1] as number;
  const size = step < 1 ? Math.max(1, Math.floor(step * features)) : step;
  const ranking = Array<number>(features).fill(1);
  let kept = Array.from({ length: features }, (_, j) => j);
  for (;;) {
    if (kept.length <= least && !seen) return { kept, ranking };
    const model = await fitMember(estimator, columnsOf(data, kept), null);
    await seen?.(model, kept);
    if (kept.length <= least) return { kept, ranking };
    const importances = await importancesOf("recursiveFeatureElimination.fit", model, 2);
    const order = [...kept.keys()].sort((a, b) => (importances[a] as number) - (importances[b] as number) || a - b);
    const gone = new Set(order.slice(0, Math.min(size, kept.length - least)).map((place) => kept[place]));
    kept = kept.filter((column) => !gone.has(column));
    const left = new Set(kept);
    for (let j = 0; j < features; j++) if (!left.has(j)) (ranking[j] as number)++;
  }
}

/** The number of columns of the best score, which is the mean over the splits; the fewest of equals. */
async function bestCount(data: Data, options: EliminationOptions): Promise<number> {
  const { estimator, splits, minFeatures = 1 } = options;
  const operation = "recursiveFeatureElimination.fit";
  const scorers = Object.values(scorersOf(operation, options));
  const folds = await splitsFor(operation, estimator, data.x, data.y, { splits });
  const sums = new Map<number, number>();
  for (const { train, test } of folds) {
    const tested = rowsOf(data, test);
    await eliminated(rowsOf(data, train), options, minFeatures, async (model, kept) => {
      const { x, y } = columnsOf(tested, kept);
      const score = await numberOf((scorers[0] as NonNullable<(typeof scorers)[0]>)(model, x, y));
      sums.set(kept.length, (sums.get(kept.length) ?? 0) + score);
    });
  }
  const best = Math.max(...sums.values());
  return Math.min(...[...sums].flatMap(([count, sum]) => (sum === best ? [count] : [])));
}

const eliminationMethods = selectionMethods<EliminationLearned, EliminationOptions>();

/** Lets the least important columns go, again and again: a fit for each step. */
export const recursiveFeatureElimination = transformer<
  EliminationLearned,
  EliminationOptions,
  typeof eliminationMethods
>({
  kind: "recursiveFeatureElimination",
  options: {
    estimator: "any",
    nFeatures: "number",
    step: "number",
    splits: "any",
    scoring: "any",
    minFeatures: "number",
  },
  targets: selectorTargets,
  check({ estimator, nFeatures, step = 1, splits, minFeatures = 1 }) {
    const kind = "recursiveFeatureElimination";
    checkMember(kind, "estimator", estimator);
    if (nFeatures !== undefined) checkWhole(kind, "nFeatures", nFeatures, 1);
    checkWhole(kind, "minFeatures", minFeatures, 1);
    if (!(step > 0) || (step >= 1 && !Number.isInteger(step))) {
      throw new ArgumentError(`${kind}: step is ${step}; it is a share below 1 or a whole number from 1 on.`);
    }
    if (nFeatures === undefined || splits === undefined) return;
    throw new ArgumentError(`${kind}: splits find the number of columns; leave nFeatures out, or splits.`);
  },
  learn: (data, options) => async () => {
    const features = data.x.shape[1] as number;
    const { nFeatures = Math.max(1, Math.floor(features / 2)), splits } = options;
    if (nFeatures > features) {
      throw new ArgumentError(`recursiveFeatureElimination.fit: nFeatures is ${nFeatures}, and there are ${features}.`);
    }
    const least = splits === undefined ? nFeatures : await bestCount(data, options);
    const { kept, ranking } = await eliminated(data, options, least);
    return {
      columns: columnsTensor(kept, data.x),
      ranking: tensor(Int32Array.from(ranking), { device: data.x.device }) as Tensor,
    };
  },
  ...selecting,
  methods: eliminationMethods,
});

/** Options of `sequentialFeatureSelection`. */
export interface SequentialOptions {
  /** The estimator that is scored. */
  readonly estimator: AnyEstimator;
  /** Columns that stay: half of them unless told. */
  readonly nFeatures?: number;
  /** "forward", unless told: from none on, one more each time. "backward": from all on, one less. */
  readonly direction?: "forward" | "backward";
  /** The rule of splitting, or a number of folds: 5 unless told. */
  readonly splits?: Splitter | number;
  /** The score, by its name or a function: the estimator's own unless told. */
  readonly scoring?: Scoring;
}

const sequentialMethods = selectionMethods<Chosen, SequentialOptions>();

/** Takes columns one at a time, each time the one that makes the cross-validated score best. */
export const sequentialFeatureSelection = transformer<Chosen, SequentialOptions, typeof sequentialMethods>({
  kind: "sequentialFeatureSelection",
  options: { estimator: "any", nFeatures: "number", direction: "text", splits: "any", scoring: "any" },
  takesWeights: false,
  targets: selectorTargets,
  check({ estimator, nFeatures = 1, direction }) {
    checkMember("sequentialFeatureSelection", "estimator", estimator);
    checkWhole("sequentialFeatureSelection", "nFeatures", nFeatures, 1);
    checkChoice("sequentialFeatureSelection", "the direction", direction, ["forward", "backward"]);
  },
  async *learn(data, options) {
    const features = data.x.shape[1] as number;
    const { nFeatures = Math.max(1, Math.floor(features / 2)), direction = "forward" } = options;
    if (nFeatures >= features && features > 1) {
      throw new ArgumentError(`sequentialFeatureSelection.fit: nFeatures is ${nFeatures}, and there are ${features}.`);
    }
    const isForward = direction === "forward";
    const chosen = new Set<number>();
    const steps = isForward ? nFeatures : features - nFeatures;
    const keptWith = (column: number): number[] =>
      Array.from({ length: features }, (_, j) => j).filter((j) => (chosen.has(j) || j === column) === isForward);
    for (let step = 0; step < steps; step++) {
      let best: { readonly column: number; readonly score: number } | null = null;
      for (let column = 0; column < features; column++) {
        if (chosen.has(column)) continue;
        const score = await scoreOf(columnsOf(data, keptWith(column)), options);
        if (!best || score > best.score) best = { column, score };
      }
      if (best) chosen.add(best.column);
      yield { step: step + 1, steps };
    }
    return { columns: columnsTensor(keptWith(-1), data.x) };
  },
  ...selecting,
  methods: sequentialMethods,
});

/** The mean cross-validated score of the estimator on these columns. */
async function scoreOf({ x, y, signal }: Data, { estimator, splits, scoring }: SequentialOptions): Promise<number> {
  const { scores } = await crossValidate(estimator, x, y, { splits, scoring, signal });
  const first = Object.values(scores)[0] as readonly number[];
  return first.reduce((sum, each) => sum + each, 0) / first.length;
}

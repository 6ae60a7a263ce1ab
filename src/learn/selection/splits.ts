/**
 * Ways to split samples into those that a model is fitted to and those that it is tested on: lists of positions, by rules that are pure
 * functions of the number of samples, their labels or groups, and a seed. `crossValidate` and the searches take any of them.
 */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { permutation } from "../../core/seeded-order.js";
import { shown } from "../../core/shown.js";
import type { Label } from "../core/targets.js";

/** Positions of samples to fit to, and of samples to test on. */
export interface Split {
  readonly train: Int32Array;
  readonly test: Int32Array;
}

/** Facts that rules of splitting look at. */
export interface SplitInput {
  readonly samples: number;
  /** Labels by sample, for stratified splits. */
  readonly labels?: readonly Label[];
  /** A group by sample: groups are never torn apart. */
  readonly groups?: readonly Label[];
}

/** A rule of splitting. */
export interface Splitter {
  readonly kind: string;
  split(input: SplitInput): Split[];
}

/** Options of splits in folds. */
export interface FoldOptions {
  /** Mixes the samples first; the seed says how. In order unless told. */
  readonly seed?: number;
}

/** The samples in a mixed order. */
export const mixedOrder = (samples: number, seed: number, stream = 0): Int32Array =>
  Int32Array.from(permutation(samples, [0, seed >>> 0], stream));

const orderOf = (samples: number, { seed }: FoldOptions): Int32Array =>
  seed === undefined ? counted(0, samples) : mixedOrder(samples, seed);

/** The split in which one fold is tested: `fold[i]` is the fold of sample i. Positions are in order. */
export function splitsOfFolds(fold: Int32Array, folds: number): Split[] {
  return Array.from({ length: folds }, (_, k) => {
    const test: number[] = [];
    const train: number[] = [];
    fold.forEach((each, i) => {
      (each === k ? test : train).push(i);
    });
    return { train: Int32Array.from(train), test: Int32Array.from(test) };
  });
}

export function checkFolds(kind: string, folds: number, samples: number, what = "samples"): void {
  if (!Number.isSafeInteger(folds) || folds < 2) {
    throw new ArgumentError(`${kind}: there are ${shown(folds)} folds; it is a whole number, 2 or more.`);
  }
  if (samples >= folds) return;
  throw new ArgumentError(`${kind}: there are ${folds} folds and ${samples} ${what}; each fold needs one at least.`);
}

/** Folds of equal size, as scikit-learn makes them: the first n mod k have one more. */
export function kFold(folds = 5, options: FoldOptions = {}): Splitter {
  checkOptions("kFold", options, { seed: "number" });
  return {
    kind: "kFold",
    split({ samples }) {
      checkFolds("kFold", folds, samples);
      const fold = new Int32Array(samples);
      const [size, more] = [Math.floor(samples / folds), samples % folds];
      const order = orderOf(samples, options);
      let at = 0;
      for (let k = 0; k < folds; k++)
        for (let i = 0; i < size + (k < more ? 1 : 0); i++) fold[order[at++] as number] = k;
      return splitsOfFolds(fold, folds);
    },
  };
}

/** Folds that have each class in the same share. Labels are dealt out in turn, as scikit-learn does. */
export function stratifiedKFold(folds = 5, options: FoldOptions = {}): Splitter {
  checkOptions("stratifiedKFold", options, { seed: "number" });
  return {
    kind: "stratifiedKFold",
    split({ samples, labels }) {
      checkFolds("stratifiedKFold", folds, samples);
      if (!labels) throw new ArgumentError("stratifiedKFold: needs labels; for numbers to predict, take kFold.");
      const order = orderOf(samples, options);
      const fold = new Int32Array(samples);
      // Classes in the order of their first sample; dealt out one after the other, so that folds differ by one in size at most.
      const members = new Map<Label, number[]>();
      for (const i of order) {
        const label = labels[i] as Label;
        const known = members.get(label);
        if (known) known.push(i);
        else members.set(label, [i]);
      }
      const fewest = Math.max(...[...members.values()].map((each) => each.length));
      if (fewest < folds) throw new ArgumentError(`stratifiedKFold: no class has ${folds} samples; take fewer folds.`);
      let first = 0;
      for (const each of members.values()) {
        let at = 0;
        for (let k = 0; k < folds; k++) {
          const count = dealtTo(k, folds, first, each.length);
          for (const i of each.slice(at, at + count)) fold[i] = k;
          at += count;
        }
        first += each.length;
      }
      return splitsOfFolds(fold, folds);
    },
  };
}

/** How many of the places first … first + count − 1 fall to a fold, when every k-th of all places goes to fold k. */
function dealtTo(fold: number, folds: number, first: number, count: number): number {
  const before = (place: number): number => Math.floor((place - 1 - fold) / folds);
  return before(first + count) - before(first);
}

/** Folds of whole groups, of sizes as equal as they get: the largest group goes to the smallest fold. */
export function groupKFold(folds = 5): Splitter {
  return {
    kind: "groupKFold",
    split({ samples, groups }) {
      if (!groups) throw new ArgumentError("groupKFold: needs groups: one for each sample.");
      const sizes = new Map<Label, number>();
      for (const group of groups) sizes.set(group, (sizes.get(group) ?? 0) + 1);
      checkFolds("groupKFold", folds, sizes.size, "groups");
      const loads = new Array<number>(folds).fill(0);
      const foldOf = new Map<Label, number>();
      // The last of equally large groups comes first, as in scikit-learn.
      const bySize = [...sizes].sort(([a, m], [b, n]) => m - n || (a < b ? -1 : 1)).reverse();
      for (const [group, size] of bySize) {
        const k = loads.indexOf(Math.min(...loads));
        foldOf.set(group, k);
        loads[k] = (loads[k] as number) + size;
      }
      return splitsOfFolds(
        Int32Array.from({ length: samples }, (_, i) => foldOf.get(groups[i] as Label) as number),
        folds,
      );
    },
  };
}

/** Splits in time: each tests on what follows the samples it is fitted to. */
export function timeSeriesSplit(
  folds = 5,
  options: { readonly gap?: number; readonly testSize?: number; readonly maxTrainSize?: number } = {},
): Splitter {
  checkOptions("timeSeriesSplit", options, { gap: "number", testSize: "number", maxTrainSize: "number" });
  const { gap = 0, maxTrainSize = Number.POSITIVE_INFINITY } = options;
  return {
    kind: "timeSeriesSplit",
    split({ samples }) {
      checkFolds("timeSeriesSplit", folds, samples - 1);
      const size = options.testSize ?? Math.floor(samples / (folds + 1));
      const first = samples - folds * size;
      if (first - gap <= 0) {
        throw new ArgumentError(
          `timeSeriesSplit: ${samples} samples are too few for ${folds} tests of ${size} with a gap of ${gap}.`,
        );
      }
      return Array.from({ length: folds }, (_, k) => {
        const start = first + k * size;
        return {
          train: counted(Math.max(0, start - gap - maxTrainSize), start - gap),
          test: counted(start, start + size),
        };
      });
    },
  };
}

const counted = (from: number, to: number): Int32Array => Int32Array.from({ length: to - from }, (_, i) => from + i);

/** As many splits as samples: each tests one. */
export function leaveOneOut(): Splitter {
  return {
    kind: "leaveOneOut",
    split({ samples }) {
      checkFolds("leaveOneOut", samples, samples);
      return splitsOfFolds(counted(0, samples), samples);
    },
  };
}

/** Options of `shuffleSplit` and `trainTestSplit`. */
export interface ShuffleOptions {
  /** The share of samples to test on, or their number where it is above 1: 0.25 unless told. */
  readonly testSize?: number;
  readonly seed?: number;
}

/** Random splits, drawn anew each time. */
export function shuffleSplit(splits = 10, options: ShuffleOptions = {}): Splitter {
  checkOptions("shuffleSplit", options, { testSize: "number", seed: "number" });
  return {
    kind: "shuffleSplit",
    split: ({ samples }) => Array.from({ length: splits }, (_, k) => randomSplit("shuffleSplit", samples, options, k)),
  };
}

/** The random split of this number: the last of a mixed order are tested on. */
export function randomSplit(
  operation: string,
  samples: number,
  { testSize = 0.25, seed = 0 }: ShuffleOptions,
  number: number,
): Split {
  const count = testSize < 1 ? Math.ceil(testSize * samples) : testSize;
  if (!Number.isSafeInteger(count) || count < 1 || count >= samples) {
    throw new ArgumentError(
      `${operation}: testSize is ${testSize} of ${samples} samples; both parts need one at least.`,
    );
  }
  const order = mixedOrder(samples, seed, number);
  return { train: order.slice(0, samples - count), test: order.slice(samples - count) };
}

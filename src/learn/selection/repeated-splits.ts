/** Splits that are drawn again and again, in which every class keeps its share or folds are mixed anew; and splits that somebody made. */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { labelledSplit } from "./labelled-split.js";
import { kFold, randomSplit, type ShuffleOptions, type Splitter, splitsOfFolds, stratifiedKFold } from "./splits.js";

/** Options of folds that are repeated. */
export interface RepeatedOptions {
  /** How often: 10 unless told. */
  readonly repeats?: number;
  /** Says how samples are mixed, each time in another way: 0 unless told. */
  readonly seed?: number;
}

function repeated(
  kind: string,
  { repeats = 10, seed = 0 }: RepeatedOptions,
  folds: (seed: number) => Splitter,
): Splitter {
  if (!Number.isSafeInteger(repeats) || repeats < 1)
    throw new ArgumentError(`${kind}: repeats is ${repeats}; it is a whole number, 1 or more.`);
  const splitters = Array.from({ length: repeats }, (_, k) => folds(Math.imul(seed, 0x9e3779b1) + k));
  return { kind, split: (input) => splitters.flatMap((each) => each.split(input)) };
}

/** `kFold` several times, on samples that are mixed anew. */
export function repeatedKFold(folds = 5, options: RepeatedOptions = {}): Splitter {
  checkOptions("repeatedKFold", options, { repeats: "number", seed: "number" });
  return repeated("repeatedKFold", options, (seed) => kFold(folds, { seed }));
}

/** `stratifiedKFold` several times, on samples that are mixed anew. */
export function repeatedStratifiedKFold(folds = 5, options: RepeatedOptions = {}): Splitter {
  checkOptions("repeatedStratifiedKFold", options, { repeats: "number", seed: "number" });
  return repeated("repeatedStratifiedKFold", options, (seed) => stratifiedKFold(folds, { seed }));
}

/** Random splits, drawn anew each time, in which each class has its share. */
export function stratifiedShuffleSplit(splits = 10, options: ShuffleOptions = {}): Splitter {
  checkOptions("stratifiedShuffleSplit", options, { testSize: "number", seed: "number" });
  const kind = "stratifiedShuffleSplit";
  return {
    kind,
    split({ samples, labels }) {
      if (!labels) throw new ArgumentError(`${kind}: needs labels; for numbers to predict, take shuffleSplit.`);
      return Array.from({ length: splits }, (_, k) =>
        labelledSplit(kind, randomSplit(kind, samples, options, k), labels),
      );
    },
  };
}

/** Splits that are told: the number of the test that each sample is in, or -1 for one that is never tested. */
export function predefinedSplit(testFold: ArrayLike<number>): Splitter {
  if (typeof testFold?.length !== "number" || typeof testFold === "function") {
    throw new ArgumentError(`predefinedSplit: testFold is ${shown(testFold)}; give a number for each sample.`);
  }
  const folds = Int32Array.from(testFold);
  const numbers = [...new Set(folds)].filter((each) => each !== -1).sort((a, b) => a - b);
  return {
    kind: "predefinedSplit",
    split({ samples }) {
      if (folds.length !== samples)
        throw new ArgumentError(
          `predefinedSplit: testFold tells of ${folds.length} samples, and there are ${samples}.`,
        );
      if (numbers.length === 0) throw new ArgumentError("predefinedSplit: no sample is in a test; all are -1.");
      const place = new Map(numbers.map((each, k) => [each, k]));
      return splitsOfFolds(
        folds.map((each) => place.get(each) ?? -1),
        numbers.length,
      );
    },
  };
}

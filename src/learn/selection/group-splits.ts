/** Ways to split samples that come in groups, as several of one patient or of one day: a group is never torn apart. */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Label } from "../core/targets.js";
import {
  checkFolds,
  type FoldOptions,
  mixedOrder,
  randomSplit,
  type ShuffleOptions,
  type SplitInput,
  type Splitter,
  splitsOfFolds,
} from "./splits.js";

/** The groups in order, and the place of each sample's group among them. */
function groupsOf(kind: string, { groups }: SplitInput): { readonly count: number; readonly places: Int32Array } {
  if (!groups) throw new ArgumentError(`${kind}: needs groups: one for each sample.`);
  const known = [...new Set(groups)].sort((a, b) => (a < b ? -1 : 1));
  const places = new Map<Label, number>(known.map((group, place) => [group, place]));
  return { count: known.length, places: Int32Array.from(groups, (group) => places.get(group) as number) };
}

/** As many splits as groups: each tests one. */
export function leaveOneGroupOut(): Splitter {
  return {
    kind: "leaveOneGroupOut",
    split(input) {
      const { count, places } = groupsOf("leaveOneGroupOut", input);
      checkFolds("leaveOneGroupOut", Math.max(2, count), count, "groups");
      return splitsOfFolds(places, count);
    },
  };
}

/** Random splits of whole groups, drawn anew each time. `testSize` is a share of the groups, or their number: 0.2 unless told. */
export function groupShuffleSplit(splits = 5, options: ShuffleOptions = {}): Splitter {
  checkOptions("groupShuffleSplit", options, { testSize: "number", seed: "number" });
  return {
    kind: "groupShuffleSplit",
    split(input) {
      const { count, places } = groupsOf("groupShuffleSplit", input);
      return Array.from({ length: splits }, (_, k) => {
        const drawn = new Set(randomSplit("groupShuffleSplit", count, { testSize: 0.2, ...options }, k).test);
        const isTest = Array.from(places, (place) => drawn.has(place));
        const among = (wanted: boolean): Int32Array =>
          Int32Array.from(isTest.flatMap((is, i) => (is === wanted ? [i] : [])));
        return { train: among(false), test: among(true) };
      });
    },
  };
}

const sumOf = (a: readonly number[], b: readonly number[]): number[] => a.map((each, k) => each + (b[k] as number));

const deviation = (values: readonly number[]): number => {
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
  return Math.sqrt(values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / values.length);
};

/**
 * Folds of whole groups that have each class in nearly the same share. Groups in which classes differ most come first; each goes to the
 * fold that then leaves the shares of the classes most even, as in scikit-learn.
 */
export function stratifiedGroupKFold(folds = 5, options: FoldOptions = {}): Splitter {
  checkOptions("stratifiedGroupKFold", options, { seed: "number" });
  return {
    kind: "stratifiedGroupKFold",
    split(input) {
      const { labels } = input;
      if (!labels)
        throw new ArgumentError("stratifiedGroupKFold: needs labels; for numbers to predict, take groupKFold.");
      const { count, places } = groupsOf("stratifiedGroupKFold", input);
      checkFolds("stratifiedGroupKFold", folds, count, "groups");
      const classes = new Map([...new Set(labels)].map((label, place) => [label, place]));
      const none = (): number[] => new Array<number>(classes.size).fill(0);
      const ofGroup = Array.from({ length: count }, none);
      for (const [i, label] of labels.entries()) {
        const own = ofGroup[places[i] as number] as number[];
        const place = classes.get(label) as number;
        own[place] = (own[place] as number) + 1;
      }
      const totals = ofGroup.reduce(sumOf, none());
      const order = options.seed === undefined ? [...ofGroup.keys()] : [...mixedOrder(count, options.seed)];
      const uneven = ofGroup.map(deviation);
      order.sort((a, b) => (uneven[b] as number) - (uneven[a] as number));
      const ofFold = Array.from({ length: folds }, none);
      const foldOf = new Int32Array(count);
      for (const group of order) {
        const own = ofGroup[group] as number[];
        const fold = bestFold(ofFold, totals, own);
        ofFold[fold] = sumOf(ofFold[fold] as number[], own);
        foldOf[group] = fold;
      }
      return splitsOfFolds(
        Int32Array.from(places, (place) => foldOf[place] as number),
        folds,
      );
    },
  };
}

/** The fold that leaves the shares of the classes most even if a group with these counts joins it; of equals the smallest. */
function bestFold(ofFold: readonly number[][], totals: readonly number[], counts: readonly number[]): number {
  const unevenWith = (fold: number): number => {
    const spread = totals.map((total, place) =>
      deviation(
        ofFold.map((each, k) => ((each[place] as number) + (k === fold ? (counts[place] as number) : 0)) / total),
      ),
    );
    return spread.reduce((sum, each) => sum + each, 0) / spread.length;
  };
  let best = { fold: -1, uneven: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY };
  for (const [fold, own] of ofFold.entries()) {
    const uneven = unevenWith(fold);
    const size = own.reduce((sum, each) => sum + each, 0);
    // Sums that differ by rounding count as equal.
    const isEqual = Math.abs(uneven - best.uneven) <= 1e-8 + 1e-5 * best.uneven;
    if (uneven < best.uneven || (isEqual && size < best.size)) best = { fold, uneven, size };
  }
  return best.fold;
}

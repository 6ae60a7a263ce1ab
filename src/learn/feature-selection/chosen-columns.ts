/** Columns that a selection keeps: what all selectors learn, and how they transform. They look at targets where their rule does. */
import { type Tensor, tensor, where, zeros } from "../../tensor/index.js";
import type { TargetReader } from "../core/estimator.js";
import { inputNames } from "../core/feature-names.js";
import type { Fitted } from "../core/model.js";
import type { Features } from "../core/samples.js";
import type { Ignored } from "../core/sorts.js";
import { areNames, codesBeside, type Labels, type Numbers, numbersBeside } from "../core/targets.js";

/** The columns that stay, in their order, [kept], i32. */
export interface Chosen {
  readonly columns: Tensor;
  readonly [name: string]: Tensor;
}

/** Positions of the columns that stay, read at once. */
const keptOf = ({ columns }: Chosen): number[] => Array.from(columns.dataSync() as Int32Array);

/** The columns at these positions, as learned. */
export const columnsTensor = (kept: readonly number[], { device }: Tensor): Tensor =>
  tensor(Int32Array.from(kept), { device }) as Tensor;

/** The columns that stay. */
const chosenOf = ({ columns }: Chosen, x: Tensor): Tensor => x.take(columns, { axis: 1 }) as Tensor;

/** The parts of a definition that all selectors share. */
export const selecting = {
  transform: chosenOf,
  featureNames: (learned: Chosen, features: Features): readonly string[] =>
    keptOf(learned).map((place) => inputNames(features)[place] as string),
  featureCategories: (learned: Chosen, { categories }: Features): Features["categories"] =>
    categories && keptOf(learned).map((place) => categories[place] ?? null),
};

/** The methods that all selectors have besides those of transformers. */
export function selectionMethods<L extends Chosen, O extends object>() {
  return {
    /** Whether each column stays. */
    support({ learned, features }: Fitted<L, O>): readonly boolean[] {
      const kept = new Set(keptOf(learned));
      return Array.from({ length: features.count }, (_, place) => kept.has(place));
    },
    /** The columns where they were, and zeros in place of those that were left out. */
    inverseTransform(model: Fitted<L, O>, samples: Tensor): Tensor {
      const kept = keptOf(model.learned);
      const count = model.features.count;
      const all = zeros([samples.shape[0] as number, count], { device: samples.device, dtype: samples.dtype });
      const places = Int32Array.from({ length: count }, (_, place) => Math.max(0, kept.indexOf(place)));
      const isKept = Array.from({ length: count }, (_, place) => kept.includes(place));
      const spread = samples.take(tensor(places, { device: samples.device }), { axis: 1 });
      return where(tensor(isKept, { device: samples.device }), spread, all) as Tensor;
    },
  };
}

/** Targets of selectors: numbers, or positions of classes where labels are texts or booleans. Left out where the rule takes none. */
export const selectorTargets: TargetReader<Ignored> = {
  areLabels: false,
  async read(operation, targets, x) {
    if (targets === undefined) return { y: null, classes: null };
    if (!areNames(targets)) return { y: numbersBeside(operation, targets as Numbers, x), classes: null };
    const { codes } = await codesBeside(operation, targets as Labels, x, undefined);
    return { y: codes.cast(x.dtype) as Tensor, classes: null };
  },
  trace: (operation, targets, x) => ({
    y: targets === undefined ? null : numbersBeside(operation, targets as Numbers, x),
    classes: null,
  }),
};

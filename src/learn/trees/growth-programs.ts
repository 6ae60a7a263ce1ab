/**
 * What the device does while trees of boosting grow: it moves rows to their nodes, sums histograms and finds splits. Each step is a program
 * that serves all trees of a fit; grow.ts decides which nodes come next.
 */
import {
  arange,
  backendFor,
  concat,
  full,
  histogramByNode,
  routedRows,
  splitsByGain,
  stack,
  type Tensor,
  tensor,
  where,
  zeros,
} from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import type { Bins } from "./bins.js";
import type { GrowLimits } from "./grow.js";
import type { Gradients } from "./losses.js";

/** Samples on which trees grow. */
export interface BinnedSamples {
  readonly codes: Tensor;
  readonly bins: Bins;
  /** Sums keep more bits. */
  readonly isPrecise: boolean;
}

/** Hessians below this are too few for a leaf, as in scikit-learn. */
export const MIN_HESSIAN = 1e-3;
/** Hessians of a category, scaled to counts, from which on it counts; they smooth its mean, too. */
const CATEGORY_SUPPORT = 10;

/** Where the device stands: where rows are in the tree, and the histograms of the nodes that were looked at last. */
interface Standing {
  readonly rows: Tensor;
  readonly histograms: Tensor;
}

/** The best splits of nodes, and of categorical features the orders of bins. */
export interface Found {
  readonly splits: Tensor;
  readonly orders: Tensor | null;
}

/** How rows move on: the split of each node, the feature and the first child of each split, and the codes that go left. */
export interface Moves {
  readonly splitOfNode: Tensor;
  readonly splits: Tensor;
  readonly goesLeft: Tensor;
}

/**
 * Nodes that are looked at: the slot of each node, the parent of each slot among the last ones, and facts of both children of each. `allowed`
 * says which features each child may be split by, u8 [children, features]; null where it is all of them.
 */
interface Looks {
  readonly slotOfNode: Tensor;
  readonly parentOfSlot: Tensor;
  readonly nodeFacts: Tensor;
  readonly allowed: Tensor | null;
}

/** What the device does, each a program of its own. */
export interface GrowthPrograms {
  /** Looks at the root, whose sums it finds as well: gradients and hessians. */
  root(rows: Tensor, gradients: Gradients): Found & { readonly sums: Tensor; readonly histograms: Tensor };
  /** Moves rows to their next nodes. */
  route(rows: Tensor, moves: Moves): Tensor;
  /** The same, and looks at these. */
  round(standing: Standing, gradients: Gradients, moves: Moves, looks: Looks): Found & Standing;
}

export function growthPrograms(data: BinnedSamples, { monotonic, minSamplesLeaf, l2 }: GrowLimits): GrowthPrograms {
  const { codes, bins, isPrecise } = data;
  const [words, samples] = codes.shape as [number, number];
  const { device } = codes;
  const dtype = backendFor(device, "fit").hasDoubles ? "f64" : "f32";
  // Features that fill the last word have no bins.
  const facts = Array.from({ length: 4 * words }, (_, f) => [
    bins.counts[f] ?? 0,
    Number(bins.hasMissing[f] ?? false),
    monotonic[f] ?? 0,
    Number(bins.isCategorical[f] ?? false),
  ]);
  const featureFacts = tensor(facts, { device, dtype: "i32" }) as Tensor;
  const isAnyCategorical = bins.isCategorical.includes(true);
  const searched = (sums: Tensor, nodeFacts: Tensor, allowed: Tensor | null): Found => {
    // A feature without samples has no split.
    const histograms = allowed ? (where(allowed.expandDims(2).expandDims(3).notEqual(0), sums, 0) as Tensor) : sums;
    const order = isAnyCategorical ? categoryOrder(histograms, nodeFacts, featureFacts) : null;
    const splits = splitsByGain(histograms, nodeFacts, featureFacts, order, {
      minSamplesLeaf,
      minHessian: MIN_HESSIAN,
      l2,
      isMonotone: monotonic.some((direction) => direction !== 0),
    });
    return { splits, orders: order ? orderOfChosen(order, splits) : null };
  };
  const route = (rows: Tensor, { splitOfNode, splits, goesLeft }: Moves): Tensor =>
    routedRows(codes, rows, splitOfNode, splits, goesLeft);
  return {
    root: jit((rows: Tensor, gradients: Gradients) => {
      const slotOfNode = zeros([1], { device, dtype: "i32" }) as Tensor;
      const histograms = histogramByNode(codes, rows, slotOfNode, gradients, null, { slots: 1, isPrecise });
      const gradient = gradients.gradients.cast(dtype).sum() as Tensor;
      const hessian = (gradients.hessians?.cast(dtype).sum() ?? full([], samples, { device, dtype })) as Tensor;
      const others = [samples, 0, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY].map(
        (value) => full([], value, { device, dtype }) as Tensor,
      );
      const nodeFacts = stack([gradient, hessian, ...others]).expandDims(0) as Tensor;
      return { ...searched(histograms, nodeFacts, null), histograms, sums: stack([gradient, hessian]) as Tensor };
    }),
    route: jit(route, { donate: 0 }),
    round: jit(
      (standing: Standing, gradients: Gradients, moves: Moves, looks: Looks) => {
        const { slotOfNode, parentOfSlot, nodeFacts, allowed } = looks;
        const rows = route(standing.rows, moves);
        const parents = { histograms: standing.histograms, parentOfSlot };
        const slots = parentOfSlot.shape[0] as number;
        const histograms = histogramByNode(codes, rows, slotOfNode, gradients, parents, { slots, isPrecise });
        return { ...searched(histograms, nodeFacts.cast(dtype) as Tensor, allowed), rows, histograms };
      },
      { donate: 0 },
    ),
  };
}

/** The bins of categorical features by their mean gradient, those with few samples left out; other features keep their order. */
function categoryOrder(histograms: Tensor, nodeFacts: Tensor, featureFacts: Tensor): readonly [Tensor, Tensor] {
  const [slots, features, channels, bins] = histograms.shape as [number, number, number, number];
  const channel = (which: number): Tensor => histograms.at(":", ":", which) as Tensor;
  const [gradient, hessian] = [channel(0), channel(1)];
  const trait = (which: number): Tensor => featureFacts.at(":", which).reshape([1, features, 1]) as Tensor;
  const { device } = histograms;
  const bin = arange(bins, { device, dtype: "i32" }).reshape([1, 1, bins]);
  const support = nodeFacts.at(":", 2).div(nodeFacts.at(":", 1).maximum(1e-300)).reshape([slots, 1, 1]);
  const isBin = bin.less(trait(0)).logicalOr(bin.equal(bins - 1).logicalAnd(trait(1).equal(1)));
  const counts = hessian
    .mul(channels === 2 ? 1 : support)
    .greaterEqual(CATEGORY_SUPPORT)
    .logicalAnd(isBin);
  const mean = gradient.div(hessian.add(CATEGORY_SUPPORT));
  const byMean = where(counts, mean, Number.POSITIVE_INFINITY).argsort({ axis: 2 });
  const order = where(trait(3).equal(1), byMean, bin.broadcastTo([slots, features, bins])).cast("i32") as Tensor;
  return [order, counts.cast("i32").sum({ axis: 2 }).cast("i32") as Tensor];
}

/** The order of the chosen feature's bins, and behind it how many of them count: [slots, 257]. */
function orderOfChosen([order, used]: readonly [Tensor, Tensor], found: Tensor): Tensor {
  const feature = found.at(":", 1).cast("i32").expandDims(1);
  const bins = order.shape[2] as number;
  const slots = order.shape[0] as number;
  const chosen = order.takeAlongAxis(feature.expandDims(2).broadcastTo([slots, 1, bins]), { axis: 1 }).squeeze(1);
  return concat([chosen, used.takeAlongAxis(feature, { axis: 1 })], { axis: 1 }) as Tensor;
}

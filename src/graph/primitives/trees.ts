/**
 * What growing and walking decision trees takes besides tensor operations: histograms of gradients by node, feature and bin, the
 * search of the best split in them, the rows' way to their next node, and the leaf that a sample ends in. Kernels are in
 * compiler/routines/trees; src/tensor/trees.ts has them as functions.
 */
import { ShapeError } from "../../core/errors.js";
import type { BatchedInput, RoutinePrimitive } from "../primitive.js";
import type { GraphOps } from "../vocabulary.js";
import { takeAlongAxis } from "./movement.js";

/** Bins of a feature: codes are bytes. The last one holds missing values. */
export const BINS = 256;

/** Rows of a chunk where rows are listed by node, and the number of chunks that is enough for threads. */
const [LEAST_IN_CHUNK, MOST_IN_CHUNK, CHUNKS] = [4096, 65536, 16];

/**
 * Where rows stand while a tree grows, i32 [size]: its form is that of the target (compiler/routines/trees/rows.ts). It has room for a place
 * of each row, in whole chunks, and in each chunk for two numbers of each node.
 */
export function standingOf(rows: number, nodes: number) {
  const few = Math.max(1, Math.min(CHUNKS, Math.floor(rows / LEAST_IN_CHUNK)));
  const chunks = Math.max(few, Math.ceil(rows / MOST_IN_CHUNK));
  const length = Math.ceil(rows / chunks);
  return { chunks, length, size: chunks * (length + 2 * nodes) };
}

/** All rows at the root, for codes u32 [words, rows] (four features to a word). */
export const rootRows: RoutinePrimitive = {
  name: "rootRows",
  kind: "routine",
  infer: ([codes]) => ({ shape: [standingOf(codes.shape[1], 1).size], dtype: "i32" }),
};

/** The node of each row, i32 [rows], of rows that stand somewhere. Params: rows. */
export const nodesOfRows: RoutinePrimitive = {
  name: "nodesOfRows",
  kind: "routine",
  infer: (_, { rows }) => ({ shape: [rows as number], dtype: "i32" }),
};

/**
 * Inputs: codes u32 [words, rows] (four features to a word), where rows stand, the slot of each node i32 [nodes] (-1:
 * none), the largest absolute gradient and hessian f32 [2], gradients f32 [rows], hessians f32 [rows] where they differ from 1, and
 * with `hasParents` histograms of parents [some, 4·words, channels, 256] and the parent of each slot among them i32 [slots].
 * Params: slots, dtype, hasHessians, isPrecise, hasParents.
 * Result [slots, 4·words, channels, 256]: sums of gradients, of hessians where there are any, and counts. With parents twice as many:
 * behind the slots what is left of their parents. A slot whose parent is -1 is not asked for; what stands there and behind is undefined.
 */
export const nodeHistogram: RoutinePrimitive = {
  name: "nodeHistogram",
  kind: "routine",
  infer: ([codes, standing, , , gradients], { slots, dtype, hasHessians, hasParents }) => {
    const [words, rows] = codes.shape;
    if (codes.dtype !== "u32" || standing.shape[0] < rows || gradients.shape[0] !== rows) {
      throw new ShapeError(`nodeHistogram: codes of [${codes.shape}] for gradients of [${gradients.shape}].`);
    }
    const count = (slots as number) * (hasParents ? 2 : 1);
    return { shape: [count, 4 * words, hasHessians ? 3 : 2, BINS], dtype: dtype as "f64" | "f32" };
  },
};

/** Numbers of a node that the search of its split needs: sums of gradients and hessians, count, value, lower and upper bound. */
export const NODE_FACTS = 6;
/** Facts of a feature: bins without that of missing values, has missing values, monotone (-1, 0, 1), is categorical. */
export const FEATURE_FACTS = 4;
/** Numbers of a split: gain, feature, position, direction (1: from the right), and gradients, hessians and count on the left. */
export const SPLIT_FACTS = 7;

/**
 * The best split of each node. Inputs: histograms [slots, features, channels, 256], facts of nodes [slots, NODE_FACTS], of features
 * i32 [features, FEATURE_FACTS]; and where features are categorical, the order of their bins i32 [slots, features, 256] and how many
 * of them count i32 [slots, features]. Params: minSamplesLeaf, minHessian, l2, isMonotone (whether any
 * feature is: else bounds do not count). Result [slots, SPLIT_FACTS]. The histogram of a node whose
 * count is 0 is not looked at; its gain is -1.
 */
export const bestSplits: RoutinePrimitive = {
  name: "bestSplits",
  kind: "routine",
  infer: ([histograms]) => ({ shape: [histograms.shape[0], SPLIT_FACTS], dtype: histograms.dtype }),
};

/**
 * Where rows stand after splits. Inputs: codes u32 [words, rows], where rows stand, the split of each node i32 [nodes] (-1: none; with room
 * for the children), the feature and the first child of each split i32 [splits, 2], and by split and code whether rows go left,
 * u8 [splits, 256], 1 or 0.
 */
export const routeRows: RoutinePrimitive = {
  name: "routeRows",
  kind: "routine",
  infer: ([codes, , splitOfNode]) => ({
    shape: [standingOf(codes.shape[1], splitOfNode.shape[0]).size],
    dtype: "i32",
  }),
};

/**
 * The leaf of every tree that each sample ends in, i32 [samples, trees]. Inputs: samples [samples, features]; of each node of each tree
 * [trees, nodes] feature, threshold (of the samples' dtype), children on the left and on the right (-1: a leaf), whether missing values
 * go left; and where features are categorical, the categories that go left as bits u32 [trees, nodes, 8] (all 0: a threshold counts).
 * Params: depth, the longest way.
 */
export const treeLeaves: RoutinePrimitive = {
  name: "treeLeaves",
  kind: "routine",
  infer: ([x, feature, threshold]) => {
    if (x.dtype !== threshold.dtype)
      throw new ShapeError(`treeLeaves: samples of ${x.dtype}, thresholds of ${threshold.dtype}.`);
    return { shape: [x.shape[0], feature.shape[0]], dtype: "i32" };
  },
  batch: (g, { params }, inputs, size) => batchLeaves(g, params, inputs, size),
};

// ---------------------------------------------------------------------------------------------- exact splits

/** Numbers of a sorted split: its score, feature, rows on the left, threshold, and whether any candidate varies in the node. */
export const CUT_FACTS = 5;
/** Numbers of the totals of a node before those of its channels: the weight, and a weighted sum of what impurities need. */
export const TOTALS_BEFORE = 2;

/**
 * The best split of each node among all places between its values, or with `isRandom` among one random threshold for each candidate.
 * Inputs: ranks of values i32 [features, rows], values [features, rows], rows in the order of nodes i32 [places], the first place, the
 * number of rows and the tree of each node i32 [nodes, 3], candidates i32 [nodes, candidates] (features, -1: none), targets
 * [rows, columns], weights [trees or 1, rows], totals of nodes [nodes, 2 + channels], and with `isRandom` draws in [0, 1)
 * [nodes, candidates] of the values' dtype. Totals are the weight, the weight that each part needs (read with `hasLeastWeight`), and the sums
 * of channels. Params: criterion, minSamplesLeaf, hasLeastWeight, isRandom. Targets of "gini" and "entropy" are positions of classes.
 * With "absolute" the rows of a node stand in the order of their targets. Result [nodes, CUT_FACTS], without rows on the left where there is no split.
 */
export const sortedSplits: RoutinePrimitive = {
  name: "sortedSplits",
  kind: "routine",
  infer: (inputs) => {
    const [ranks, values, , , candidates, , , totals] = inputs;
    if (`${ranks.shape}` !== `${values.shape}`) {
      throw new ShapeError(`sortedSplits: ranks of [${ranks.shape}] for values of [${values.shape}].`);
    }
    return { shape: [candidates.shape[0], CUT_FACTS], dtype: totals.dtype };
  },
};

/**
 * Rows in the order of nodes after their splits, left parts first, otherwise in the order they had. Inputs: values [features, rows], rows
 * i32 [places], nodes i32 [nodes, 3] and splits [nodes, CUT_FACTS] as of `sortedSplits`. Places of no node stay undefined.
 */
export const partedRows: RoutinePrimitive = {
  name: "partedRows",
  kind: "routine",
  infer: ([, rows]) => ({ shape: rows.shape, dtype: "i32" }),
};

/**
 * Totals of the two parts of each node, [2 · nodes, 2 + channels]: their weights, weighted `spreads`, and sums by class or by target.
 * Inputs: rows i32 [places], nodes i32 [nodes, 3], splits [nodes, CUT_FACTS], targets [rows, columns], weights [trees or 1, rows], and
 * what the second total sums, [rows]. Params: channels, isByClass, isByMedian. By median the only channel is the weighted median of the
 * targets, in whose order the rows of a node stand, and the second total the weighted absolute distances to it.
 */
export const partTotals: RoutinePrimitive = {
  name: "partTotals",
  kind: "routine",
  infer: ([, nodes, splits], { channels }) => ({
    shape: [2 * (nodes.shape[0] as number), TOTALS_BEFORE + (channels as number)],
    dtype: splits.dtype,
  }),
};

/** Samples of a batch are more samples; trees of a batch are more trees, of which a member looks at its own. */
function batchLeaves(
  g: GraphOps,
  params: Readonly<Record<string, unknown>>,
  [x, ...trees]: readonly BatchedInput[],
  size: number,
) {
  const isOneForest = trees.every(({ isBatched }) => !isBatched);
  const [rows, features] = x.node.shape.slice(-2);
  const samples = x.isBatched ? g.reshape(x.node, [size * rows, features]) : x.node;
  const forest = trees.map(({ node, isBatched }) => {
    if (isOneForest) return node;
    const whole = isBatched ? node : g.broadcast(node, [size, ...node.shape]);
    return g.reshape(whole, [size * (whole.shape[1] as number), ...whole.shape.slice(2)]);
  });
  const found = g.move(treeLeaves, [samples, ...forest], params);
  const count = forest[0].shape[0];
  if (isOneForest) return g.reshape(found, [size, rows, count]);
  const own = count / size;
  if (!x.isBatched) return g.permute(g.reshape(found, [rows, size, own]), [1, 0, 2]);
  const member = g.reshape(g.counting([size], 0, found), [size, 1, 1, 1]);
  const places = g.broadcast(member, [size, rows, 1, own]);
  return g.reshape(g.move(takeAlongAxis, [g.reshape(found, [size, rows, size, own]), places], { axis: 2 }), [
    size,
    rows,
    own,
  ]);
}

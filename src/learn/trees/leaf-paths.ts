/**
 * Ways from roots to leaves, as SHAP values need them (GPUTreeShap, Mitchell, Frank & Holmes 2022): for each leaf the features that are asked
 * on the way, each once, with all values that lead on, and the share of samples that go on where the feature is not known.
 */
import type { Tensor } from "../../tensor/index.js";
import type { TreeTensors } from "./grown-tree.js";

/** A feature on the way to a leaf. */
interface Asked {
  readonly feature: number;
  /** The share of samples that go on, over all splits by the feature. */
  readonly share: number;
  /** Values above `low` and up to `high` go on. */
  readonly low: number;
  readonly high: number;
  readonly takesMissing: boolean;
  /** Categories that go on as bits, 8 words; null where bounds count. */
  readonly set: Uint32Array | null;
}

/** The way to a leaf, and the leaf's place among the nodes of all trees. */
export interface LeafPath {
  readonly node: number;
  readonly asked: readonly Asked[];
}

/** Nodes of trees as the host reads them. */
interface ReadTrees {
  readonly trees: number;
  readonly nodes: number;
  readonly columns: Readonly<
    Record<"feature" | "threshold" | "left" | "right" | "missingLeft" | "cover", ArrayLike<number>>
  >;
  readonly sets: Uint32Array | null;
}

const WORDS = 8;

/** The ways to all leaves, tree by tree. `cover` says how many samples, or how much weight, a node has. */
export async function leafPaths(tensors: TreeTensors, cover: Tensor): Promise<readonly LeafPath[]> {
  const [trees, nodes] = tensors.feature.shape as [number, number];
  const read = async (values: Tensor): Promise<ArrayLike<number>> => (await values.cast("f64").data()) as Float64Array;
  const [feature, threshold, left, right, missingLeft, covered] = (await Promise.all(
    [tensors.feature, tensors.threshold, tensors.left, tensors.right, tensors.missingLeft, cover].map(read),
  )) as [
    ArrayLike<number>,
    ArrayLike<number>,
    ArrayLike<number>,
    ArrayLike<number>,
    ArrayLike<number>,
    ArrayLike<number>,
  ];
  const sets = tensors.categories ? ((await tensors.categories.data()) as Uint32Array) : null;
  const given = { trees, nodes, columns: { feature, threshold, left, right, missingLeft, cover: covered }, sets };
  return Array.from({ length: trees }, (_, tree) => pathsOfTree(given, tree)).flat();
}

function pathsOfTree({ nodes, columns, sets }: ReadTrees, tree: number): LeafPath[] {
  const root = tree * nodes;
  const found: LeafPath[] = [];
  const waiting: LeafPath[] = [{ node: root, asked: [] }];
  for (let path = waiting.pop(); path; path = waiting.pop()) {
    const { node, asked } = path;
    if ((columns.left[node] as number) < 0) {
      found.push(path);
      continue;
    }
    const feature = columns.feature[node] as number;
    const before = asked.find((each) => each.feature === feature) ?? null;
    const others = before ? asked.filter((each) => each !== before) : asked;
    const words = sets?.subarray(node * WORDS, (node + 1) * WORDS) ?? null;
    const set = words?.some((word) => word !== 0) ? words : null;
    for (const isLeft of [false, true]) {
      const child = root + ((isLeft ? columns.left : columns.right)[node] as number);
      const share = (columns.cover[child] as number) / (columns.cover[node] as number);
      const bound = columns.threshold[node] as number;
      const step: Asked = {
        feature,
        share,
        low: isLeft || set ? Number.NEGATIVE_INFINITY : bound,
        high: isLeft && !set ? bound : Number.POSITIVE_INFINITY,
        takesMissing: (columns.missingLeft[node] !== 0) === isLeft,
        set: set && (isLeft ? set : set.map((word) => ~word)),
      };
      waiting.push({ node: child, asked: [...others, before ? both(before, step) : step] });
    }
  }
  return found;
}

/** Two splits by one feature: values that pass both. */
const both = (a: Asked, b: Asked): Asked => ({
  feature: a.feature,
  share: a.share * b.share,
  low: Math.max(a.low, b.low),
  high: Math.min(a.high, b.high),
  takesMissing: a.takesMissing && b.takesMissing,
  set: commonTo(a.set, b.set),
});

function commonTo(a: Uint32Array | null, b: Uint32Array | null): Uint32Array | null {
  return a && b ? a.map((word, i) => word & (b[i] as number)) : (a ?? b);
}

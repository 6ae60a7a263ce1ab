/** Methods that all models of trees have: leaves, ways to them, importances of features, trees as text, SHAP values. */
import { type Tensor, zeros } from "../../tensor/index.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { samplesFor } from "../core/sorts.js";
import { checkExport, type ExportTextOptions, exportedText } from "./export-text.js";
import { leavesOf, passedNodes, type TreeTensors } from "./grown-tree.js";
import { hostTree } from "./host-tree.js";
import { type PruningPath, pruningPath } from "./pruning-path.js";
import { type ShapValues, shapValuesOf } from "./shap.js";

/** What models of trees learn, besides what is their own. */
export interface OfTrees {
  readonly trees: TreeTensors;
  /** What boosting adds trees to; other trees are averaged. */
  readonly baseline?: Tensor;
  /** Categories that boosting knows. */
  readonly categories?: Tensor | null;
}

/** Methods of models of trees. */
export interface TreeMethods<L, O> {
  /** The number of the leaf of each tree that a sample ends in, i32 [samples, trees]. */
  apply(model: Fitted<L, O>, samples: Samples): Tensor;
  /** Whether a sample passes a node of a tree, its leaf among them, bool [samples, trees, nodes]. */
  decisionPath(model: Fitted<L, O>, samples: Samples): Tensor;
  /** How much splits by each feature reduced the loss or the impurity, [features], as shares of all. */
  featureImportances(model: Fitted<L, O>): Tensor;
  /** A tree as indented text, the first unless told. */
  toText(model: Fitted<L, O>, tree?: number): Promise<string>;
  /** What each feature adds to each (raw) prediction: SHAP values, exact, by the samples of the fit. Reads the trees. */
  shapValues(model: Fitted<L, O>, samples: Samples): Promise<ShapValues>;
  readonly [name: string]: (model: Fitted<L, O>, ...rest: never[]) => unknown;
}

/** The methods of a kind whose models have `trees`. */
export function treeMethods<L extends OfTrees, O extends object>(): TreeMethods<L, O> {
  return {
    apply: (model: Fitted<L, O>, samples: Samples): Tensor =>
      leavesOf(model.learned.trees, samplesFor(model as Fitted<unknown, object>, "apply", samples)),
    decisionPath: (model: Fitted<L, O>, samples: Samples): Tensor =>
      passedNodes(model.learned.trees, samplesFor(model as Fitted<unknown, object>, "decisionPath", samples)),
    featureImportances: (model: Fitted<L, O>): Tensor => importancesOf(model.learned.trees, model.features.count),
    toText: (model: Fitted<L, O>, tree = 0): Promise<string> => textOf(model as Fitted<OfTrees, object>, tree),
    shapValues: async (model: Fitted<L, O>, samples: Samples): Promise<ShapValues> =>
      shapValuesOf(model.learned, samplesFor(model as Fitted<unknown, object>, "shapValues", samples)),
  };
}

/** The share of each feature, tree by tree, and then their mean, as in scikit-learn. Trees of one leaf have none. */
function importancesOf({ feature, gain, left }: TreeTensors, features: number): Tensor {
  const [trees] = feature.shape as [number, number];
  const { device, dtype } = gain;
  const isSplit = left.greaterEqual(0);
  const sums = zeros([trees, features], { device, dtype }).putAlongAxis(feature, gain.mul(isSplit.cast(dtype)), {
    axis: 1,
    op: "add",
  }) as Tensor;
  const total = sums.sum({ axis: 1, keepDims: true });
  const shares = sums.div(total.maximum(Number.MIN_VALUE)).sum({ axis: 0 });
  return shares.div(shares.sum().maximum(Number.MIN_VALUE)) as Tensor;
}

async function textOf(model: Fitted<OfTrees, object>, number: number): Promise<string> {
  const tree = await hostTree(`${model.kind}.toText`, model.learned.trees, number);
  const nameOf = (f: number): string => model.features.names?.[f] ?? `feature ${f}`;
  const round = (number: number): string => String(Number(number.toPrecision(4)));
  const lines: string[] = [];
  const visit = (node: number, depth: number): void => {
    const indent = "|   ".repeat(depth);
    if ((tree.left[node] as number) < 0) {
      lines.push(`${indent}|--- ${Array.from(tree.valueOf(node), round).join(", ")}`);
      return;
    }
    const set = tree.categoriesOf(node);
    const name = nameOf(tree.feature[node] as number);
    const threshold = round(tree.threshold[node] as number);
    const [yes, no] =
      set.length > 0 ? [`in {${set.join(", ")}}`, `not in {${set.join(", ")}}`] : [`<= ${threshold}`, `> ${threshold}`];
    lines.push(`${indent}|--- ${name} ${yes}`);
    visit(tree.left[node] as number, depth + 1);
    lines.push(`${indent}|--- ${name} ${no}`);
    visit(tree.right[node] as number, depth + 1);
  };
  visit(0, 0);
  return lines.join("\n");
}

/** Methods of models that are one tree. */
export interface OneTreeMethods<L, O> extends TreeMethods<L, O> {
  /** The values of `ccpAlpha` that prune differently, from the tree as it is to its root alone. Reads the tree. */
  costComplexityPruningPath(model: Fitted<L, O>): Promise<PruningPath>;
  /** The tree as text, in the form of scikit-learn's `export_text`. Reads the tree. */
  exportText(model: Fitted<L, O>, options?: ExportTextOptions): Promise<string>;
}

/** The methods of a kind whose models are one tree. */
export function oneTreeMethods<L extends OfTrees, O extends object>(): OneTreeMethods<L, O> {
  return {
    ...treeMethods<L, O>(),
    async costComplexityPruningPath({ kind, learned: { trees } }: Fitted<L, O>): Promise<PruningPath> {
      return pruningPath(await hostTree(`${kind}.costComplexityPruningPath`, trees, 0), trees.threshold);
    },
    async exportText(model: Fitted<L, O>, options: ExportTextOptions = {}): Promise<string> {
      const { kind, features, classes, learned } = model;
      const operation = `${kind}.exportText`;
      checkExport(operation, options, features.count);
      const told = options.featureNames ?? features.names;
      const names = told ?? Array.from({ length: features.count }, (_, f) => `feature_${f}`);
      return exportedText(await hostTree(operation, learned.trees, 0), { names, classes }, options);
    },
  };
}

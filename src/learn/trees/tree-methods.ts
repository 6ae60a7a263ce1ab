/** Methods that all models of trees have: leaves, importances of features, trees as text, SHAP values. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Tensor, zeros } from "../../tensor/index.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { samplesFor } from "../core/sorts.js";
import { leavesOf, type TreeTensors } from "./grown-tree.js";
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

async function textOf(model: Fitted<OfTrees, object>, tree: number): Promise<string> {
  const { trees } = model.learned;
  const count = trees.feature.shape[0] as number;
  if (!Number.isInteger(tree) || tree < 0 || tree >= count) {
    throw new ArgumentError(`${model.kind}.toText: tree is ${shown(tree)}; there are ${count}, from 0 on.`);
  }
  const read = async (values: Tensor): Promise<readonly number[]> =>
    Array.from((await (values.at(tree) as Tensor).cast("f64").data()) as Float64Array);
  const [feature, threshold, left, right, value] = (await Promise.all([
    ...[trees.feature, trees.threshold, trees.left, trees.right].map(read),
    read(trees.value),
  ])) as [number[], number[], number[], number[], number[]];
  const outputs = trees.value.shape[2] as number;
  const sets = trees.categories
    ? ((await (trees.categories.at(tree) as Tensor).data()) as Uint32Array)
    : new Uint32Array(8 * left.length);
  const nameOf = (f: number): string => model.features.names?.[f] ?? `feature ${f}`;
  const round = (number: number): string => String(Number(number.toPrecision(4)));
  const lines: string[] = [];
  const visit = (node: number, depth: number): void => {
    const indent = "|   ".repeat(depth);
    if ((left[node] as number) < 0) {
      const values = value.slice(node * outputs, (node + 1) * outputs).map(round);
      lines.push(`${indent}|--- ${values.join(", ")}`);
      return;
    }
    const set = Array.from({ length: 256 }, (_, c) => c).filter(
      (c) => ((sets[8 * node + (c >> 5)] as number) >>> (c & 31)) & 1,
    );
    const name = nameOf(feature[node] as number);
    const [yes, no] =
      set.length > 0
        ? [`in {${set.join(", ")}}`, `not in {${set.join(", ")}}`]
        : [`<= ${round(threshold[node] as number)}`, `> ${round(threshold[node] as number)}`];
    lines.push(`${indent}|--- ${name} ${yes}`);
    visit(left[node] as number, depth + 1);
    lines.push(`${indent}|--- ${name} ${no}`);
    visit(right[node] as number, depth + 1);
  };
  visit(0, 0);
  return lines.join("\n");
}

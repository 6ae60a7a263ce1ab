/** A decision tree as text, in the form of scikit-learn's `export_text`. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Label } from "../core/targets.js";
import type { HostTree } from "./host-tree.js";

/** Options of `exportText`. */
export interface ExportTextOptions {
  /** Names of the features; those of the fit unless told, or feature_0, feature_1 … */
  readonly featureNames?: readonly string[];
  /** Branches below this depth are not shown: 10 unless told. */
  readonly maxDepth?: number;
  /** The width of a step to the right: 3 unless told. */
  readonly spacing?: number;
  /** Digits after the point: 2 unless told. */
  readonly decimals?: number;
  /** Whether leaves of classes show the weight of each class. False unless told. */
  readonly showWeights?: boolean;
}

/** The features of a tree and the classes it tells apart, null for numbers. */
interface Named {
  readonly names: readonly string[];
  readonly classes: readonly Label[] | null;
}

/** Throws on options that are out of their range. */
export function checkExport(operation: string, options: ExportTextOptions, features: number): void {
  checkOptions(operation, options, {
    ...{ featureNames: "any", maxDepth: "number", spacing: "number", decimals: "number", showWeights: "flag" },
  });
  const { featureNames, maxDepth = 10, spacing = 3, decimals = 2 } = options;
  checkWhole(operation, "maxDepth", maxDepth, 0);
  checkWhole(operation, "spacing", spacing, 1);
  checkWhole(operation, "decimals", decimals, 0);
  if (featureNames === undefined || featureNames.length === features) return;
  throw new ArgumentError(`${operation}: there are ${featureNames.length} featureNames and ${features} features.`);
}

export function exportedText(tree: HostTree, { names, classes }: Named, options: ExportTextOptions): string {
  const { maxDepth = 10, spacing = 3, decimals = 2, showWeights = false } = options;
  const childrenOf = (node: number): readonly [number, number] => [
    tree.left[node] as number,
    tree.right[node] as number,
  ];
  const isLeaf = (node: number): boolean => (tree.left[node] as number) < 0;
  const levels = (node: number): number => (isLeaf(node) ? 1 : 1 + Math.max(...childrenOf(node).map(levels)));
  const list = (values: Float64Array): string => `[${Array.from(values, (each) => each.toFixed(decimals)).join(", ")}]`;
  const leafText = (node: number): string => {
    const value = tree.valueOf(node);
    if (!classes) return `value: ${list(value)}`;
    const shares = showWeights ? `weights: ${list(value.map((share) => share * (tree.weight[node] as number)))} ` : "";
    return `${shares}class: ${classes[value.indexOf(Math.max(...value))]}`;
  };
  const lines: string[] = [];
  const visit = (node: number, depth: number): void => {
    const indent = `${`|${" ".repeat(spacing)}`.repeat(depth)}|${"-".repeat(spacing)}`;
    if (depth > maxDepth && levels(node) > 1) lines.push(`${indent} truncated branch of depth ${levels(node)}`);
    else if (isLeaf(node)) lines.push(`${indent} ${leafText(node)}`);
    else {
      const name = names[tree.feature[node] as number];
      const threshold = (tree.threshold[node] as number).toFixed(decimals);
      const [left, right] = childrenOf(node);
      lines.push(`${indent} ${name} <= ${threshold}`);
      visit(left, depth + 1);
      lines.push(`${indent} ${name} >  ${threshold}`);
      visit(right, depth + 1);
    }
  };
  visit(0, 0);
  return `${lines.join("\n")}\n`;
}

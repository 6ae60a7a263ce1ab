/** A decision tree as boxes: what is asked in each node, how many samples came there, and what is predicted. */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { Picture } from "../../plots/picture.js";
import { round } from "../../plots/svg.js";
import { fitText, textElement, textWidth } from "../../plots/text.js";
import type { Tensor } from "../../tensor/index.js";
import type { Features } from "../core/samples.js";
import type { Label } from "../core/targets.js";
import type { TreeTensors } from "../trees/index.js";
import { checkPicture, type PictureOptions } from "./frame.js";
import { colourOf } from "./groups.js";

/** A model of trees. */
export interface ModelOfTrees {
  readonly kind: string;
  readonly learned: { readonly trees: TreeTensors };
  readonly features: Features;
  readonly classes: readonly Label[] | null;
}

/** Options of `plots.decisionTree`. */
export interface DecisionTreeOptions extends PictureOptions {
  /** The number of the tree to draw: 0 unless told. */
  readonly tree?: number;
  /** Nodes below this depth are not drawn: 4 unless told. */
  readonly maxDepth?: number;
}

/** A node in its place. Columns are counted in boxes. */
interface DrawnNode {
  readonly node: number;
  readonly depth: number;
  readonly column: number;
  readonly parent: DrawnNode | null;
  readonly isLeaf: boolean;
}

const [BOX, GAP, ROW, LEVEL] = [164, 12, 52, 84];
const ROOM = BOX - 10;
const TOP = 40;

/** A tree of a model: samples for which the question holds go to the left. */
export function decisionTree(model: ModelOfTrees, options: DecisionTreeOptions = {}): Picture {
  const operation = "plots.decisionTree";
  checkPicture(operation, options, { tree: "number", maxDepth: "number" });
  const trees = model?.learned?.trees;
  if (!trees?.threshold) {
    throw new ArgumentError(`${operation}: takes a model of trees, as decisionTreeClassifier's, not ${shown(model)}.`);
  }
  const { tree = 0, title = "Decision tree" } = options;
  const count = trees.feature.shape[0];
  if (!Number.isInteger(tree) || tree < 0 || tree >= count) {
    throw new ArgumentError(`${operation}: tree is ${shown(tree)}; there are ${count}, from 0 on.`);
  }
  const maxDepth = checkWhole(operation, "maxDepth", options.maxDepth ?? 4, 0);
  const read = readTree(trees, tree);
  const nodes = placed(read, maxDepth);
  const columns = Math.max(...nodes.map(({ column }) => column)) + 1;
  const depth = Math.max(...nodes.map((each) => each.depth));
  const words = wordsOf(read, model);
  const body = [
    textElement(title, { className: "heading", x: 12, y: 20 }),
    ...nodes.map(edge),
    ...nodes.map((each) => box(each, words(each), groupOf(read, model, each.node))),
  ];
  return new Picture({
    title: title || "Decision tree",
    width: Math.round(Math.max(columns * (BOX + GAP) + GAP, textWidth(title) * 1.35 + 24)),
    height: TOP + depth * LEVEL + ROW + 12,
    body: body.join(""),
  });
}

/** A tree's nodes on the host. */
interface ReadTree {
  readonly left: Float64Array;
  readonly right: Float64Array;
  readonly feature: Float64Array;
  readonly threshold: Float64Array;
  readonly count: Float64Array;
  /** A row of outputs for each node. */
  readonly value: Float64Array;
  readonly outputs: number;
  /** Categories that go left as bits, eight words for each node. */
  readonly categories: Uint32Array | null;
}

function readTree(trees: TreeTensors, tree: number): ReadTree {
  const read = (x: Tensor): Float64Array => (x.at(tree).cast("f64") as Tensor).dataSync() as Float64Array;
  return {
    left: read(trees.left),
    right: read(trees.right),
    feature: read(trees.feature),
    threshold: read(trees.threshold),
    count: read(trees.count),
    value: read(trees.value),
    outputs: trees.value.shape[2],
    categories: trees.categories && ((trees.categories.at(tree) as Tensor).dataSync() as Uint32Array),
  };
}

/** Places of nodes, parents first: leaves of the picture side by side, parents above the middle of their children. */
function placed({ left, right }: ReadTree, maxDepth: number): DrawnNode[] {
  let next = 0;
  const visit = (node: number, depth: number): Omit<Branch, "parent"> => {
    const isLeaf = left[node] < 0;
    if (isLeaf || depth === maxDepth) return { node, depth, isLeaf, column: next++, below: [] };
    const below = [visit(left[node], depth + 1), visit(right[node], depth + 1)];
    return { node, depth, isLeaf, column: (below[0].column + below[1].column) / 2, below };
  };
  const flat = ({ below, ...own }: Omit<Branch, "parent">, parent: DrawnNode | null): DrawnNode[] => {
    const each = { ...own, parent };
    return [each, ...below.flatMap((branch) => flat(branch, each))];
  };
  return flat(visit(0, 0), null);
}

/** A node with what is below it. */
interface Branch extends DrawnNode {
  readonly below: readonly Omit<Branch, "parent">[];
}

const middleOf = ({ column }: DrawnNode): number => GAP + column * (BOX + GAP) + BOX / 2;
const topOf = ({ depth }: DrawnNode): number => TOP + depth * LEVEL;

/** The line from the parent; those of the root say which way is yes. */
function edge(each: DrawnNode): string {
  const { parent } = each;
  if (!parent) return "";
  const [from, to] = [middleOf(parent), middleOf(each)];
  const [above, below] = [topOf(parent) + ROW, topOf(each)];
  const isLeft = to < from;
  const said =
    parent.depth === 0
      ? textElement(isLeft ? "yes" : "no", {
          className: isLeft ? "tick side" : "tick",
          x: (from + to) / 2 + (isLeft ? -4 : 14),
          y: (above + below) / 2 - 4,
        })
      : "";
  return `<path class="axis" d="M${round(from)} ${above}L${round(to)} ${below}"/>${said}`;
}

function box(each: DrawnNode, lines: readonly string[], group: number): string {
  const [middle, top] = [middleOf(each), topOf(each)];
  const className = group < 0 ? "node" : `node of ${colourOf(group)}`;
  const first = top + ROW / 2 + 4 - ((lines.length - 1) * 15) / 2;
  const texts = lines.map((line, k) =>
    textElement(line, { className: "value", x: middle, y: first + 15 * k, width: ROOM }),
  );
  return `<rect class="${className}" x="${round(middle - BOX / 2)}" y="${top}" width="${BOX}" height="${ROW}" rx="6"/>${texts.join("")}`;
}

const short = (value: number): string => String(Number(value.toPrecision(4)));

/** The lines in the box of a node. */
function wordsOf(read: ReadTree, { features, classes }: ModelOfTrees) {
  const { outputs, value, count } = read;
  return ({ node, isLeaf }: DrawnNode): string[] => {
    const values = [...value.subarray(node * outputs, (node + 1) * outputs)];
    const isShare = classes !== null && classes.length === outputs;
    const likeliest = values.indexOf(Math.max(...values));
    const prediction = isShare
      ? `${String(classes[likeliest])}, ${Math.round(100 * values[likeliest])}%`
      : values.map(short).join(", ");
    const samples = `${count[node]} sample${count[node] === 1 ? "" : "s"}`;
    return isLeaf ? [prediction, samples] : [question(read, features, node), samples, prediction];
  };
}

/** The question of a node. */
function question({ feature, threshold, categories }: ReadTree, features: Features, node: number): string {
  const f = feature[node];
  const name = features.names?.[f] ?? `feature ${f}`;
  const isIn = (c: number): boolean =>
    categories !== null && ((categories[8 * node + (c >> 5)] >>> (c & 31)) & 1) === 1;
  const set = Array.from({ length: 256 }, (_, c) => c).filter(isIn);
  // The name gives way, not the number.
  const than = ` ≤ ${short(threshold[node])}`;
  if (set.length === 0) return fitText(name, ROOM - textWidth(than)) + than;
  return `${name} in ${set.map((c) => features.categories?.[f]?.[c] ?? c).join(", ")}`;
}

/** The class that a node predicts, for its colour; -1 where numbers are predicted. */
function groupOf({ outputs, value }: ReadTree, { classes }: ModelOfTrees, node: number): number {
  if (classes === null || classes.length !== outputs) return -1;
  const values = value.subarray(node * outputs, (node + 1) * outputs);
  return values.indexOf(Math.max(...values));
}

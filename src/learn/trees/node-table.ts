/**
 * Nodes of growing trees as columns: a forest has hundreds of thousands of them. Exact growth fills the table; `columnsOf` gives grown
 * trees, after pruning by cost and complexity (Breiman, Friedman, Olshen & Stone 1984): of all subtrees the smallest whose impurity plus
 * `alpha` for each leaf is least.
 */
import type { DType } from "../../core/dtype.js";
import { type Tensor, tensor, zeros } from "../../tensor/index.js";
import type { TreeTensors } from "./grown-tree.js";

/** Facts of a node that are whole numbers, and those that are not. The right child's number is one more than the left one's. */
const WHOLE = { tree: 0, number: 1, depth: 2, start: 3, count: 4, attempts: 5, feature: 6, left: 7 } as const;
const REAL = { weight: 0, spread: 1, impurity: 2, threshold: 3, gain: 4, improvement: 5 } as const;
const [WHOLES, REALS] = [Object.keys(WHOLE).length, Object.keys(REAL).length];

/** A table of nodes, known by their row. */
export class NodeTable {
  size = 0;
  private wholes = new Int32Array(64 * WHOLES);
  private reals = new Float64Array(64 * REALS);
  private totals: Float64Array;

  /** `hasValues`: sums of channels are predictions already; else they are divided by weights. */
  constructor(
    readonly channels: number,
    readonly hasValues = false,
  ) {
    this.totals = new Float64Array(64 * channels);
  }

  /** A new leaf, without facts. Its sums are those that stand in `source` from `at` on. */
  add(source: Float64Array, at: number): number {
    const { size, channels } = this;
    if ((size + 1) * WHOLES > this.wholes.length) {
      this.wholes = wider(this.wholes, new Int32Array(2 * this.wholes.length));
      this.reals = wider(this.reals, new Float64Array(2 * this.reals.length));
      this.totals = wider(this.totals, new Float64Array(2 * this.totals.length));
    }
    for (let c = 0; c < channels; c++) this.totals[size * channels + c] = source[at + c] as number;
    this.set(size, "feature", -1);
    this.set(size, "left", -1);
    this.size = size + 1;
    return size;
  }

  get(node: number, fact: keyof typeof WHOLE): number {
    return this.wholes[node * WHOLES + WHOLE[fact]] as number;
  }

  set(node: number, fact: keyof typeof WHOLE, value: number): void {
    this.wholes[node * WHOLES + WHOLE[fact]] = value;
  }

  real(node: number, fact: keyof typeof REAL): number {
    return this.reals[node * REALS + REAL[fact]] as number;
  }

  setReal(node: number, fact: keyof typeof REAL, value: number): void {
    this.reals[node * REALS + REAL[fact]] = value;
  }

  sum(node: number, channel: number): number {
    return this.totals[node * this.channels + channel] as number;
  }

  isSplit(node: number): boolean {
    return this.get(node, "left") >= 0;
  }
}

function wider<A extends Int32Array | Float64Array>(from: A, to: A): A {
  to.set(from);
  return to;
}

/** Grown trees one behind the other, nodes from the root, left parts first. */
export interface TreeColumns {
  /** Nodes of each tree. */
  readonly sizes: number[];
  readonly outputs: number;
  /** Children by their number in their tree, -1 in leaves. */
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly feature: Int32Array;
  readonly count: Int32Array;
  readonly threshold: Float64Array;
  readonly gain: Float64Array;
  readonly weight: Float64Array;
  readonly impurity: Float64Array;
  /** Shares of classes, or means of targets, outputs to a node. */
  readonly value: Float64Array;
}

/** The trees of a table, from their roots. `isSplit` says which splits stay. */
export function columnsOf(
  table: NodeTable,
  roots: readonly number[],
  alpha: number,
  isSplit: (node: number) => boolean,
): TreeColumns {
  const outputs = table.channels;
  const whole = () => new Int32Array(table.size);
  const real = () => new Float64Array(table.size);
  const columns = {
    ...{
      sizes: [] as number[],
      outputs,
      left: whole().fill(-1),
      right: whole().fill(-1),
      feature: whole(),
      count: whole(),
    },
    ...{
      threshold: real(),
      gain: real(),
      weight: real(),
      impurity: real(),
      value: new Float64Array(table.size * outputs),
    },
  };
  let at = 0;
  for (const root of roots) {
    const stays = alpha > 0 ? worthwhile(table, root, alpha, isSplit) : isSplit;
    const first = at;
    // Nodes yet to be written, with the place of the parent whose right child they are; -1: a left child, or the root.
    const waiting = [root, -1];
    while (waiting.length > 0) {
      const parent = waiting.pop() as number;
      const node = waiting.pop() as number;
      if (parent >= 0) columns.right[parent] = at - first;
      columns.count[at] = table.get(node, "count");
      columns.weight[at] = table.real(node, "weight");
      columns.impurity[at] = table.real(node, "impurity");
      const share = table.hasValues ? 1 : (columns.weight[at] as number);
      for (let c = 0; c < outputs; c++) columns.value[at * outputs + c] = table.sum(node, c) / share;
      if (table.isSplit(node) && stays(node)) {
        const left = table.get(node, "left");
        columns.feature[at] = table.get(node, "feature");
        columns.threshold[at] = table.real(node, "threshold");
        columns.gain[at] = table.real(node, "gain");
        columns.left[at] = at - first + 1;
        waiting.push(left + 1, at, left, -1);
      }
      at++;
    }
    columns.sizes.push(at - first);
  }
  return columns;
}

/** Whether a split is worth its leaves. Children stand behind their parents in the table. */
function worthwhile(table: NodeTable, root: number, alpha: number, isSplit: (node: number) => boolean) {
  const tree = table.get(root, "tree");
  const kept = new Set<number>();
  const costs = new Map<number, number>();
  for (let node = table.size - 1; node >= root; node--) {
    if (table.get(node, "tree") !== tree) continue;
    const share = table.real(node, "weight") / table.real(root, "weight");
    const alone = share * table.real(node, "impurity") + alpha;
    const left = table.get(node, "left");
    const parts = left >= 0 && isSplit(node) ? (costs.get(left) as number) + (costs.get(left + 1) as number) : alone;
    if (alone > parts) kept.add(node);
    costs.set(node, Math.min(alone, parts));
  }
  return (node: number): boolean => kept.has(node);
}

/** Trees of several groups as tensors, [trees, nodes] each, padded with leaves. */
export function columnTensors(groups: readonly TreeColumns[], device: string, dtype: DType): TreeTensors {
  const sizes = groups.flatMap((group) => group.sizes);
  const nodes = Math.max(1, ...sizes);
  const outputs = groups[0]?.outputs ?? 1;
  const padded = (read: (columns: TreeColumns) => Int32Array | Float64Array, empty: number, type: DType, width = 1) => {
    const all =
      type === "i32" ? new Int32Array(sizes.length * nodes * width) : new Float64Array(sizes.length * nodes * width);
    if (empty !== 0) all.fill(empty);
    let tree = 0;
    for (const columns of groups) {
      let first = 0;
      for (const size of columns.sizes) {
        all.set(read(columns).subarray(first * width, (first + size) * width), tree++ * nodes * width);
        first += size;
      }
    }
    const shape = width === 1 && read !== valuesOf ? [sizes.length, nodes] : [sizes.length, nodes, width];
    return tensor(all, { device, dtype: type, shape }) as Tensor;
  };
  return {
    value: padded(valuesOf, 0, dtype, outputs),
    threshold: padded(({ threshold }) => threshold, 0, dtype),
    feature: padded(({ feature }) => feature, 0, "i32"),
    left: padded(({ left }) => left, -1, "i32"),
    right: padded(({ right }) => right, -1, "i32"),
    missingLeft: zeros([sizes.length, nodes], { device, dtype: "i32" }).realize() as Tensor,
    gain: padded(({ gain }) => gain, 0, dtype),
    weight: padded(({ weight }) => weight, 0, dtype),
    count: padded(({ count }) => count, 0, "i32"),
    impurity: padded(({ impurity }) => impurity, 0, dtype),
    categories: null,
  };
}

const valuesOf = ({ value }: TreeColumns): Float64Array => value;

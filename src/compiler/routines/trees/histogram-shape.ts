/** What the kernels of histograms share: the shape of the work, and the buffers that they are given. */
import type { Node } from "../../../graph/node.js";
import { standingOf } from "../../../graph/primitives/trees.js";
import { PACKED } from "./codes.js";

export interface HistogramShape {
  readonly words: number;
  readonly rows: number;
  readonly slots: number;
  /** Nodes that may have a slot, and nodes that rows may stand at. */
  readonly nodes: number;
  readonly standingNodes: number;
  /** Chunks of rows that are listed by node, and their length. */
  readonly chunks: number;
  readonly length: number;
  readonly features: number;
  readonly channels: number;
  readonly type: "f32" | "f64";
  readonly hasHessians: boolean;
  /** Siblings get what is left of their parents. */
  readonly hasParents: boolean;
  /** Fixed point keeps twice as many bits. */
  readonly isPrecise: boolean;
}

export function shapeOf({ inputs: [codes, standing, slotOfNode], params }: Node): HistogramShape {
  const [words, rows] = codes.shape;
  const { chunks, length } = standingOf(rows, 0);
  const hasHessians = params.hasHessians as boolean;
  return {
    words,
    rows,
    slots: params.slots as number,
    nodes: slotOfNode.shape[0],
    standingNodes: (standing.shape[0] - chunks * length) / (2 * chunks),
    chunks,
    length,
    features: PACKED * words,
    channels: hasHessians ? 3 : 2,
    type: params.dtype as "f32" | "f64",
    hasHessians,
    hasParents: params.hasParents as boolean,
    isPrecise: params.isPrecise as boolean,
  };
}

export const inputs = (...which: readonly number[]) => which.map((index) => ({ kind: "input", index }) as const);
export const gradientInputs = ({ hasHessians }: HistogramShape) => inputs(...(hasHessians ? [4, 5] : [4]));
/** Histograms of parents, and the parent of each slot. */
export const parentInputs = ({ hasParents, channels }: HistogramShape) =>
  inputs(...(hasParents ? [channels + 3, channels + 4] : []));

/** The end of a formula. */
export const leftOver = ({ hasParents }: HistogramShape): string =>
  hasParents ? "; siblings: what is left of parents" : "";

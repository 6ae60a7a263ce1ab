/**
 * Selection among the results of a large product (the nearest neighbours among all distances) goes in bands of rows: a loop
 * whose round computes a band of the product and selects from it. One band at a time is in memory instead of the whole matrix.
 *
 * A band is written by pushing a slice of rows towards the leaves, through every operation that works row by row; others are
 * computed whole, before the loop. Only where nothing else uses the product. compile.ts runs it before products are put into
 * tiles.
 */
import { DTYPES } from "../../core/dtype.js";
import { productOf, sameShape } from "../../core/shape.js";
import { makeNode, remakeNode } from "../../graph/build.js";
import { closeOver, makePlaceholder } from "../../graph/function.js";
import { type Node, pendingInOrder } from "../../graph/node.js";
import { scanNode } from "../../graph/primitives/control/scan.js";
import { dot } from "../../graph/primitives/dot.js";
import { constant } from "../../graph/primitives/leaf.js";
import { expand, permute, reshape, takeAlongAxis } from "../../graph/primitives/movement.js";
import { argsortAt, orderKey } from "../../graph/primitives/order.js";
import { g } from "../../graph/vocabulary.js";
import { rewriteNodes } from "./rewriter.js";

/** Rows of a band are a multiple of this where it has so many: as tiles of products have. */
const ROWS = 128;
/** Operations between a band and its leaves, at most. */
const MAX_DEPTH = 200;

/** The graph with selections in bands, where the values to select from take more than so many bytes. */
export function selectInBands(roots: readonly Node[], bandBytes: number): readonly Node[] {
  const order = pendingInOrder(roots);
  for (const node of order) {
    if (node.primitive !== argsortAt || bytesOf(node.inputs[0]) <= bandBytes) continue;
    const readers = readersOf(node, order, roots);
    if (!readers) continue;
    const instead = inBands(readers, valuesOf(node), bandBytes);
    const rest = rewriteNodes(roots, new Map(), (each) => instead.get(each) ?? null);
    // A value now computed before the loop may contain the next one.
    return selectInBands(rest, bandBytes);
  }
  return roots;
}

const bytesOf = ({ shape, dtype }: Node): number => productOf(shape) * DTYPES[dtype].bytes;

/** The values that a selection is made from; the compiler has not merged it with their keys yet. */
const valuesOf = ({ inputs: [keys] }: Node): Node => (keys.primitive === orderKey ? keys.inputs[0] : keys);

/**
 * The selection and all who take values at positions along the last axis; null where something else needs the values, or no
 * product of their size is behind them.
 */
function readersOf(selection: Node, order: readonly Node[], roots: readonly Node[]): readonly Node[] | null {
  const [keys] = selection.inputs;
  const values = valuesOf(selection);
  const last = values.shape.length - 1;
  if (values.shape.length < 2 || values.shape[0] < 2 || values.storage !== null) return null;
  const takers = order.filter(
    ({ primitive, params, inputs }) => primitive === takeAlongAxis && inputs[0] === values && params.axis === last,
  );
  const allowed = new Set([keys, selection, ...takers]);
  const isShared = order.some(
    (node) => !allowed.has(node) && node.inputs.some((input) => input === values || input === keys),
  );
  if (isShared || roots.includes(values) || roots.includes(keys)) return null;
  const size = productOf(values.shape);
  const isProduct = pendingInOrder([values]).some(
    ({ primitive, shape }) => primitive === dot && productOf(shape) === size,
  );
  return isProduct ? [selection, ...takers] : null;
}

/** The readers of the values, each computed band by band: a loop over bands of equal length, and the rows that are left. */
function inBands(readers: readonly Node[], values: Node, bandBytes: number): Map<Node, Node> {
  const [rows] = values.shape;
  const perBand = rowsPerBand(values, bandBytes);
  const count = Math.floor(rows / perBand);
  const done = count * perBand;
  const stacked = bandsInLoop(readers, perBand, count);
  const left = new Band(rows - done, (node, axis) => slicedAlong(node, axis, done, rows - done));
  const wholeOf = (reader: Node, i: number): Node => {
    const looped = g.reshape(stacked[i], withRows(reader.shape, 0, done));
    return left.rows === 0 ? looped : g.concat([looped, left.of(reader, 0)], 0);
  };
  return new Map(readers.map((reader, i) => [reader, wholeOf(reader, i)]));
}

/** The bands of each reader, one after another along a first axis. */
function bandsInLoop(readers: readonly Node[], perBand: number, count: number): readonly Node[] {
  // Parameters of a round, and what they stand for: rows of a band, and memory that all rounds read.
  const sequences = new Map<Node, Node>();
  const memory = new Map<Node, Node>();
  const rowsOf = (node: Node, axis: number): Node => {
    const order = [axis, ...node.shape.flatMap((_, i) => (i === axis ? [] : [i]))];
    const front = g.permute(slicedAlong(node, axis, 0, count * perBand), order);
    const shape = [perBand, ...front.shape.slice(1)];
    const element = makePlaceholder({ shape, dtype: node.dtype, device: node.device });
    sequences.set(element, g.reshape(front, [count, ...shape]));
    return g.permute(
      element,
      order.map((_, i) => order.indexOf(i)),
    );
  };
  const outside = (node: Node): Node => {
    if (node.storage !== null) {
      const known = [...memory].find(([, leaf]) => leaf === node)?.[0] ?? makePlaceholder(node);
      memory.set(known, node);
      return known;
    }
    // A view needs no memory of its own; what is computed is computed before the loop.
    const isView = node.primitive === permute || node.primitive === reshape;
    const given = isView ? outside(node.inputs[0]) : node;
    return given === node.inputs[0] || given === node ? node : remakeNode(node, [given]);
  };
  const band = new Band(perBand, rowsOf, outside);
  const results = readers.map((reader) => band.of(reader, 0));
  const { body, captured } = closeOver(results, [...memory.keys(), ...sequences.keys()]);
  const constants = [...captured, ...memory.values()];
  return scanNode([...constants, ...sequences.values()], {
    body,
    constants: constants.length,
    carries: 0,
    length: count,
    isReverse: false,
  });
}

function slicedAlong(node: Node, axis: number, start: number, rows: number): Node {
  const from = node.shape.map((_, i) => (i === axis ? start : 0));
  return g.slice(node, from, withRows(node.shape, axis, rows));
}

/** Rows of a band: as many as fit, a number that leaves few rows over. */
function rowsPerBand({ shape, dtype }: Node, bandBytes: number): number {
  const [rows] = shape;
  const rowBytes = productOf(shape.slice(1)) * DTYPES[dtype].bytes;
  const most = Math.max(1, Math.floor(bandBytes / rowBytes));
  const even = Math.ceil(rows / Math.ceil(rows / most));
  if (even < ROWS) return even;
  return rows % even === 0 ? even : even - (even % ROWS);
}

const withRows = (shape: readonly number[], axis: number, rows: number): number[] =>
  shape.map((extent, i) => (i === axis ? rows : extent));

/**
 * Nodes restricted to some of their rows. `source`: such rows of a node that is computed whole; `outside`: a node that all
 * rows use.
 */
class Band {
  private readonly known = new Map<Node, Map<number, Node>>();

  constructor(
    readonly rows: number,
    private readonly source: (node: Node, axis: number) => Node,
    readonly outside: (node: Node) => Node = (node) => node,
  ) {}

  /** The rows of a node along an axis. */
  of(node: Node, axis: number, depth = 0): Node {
    const axes = this.known.get(node) ?? new Map<number, Node>();
    this.known.set(node, axes);
    const made = axes.get(axis) ?? pushed(node, axis, this, depth + 1) ?? this.source(node, axis);
    axes.set(axis, made);
    return made;
  }
}

/** The operation on its inputs in the band; null where it does not work row by row, or is in memory already. */
function pushed(node: Node, axis: number, band: Band, depth: number): Node | null {
  const { primitive, params, inputs, shape, device } = node;
  if (primitive === constant)
    return makeNode(constant, [], { ...params, shape: withRows(shape, axis, band.rows) }, device);
  if (node.storage !== null || inputs.length === 0 || depth > MAX_DEPTH) return null;
  const of = (input: Node, along: number) => band.of(input, along, depth);
  const apply = (given: readonly Node[], changed = params) => makeNode(primitive, given, changed, device);
  const [first, second] = inputs;
  if (primitive.kind === "elementwise") {
    return inputs.every((input) => sameShape(input.shape, shape))
      ? apply(inputs.map((input) => of(input, axis)))
      : null;
  }
  if (primitive.kind === "reduce") {
    const reduced = params.axes as readonly number[];
    const kept = first.shape.flatMap((_, i) => (reduced.includes(i) ? [] : [i]));
    return apply([of(first, kept[axis])]);
  }
  switch (primitive) {
    case dot:
      if (axis === 0) return apply([of(first, 0), of(second, 0)]);
      return axis === 1 ? apply([of(first, 1), band.outside(second)]) : apply([band.outside(first), of(second, 2)]);
    case expand: {
      const given = first.shape[axis] === 1 ? band.outside(first) : of(first, axis);
      return apply([given], { ...params, shape: withRows(shape, axis, band.rows) });
    }
    case permute:
      return apply([of(first, (params.axes as readonly number[])[axis])]);
    case reshape: {
      const from = sameAxis(first.shape, shape, axis);
      return from < 0 ? null : apply([of(first, from)], { ...params, shape: withRows(shape, axis, band.rows) });
    }
    case takeAlongAxis:
      return params.axis === axis ? null : apply([of(first, axis), of(second, axis)]);
    case argsortAt:
      return axis === shape.length - 1 ? null : apply([of(first, axis), ...inputs.slice(1).map(band.outside)]);
    default:
      return null;
  }
}

/** The axis before a reshape that is the same as one after it: with as many places, as many elements before it; -1 if none. */
function sameAxis(from: readonly number[], to: readonly number[], axis: number): number {
  const outer = productOf(to.slice(0, axis));
  return from.findIndex((extent, i) => extent === to[axis] && productOf(from.slice(0, i)) === outer);
}

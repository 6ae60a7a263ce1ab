/**
 * Reductions with few results and much to reduce are done in two steps, so that there is work for all of the device: the
 * axis is cut into chunks, each chunk is reduced by itself, and the partial results are reduced again. The sum of a
 * hundred million numbers is one result; without this, one workgroup would add them all.
 */
import { isNarrowFloat } from "../../core/dtype.js";
import { productOf } from "../../core/shape.js";
import { Node, pendingInOrder } from "../../graph/node.js";
import type { Params, Primitive, ReducePrimitive } from "../../graph/primitive.js";
import { cast } from "../../graph/primitives/elementwise.js";
import { pad, permute, reshape } from "../../graph/primitives/movement.js";
import { reductionOf } from "../../graph/reduction.js";
import { MAX_TOGETHER } from "../schedule/row-mapping.js";
import type { SplitProfile } from "../target/profile.js";
import { rewriteNodes } from "./rewriter.js";

/** Elements that are reduced in one loop, at most: its rounds are counted in 32 bits. */
const MAX_EXTENT = 2 ** 30;
/** The share of the wanted chunks that is enough if it divides the axis. */
const LEAST_SHARE = 0.75;

/** A graph to schedule: its roots, and the nodes that are to be computed into memory (`schedule`). */
interface SplitGraph {
  readonly roots: readonly Node[];
  readonly stored: ReadonlySet<Node>;
}

/** The graph with such reductions in two steps. It computes the same. */
export function splitReductions(roots: readonly Node[], stored: ReadonlySet<Node>, wish: SplitProfile): SplitGraph {
  const chunks = new Map(pendingInOrder(roots).map((node) => [node, chunksOf(node, wish)]));
  if (![...chunks.values()].some((count) => count > 1)) return { roots, stored };
  const copies = new Map<Node, Node>();
  const split = rewriteNodes(roots, copies, (node, [x]) => {
    const count = chunks.get(node) as number;
    return count > 1 ? inTwoSteps(node, x, count, wish) : null;
  });
  return { roots: split, stored: new Set([...stored].map((node) => copies.get(node) ?? node)) };
}

/** Chunks that a reduction is to be cut into; 1: it stays one step, as do all other nodes. */
function chunksOf(node: Node, wish: SplitProfile): number {
  if (node.storage !== null || node.primitive.kind !== "reduce") return 1;
  const extent = extentOf(node);
  const lanes = lanesOf(node, wish);
  const threads = lanes * Math.max(1, productOf(node.shape) / (lanes === 1 ? together(node) : 1));
  // A thread that reduces a chunk should have no less to do than the thread that reduces the chunks' results.
  const least = Math.max(lanes * wish.leastPerThread, lanes === 1 ? Math.sqrt(extent) : 0);
  const isLong = extent >= wish.leastExtent;
  const wanted = isLong ? Math.floor(Math.min(wish.parallelism / threads, extent / least)) : 1;
  return Math.max(wanted, Math.ceil(extent / MAX_EXTENT));
}

/** A reduction of `x` in two steps. */
function inTwoSteps(node: Node, x: Node, chunks: number, wish: SplitProfile): Node {
  const primitive = node.primitive as ReducePrimitive;
  const axes = node.params.axes as readonly number[];
  const { shape } = x;
  // The longest axis is cut; where it does not divide evenly it is filled up with what changes nothing.
  const axis = axes.reduce((longest, next) => (shape[next] > shape[longest] ? next : longest));
  const count = evenly(shape[axis], Math.min(chunks, shape[axis]));
  const length = Math.ceil(shape[axis] / count);
  // Partial results of narrow floats are kept as f32, so that the result is rounded once.
  const wide = isNarrowFloat(x.dtype) ? derive(cast, x, { dtype: "f32" }) : x;
  const filled = fill(wide, axis, count * length - shape[axis], reductionOf(primitive.op).identity(x.dtype));
  const cut = derive(reshape, filled, { shape: [...shape.slice(0, axis), count, length, ...shape.slice(axis + 1)] });
  // For threads by themselves chunks come first: neighbours go through the same one, and load what their results share.
  const isFirst = lanesOf(node, wish) === 1 && axis > 0;
  const order = [axis, ...cut.shape.flatMap((_, i) => (i === axis ? [] : [i]))];
  const inner = axes.map((each) => (each < axis && !isFirst ? each : each + 1));
  const first = derive(primitive, isFirst ? derive(permute, cut, { axes: order }) : cut, { axes: inner });
  const isTooLong = extentOf(node) / count > MAX_EXTENT;
  const again = isTooLong ? chunksOf(first, wish) : 1;
  const partial = again > 1 ? inTwoSteps(first, first.inputs[0], again, wish) : first;
  // Else kept axes before the cut one come first in the partial result; the chunks are next.
  const before = Array.from({ length: axis }, (_, i) => i).filter((i) => !axes.includes(i)).length;
  const params = { axes: [isFirst ? 0 : before], dtype: node.dtype };
  return new Node(primitive, params, [partial], node.shape, node.dtype, node.device);
}

/** Elements that a reduction takes to one result. */
const extentOf = ({ params, inputs: [{ shape }] }: Node): number =>
  productOf((params.axes as readonly number[]).map((axis) => shape[axis]));

/** Lanes that share a result: several where the last axis is reduced. */
const lanesOf = ({ params, inputs: [{ shape }] }: Node, { lanes }: SplitProfile): number =>
  (params.axes as readonly number[]).includes(shape.length - 1) ? lanes : 1;

/** Chunks of equal lengths, if nearly as many as wanted divide the axis: filling up takes a test for each element. */
function evenly(extent: number, wanted: number): number {
  for (let count = wanted; count >= Math.max(2, wanted * LEAST_SHARE); count--) if (extent % count === 0) return count;
  return wanted;
}

/** Results that a thread may compute together (schedule/row-mapping.ts): then there are fewer threads. */
function together({ shape, inputs: [x], params }: Node): number {
  const isOfLast = (params.axes as readonly number[]).includes(x.shape.length - 1);
  const isComputed = x.storage === null && x.primitive.kind === "elementwise";
  const last = shape[shape.length - 1] ?? 1;
  return !isOfLast && isComputed && last > 0 && last <= MAX_TOGETHER ? last : 1;
}

function fill(x: Node, axis: number, amount: number, value: number | bigint | boolean): Node {
  if (amount === 0) return x;
  const none = x.shape.map(() => 0);
  return derive(pad, x, { low: none, high: none.map((_, i) => (i === axis ? amount : 0)), interior: none, value });
}

function derive(primitive: Primitive, input: Node, params: Params): Node {
  const { shape, dtype } = primitive.infer([input], params);
  return new Node(primitive, params, [input], shape, dtype, input.device);
}

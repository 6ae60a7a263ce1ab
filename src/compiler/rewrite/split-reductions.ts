/**
 * Reductions with few results and much to reduce are done in two steps, so that there is work for all of the device: the
 * axis is cut into chunks, each chunk is reduced by itself, and the partial results are reduced again. The sum of a
 * hundred million numbers is one result; without this, one workgroup would add them all.
 */
import { isNarrowFloat } from "../../core/dtype.js";
import { productOf } from "../../core/shape.js";
import { Node, pendingInOrder } from "../../graph/node.js";
import type { Params, Primitive } from "../../graph/primitive.js";
import { cast } from "../../graph/primitives/elementwise.js";
import { pad, permute, reshape } from "../../graph/primitives/movement.js";
import { reductionOf } from "../../graph/reduction.js";
import { MAX_TOGETHER } from "../schedule/row-mapping.js";
import type { SplitProfile } from "../target/profile.js";

/** Elements that are reduced in one loop, at most: its rounds are counted in 32 bits. */
const MAX_EXTENT = 2 ** 30;
/** The share of the wanted chunks that is enough if it divides the axis. */
const LEAST_SHARE = 0.75;

/** Rewrites such reductions among the pending nodes. What they compute stays the same. */
export function splitReductions(roots: readonly Node[], wish: SplitProfile): void {
  for (const node of pendingInOrder(roots)) {
    if (node.storage === null && node.primitive.kind === "reduce") split(node, node.primitive, wish);
  }
}

function split(node: Node, primitive: Primitive & { readonly kind: "reduce" }, wish: SplitProfile): void {
  const axes = node.params.axes as readonly number[];
  const [x] = node.inputs;
  const { shape } = x;
  const results = productOf(node.shape);
  const extent = productOf(axes.map((axis) => shape[axis]));
  const lanes = axes.includes(shape.length - 1) ? wish.lanes : 1;
  const threads = lanes * Math.max(1, results / (lanes === 1 ? together(node) : 1));
  // A thread that goes through a chunk by itself should not have less to do than the one that goes through the chunks.
  const least = Math.max(lanes * wish.leastPerThread, lanes === 1 ? Math.sqrt(extent) : 0);
  const isLong = extent >= wish.leastExtent;
  const wanted = isLong ? Math.floor(Math.min(wish.parallelism / threads, extent / least)) : 1;
  const chunks = Math.max(wanted, Math.ceil(extent / MAX_EXTENT));
  if (chunks < 2) return;
  // The longest axis is cut; where it does not divide evenly it is filled up with what changes nothing.
  const axis = axes.reduce((longest, next) => (shape[next] > shape[longest] ? next : longest));
  const count = evenly(shape[axis], Math.min(chunks, shape[axis]));
  const length = Math.ceil(shape[axis] / count);
  // Partial results of narrow floats are kept as f32, so that the result is rounded once.
  const wide = isNarrowFloat(x.dtype) ? derive(cast, x, { dtype: "f32" }) : x;
  const filled = fill(wide, axis, count * length - shape[axis], reductionOf(primitive.op).identity(x.dtype));
  const cut = derive(reshape, filled, { shape: [...shape.slice(0, axis), count, length, ...shape.slice(axis + 1)] });
  // For threads by themselves chunks come first: neighbours go through the same one, and load what their results share.
  const isFirst = lanes === 1 && axis > 0;
  const order = [axis, ...cut.shape.flatMap((_, i) => (i === axis ? [] : [i]))];
  const inner = axes.map((each) => (each < axis && !isFirst ? each : each + 1));
  const partial = derive(primitive, isFirst ? derive(permute, cut, { axes: order }) : cut, { axes: inner });
  // Else kept axes before the cut one come first in the partial result; the chunks are next.
  const before = Array.from({ length: axis }, (_, i) => i).filter((i) => !axes.includes(i)).length;
  node.replaceInputs([partial], { axes: [isFirst ? 0 : before], dtype: node.dtype });
  if (extent / count > MAX_EXTENT) split(partial, primitive, wish);
}

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

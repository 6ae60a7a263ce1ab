/**
 * Attention written by hand becomes the primitive: a product, a factor, perhaps a bias, a mask, a softmax, a product. Its kernel
 * (routines/attention/) never stores the scores. It rounds less often than the operations one by one would: f16 and bf16 scores
 * stay f32. A row in which nothing is seen is NaN, as the softmax of it is.
 *
 * Only where nothing else uses the scores or the weights: a gradient written into the same program does, and needs them stored
 * anyway. `attention` itself has a gradient without them.
 */
import { productOf, sameShape } from "../../core/shape.js";
import { type Node, pendingInOrder } from "../../graph/node.js";
import type { Primitive } from "../../graph/primitive.js";
import { type AttentionParams, attentionNodes } from "../../graph/primitives/attention.js";
import { dot } from "../../graph/primitives/dot.js";
import * as E from "../../graph/primitives/elementwise.js";
import { constant, iota } from "../../graph/primitives/leaf.js";
import { expand, permute, reshape } from "../../graph/primitives/movement.js";
import * as R from "../../graph/primitives/reduce.js";
import { g } from "../../graph/vocabulary.js";
import { isExpandedAttention } from "../routines/attention/plan.js";
import type { TileProfile } from "../target/tile-profile.js";
import { rewriteNodes } from "./rewriter.js";

/** The parts of an attention, as nodes of the graph. */
interface Written {
  readonly scores: Node;
  /** Leading axes, queries, keys. */
  readonly shape: readonly number[];
  readonly scale: number;
  readonly isCausal: boolean;
  readonly mask: { readonly node: Node; readonly isHiding: boolean } | null;
  readonly bias: Node | null;
  /** Nodes that the attention kernel replaces and never stores. If another node reads one, the attention stays as written. */
  readonly inner: ReadonlySet<Node>;
}

export function findAttention(roots: readonly Node[], tiles: TileProfile): readonly Node[] {
  if (tiles.kind === "none") return roots;
  const order = pendingInOrder(roots);
  const products = order.filter(({ primitive, storage }) => primitive === dot && storage === null);
  if (products.length < 2) return roots;
  const users = usersIn(order, roots);
  const found = new Map<Node, Written>();
  for (const product of products) {
    const written = attentionAt(product);
    const isOwn = (node: Node) =>
      users.get(node)?.every((user) => user === product || written?.inner.has(user as Node));
    if (written && [...written.inner].every(isOwn)) found.set(product, written);
  }
  if (found.size === 0) return roots;
  const copies = new Map<Node, Node>();
  const copied = (node: Node) => copies.get(node) as Node;
  return rewriteNodes(roots, copies, (node) => {
    const written = found.get(node);
    return written ? attentionFor(node, written, copied, tiles) : null;
  });
}

/** The users of each node; a root is used from outside. */
function usersIn(order: readonly Node[], roots: readonly Node[]): Map<Node, (Node | null)[]> {
  const users = new Map<Node, (Node | null)[]>();
  const add = (node: Node, user: Node | null) => users.set(node, [...(users.get(node) ?? []), user]);
  for (const node of order) for (const input of node.inputs) add(input, node);
  for (const root of roots) add(root, null);
  return users;
}

/** The primitive in place of the second product; null where its definition would be computed anyway. */
function attentionFor(product: Node, written: Written, copied: (node: Node) => Node, tiles: TileProfile): Node | null {
  const { shape, scores, scale, isCausal, mask, bias } = written;
  const lead = shape.slice(0, -2);
  const heads = lead.at(-1) ?? 1;
  const batch = productOf(lead) / heads;
  const split = (node: Node) => g.reshape(node, [batch, heads, ...node.shape.slice(1)]);
  const inputs = [
    split(copied(scores.inputs[0])),
    split(turned(copied(scores.inputs[1]))),
    split(copied(product.inputs[1])),
  ];
  const over = [bias, mask?.node ?? null].map((node) => node && overScores(copied(node), shape));
  const params: AttentionParams = {
    ...{ scale, left: Infinity, right: isCausal ? 0 : Infinity, emptyRow: NaN },
    ...{ hasBias: bias !== null, hasMask: mask !== null, hasLength: false },
  };
  const [ofBias, ofMask] = over;
  const seen = ofMask && mask?.isHiding ? g.equal(ofMask, g.zeros(ofMask.shape, ofMask)) : ofMask;
  if ((bias && !ofBias) || (mask && !seen)) return null;
  const optional = [ofBias, seen].filter((node) => node !== null);
  const [out] = attentionNodes(g, [...inputs, ...optional], params);
  return isExpandedAttention(out.inputs[0], tiles) ? null : g.reshape(out, product.shape);
}

/** [n, d, s] as [n, s, d]; what was turned before is turned back, so that nothing is copied. */
function turned(node: Node): Node {
  const [from] = node.primitive === reshape ? node.inputs : [node];
  const { axes } = from.params as { axes?: readonly number[] };
  const rank = from.shape.length;
  const isTurned =
    from.primitive === permute &&
    rank >= 2 &&
    axes?.every((axis, i) => axis === (i < rank - 2 ? i : 2 * rank - 3 - i)) &&
    from.shape.at(-1) === node.shape.at(-1) &&
    from.shape.at(-2) === node.shape.at(-2);
  if (!isTurned) return g.transposed(node);
  return g.reshape(from.inputs[0], [node.shape[0], node.shape[2], node.shape[1]]);
}

/**
 * A bias or mask before it was broadcast to the scores, as [batch or 1, heads or 1, queries or 1, keys or 1]. Null where only
 * some of the batch axes are broadcast.
 */
function overScores(node: Node, shape: readonly number[]): Node | null {
  const source = node.primitive === expand ? node.inputs[0] : node;
  const aligned = [...new Array(shape.length - source.shape.length).fill(1), ...source.shape] as number[];
  const lead = shape.slice(0, -2);
  const [outer, head] = [aligned.slice(0, Math.max(0, lead.length - 1)), aligned.slice(0, lead.length).at(-1) ?? 1];
  const isOne = outer.every((extent) => extent === 1);
  if (!isOne && !outer.every((extent, axis) => extent === lead[axis])) return null;
  return g.reshape(source, [productOf(outer), head, ...aligned.slice(-2)]);
}

/** Reads an attention backwards, from its second product. */
function attentionAt(product: Node): Written | null {
  const inner = new Set<Node>();
  /** The node behind operations that change neither values nor their order, beyond rounding. */
  const behind = (node: Node, kinds: readonly Primitive[]): Node => {
    let at = node;
    while (kinds.includes(at.primitive) && at.storage === null) {
      inner.add(at);
      at = at.inputs[0];
    }
    return at;
  };
  const is = (node: Node, primitive: Primitive): boolean => {
    if (node.storage !== null || node.primitive !== primitive) return false;
    inner.add(node);
    return true;
  };
  if (product.params.precision !== undefined) return null;
  const weights = behind(product.inputs[0], [reshape, E.cast]);
  const isQuotient = is(weights, E.div);
  if (!isQuotient && !is(weights, E.mul)) return null;
  const [powers, share] = weights.inputs;
  const repeated = behind(share, [expand, reshape]);
  if (!isQuotient && !is(repeated, E.reciprocal)) return null;
  const total = behind(isQuotient ? repeated : repeated.inputs[0], [reshape]);
  if (!is(powers, E.exp) || !is(total, R.sum) || total.inputs[0] !== powers || !isAlongLast(total)) return null;
  const [difference] = powers.inputs;
  if (!is(difference, E.sub)) return null;
  const [shifted, shift] = difference.inputs;
  const largest = behind(shift, [expand, reshape]);
  if (!is(largest, R.max) || largest.inputs[0] !== shifted || !isAlongLast(largest)) return null;
  return scoresAt(product, shifted, inner, behind);
}

const isAlongLast = ({ params, inputs: [x] }: Node): boolean => String(params.axes) === String([x.shape.length - 1]);

/** Reads the scores backwards: mask, bias, factor, product. */
function scoresAt(
  product: Node,
  shifted: Node,
  inner: Set<Node>,
  behind: (node: Node, kinds: readonly Primitive[]) => Node,
): Written | null {
  const { shape } = shifted;
  let at = behind(shifted, [E.cast]);
  let [scale, isCausal]: [number, boolean] = [1, false];
  let [mask, bias]: [Written["mask"], Node | null] = [null, null];
  for (; at.storage === null && at.primitive !== dot; at = behind(at, [E.cast])) {
    inner.add(at);
    const { primitive, inputs } = at;
    const [a, b] = inputs;
    const isOverScores = sameShape(at.shape, shape) && scale === 1;
    if (primitive === E.where && isOverScores) {
      const isHiding = isLowest(b);
      const kept = isHiding ? inputs[2] : b;
      if (!isHiding && !isLowest(inputs[2])) return null;
      if (isCausalMask(a, isHiding)) isCausal = true;
      else if (mask) return null;
      else mask = { node: a, isHiding };
      at = kept;
    } else if (primitive === E.add && isOverScores && !bias) {
      const [own, other] = isFromProduct(a) ? [a, b] : [b, a];
      bias = other;
      at = own;
    } else if ((primitive === E.mul || primitive === E.div) && b.primitive === constant && b.storage === null) {
      const factor = Number(b.params.value);
      scale *= primitive === E.mul ? factor : 1 / factor;
      at = a;
    } else if (primitive === reshape) at = a;
    else return null;
  }
  const [, queries, keys] = at.shape;
  const isProduct = at.storage === null && at.primitive === dot && at.params.precision === undefined;
  if (!isProduct || shape.at(-1) !== keys || shape.at(-2) !== queries || at.shape[0] !== product.shape[0]) return null;
  inner.add(at);
  const isOfOneDType = [at, product].every(({ dtype }) => dtype === product.dtype);
  const isSquare = (axes: readonly number[]) => productOf(axes.slice(0, -2)) === product.shape[0];
  const isFloat = ["f16", "bf16", "f32", "f64"].includes(product.dtype);
  if (!isOfOneDType || !isFloat || !Number.isFinite(scale) || scale === 0 || !isSquare(shape)) return null;
  return { scores: at, shape, scale, isCausal, mask, bias, inner };
}

/** Whether a term of the scores is the product: it may be scaled, a bias is something else. */
function isFromProduct(node: Node): boolean {
  let at = node;
  while (at.storage === null && [reshape, E.cast, E.mul, E.div].includes(at.primitive as never)) at = at.inputs[0];
  return at.storage === null && at.primitive === dot;
}

const isLowest = ({ primitive, params, storage }: Node): boolean =>
  primitive === constant && storage === null && params.value === -Infinity;

/** Whether a mask compares positions so that keys behind the query are hidden. `isHiding`: it is true where a key is hidden. */
function isCausalMask(mask: Node, isHiding: boolean): boolean {
  const at = withoutRepeats(mask);
  if (at.storage !== null || at.shape.length < 2) return false;
  const { primitive, inputs } = at;
  const queryFirst = isHiding ? E.less : E.greaterEqual;
  const keyFirst = isHiding ? E.greater : E.lessEqual;
  if (primitive !== queryFirst && primitive !== keyFirst) return false;
  const [query, key] = primitive === queryFirst ? inputs : [inputs[1], inputs[0]];
  return countsAlong(query, at.shape.length - 2) && countsAlong(key, at.shape.length - 1);
}

/** The node behind repeats along leading axes. */
function withoutRepeats(node: Node): Node {
  let at = node;
  const isOuter = ({ primitive, shape, inputs: [x], storage }: Node) =>
    storage === null &&
    (primitive === expand || primitive === reshape) &&
    x.shape.length >= 2 &&
    x.shape.at(-1) === shape.at(-1) &&
    x.shape.at(-2) === shape.at(-2) &&
    (primitive === expand || productOf(x.shape) === productOf(x.shape.slice(-2)));
  while (isOuter(at)) at = at.inputs[0];
  return at;
}

/** Whether elements are 0, 1, 2 … along an axis, and the same along the others. */
function countsAlong(node: Node, axis: number): boolean {
  let at = node;
  while (at.storage === null && at.primitive === E.cast) at = at.inputs[0];
  const repeated = at.primitive === expand && at.storage === null ? at.inputs[0] : at;
  const source = repeated.primitive === reshape && repeated.storage === null ? repeated.inputs[0] : repeated;
  const line = source.primitive === E.cast && source.storage === null ? source.inputs[0] : source;
  const isLine = repeated.shape.every((extent, i) => (i === axis ? extent === line.shape[0] : extent === 1));
  return line.storage === null && line.primitive === iota && line.shape.length === 1 && isLine;
}

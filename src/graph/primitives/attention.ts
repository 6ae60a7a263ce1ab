/**
 * Attention: for each query the mean of the values, weighted by the softmax of its scores with the keys. Its kernels never
 * store the scores (compiler/routines/attention/); `expand` is the definition in products and a softmax, which the second
 * derivatives, forward mode and functions inside larger kernels use.
 *
 * Inputs of `attention`: q [B, H, T, d], k [B, G, S, d], v [B, G, S, e], of one dtype, with H a multiple of G: H / G
 * neighbouring query heads share a key head. Then those that `AttentionParams` announces. Results: the output [B, H, T, e]
 * and the logarithm of the sum of exponentials of each row of scores, [B, H, T], -inf where a query sees no key. Such a query
 * has an output of zeros, unless the parameters say otherwise. f16 and bf16 are computed in f32.
 */
import type { DType } from "../../core/dtype.js";
import { makePlaceholder, substitute } from "../function.js";
import type { Node } from "../node.js";
import type { BatchedInput, RoutinePrimitive } from "../primitive.js";
import type { GraphOps } from "../vocabulary.js";
import { inferBundle, partsOf } from "./bundle.js";
import { accumulatorDType } from "./dot.js";
import { stopped } from "./movement.js";
import * as R from "./reduce.js";

export interface AttentionParams {
  readonly scale: number;
  /** A query at i sees keys from i - left to i + right; either may be Infinity. */
  readonly left: number;
  readonly right: number;
  /** Added to the scores: floats that broadcast to [B, H, T, S], with each axis whole or 1. */
  readonly hasBias: boolean;
  /** Says which keys each query sees: bools that broadcast likewise. */
  readonly hasMask: boolean;
  /** The number of keys that count, i32 [B]. */
  readonly hasLength: boolean;
  /** The output of a query that sees no key: 0, or NaN, as the softmax of nothing is. */
  readonly emptyRow: number;
}

/** The inputs of attention by name. */
interface AttentionInputs<T> {
  readonly q: T;
  readonly k: T;
  readonly v: T;
  readonly bias: T | null;
  readonly mask: T | null;
  readonly length: T | null;
  /** The other inputs, after those. */
  readonly rest: readonly T[];
}

export function attentionInputs<T>(inputs: readonly T[], params: AttentionParams): AttentionInputs<T> {
  const [q, k, v, ...others] = inputs;
  const next = (isThere: boolean): T | null => (isThere ? (others.shift() as T) : null);
  return {
    q,
    k,
    v,
    bias: next(params.hasBias),
    mask: next(params.hasMask),
    length: next(params.hasLength),
    rest: others,
  };
}

export const attentionParams = ({ params }: Node): AttentionParams => params as unknown as AttentionParams;

/** The output and the logarithms of sums of exponentials. */
export function attentionNodes(g: GraphOps, inputs: readonly Node[], params: AttentionParams): [Node, Node] {
  const [q, , v] = inputs;
  const rows = q.shape.slice(0, 3);
  const outputs = [
    { shape: [...rows, v.shape[3]], dtype: q.dtype },
    { shape: rows, dtype: accumulatorDType(q.dtype) },
  ];
  return partsOf(g.move(attention, inputs, { ...named(params), outputs })) as [Node, Node];
}

/** The parameters alone: a bundle has its outputs beside them. */
const named = ({ scale, left, right, hasBias, hasMask, hasLength, emptyRow }: AttentionParams) => ({
  ...{ scale, left, right, hasBias, hasMask, hasLength, emptyRow },
});

export const attention: RoutinePrimitive = {
  name: "attention",
  kind: "routine",
  infer: inferBundle,
  expand: (g, node, inputs) => {
    const given = attentionInputs(inputs, attentionParams(node));
    const scores = scoresOf(g, given, attentionParams(node));
    const largest = g.move(R.max, [g.move(stopped, [scores], {})], { axes: [3] });
    const shift = g.where(g.equal(largest, -Infinity), 0, largest);
    const powers = g.exp(g.sub(scores, g.unreduce(shift, scores.shape, [3])));
    const total = g.sum(powers, [3]);
    const isEmpty = g.equal(total, 0);
    const summed = alongKeys(g, powers, g.cast(given.v, scores.dtype));
    const divisor = g.unreduce(g.where(isEmpty, 1, total), summed.shape, [3]);
    const shares = g.div(summed, divisor);
    const { emptyRow } = attentionParams(node);
    const filled = emptyRow === 0 ? shares : g.where(g.unreduce(isEmpty, summed.shape, [3]), emptyRow, shares);
    const out = g.cast(filled, given.q.dtype);
    // The logarithm of 0 has no slope, so it is taken of 1 there.
    const logs = g.add(shift, g.log(g.where(isEmpty, 1, total)));
    return [out, g.where(isEmpty, -Infinity, logs)];
  },
  bundle: {
    jvp: (g, node, tangents) => byDefinition(g, node, tangents, g.pushForward),
    vjp: (g, node, [ofOut, ofLogs]) => {
      const params = attentionParams(node);
      const [out, logs] = partsOf(node);
      const ct = ofOut ?? g.zeros(out.shape, out);
      const wide = (x: Node) => g.cast(x, logs.dtype);
      const shared = g.sum(g.mul(wide(ct), wide(out)), [3]);
      const delta = ofLogs ? g.sub(shared, ofLogs) : shared;
      const inputs = [...node.inputs, ct, logs, delta];
      const outputs = node.inputs.slice(0, 3).map(({ shape, dtype }) => ({ shape: [...shape], dtype }));
      const ofFirst = partsOf(g.move(attentionGradient, inputs, { ...named(params), outputs }));
      const { bias } = attentionInputs(node.inputs, params);
      const ofBias = bias ? [g.sumTo(scoreCotangents(g, inputs, params).ofScores, bias.shape)] : [];
      return node.inputs.map((_, i) => [...ofFirst, ...ofBias][i] ?? null);
    },
    batch: (g, node, inputs, size) => batched(g, node, inputs, size),
  },
};

/**
 * The cotangents of q, k and v. Inputs: those of attention, then the cotangent of the output, the logarithms of the sums, and
 * for each row the sum of the cotangent times the output (less the cotangent of the logarithm): Dao et al., FlashAttention,
 * 2022.
 */
export const attentionGradient: RoutinePrimitive = {
  name: "attentionGradient",
  kind: "routine",
  infer: inferBundle,
  expand: (g, node, inputs) => {
    const params = attentionParams(node);
    const { q, k, v, rest } = attentionInputs(inputs, params);
    const { weights, ofScores } = scoreCotangents(g, inputs, params);
    const wide = (x: Node) => g.cast(x, weights.dtype);
    const ofQ = g.mul(alongKeys(g, ofScores, wide(k)), params.scale);
    const ofK = g.mul(alongQueries(g, ofScores, wide(q), k.shape), params.scale);
    const ofV = alongQueries(g, weights, wide(rest[0]), v.shape);
    return [ofQ, ofK, ofV].map((x) => g.cast(x, q.dtype));
  },
  bundle: {
    jvp: (g, node, tangents) => byDefinition(g, node, tangents, g.pushForward),
    vjp: (g, node, cotangents) => byDefinition(g, node, cotangents, g.pullBack),
    batch: (g, node, inputs, size) => batched(g, node, inputs, size),
  },
};

/** Derivatives of the definition. It is written for placeholders: inputs may depend on one another. */
function byDefinition(
  g: GraphOps,
  node: Node,
  changes: readonly (Node | null)[],
  mode: GraphOps["pushForward"] | GraphOps["pullBack"],
): readonly (Node | null)[] {
  const stand = node.inputs.map(makePlaceholder);
  const define = node.primitive === attention ? attention.expand : attentionGradient.expand;
  const results = define?.(g, node, stand) as readonly Node[];
  const made = mode === g.pushForward ? g.pushForward(results, stand, changes) : g.pullBack(results, changes, stand);
  const present = substitute(
    made.filter((each) => each !== null),
    stand,
    node.inputs,
  );
  return made.map((each) => each && (present.shift() as Node));
}

/** Scores [B, H, T, S], scaled and biased, -inf where a query does not see a key. */
function scoresOf(g: GraphOps, { q, k, bias, mask, length }: AttentionInputs<Node>, params: AttentionParams): Node {
  const wide = accumulatorDType(q.dtype);
  const [batch, heads, queries] = q.shape;
  const keys = k.shape[2];
  const left = g.mul(g.cast(q, wide), params.scale);
  const products = g.dot(byKeyHead(g, left, k.shape[1]), g.transposed(byKeyHead(g, g.cast(k, wide), k.shape[1])));
  const scores = g.reshape(products, [batch, heads, queries, keys]);
  const whole = (x: Node) => g.broadcast(x, scores.shape);
  const biased = bias ? g.add(scores, whole(g.cast(bias, wide))) : scores;
  const [i, j] = [g.counting(scores.shape, 2, q), g.counting(scores.shape, 3, q)];
  const seen: Node[] = [];
  if (params.left < queries) seen.push(g.greaterEqual(j, g.sub(i, params.left)));
  if (params.right < keys) seen.push(g.greaterEqual(g.add(i, params.right), j));
  if (mask) seen.push(whole(mask));
  if (length) seen.push(g.less(j, whole(g.reshape(length, [batch, 1, 1, 1]))));
  return seen.length === 0 ? biased : g.where(seen.reduce(g.and), biased, -Infinity);
}

/** The weights, and the cotangents of the scores, [B, H, T, S], from the inputs of the gradient. */
function scoreCotangents(g: GraphOps, inputs: readonly Node[], params: AttentionParams) {
  const given = attentionInputs(inputs, params);
  const [ct, logs, delta] = given.rest;
  const scores = scoresOf(g, given, params);
  const wide = (x: Node) => g.cast(x, scores.dtype);
  const perRow = (x: Node) => g.unreduce(x, scores.shape, [3]);
  const isUnseen = g.equal(scores, -Infinity);
  // A query that sees no key has a logarithm of -inf, too: the difference would be NaN.
  const weights = g.where(isUnseen, 0, g.exp(g.where(isUnseen, 0, g.sub(scores, perRow(logs)))));
  const keyHeads = given.v.shape[1];
  const products = g.dot(byKeyHead(g, wide(ct), keyHeads), g.transposed(byKeyHead(g, wide(given.v), keyHeads)));
  const ofScores = g.mul(weights, g.sub(g.reshape(products, scores.shape), perRow(delta)));
  return { weights, ofScores };
}

/** [B, H, T, n] as [B · G, H / G · T, n]: the rows that meet one key head. */
function byKeyHead(g: GraphOps, x: Node, keyHeads: number): Node {
  const [batch, heads, rows, n] = x.shape;
  return g.reshape(x, [batch * keyHeads, (heads / keyHeads) * rows, n]);
}

/** Sums over keys: weights [B, H, T, S] and x [B, G, S, n] → [B, H, T, n]. */
function alongKeys(g: GraphOps, weights: Node, x: Node): Node {
  const [batch, heads, queries] = weights.shape;
  const [, keyHeads, keys, n] = x.shape;
  const products = g.dot(byKeyHead(g, weights, keyHeads), g.reshape(x, [batch * keyHeads, keys, n]));
  return g.reshape(products, [batch, heads, queries, n]);
}

/** Sums over queries, and over the query heads of a key head: weights [B, H, T, S] and x [B, H, T, n] → [B, G, S, n]. */
function alongQueries(g: GraphOps, weights: Node, x: Node, shape: readonly number[]): Node {
  const turned = g.transposed(byKeyHead(g, weights, shape[1]));
  return g.reshape(g.dot(turned, byKeyHead(g, x, shape[1])), shape);
}

/** A batch of members is more of the first axis. */
function batched(g: GraphOps, node: Node, inputs: readonly BatchedInput[], size: number): readonly BatchedInput[] {
  const params = attentionParams(node);
  const [own] = node.inputs[0].shape;
  const { bias, mask } = attentionInputs([...inputs.keys()], params);
  const merged = inputs.map(({ node: each, isBatched }, at) => {
    const isBroadcast = (at === bias || at === mask) && node.inputs[at].shape[0] === 1;
    if (!isBatched && isBroadcast) return each;
    const whole = isBatched ? each : g.broadcast(each, [size, ...each.shape]);
    const [, first, ...last] = whole.shape;
    const filled = first === own ? whole : g.broadcast(whole, [size, own, ...last]);
    return g.reshape(filled, [size * own, ...last]);
  });
  const outputs = node.params.outputs as readonly { readonly shape: readonly number[]; readonly dtype: DType }[];
  const longer = outputs.map(({ shape, dtype }) => ({ shape: [size * own, ...shape.slice(1)], dtype }));
  const made = partsOf(g.move(node.primitive, merged, { ...named(params), outputs: longer }));
  return made.map((each, i) => ({ node: g.reshape(each, [size, ...outputs[i].shape]), isBatched: true }));
}

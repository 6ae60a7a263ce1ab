/**
 * The function `attention`: scaled dot-product attention over heads. It checks its arguments, brings them to the shapes of the
 * primitive (graph/primitives/attention.ts), and the compiler chooses the kernels.
 */
import { checkOptions, type OptionKinds } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { type DType, isFloat } from "../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../core/errors.js";
import { broadcastShapes, formatShape, type Shape, sizeOf } from "../core/shape.js";
import { shown } from "../core/shown.js";
import type { Node } from "../graph/node.js";
import { attentionNodes } from "../graph/primitives/attention.js";
import { accumulatorDType } from "../graph/primitives/dot.js";
import { g } from "../graph/vocabulary.js";
import { broadcastNode, castNode, checkOneDevice, commonDType, reshapeNode, scalarNode } from "./build.js";
import type { MeetingOf } from "./result-dtypes.js";
import type { Tensor } from "./tensor.js";
import { checkTensor, isTensor } from "./tensor-checks.js";

/** Options of `attention`. */
export interface AttentionOptions {
  /** A query sees no key behind its own position; false. Both count from their first, also where lengths differ. */
  readonly causal?: boolean;
  /** Which keys each query sees, true for those: bools that broadcast to [..., heads, queries, keys]. */
  readonly mask?: Tensor;
  /** Added to the scaled scores: floats that broadcast to [..., heads, queries, keys]. */
  readonly bias?: Tensor;
  /** The factor of the scores; 1 / √d. */
  readonly scale?: number;
  /** The keys that a query sees: so many to either side of its own position, or [before, behind]; Infinity for no limit. */
  readonly window?: number | readonly [before: number, behind: number];
  /** The number of keys that count, from the first on: a number, or integers that broadcast to the leading axes. */
  readonly keyLength?: number | Tensor;
}

// biome-ignore format: a row for each kind
const ATTENTION: OptionKinds<AttentionOptions> = {
  causal: "flag", mask: "any", bias: "any", scale: "number", window: "numbers", keyLength: "any",
};

/**
 * Attention: softmax(q·kᵀ·scale)·v of queries [..., heads, tokens, d], keys [..., key heads, keys, d] and values
 * [..., key heads, keys, e]. With fewer key heads than query heads, neighbouring query heads share one.
 *
 * The scores are never in memory as a whole, neither on the way there nor on the way back: memory grows linearly with the
 * lengths. f16 and bf16 are computed in f32. A query that sees no key gives zeros, and zero gradients. A bias of -inf hides a
 * key, as the mask does; NaN or +inf among the scores that a query sees makes its result NaN. Hidden keys have weight 0; their
 * values must be finite, since 0 · NaN is NaN.
 */
export function attention<D extends DType, E extends DType, F extends DType>(
  q: Tensor<D>,
  k: Tensor<E>,
  v: Tensor<F>,
  options: AttentionOptions = {},
): Tensor<MeetingOf<MeetingOf<D, E>, F>> {
  checkCount("attention", 4, arguments);
  checkOptions("attention", options, ATTENTION);
  checkTensor("attention", "q", q);
  checkTensor("attention", "k", k);
  checkTensor("attention", "v", v);
  const { mask, bias, keyLength } = options;
  if (mask !== undefined) checkTensor("attention", "the mask", mask);
  if (bias !== undefined) checkTensor("attention", "the bias", bias);
  const others = [mask, bias, keyLength].filter((each): each is Tensor => isTensor(each));
  checkOneDevice(
    "attention",
    [q, k, v, ...others].map(({ node }) => node),
  );
  const shape = shapesOf(q.shape, k.shape, v.shape);
  const dtype = commonDType("attention", [q.node, k.node, v.node]);
  if (!isFloat(dtype)) throw new DTypeError(`attention: takes floats, not ${dtype}; cast q, k and v first.`);
  const { lead, heads, queries, keys, depth } = shape;
  const batch = sizeOf(lead);
  const { factor, scale } = scaleOf(options.scale, depth, dtype);
  const asked = factor === 1 ? q : q.cast(dtype).mul(factor);
  const first = [asked, k, v].map(({ node }) => {
    const own = node.shape.slice(-3);
    return reshapeNode(broadcastNode(castNode(node, dtype), [...lead, ...own]), [batch, ...own]);
  });
  const scores = [heads, queries, keys];
  const optional = [
    bias && overScores("bias", biasNode(bias, dtype), lead, scores),
    mask && overScores("mask", maskNode(mask), lead, scores),
    keyLength === undefined ? undefined : lengthNode(keyLength, lead, q.node),
  ];
  const [before, behind] = windowOf(options.window);
  const params = {
    scale,
    left: before,
    right: options.causal ? 0 : behind,
    emptyRow: 0,
    ...{ hasBias: !!bias, hasMask: !!mask, hasLength: keyLength !== undefined },
  };
  const [out] = attentionNodes(g, [...first, ...optional.filter((each) => each !== undefined)], params);
  return q.tensorOf(reshapeNode(out, [...lead, ...out.shape.slice(1)]));
}

/** The extents of a call; throws where the shapes do not fit. */
function shapesOf(q: Shape, k: Shape, v: Shape) {
  const all = `q ${formatShape(q)}, k ${formatShape(k)}, v ${formatShape(v)}`;
  const wrong = (why: string) =>
    new ShapeError(
      `attention: ${all}; ${why}. The axes are [..., heads, tokens, d]; k and v may have fewer heads, and v another d.`,
    );
  if ([q, k, v].some((shape) => shape.length < 3)) throw wrong("each needs three axes or more");
  const [heads, queries, depth] = q.slice(-3);
  const [keyHeads, keys, keyDepth] = k.slice(-3);
  const [valueHeads, values] = v.slice(-3);
  if (keyHeads !== valueHeads || keys !== values) throw wrong("k and v must have the same heads and tokens");
  if (depth !== keyDepth) throw wrong(`queries of ${depth} and keys of ${keyDepth} numbers have no product`);
  if (keyHeads === 0 ? heads > 0 : heads % keyHeads !== 0) {
    throw wrong(`${heads} query heads cannot share ${keyHeads} key heads evenly`);
  }
  const lead = broadcastShapes("attention", ...[q, k, v].map((shape) => shape.slice(0, -3)));
  return { lead, heads, queries, keys, depth };
}

function biasNode({ node }: Tensor, dtype: DType): Node {
  if (!isFloat(node.dtype)) {
    throw new DTypeError(
      `attention: the bias is added to scores and takes floats, not ${node.dtype}; cast it, or give a mask.`,
    );
  }
  const wide = accumulatorDType(dtype);
  return node.dtype === "f64" ? castNode(node, wide) : node;
}

function maskNode({ node }: Tensor): Node {
  if (node.dtype === "bool") return node;
  throw new DTypeError(
    `attention: the mask takes bools, true where a key is seen, not ${node.dtype}; give numbers to add as the bias.`,
  );
}

/** An operand that broadcasts to the scores, as [B or 1, heads or 1, queries or 1, keys or 1]. */
function overScores(what: string, node: Node, lead: Shape, scores: Shape): Node {
  const whole = [...lead, ...scores];
  const { shape } = node;
  const aligned = [...new Array(Math.max(0, whole.length - shape.length)).fill(1), ...shape];
  if (shape.length > whole.length || !aligned.every((extent, i) => extent === 1 || extent === whole[i])) {
    throw new ShapeError(
      `attention: a ${what} of ${formatShape(shape)} does not broadcast to the scores ${formatShape(whole)}, ` +
        "[..., heads, queries, keys].",
    );
  }
  const own = aligned.slice(lead.length);
  const isShared = aligned.slice(0, lead.length).every((extent) => extent === 1);
  if (isShared) return reshapeNode(node, [1, ...own]);
  return reshapeNode(broadcastNode(reshapeNode(node, aligned), [...lead, ...own]), [sizeOf(lead), ...own]);
}

function lengthNode(given: number | Tensor, lead: Shape, like: Node): Node {
  if (typeof given === "number") {
    if (!Number.isInteger(given) || given < 0) {
      throw new ArgumentError(`attention: a keyLength of ${given}; give the number of keys that count, 0 or more.`);
    }
    return scalarNode(Math.min(given, 2 ** 31 - 1), "i32", like.device, [sizeOf(lead)]);
  }
  checkTensor("attention", "the keyLength", given);
  const { node } = given;
  if (node.dtype === "bool" || isFloat(node.dtype) || node.dtype === "c64" || node.dtype === "c128") {
    throw new DTypeError(`attention: a keyLength of ${node.dtype}; give integers, the number of keys that count.`);
  }
  const shape = broadcastShapes("attention, keyLength", lead, node.shape);
  if (shape.length !== lead.length || shape.some((extent, i) => extent !== lead[i])) {
    throw new ShapeError(
      `attention: a keyLength of ${formatShape(node.shape)} for leading axes ${formatShape(lead)}; give one for each, or one for all.`,
    );
  }
  return reshapeNode(broadcastNode(castNode(node, "i32"), lead), [sizeOf(lead)]);
}

function windowOf(given: AttentionOptions["window"]): readonly [number, number] {
  if (given === undefined) return [Infinity, Infinity];
  const sides = typeof given === "number" ? [given, given] : given;
  const isCount = (n: number) => n === Infinity || (Number.isInteger(n) && n >= 0);
  if (sides.length !== 2 || !sides.every(isCount)) {
    throw new ArgumentError(
      `attention: a window of ${shown(given)}; give the number of keys seen to either side, or [before, behind], each 0 or more.`,
    );
  }
  return [sides[0], sides[1]];
}

/**
 * The factor of the scores. The kernels have one built in; another than the usual one multiplies the queries, so that it takes no
 * other program. Queries of f16 and bf16 would be rounded once more by that.
 */
function scaleOf(given: number | undefined, depth: number, dtype: DType): { factor: number; scale: number } {
  const usual = depth > 0 ? 1 / Math.sqrt(depth) : 1;
  if (given === undefined || given === usual) return { factor: 1, scale: usual };
  if (!Number.isFinite(given)) throw new ArgumentError(`attention: a scale of ${given}; give a finite number.`);
  return dtype === accumulatorDType(dtype) ? { factor: given, scale: 1 } : { factor: 1, scale: given };
}

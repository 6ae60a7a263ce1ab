/**
 * Attention with its weights in memory, for options that the core's `attention` does not have: dropout of the weights and scores that are capped.
 * Without these it gives the same numbers.
 */
import { isNarrowFloat } from "../../core/dtype.js";
import { type Tensor, where } from "../../tensor/index.js";

/** What goes into the weights besides queries and keys. */
interface WeightOptions {
  readonly scale: number;
  /** Bools that broadcast to [..., heads, queries, keys]. */
  readonly mask?: Tensor;
  /** Floats that broadcast likewise. */
  readonly bias?: Tensor;
  /** Scores are cap · tanh(score / cap). */
  readonly softcap?: number;
  /** Drops weights. */
  readonly dropped?: (weights: Tensor) => Tensor;
}

/** Attention of q [..., heads, queries, d] over k and v [..., key heads, keys, d]. A query that sees no key gives zeros. */
export function attentionByWeights(q: Tensor, k: Tensor, v: Tensor, options: WeightOptions): Tensor {
  const { scale, mask, bias, softcap, dropped } = options;
  const [heads, queries] = q.shape.slice(-3) as [number, number];
  const keyHeads = k.shape[k.rank - 3] as number;
  const group = heads / keyHeads;
  const lead = q.shape.slice(0, -3);
  // Query heads that share a key head are rows of one product.
  const rows = q.reshape([...lead, keyHeads, group * queries, q.shape[q.rank - 1] as number]);
  const split = [...lead, heads, queries, k.shape[k.rank - 2] as number];
  const wide = (isNarrowFloat(q.dtype) ? rows.matmul(k.mT).cast("f32") : rows.matmul(k.mT)) as Tensor;
  let scores = wide.reshape(split).mul(scale);
  if (softcap !== undefined) scores = scores.div(softcap).tanh().mul(softcap);
  if (bias) scores = scores.add(bias.cast(scores.dtype));
  const weights = mask ? maskedSoftmax(scores, mask) : (scores.softmax({ axis: -1 }) as Tensor);
  const kept = (dropped ? dropped(weights) : weights).cast(v.dtype) as Tensor;
  const mixed = kept.reshape([...lead, keyHeads, group * queries, split.at(-1) as number]).matmul(v);
  return mixed.reshape([...lead, heads, queries, v.shape[v.rank - 1] as number]);
}

/** Softmax over the keys that are seen; zeros where there is none. */
function maskedSoftmax(scores: Tensor, mask: Tensor): Tensor {
  const sees = mask.any({ axis: -1, keepDims: true });
  // A row without keys is a row of zeros on the way, so that no NaN comes up, neither there nor in gradients.
  const shown = where(mask, scores, where(sees, Number.NEGATIVE_INFINITY, 0));
  return where(sees, shown.softmax({ axis: -1 }), 0).cast(scores.dtype) as Tensor;
}

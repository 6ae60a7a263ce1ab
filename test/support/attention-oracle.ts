/** Attention and its gradients in plain loops of f64, one query at a time, from the definition. */
import { flatIndex, type Plain, plainOf, read } from "./tensors.js";

export interface AttentionCase {
  /** q [B, H, T, d], k [B, G, S, d], v [B, G, S, e]. */
  readonly q: Plain;
  readonly k: Plain;
  readonly v: Plain;
  readonly scale?: number;
  readonly before?: number;
  readonly behind?: number;
  /** Both have four axes, each whole or 1; a mask holds 1 for true. */
  readonly bias?: Plain | null;
  readonly mask?: Plain | null;
  readonly lengths?: readonly number[] | null;
}

const broadcastRead = (x: Plain, index: readonly number[]): number =>
  read(
    x,
    index.map((i, axis) => (x.shape[axis] === 1 ? 0 : i)),
  );

/** Scores and weights of a query with every key; -Infinity and 0 where it does not see the key. */
function rowOf(given: AttentionCase, b: number, h: number, i: number) {
  const { q, k, before = Infinity, behind = Infinity } = given;
  const [, heads, , d] = q.shape as readonly [number, number, number, number];
  const [, keyHeads, keys] = k.shape as readonly [number, number, number];
  const scale = given.scale ?? 1 / Math.sqrt(d);
  const head = Math.floor(h / (heads / keyHeads));
  const scores = Array.from({ length: keys }, (_, j) => {
    const isSeen =
      j >= i - before &&
      j <= i + behind &&
      j < (given.lengths?.[b] ?? keys) &&
      (!given.mask || broadcastRead(given.mask, [b, h, i, j]) !== 0);
    if (!isSeen) return -Infinity;
    let sum = 0;
    for (let c = 0; c < d; c++) sum += read(q, [b, h, i, c]) * read(k, [b, head, j, c]);
    return sum * scale + (given.bias ? broadcastRead(given.bias, [b, h, i, j]) : 0);
  });
  const largest = Math.max(...scores, -Infinity);
  const powers = scores.map((score) => (score === -Infinity ? 0 : Math.exp(score - largest)));
  const total = powers.reduce((sum, power) => sum + power, 0);
  const log = total === 0 ? -Infinity : largest + Math.log(total);
  return { head, scale, log, weights: powers.map((power) => (total === 0 ? 0 : power / total)) };
}

export function attentionOf(given: AttentionCase): Plain {
  const [batch, heads, queries] = given.q.shape as readonly [number, number, number];
  const e = given.v.shape[3]!;
  const values: number[] = [];
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < heads; h++) {
      for (let i = 0; i < queries; i++) {
        const { weights, head } = rowOf(given, b, h, i);
        for (let c = 0; c < e; c++) {
          values.push(weights.reduce((sum, w, j) => (w === 0 ? sum : sum + w * read(given.v, [b, head, j, c])), 0));
        }
      }
    }
  }
  return { shape: [batch, heads, queries, e], values };
}

/** The logarithms of the sums of exponentials, one for each query. */
export function attentionLogs(given: AttentionCase): number[] {
  const [batch, heads, queries] = given.q.shape as readonly [number, number, number];
  return plainOf([batch, heads, queries], ([b, h, i]) => rowOf(given, b!, h!, i!).log).values.slice();
}

/** The cotangents of q, k, v, and of the bias where there is one, from that of the output. */
export function attentionGradients(given: AttentionCase, ct: Plain): Plain[] {
  const { q, k, v, bias } = given;
  const [batch, heads, queries, d] = q.shape as readonly [number, number, number, number];
  const e = v.shape[3]!;
  const zeros = ({ shape }: Plain) => ({ shape, values: plainOf(shape, () => 0).values as number[] });
  const [ofQ, ofK, ofV, ofBias] = [zeros(q), zeros(k), zeros(v), bias ? zeros(bias) : null];
  const add = (to: { shape: readonly number[]; values: number[] }, index: readonly number[], x: number) => {
    to.values[flatIndex(to.shape, index)]! += x;
  };
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < heads; h++) {
      for (let i = 0; i < queries; i++) {
        const { weights, head, scale } = rowOf(given, b, h, i);
        const ofWeights = weights.map((_, j) => {
          let sum = 0;
          for (let c = 0; c < e; c++) sum += read(ct, [b, h, i, c]) * read(v, [b, head, j, c]);
          return sum;
        });
        const mean = weights.reduce((sum, w, j) => sum + w * ofWeights[j]!, 0);
        weights.forEach((w, j) => {
          if (w === 0) return;
          const ofScore = w * (ofWeights[j]! - mean);
          for (let c = 0; c < e; c++) add(ofV, [b, head, j, c], w * read(ct, [b, h, i, c]));
          for (let c = 0; c < d; c++) {
            add(ofQ, [b, h, i, c], ofScore * scale * read(k, [b, head, j, c]));
            add(ofK, [b, head, j, c], ofScore * scale * read(q, [b, h, i, c]));
          }
          if (bias && ofBias) {
            const index = [b, h, i, j].map((at, axis) => (bias.shape[axis] === 1 ? 0 : at));
            add(ofBias, index, ofScore);
          }
        });
      }
    }
  }
  return ofBias ? [ofQ, ofK, ofV, ofBias] : [ofQ, ofK, ofV];
}

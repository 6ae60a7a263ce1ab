/**
 * Probabilities of neighbours by a perplexity (Hinton & Roweis 2002): each sample has a width of its own, so that as many neighbours count
 * in effect as the perplexity says. `largeVis` and `tsne` ask here; `umap` has widths by the same halving.
 */
import { type Tensor, where } from "../../tensor/index.js";
import { forLoop } from "../../transforms/control.js";
import { inBands } from "./brute-force.js";

/** Elements of candidates in memory at a time. */
const BAND = 1 << 22;

/** Rounds of halving: as many as f64 has digits. */
const ROUNDS = 64;

/** Logarithms from -30 to 30, one for each row of `like`, by halving. `isLess` says whether the one looked for is larger than these. */
export function halvedLogs(like: Tensor, isLess: (logs: Tensor) => Tensor): Tensor {
  const start = like.mul(0) as Tensor;
  const init = { low: start.sub(30) as Tensor, high: start.add(30) as Tensor };
  const middle = ({ low, high }: typeof init): Tensor => low.add(high).div(2) as Tensor;
  const round = (_: Tensor, bounds: typeof init): typeof init => {
    const at = middle(bounds);
    const goesUp = isLess(at);
    return { low: where(goesUp, at, bounds.low) as Tensor, high: where(goesUp, bounds.high, at) as Tensor };
  };
  return middle(forLoop(0, ROUNDS, round, init));
}

/** Probabilities of neighbours by distance, with the entropy that a perplexity names. Halving finds the width of each sample. */
export function conditionalOf(distances: Tensor, perplexity: number): Tensor {
  const squares = distances.square() as Tensor;
  const nearer = squares.sub(squares.at(":", ":1")) as Tensor;
  const scale = where(nearer.isFinite(), nearer, 0).mean({ axis: 1, keepDims: true });
  const scaled = nearer.div(where(scale.equal(0), 1, scale)) as Tensor;
  const share = (log: Tensor): Tensor => {
    const weights = scaled.mul(log.exp()).neg().exp();
    return weights.div(weights.sum({ axis: 1, keepDims: true })) as Tensor;
  };
  const entropy = (p: Tensor): Tensor =>
    where(p.equal(0), 0, p.mul(where(p.equal(0), 1, p).log()))
      .sum({ axis: 1, keepDims: true })
      .neg() as Tensor;
  return share(halvedLogs(scale as Tensor, (log) => entropy(share(log)).greater(Math.log(perplexity)) as Tensor));
}

/** p(j | i) + p(i | j) of each edge; the second is 0 where i is no neighbour of j. */
export function symmetric(conditional: Tensor, indices: Tensor): Tensor {
  const width = (indices.shape[1] as number) ** 2;
  const { values } = inBands(indices, Math.max(1, Math.floor(BAND / width)), (band, rows) => {
    const inside = band.maximum(0);
    const back = indices.take(inside, { axis: 0 }).equal(rows.reshape(-1, 1, 1));
    return { values: where(back, conditional.take(inside, { axis: 0 }), 0).sum({ axis: 2 }) as Tensor };
  });
  return conditional.add(values as Tensor) as Tensor;
}

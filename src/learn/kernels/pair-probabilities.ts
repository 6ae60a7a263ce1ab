/**
 * Probabilities of classes that were parted pair by pair, as LIBSVM reckons them: a sigmoid takes the decisions of a pair to the probability of
 * its first class (Platt 1999), fitted to decisions about samples held out; the classes' probabilities are those that agree best with all
 * pairs (Wu, Lin & Weng 2004, their second method), here by the equation itself instead of rounds to a tolerance.
 */
import { permutation } from "../../core/seeded-order.js";
import { solve } from "../../linalg/index.js";
import { concat, eye, full, type Tensor, tensor } from "../../tensor/index.js";
import { sigmoidCurve } from "../linear/sigmoid-curve.js";

const FOLDS = 5;

/** Places of the samples that are held out in turn: fifths of a mixed order. */
export function heldOutFolds(samples: number, seed: number, pair: number): readonly Int32Array[] {
  const order = Int32Array.from(permutation(samples, [0, seed], pair));
  const start = (fold: number): number => Math.floor((fold * samples) / FOLDS);
  return Array.from({ length: FOLDS }, (_, fold) => order.subarray(start(fold), start(fold + 1)));
}

/** What machines say of samples that they were fitted without; positive for the first class. */
export interface HeldOut {
  readonly decisions: Float64Array;
  readonly isFirst: Uint8Array;
}

/** The sigmoid of each pair, [pairs, 2]. `isTurned`: decisions of the model are positive for the second class. */
export async function pairSigmoids(said: readonly HeldOut[], isTurned: boolean, x: Tensor): Promise<Tensor> {
  const longest = Math.max(...said.map(({ decisions }) => decisions.length));
  const rows: number[][] = [];
  for (const { decisions, isFirst } of said) {
    // All pairs run one program: as long as the longest, with zero weight for what stands for nothing.
    const [values, is, counts] = [decisions, isFirst, new Float64Array(decisions.length).fill(1)].map((list) => {
      const filled = new Float64Array(longest);
      filled.set(list);
      return tensor(filled, { dtype: "f64", device: "cpu" }) as Tensor;
    }) as [Tensor, Tensor, Tensor];
    const [slope, offset] = (await sigmoidCurve(values, is, counts).data()) as ArrayLike<number> as [number, number];
    rows.push(isTurned ? [slope, -offset] : [slope, offset]);
  }
  return tensor(rows, { dtype: x.dtype, device: x.device }) as Tensor;
}

/** No pair is surer than this. */
const LEAST = 1e-7;

/** The probability of each class, [samples, classes], by the decisions of the pairs, [samples, pairs]. One pair stands for its second class. */
export function probabilitiesOf(decisions: Tensor, sigmoids: Tensor, pairs: readonly (readonly number[])[]): Tensor {
  const [slope, offset] = [sigmoids.at(":", 0), sigmoids.at(":", 1)] as [Tensor, Tensor];
  const said = decisions
    .mul(slope)
    .add(offset)
    .sigmoid()
    .clip(LEAST, 1 - LEAST) as Tensor;
  if (pairs.length === 1) return concat([said.neg().add(1), said], { axis: 1 }) as Tensor;
  return coupled(said, pairs);
}

/**
 * Probabilities p ≥ 0 with the sum 1 that are least in Σ (r_ji p_i - r_ij p_j)², where r_ij is how likely i is of a pair of i and j, from
 * the probabilities of the first of each pair. Where Q is the matrix of that form, Qp is the same number for all classes.
 */
function coupled(first: Tensor, pairs: readonly (readonly number[])[]): Tensor {
  const { device, dtype } = first;
  const classes = Math.max(...pairs.flat()) + 1;
  const [samples] = first.shape as [number];
  const placed = (from: number, to: number): Tensor =>
    tensor(
      pairs.map((pair) =>
        Array.from({ length: classes * classes }, (_, at) =>
          Number(at === (pair[from] as number) * classes + (pair[to] as number)),
        ),
      ),
      { device, dtype },
    ) as Tensor;
  // [samples, i, j]: how likely i is of i and j; zero on the diagonal.
  const likely = first
    .matmul(placed(0, 1))
    .add(first.neg().add(1).matmul(placed(1, 0)))
    .reshape([samples, classes, classes]) as Tensor;
  const unlikely = likely.swapAxes(1, 2);
  const own = unlikely.square().sum({ axis: 2 });
  const unit = eye(classes, { device, dtype });
  const form = unit.mul(own.expandDims(2)).sub(likely.mul(unlikely)) as Tensor;
  // With ones added the matrix has an inverse, and the direction is the same.
  const ones = full([samples, classes, 1], 1, { device, dtype }) as Tensor;
  const found = (solve(form.add(1) as Tensor, ones) as Tensor).squeeze(2).maximum(0) as Tensor;
  return found.div(found.sum({ axis: 1, keepDims: true })) as Tensor;
}

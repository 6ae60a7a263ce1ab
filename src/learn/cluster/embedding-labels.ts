/**
 * Clusters of a spectral embedding without k-means and without chance: samples of one cluster lie along one direction, and what is looked
 * for is the rotation that turns the directions into axes.
 */
import { qr } from "../../linalg/qr.js";
import { svd } from "../../linalg/svd.js";
import { arange, concat, full, type Tensor } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";

/** By the pivots of a QR factorisation, which are the samples farthest along directions of their own (Damle, Minden & Ying 2019). */
export function labelsByPivots(embedding: Tensor): Tensor {
  const clusters = embedding.shape[1] as number;
  const { pivots } = qr(embedding.T, { pivoting: true });
  const { u, vh } = svd(embedding.take(pivots.at(`:${clusters}`), { axis: 0 }).T as Tensor);
  return embedding.matmul(u.matmul(vh)).abs().argmax({ axis: 1 }).cast("i32") as Tensor;
}

/** Rounds of `labelsByRotation` at most. */
const ROUNDS = 30;

/** By rounds of labels and the rotation that fits them best (Yu & Shi 2003), from samples as far from each other's directions as there are. */
export function labelsByRotation(embedding: Tensor): Tensor {
  const { device, dtype } = embedding;
  const [count, clusters] = embedding.shape as [number, number];
  const columns = embedding.div(embedding.square().sum({ axis: 0 }).sqrt());
  const lengths = columns.square().sum({ axis: 1, keepDims: true }).sqrt();
  const rows = columns.div(lengths.maximum(1e-30)) as Tensor;
  const axes = arange(clusters, { device, dtype: "i32" });
  const labelsUnder = (rotation: Tensor): Tensor => rows.matmul(rotation).argmax({ axis: 1 }).cast("i32") as Tensor;
  const epsilon = (dtype === "f64" ? 2 ** -52 : 2 ** -23) * count;
  const end = whileLoop(
    ({ goesOn, round }) => goesOn.logicalAnd(round.less(ROUNDS)) as Tensor,
    ({ rotation, sum, round }) => {
      const members = labelsUnder(rotation).expandDims(1).equal(axes).cast(dtype);
      const { u, s, vh } = svd(members.T.matmul(rows) as Tensor);
      const next = s.sum() as Tensor;
      const goesOn = next.sub(sum).abs().greater(epsilon) as Tensor;
      return { rotation: vh.T.matmul(u.T) as Tensor, sum: next, goesOn, round: round.add(1) as Tensor };
    },
    {
      rotation: firstRotation(rows, clusters),
      sum: full([], 0, { device, dtype }) as Tensor,
      goesOn: full([], true, { device }) as Tensor,
      round: full([], 0, { device, dtype: "i32" }) as Tensor,
    },
  );
  return labelsUnder(end.rotation);
}

/** Directions of samples as columns: that of the first, and each next as little along those before as there is. */
function firstRotation(rows: Tensor, clusters: number): Tensor {
  const chosen = [rows.at("0:1") as Tensor];
  let along = rows.matmul((chosen[0] as Tensor).T).abs() as Tensor;
  while (chosen.length < clusters) {
    const next = rows.take(along.argmin({ axis: 0 }), { axis: 0 }) as Tensor;
    chosen.push(next);
    along = along.add(rows.matmul(next.T).abs()) as Tensor;
  }
  return concat(chosen, { axis: 0 }).T as Tensor;
}

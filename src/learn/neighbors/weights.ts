/** Weights of neighbours: how much each counts in a prediction, by its distance. */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { full, isTensor, type Tensor, where } from "../../tensor/index.js";

/**
 * Weights of neighbours: all the same ("uniform"), the inverse of their distance ("distance"), or a function from a tensor of distances
 * to one of weights.
 */
export type NeighborWeights = "uniform" | "distance" | ((distances: Tensor) => Tensor);

/** Throws on weights that there are not. */
export function checkNeighborWeights(kind: string, weights: unknown): void {
  if (weights === undefined || weights === "uniform" || weights === "distance" || typeof weights === "function") return;
  throw new ArgumentError(
    `${kind}: weights are ${shown(weights)}; they are "uniform" or "distance" or a function of distances.`,
  );
}

/**
 * Weights of distances, [queries, neighbours]; 0 where `isIn` is false. By distance, neighbours in the query's own place, if there are
 * any, are all that counts.
 */
export function neighborWeights(
  operation: string,
  distances: Tensor,
  weights: NeighborWeights = "uniform",
  isIn: Tensor | null = null,
): Tensor {
  const within = (values: Tensor): Tensor => (isIn ? (where(isIn, values, 0) as Tensor) : values);
  if (weights === "uniform")
    return isIn
      ? (isIn.cast(distances.dtype) as Tensor)
      : (full(distances.shape, 1, { device: distances.device, dtype: distances.dtype }) as Tensor);
  if (weights === "distance") {
    const isSame = distances.equal(0);
    const same = within(isSame.cast(distances.dtype) as Tensor);
    const inverse = within(where(isSame, 1, distances).reciprocal() as Tensor);
    return where(same.notEqual(0).any({ axis: 1, keepDims: true }), same, inverse) as Tensor;
  }
  const given = weights(distances);
  if (!isTensor(given)) throw new ArgumentError(`${operation}: weights gave ${shown(given)}; it returns a tensor.`);
  if (!sameShape(given.shape, distances.shape)) {
    throw new ShapeError(
      `${operation}: weights gave ${formatShape(given.shape)} for distances of ${formatShape(distances.shape)}; ` +
        "it returns a weight for each distance.",
    );
  }
  return within(given.cast(distances.dtype) as Tensor);
}

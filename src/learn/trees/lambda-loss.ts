/**
 * The loss of LambdaMART (Burges 2010): for each pair of documents of a query the logistic loss of their order, weighted by how much NDCG
 * changes if they swap places. Pairs are an axis of tensors [queries, documents, documents], which are never stored.
 */
import { type Tensor, tensor, where } from "../../tensor/index.js";
import type { Loss } from "./losses.js";
import { discountedGain, discountOf, gainOf, ndcgOf, type QueryMatrix, ranksOf } from "./queries.js";

/** Pairs count where one of both is among the first `truncation` ranks. */
export function lambdaLoss(matrix: QueryMatrix, truncation: number): Loss {
  const { isThere, sizes, queries } = matrix;
  return {
    outputs: 1,
    isHessianConstant: false,
    leafQuantile: null,
    baseline: ({ y }) => y.at(":1").mul(0).reshape([1, 1]) as Tensor,
    gradient: ({ y }, raw) => {
      const { weight, chance, sign } = pairsOf(matrix, y, raw, truncation);
      return matrix.gather(weight.mul(chance).mul(sign).sum({ axis: 2 }).neg() as Tensor).expandDims(0) as Tensor;
    },
    hessian: ({ y }, raw) => {
      const { weight, chance } = pairsOf(matrix, y, raw, truncation);
      const each = weight.mul(chance).mul(chance.neg().add(1)).sum({ axis: 2 }) as Tensor;
      return matrix.gather(each).expandDims(0) as Tensor;
    },
    pointwise: ({ y }, raw) => {
      const lost = ndcgOf(matrix.spread(raw), matrix.spread(y), isThere, truncation).neg().add(1);
      // The mean over samples is to be the mean over queries.
      const share = tensor(
        sizes.map((size) => sizes.length / (queries * size)),
        { device: y.device, dtype: y.dtype },
      );
      return matrix.gather(lost.broadcastTo(isThere.shape) as Tensor).mul(share) as Tensor;
    },
  };
}

/** Of each pair: what swapping changes, the chance of the wrong order, and 1 where the first is more relevant, -1 where the second is. */
function pairsOf({ spread, isThere }: QueryMatrix, y: Tensor, raw: Tensor, truncation: number) {
  const [relevance, scores] = [spread(y), spread(raw)];
  const best = discountedGain(relevance, relevance, isThere, truncation);
  const ranks = ranksOf(scores, isThere);
  const difference = (values: Tensor): Tensor => values.expandDims(2).sub(values.expandDims(1)) as Tensor;
  const isPair = isThere
    .expandDims(2)
    .logicalAnd(isThere.expandDims(1))
    .logicalAnd(ranks.expandDims(2).minimum(ranks.expandDims(1)).less(truncation));
  const change = difference(gainOf(relevance))
    .mul(difference(discountOf(ranks)))
    .abs();
  const share = where(best.greater(0), where(best.greater(0), best, 1).reciprocal(), 0).expandDims(2);
  const sign = difference(relevance).sign() as Tensor;
  const chance = difference(scores).mul(sign).neg().sigmoid() as Tensor;
  return { weight: where(isPair, change.mul(share), 0) as Tensor, chance, sign };
}

/** Running sums inside densities: ordered vectors, random walks, Cholesky factors of correlations. */
import { positionsAlong, type Tensor, where } from "../../tensor/index.js";

/** Up to this length a running sum is a sum against a triangle: plain arithmetic that melts into the kernel around it. */
const SHORT = 32;

/** Sums along the last axis up to each element, or up to the one before it with `exclusive`. */
export function runningSum(x: Tensor, options: { readonly exclusive?: boolean } = {}): Tensor {
  const length = x.shape.at(-1) as number;
  if (length > SHORT) return x.cumsum({ axis: -1, exclusive: options.exclusive });
  const terms = x.expandDims(-2);
  const column = positionsAlong(terms, terms.rank - 1);
  const row = column.mT;
  const isIn = options.exclusive ? column.less(row) : column.lessEqual(row);
  return where(isIn, terms, 0).sum({ axis: -1 });
}

/** Products of matrices and vectors under the names of the array API's `linalg`, and chains of products in the best order. */

import { checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { formatShape, normalizeAxis } from "../core/shape.js";
import { shown } from "../core/shown.js";
import { checkTensor, type MeetingOf, type Tensor } from "../tensor/index.js";
import { adjointOf, checkMatrices } from "./arguments.js";

/** The conjugate transpose of the last two axes. */
export function adjoint<D extends DType>(a: Tensor<D>): Tensor<D> {
  checkCount("linalg.adjoint", 1, arguments);
  checkMatrices("adjoint", a);
  return adjointOf(a) as Tensor<D>;
}

/** The vector product of vectors of three numbers along an axis, the last unless told; the other axes broadcast. */
export function cross<D extends DType, E extends DType>(
  a: Tensor<D>,
  b: Tensor<E>,
  options: { readonly axis?: number } = {},
): Tensor<MeetingOf<D, E>> {
  checkCount("linalg.cross", 3, arguments);
  checkOptions("linalg.cross", options, { axis: "number" });
  const { axis = -1 } = options;
  const [x, y] = [a, b].map((given, i) => {
    checkTensor("linalg.cross", i === 0 ? "the first vector" : "the second vector", given);
    const along = normalizeAxis(axis, given.rank, "linalg.cross");
    if (given.shape[along] !== 3) {
      throw new ShapeError(
        `linalg.cross: ${formatShape(given.shape)} has ${given.shape[along]} elements along axis ${axis}; vectors have 3.`,
      );
    }
    return (given as Tensor).moveAxis(along, -1);
  });
  const turned = (v: Tensor, by: number) => v.roll(by, { axis: -1 });
  const product = turned(x, -1)
    .mul(turned(y, 1))
    .sub(turned(x, 1).mul(turned(y, -1)));
  return product.moveAxis(-1, axis) as Tensor<MeetingOf<D, E>>;
}

/**
 * The product of two or more matrices, in the order that takes the fewest multiplications. The first and the last may be
 * vectors.
 */
export function multiDot(matrices: readonly Tensor[]): Tensor {
  checkCount("linalg.multiDot", 1, arguments);
  if (!Array.isArray(matrices) || matrices.length < 2) {
    throw new ArgumentError(`linalg.multiDot: takes a list of two or more matrices, not ${shown(matrices)}.`);
  }
  const last = matrices.length - 1;
  matrices.forEach((matrix, i) => {
    checkTensor("linalg.multiDot", `number ${i} of the list`, matrix);
    if (matrix.rank === 2 || (matrix.rank === 1 && (i === 0 || i === last))) return;
    throw new ShapeError(
      `linalg.multiDot: number ${i} is ${formatShape(matrix.shape)}; all are matrices, the first and the last perhaps vectors.`,
    );
  });
  const [first, end] = [matrices[0].rank === 1, matrices[last].rank === 1];
  const chain = matrices.map((matrix, i) => {
    if (matrix.rank === 2) return matrix;
    return i === 0 ? matrix.expandDims(0) : matrix.expandDims(1);
  });
  const extents = [chain[0].shape[0], ...chain.map(({ shape }) => shape[1])];
  chain.forEach(({ shape }, i) => {
    if (shape[0] === extents[i]) return;
    throw new ShapeError(
      `linalg.multiDot: number ${i - 1} has ${extents[i]} columns and number ${i} has ${shape[0]} rows; they are equal.`,
    );
  });
  const product = multiplied(chain, bestCuts(extents), 0, last);
  const axes = [...(first ? [0] : []), ...(end ? [1] : [])];
  return axes.length === 0 ? product : product.squeeze(axes);
}

/** The best cut of the chain from i to j, for every i and j: Cormen et al., Introduction to Algorithms, 15.2. */
function bestCuts(extents: readonly number[]): readonly (readonly number[])[] {
  const count = extents.length - 1;
  const table = () => Array.from({ length: count }, () => new Array<number>(count).fill(0));
  const [costs, cuts] = [table(), table()];
  for (let length = 1; length < count; length++) {
    for (let i = 0; i + length < count; i++) {
      const j = i + length;
      costs[i][j] = Infinity;
      for (let cut = i; cut < j; cut++) {
        const cost = costs[i][cut] + costs[cut + 1][j] + extents[i] * extents[cut + 1] * extents[j + 1];
        if (cost >= costs[i][j]) continue;
        costs[i][j] = cost;
        cuts[i][j] = cut;
      }
    }
  }
  return cuts;
}

function multiplied(chain: readonly Tensor[], cuts: readonly (readonly number[])[], i: number, j: number): Tensor {
  if (i === j) return chain[i];
  const cut = cuts[i][j];
  return multiplied(chain, cuts, i, cut).matmul(multiplied(chain, cuts, cut + 1, j));
}

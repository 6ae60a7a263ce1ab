/**
 * Least squares whose coefficients are zero or more (Lawson & Hanson 1974), with or without a penalty on their squares. Coordinate descent
 * finds which of them are above zero; those solve an equation of their own, so that they have all digits, and derivatives by the data.
 * Called by least-squares.ts.
 */
import { cholesky, choSolve } from "../../linalg/triangular.js";
import { eye, full, type Tensor, where, zeros } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { stopGradient } from "../../transforms/grad.js";
import { vmap } from "../../transforms/vmap.js";
import { sweep } from "./coordinate-descent.js";

/** Sweeps over all coefficients, at most. */
const SWEEPS = 10_000;

const spacingOf = ({ dtype }: Tensor): number => (dtype === "f64" ? 2 ** -52 : 2 ** -23);

/** Coefficients of the least Σ (y − x·w)² + alpha · Σ w² with w ≥ 0, for one or several columns of targets. */
export function nonNegativeSolution(x: Tensor, y: Tensor, alpha: number | Tensor): Tensor {
  const size = x.shape[1] as number;
  const gram = x.T.matmul(x) as Tensor;
  // A penalty below the rounding of the matrix would leave it singular where columns depend on one another.
  const least = gram.diagonal().mul(4 * size * spacingOf(x));
  const unit = eye(size, { device: x.device, dtype: x.dtype });
  const matrix = gram.add(unit.mul(least.maximum(alpha))) as Tensor;
  const one = (target: Tensor): Tensor => solved(matrix, target.matmul(x) as Tensor);
  return y.rank === 1 ? one(y) : (vmap(one, { in: 1, out: 1 })(y) as Tensor);
}

function solved(matrix: Tensor, products: Tensor): Tensor {
  const found = stopGradient(descended(stopGradient(matrix), stopGradient(products)));
  const isFree = found.greater(0);
  const both = isFree.expandDims(1).logicalAnd(isFree);
  const unit = eye(matrix.shape[0] as number, { device: matrix.device, dtype: matrix.dtype });
  const free = cholesky(where(both, matrix, where(isFree, 0, unit)) as Tensor);
  const exact = (choSolve(free, where(isFree, products, 0).expandDims(1) as Tensor) as Tensor).squeeze(1);
  // If the descent did not end, the equation may be of the wrong coefficients.
  const isRight = exact.greaterEqual(exact.abs().max().mul(-1e-6)).all();
  return where(isRight, exact.relu(), found) as Tensor;
}

/** The minimum by coordinate descent, until a sweep changes the last digits alone: the equation finds those. */
function descended(matrix: Tensor, products: Tensor): Tensor {
  const { dtype, device } = products;
  const [size] = products.shape as [number];
  const start = zeros([size], { dtype, device }) as Tensor;
  const nothing = products.sum().mul(0) as Tensor;
  const { descent } = whileLoop(
    ({ goesOn, count }) => goesOn.logicalAnd(count.less(SWEEPS)) as Tensor,
    ({ descent, count }) => {
      const next = sweep({ q: matrix, l1: start, positive: true }, descent);
      return {
        descent: next,
        goesOn: next.change.greater(
          next.z
            .abs()
            .max()
            .mul(8 * spacingOf(products)),
        ) as Tensor,
        count: count.add(1) as Tensor,
      };
    },
    {
      descent: { z: start.add(nothing) as Tensor, rest: products, change: nothing, force: nothing },
      goesOn: full([], true, { device, dtype: "bool" }) as Tensor,
      count: full([], 0, { device, dtype: "i32" }) as Tensor,
    },
  );
  return descent.z;
}

/**
 * Cyclic coordinate descent on a quadratic function with an l1 penalty: ½ zᵀQz − qᵀz + Σ l1·|z| (Friedman, Hastie & Tibshirani 2010). Q is
 * the Gram matrix of a lasso, or the curvature in a proximal Newton step. A sweep is one loop on the device; a coordinate costs one
 * row of Q. Called by lasso.ts and newton.ts.
 */
import { arange, type Tensor, where } from "../../tensor/index.js";
import { forLoop } from "../../transforms/control.js";

/** ½ zᵀQz − qᵀz + Σ l1·|z|; with `positive`, over z ≥ 0. */
interface SparseQuadratic {
  readonly q: Tensor;
  readonly l1: Tensor;
  readonly positive?: boolean;
}

/** Where descent is: z, and q − Qz. */
interface Descent {
  readonly z: Tensor;
  readonly rest: Tensor;
  /** The largest change of a coordinate in the last sweep. */
  readonly change: Tensor;
  /** The largest change of a coordinate times its curvature: how much of a gradient the last sweep took away. */
  readonly force: Tensor;
}

/** One sweep over all coordinates, in order. Coordinates without curvature stay. */
export function sweep({ q: matrix, l1, positive = false }: SparseQuadratic, from: Descent): Descent {
  const [count] = from.z.shape as [number];
  const places = arange(count, { device: from.z.device, dtype: "i32" });
  const none = from.change.mul(0) as Tensor;
  return forLoop(
    0,
    count,
    (j, { z, rest, change, force }) => {
      const row = matrix.take(j, { axis: 0 });
      const [curvature, old, bound] = [row.take(j), z.take(j), l1.take(j)];
      const free = rest.take(j).add(curvature.mul(old));
      const shrunk = positive ? free.sub(bound).relu() : free.sign().mul(free.abs().sub(bound).relu());
      const isCurved = curvature.greater(0);
      const next = where(isCurved, shrunk.div(where(isCurved, curvature, 1)), old);
      const step = next.sub(old);
      return {
        z: where(places.equal(j), next, z) as Tensor,
        rest: rest.sub(row.mul(step)) as Tensor,
        change: change.maximum(step.abs()) as Tensor,
        force: force.maximum(step.abs().mul(curvature)) as Tensor,
      };
    },
    { ...from, change: none, force: none },
  );
}

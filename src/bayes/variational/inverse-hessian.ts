/**
 * The inverse Hessian that L-BFGS makes of its last steps, as a product A·Aᵀ (Brodlie, Gourlay and Greenstadt 1973). One
 * form then serves to go uphill, to draw normal numbers and to know their density, whatever the dimension.
 * Pathfinder walks with it and draws with it.
 */
import { countingLike, type Tensor, where, zeros, zerosLike } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";

/** The last steps of a climb, oldest first. */
export interface Steps {
  /** [memory, dim]; zeros where there was no step yet. */
  readonly steps: Tensor;
  /** The change of the gradient along each step, [memory, dim]. */
  readonly changes: Tensor;
  /** The diagonal [dim] of the inverse Hessian before them. */
  readonly diagonal: Tensor;
}

/** A = √diagonal + stepsᵀ·rows = (I + s·qᵀ) … (I + s·qᵀ)·√diagonal, with the last step first. */
export interface Factor {
  readonly diagonal: Tensor;
  readonly steps: Tensor;
  readonly rows: Tensor;
  /** q of each step, and 1 + q·s. */
  readonly slants: Tensor;
  readonly stretches: Tensor;
  /** The logarithm of the determinant of A. */
  readonly logDeterminant: Tensor;
  /** The diagonal [dim] of the Hessian itself. */
  readonly precision: Tensor;
}

const dot = (a: Tensor, b: Tensor): Tensor => a.mul(b).sum();
/** m·v and mᵀ·v, of a few rows. */
const times = (m: Tensor, v: Tensor): Tensor => m.mul(v).sum({ axis: 1 });
const transposedTimes = (m: Tensor, v: Tensor): Tensor => m.mul(v.expandDims(1)).sum({ axis: 0 });

/**
 * BFGS takes H to (I - s·yᵀ/sy)·H·(I - y·sᵀ/sy) + s·sᵀ/sy, and its inverse B to B - Bs·sᵀB/sBs + y·yᵀ/sy. The first is
 * (I + s·qᵀ)·H·(I + q·sᵀ) with q = Bs/√(sy·sBs) - y/sy and 1 + q·s = √(sBs/sy). A gains s·(Aᵀq)ᵀ with every step.
 */
export function factorOf({ steps, changes, diagonal }: Steps): Factor {
  const root = diagonal.sqrt();
  const none = zerosLike(steps);
  const unweighted = zerosLike(steps.at(":", 0));
  const start = {
    /** B·s of each step taken in, and the weights of those and of the changes in B. */
    pulls: none,
    pullWeights: unweighted,
    changeWeights: unweighted,
    rows: none,
  };
  const numbers = countingLike(steps, steps.shape[0]);
  const takeIn = (known: typeof start, { s, y, number }: { s: Tensor; y: Tensor; number: Tensor }) => {
    const pull = s
      .div(diagonal)
      .add(transposedTimes(changes, times(changes, s).mul(known.changeWeights)))
      .sub(transposedTimes(known.pulls, times(known.pulls, s).mul(known.pullWeights)));
    const [sy, sBs] = [dot(s, y), dot(s, pull)];
    const isUsed = sy.greater(0).logicalAnd(sBs.greater(0));
    const [curvature, expected] = [where(isUsed, sy, 1), where(isUsed, sBs, 1)];
    const q = where(isUsed, pull.div(curvature.mul(expected).sqrt()).sub(y.div(curvature)), 0);
    const row = root.mul(q).add(transposedTimes(known.rows, times(steps, q)));

    const isOwn = numbers.equal(number);
    const placed = (matrix: Tensor, vector: Tensor) => where(isOwn.expandDims(1), vector.expandDims(0), matrix);
    const weighted = (weights: Tensor, weight: Tensor) => where(isOwn, where(isUsed, weight.reciprocal(), 0), weights);
    const next: typeof start = {
      pulls: placed(known.pulls, pull),
      pullWeights: weighted(known.pullWeights, expected),
      changeWeights: weighted(known.changeWeights, curvature),
      rows: placed(known.rows, row),
    };
    return [next, { q, stretch: expected.div(curvature).sqrt() }] as const;
  };
  const [{ rows, pulls, pullWeights, changeWeights }, { q: slants, stretch: stretches }] = scan(takeIn, start, {
    s: steps,
    y: changes,
    number: numbers,
  });
  const before = diagonal.reciprocal();
  const precision = before
    .add(transposedTimes(changes.square(), changeWeights))
    .sub(transposedTimes(pulls.square(), pullWeights));
  return {
    diagonal,
    steps,
    rows,
    slants,
    stretches,
    logDeterminant: root.log().sum().add(stretches.log().sum()),
    // Positive but for rounding.
    precision: where(precision.greater(0), precision, before),
  };
}

/** A·v and Aᵀ·v for a vector [dim]. */
export const forward = ({ diagonal, steps, rows }: Factor, v: Tensor): Tensor =>
  diagonal
    .sqrt()
    .mul(v)
    .add(transposedTimes(steps, times(rows, v)));
export const backward = ({ diagonal, steps, rows }: Factor, v: Tensor): Tensor =>
  diagonal
    .sqrt()
    .mul(v)
    .add(transposedTimes(rows, times(steps, v)));

/** The inverse of A, times v. */
export function inverse({ diagonal, steps, slants, stretches }: Factor, v: Tensor): Tensor {
  const undo = (rest: Tensor, { s, q, stretch }: { s: Tensor; q: Tensor; stretch: Tensor }) =>
    [rest.sub(s.mul(dot(q, rest).div(stretch))), null] as const;
  const [rest] = scan(undo, v, { s: steps, q: slants, stretch: stretches }, { reverse: true });
  return rest.div(diagonal.sqrt());
}

/** A·Aᵀ·v: what a quasi-Newton method makes of a gradient. */
export const newtonStep = (factor: Factor, v: Tensor): Tensor => forward(factor, backward(factor, v));

/**
 * The diagonal after one more step: the update of Gilbert and Lemaréchal (1989), which follows the scale of each coordinate.
 */
export function updatedDiagonal(diagonal: Tensor, s: Tensor, y: Tensor): Tensor {
  const sy = dot(s, y);
  const yHy = dot(y.square(), diagonal);
  const sBs = dot(s.square(), diagonal.reciprocal());
  const precision = yHy
    .div(diagonal)
    .add(y.square())
    .sub(yHy.div(sBs).mul(s.div(diagonal).square()));
  const updated = sy.div(precision);
  return where(updated.isFinite().logicalAnd(updated.greater(0)).all(), updated, diagonal);
}

/** No steps yet: a multiple of the identity. */
export function noSteps(point: Tensor, memory: number, scale: Tensor): Steps {
  const none = zeros([memory, point.size], { dtype: point.dtype, device: point.device });
  return { steps: none, changes: none, diagonal: zerosLike(point).add(scale) };
}

/** The factor of no steps, without the work. */
export function rootOf({ diagonal, steps }: Steps): Factor {
  const none = zerosLike(steps);
  return {
    diagonal,
    steps,
    rows: none,
    slants: none,
    stretches: none.at(":", 0).add(1),
    logDeterminant: diagonal.log().sum().mul(0.5),
    precision: diagonal.reciprocal(),
  };
}

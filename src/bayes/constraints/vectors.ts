/** Constraints on vectors, along the last axis: order, sums of one and of zero, unit length. */
import type { Shape } from "../../core/shape.js";
import { concat, countingLike, type Tensor, where } from "../../tensor/index.js";
import { runningSum } from "../numerics/running-sum.js";
import type { Constraint } from "./constraint.js";
import { positive, real } from "./numbers.js";

/** The largest distance from 1 of sums that count as 1: data are often rounded. */
const TOLERANCE = 1e-5;

const rises = (x: Tensor): Tensor => x.diff({ axis: -1 }).greater(0).all({ axis: -1 });
const first = (x: Tensor): Tensor => x.at("...", "0:1");
const rest = (x: Tensor): Tensor => x.at("...", "1:");

/** Vectors whose elements rise: the first is free, and each next one is larger by exp(u). */
export const ordered: Constraint = {
  name: "ordered",
  range: [-Infinity, Infinity],
  description: "vectors of rising numbers",
  eventRank: 1,
  bijection: {
    freeShape: (shape) => shape,
    forward(free) {
      const steps = where(countingLike(free, free.shape.at(-1) as number).equal(0), free, free.exp());
      return { value: runningSum(steps), logJacobian: rest(free).sum({ axis: -1 }) };
    },
    inverse: (value) => concat([first(value), value.diff({ axis: -1 }).log()], { axis: -1 }),
  },
  holds: (x) => rises(x).logicalAnd(real.holds(x).all({ axis: -1 })),
};

/** Vectors whose elements rise from above zero: each is larger than the one before by exp(u). */
export const positiveOrdered: Constraint = {
  name: "positiveOrdered",
  range: [0, Infinity],
  description: "vectors of positive, rising numbers",
  eventRank: 1,
  bijection: {
    freeShape: (shape) => shape,
    forward: (free) => ({ value: runningSum(free.exp()), logJacobian: free.sum({ axis: -1 }) }),
    inverse: (value) => concat([first(value), value.diff({ axis: -1 })], { axis: -1 }).log(),
  },
  holds: (x) => rises(x).logicalAnd(positive.holds(x).all({ axis: -1 })),
};

/**
 * The matrix [k, k-1] of orthonormal columns that sum to zero: column n has n equal elements, then -n times that.
 * Made of counters, so that it is part of the kernel and not memory.
 */
function contrasts(like: Tensor, k: number): Tensor {
  const row = countingLike(like, k).expandDims(-1);
  const column = countingLike(like, k - 1).add(1);
  const n = column.cast(like.dtype);
  const shape = where(row.less(column), 1, where(row.equal(column), n.neg(), 0));
  return shape.cast(like.dtype).div(n.mul(n.add(1)).sqrt());
}

const oneFewer = (shape: Shape): Shape => [...shape.slice(0, -1), (shape.at(-1) as number) - 1];

/**
 * Vectors of positive numbers that sum to 1: the softmax of a vector that sums to 0, whose coordinates in an orthonormal
 * basis are free (the isometric log-ratio, as in Stan 2.36 and later). It treats all elements alike.
 */
export const simplex: Constraint = {
  name: "simplex",
  range: [0, 1],
  isBounded: true,
  description: "vectors of positive numbers that sum to 1",
  eventRank: 1,
  bijection: {
    freeShape: oneFewer,
    forward(free, shape) {
      const k = shape.at(-1) as number;
      const logits = contrasts(free, k).mul(free.expandDims(-2)).sum({ axis: -1 });
      const norm = logits.logsumexp({ axis: -1, keepDims: true });
      const value = logits.sub(norm).exp();
      // Σ log x, of which the logits themselves sum to zero.
      return {
        value,
        logJacobian: norm
          .squeeze(-1)
          .mul(-k)
          .add(0.5 * Math.log(k)),
      };
    },
    inverse(value) {
      const k = value.shape.at(-1) as number;
      return contrasts(value, k).mul(value.log().expandDims(-1)).sum({ axis: -2 });
    },
  },
  holds: (x) =>
    x
      .greaterEqual(0)
      .all({ axis: -1 })
      .logicalAnd(x.sum({ axis: -1 }).sub(1).abs().less(TOLERANCE)),
};

/** 1/√(k(k + 1)) for k = 1 … count: the lengths of contrasts between k equal elements and the next one, as factors. */
function contrastScales(like: Tensor, count: number): { readonly k: Tensor; readonly scale: Tensor } {
  const k = countingLike(like, count).add(1).cast(like.dtype);
  return { k, scale: k.mul(k.add(1)).sqrt().reciprocal() };
}

const padded = (x: Tensor, before: number, after: number): Tensor =>
  x.pad([...x.shape.slice(0, -1).map(() => [0, 0] as const), [before, after]]);

/**
 * Vectors that sum to 0: the coordinates in an orthonormal basis of such vectors are free, those of the contrasts of `simplex`,
 * but by running sums instead of a matrix. It keeps lengths and angles, so it stretches nothing, and treats all elements alike:
 * densities are those on the plane of such vectors.
 */
export const sumToZero: Constraint = {
  name: "sumToZero",
  range: [-Infinity, Infinity],
  description: "vectors of finite numbers that sum to 0",
  eventRank: 1,
  bijection: {
    freeShape: oneFewer,
    forward(free, shape) {
      const n = shape.at(-1) as number;
      const { k, scale } = contrastScales(free, n - 1);
      const w = free.mul(scale);
      const above = runningSum(w.flip(-1)).flip(-1);
      return { value: padded(above, 0, 1).sub(padded(w.mul(k), 1, 0)), logJacobian: 0 };
    },
    inverse(value) {
      const { k, scale } = contrastScales(value, (value.shape.at(-1) as number) - 1);
      const before = runningSum(value).at("...", ":-1");
      return before.sub(rest(value).mul(k)).mul(scale);
    },
  },
  holds: (x) =>
    x
      .sum({ axis: -1 })
      .abs()
      .lessEqual(x.abs().sum({ axis: -1 }).mul(TOLERANCE)),
};

/**
 * Vectors of length 1: a free vector over its length. The length itself has no meaning; a standard normal density keeps it
 * near √n, and stands where a Jacobian would (Marsaglia 1972, as in Stan).
 */
export const unitVector: Constraint = {
  name: "unitVector",
  range: [-1, 1],
  isBounded: true,
  description: "vectors of length 1",
  eventRank: 1,
  bijection: {
    freeShape: (shape) => shape,
    forward(free) {
      const square = free.square().sum({ axis: -1, keepDims: true });
      return { value: free.div(square.sqrt()), logJacobian: square.squeeze(-1).mul(-0.5) };
    },
    inverse: (value) => value,
  },
  holds: (x) => x.square().sum({ axis: -1 }).sub(1).abs().less(TOLERANCE),
};

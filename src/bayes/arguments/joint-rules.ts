/**
 * Joint rules: what the numbers of one argument must be together. Probabilities sum to 1; covariances are symmetric and
 * positive definite. Known arguments are held to them when a model meets its data; of what is sampled only the kind is known.
 */
import { choleskyFactor } from "../numerics/cholesky.js";

/** Looks at the numbers of one vector or matrix. Returns the problem in words that begin with the argument's name, or null. */
export type JointRule = (values: ArrayLike<number>, shape: readonly number[]) => string | null;

/** The parts of a variable's `Constraint` that these rules look at. */
interface ValueSpace {
  readonly name: string;
  /** Axes of one value: 1 for vectors, 2 for matrices. */
  readonly eventRank: number;
}

/** The kind of variable that may stand for a whole vector or matrix. */
export interface VariableKind {
  readonly isOf: (space: ValueSpace) => boolean;
  /** Completes "it is …". */
  readonly says: string;
}

/** Other vectors do not lie between 0 and 1. */
export const probabilityVector: VariableKind = {
  isOf: ({ eventRank }) => eventRank === 1,
  says: "a vector of probabilities that sum to 1. Use dirichlet(…) or flat(simplex)",
};

/** Elements of other vectors come in any order. */
export const risingVector: VariableKind = {
  isOf: ({ name, eventRank }) => eventRank === 1 && /ordered$/i.test(name),
  says: "a vector of rising numbers. Use .constrained(ordered)",
};

export const risingNumbers =
  (name: string): JointRule =>
  (values) => {
    for (let i = 1; i < values.length; i++) {
      if (!(values[i] > values[i - 1])) {
        return `${name}[${i}] is ${values[i]} and [${i - 1}] is ${values[i - 1]}; they rise from each to the next.`;
      }
    }
    return null;
  };

export const factorMatrix: VariableKind = {
  isOf: ({ eventRank }) => eventRank === 2,
  says: "a lower triangular matrix with a positive diagonal. Use lkjCholesky(…) or flat(covarianceCholesky)",
};

const FACTORS: readonly string[] = ["correlationCholesky", "covarianceCholesky"];

export const symmetricMatrix: VariableKind = {
  isOf: (space) => factorMatrix.isOf(space) && !FACTORS.includes(space.name),
  says: "a symmetric matrix. Give { cholesky: L } of an L that is lkjCholesky(…) or flat(covarianceCholesky), or a matrix made of it",
};

/** The largest rounding error of sums of f32 that should be 1. */
const ROUNDING = 1e-6;

/** `logits`: what takes numbers that need not sum to 1. */
export const sumToOne =
  (name: string, logits?: string): JointRule =>
  (values) => {
    const sum = Array.from(values).reduce((total, value) => total + value, 0);
    if (Math.abs(sum - 1) <= ROUNDING * Math.max(1, values.length / 8)) return null;
    const instead = logits === undefined ? "" : `, or use ${logits}, which takes their logarithms up to a constant`;
    return `${name} sum to ${Number(sum.toPrecision(6))}, not to 1; divide them by their sum${instead}.`;
  };

/** Rows of a matrix as vectors that sum to 1. */
export const rowsSumToOne =
  (name: string): JointRule =>
  (values, [rows, columns]) => {
    for (let row = 0; row < rows; row++) {
      const own = Array.from(values).slice(row * columns, (row + 1) * columns);
      const problem = sumToOne(`the elements of ${name}[${row}]`)(own, [columns]);
      if (problem !== null) return problem;
    }
    return notSquare(name, [rows, columns]);
  };

const notSquare = (name: string, [rows, columns]: readonly number[]): string | null =>
  rows === columns ? null : `${name} is ${rows} × ${columns}; it is square.`;

/** Differences of elements that are rounding, next to the diagonal. */
const CROOKED = 1e-5;

export const symmetric =
  (name: string): JointRule =>
  (values, shape) => {
    const [n] = shape;
    for (let i = 0; i < n && shape[1] === n; i++) {
      for (let j = i + 1; j < n; j++) {
        const [above, below] = [values[i * n + j], values[j * n + i]];
        const size = Math.sqrt(Math.abs(values[i * n + i] * values[j * n + j]));
        if (Math.abs(above - below) <= CROOKED * Math.max(size, Math.abs(above))) continue;
        return `${name}[${i},${j}] is ${above} and [${j},${i}] is ${below}; it is symmetric.`;
      }
    }
    if (shape[1] !== n || choleskyFactor(values, n)) return notSquare(name, shape);
    return `${name} is not positive definite: by it, some sum of the elements would have no positive variance.`;
  };

export const lowerFactor =
  (name: string): JointRule =>
  (values, shape) => {
    const [n] = shape;
    for (let i = 0; i < n && shape[1] === n; i++) {
      if (!(values[i * n + i] > 0)) {
        return `${name}[${i},${i}] is ${values[i * n + i]}; the diagonal of a Cholesky factor is positive.`;
      }
      for (let j = i + 1; j < n; j++) {
        if (values[i * n + j] === 0) continue;
        return (
          `${name}[${i},${j}] is ${values[i * n + j]}; the factor is lower triangular, with zeros above the diagonal. ` +
          "Give the transpose of an upper one, or { covariance }."
        );
      }
    }
    return notSquare(name, shape);
  };

/** Normal vectors, by their covariance, its Cholesky factor, or its inverse. */

import { checkOptions } from "../../core/arguments.js";
import { checkCount } from "../../core/arity.js";
import { ArgumentError } from "../../core/errors.js";
import { cholesky as choleskyOf, triangularSolve } from "../../linalg/triangular.js";
import { normal as normalNumbers } from "../../random/normal.js";
import { einsum, type Tensor } from "../../tensor/index.js";
import { type Argument, tensorOf } from "../arguments/argument.js";
import {
  factorMatrix,
  type JointRule,
  lowerFactor,
  symmetric,
  symmetricMatrix,
  type VariableKind,
} from "../arguments/joint-rules.js";
import { parameter } from "../arguments/parameter.js";
import { real } from "../constraints/numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { LOG_SQRT_2PI } from "../definition/normal-probability.js";
import { RandomVariable } from "../variables/variable.js";
import { normalDefinition } from "./normal.js";

/** One of the three ways to say how the elements vary together. */
export type Spread =
  | { readonly covariance: Argument }
  | { readonly cholesky: Argument }
  | { readonly precision: Argument };

type Matrices = { readonly [K in "covariance" | "cholesky" | "precision"]?: Argument };

/** Solves with a triangular matrix for vectors along the last axis. */
function solve(factor: Tensor, vectors: Tensor, transposed: boolean): Tensor {
  if (vectors.rank === 1) return triangularSolve(factor, vectors, { transposed });
  if (factor.rank > 2) return triangularSolve(factor, vectors.expandDims(-1), { transposed }).squeeze(-1);
  const columns = vectors.reshape(-1, vectors.shape.at(-1) as number).mT;
  return triangularSolve(factor, columns, { transposed }).mT.reshape(vectors.shape);
}

/** A matrix as a map from standard normal vectors to those wanted, and back. */
interface Colouring {
  readonly name: keyof Matrices;
  /** The rule for a matrix. */
  readonly joint: (name: string) => JointRule;
  readonly kind: VariableKind;
  /** Lower triangular. */
  factor(matrix: Tensor): Tensor;
  colour(factor: Tensor, standard: Tensor): Tensor;
  whiten(factor: Tensor, deviation: Tensor): Tensor;
  /** ∓1: whether the factor's determinant divides or multiplies the density. */
  readonly sign: 1 | -1;
}

const times = (factor: Tensor, vectors: Tensor): Tensor => einsum("...ij,...j->...i", factor, vectors);

const byCholesky: Colouring = {
  name: "cholesky",
  joint: lowerFactor,
  kind: factorMatrix,
  factor: (matrix) => matrix,
  // Solving does not look above the diagonal, so neither does this.
  colour: (factor, standard) => times(factor.tril(), standard),
  whiten: (factor, deviation) => solve(factor, deviation, false),
  sign: -1,
};
const byCovariance: Colouring = {
  ...byCholesky,
  name: "covariance",
  joint: symmetric,
  kind: symmetricMatrix,
  factor: (matrix) => choleskyOf(matrix),
  colour: times,
};
/** P = C·Cᵀ, so that Cᵀ whitens. */
const byPrecision: Colouring = {
  name: "precision",
  joint: symmetric,
  kind: symmetricMatrix,
  factor: (matrix) => choleskyOf(matrix),
  colour: (factor, standard) => solve(factor, standard, true),
  whiten: (factor, deviation) => times(factor.mT, deviation),
  sign: 1,
};

function definitionOf({ name, joint, kind, factor, colour, whiten, sign }: Colouring): Definition<"mean" | "matrix"> {
  const covariance = (matrix: Tensor): Tensor => {
    if (name === "covariance") return matrix;
    const own = factor(matrix);
    if (name === "cholesky") return own.tril().matmul(own.tril().mT);
    const identity = own.mul(0).add(own.mul(0).diagonal().add(1).diagonalMatrix());
    const inverse = triangularSolve(own, identity);
    return inverse.mT.matmul(inverse);
  };
  return {
    name: "mvNormal",
    parameters: { mean: parameter.location, matrix: { ...parameter.matrix, joint: joint(name), kind } },
    eventShape: ({ matrix }) => matrix.slice(-1),
    support: { ...real, description: "vectors of finite numbers" },
    terms(x, p) {
      const triangle = factor(p.matrix);
      const z = whiten(triangle, x.sub(p.mean));
      return [
        z.square().sum({ axis: -1 }).mul(-0.5),
        triangle.diagonal().log().sum({ axis: -1 }).mul(sign),
        -LOG_SQRT_2PI * (p.matrix.shape.at(-1) as number),
      ];
    },
    draw({ key, shape, dtype }, p) {
      const z = normalNumbers(key, [...shape, p.matrix.shape.at(-1) as number], { dtype });
      return colour(factor(p.matrix), z).add(p.mean);
    },
    mean: (p) => p.mean.add(p.matrix.diagonal().mul(0)),
    variance: (p) => covariance(p.matrix).diagonal().add(p.mean.mul(0)),
    noncentered: ({ mean, matrix }) => ({
      base: bind(normalDefinition, { location: 0, scale: 1 }),
      forward: (z) => colour(factor(tensorOf(matrix, z)), z).add(tensorOf(mean, z)),
      inverse: (x) => whiten(factor(tensorOf(matrix, x)), x.sub(tensorOf(mean, x))),
    }),
  };
}

/** Normal vectors of a mean [.., n] (or one number for all) and a covariance, its lower factor or its inverse [.., n, n]. */
export function mvNormal(mean: Argument, spread: Spread): RandomVariable {
  checkCount("mvNormal", 2, arguments);
  checkOptions("mvNormal", spread as Matrices, { covariance: "any", cholesky: "any", precision: "any" });
  const given = [byCovariance, byCholesky, byPrecision].flatMap((colouring) => {
    const matrix = (spread as Matrices)[colouring.name];
    return matrix === undefined ? [] : [{ colouring, matrix }];
  });
  if (given.length !== 1) {
    const found = given.length === 0 ? "none" : given.map(({ colouring }) => colouring.name).join(" and ");
    throw new ArgumentError(`mvNormal: give one of { covariance }, { cholesky } and { precision }, not ${found}.`);
  }
  const [{ colouring, matrix }] = given;
  return new RandomVariable(bind(definitionOf(colouring), { mean, matrix }));
}

/** Linear algebra: `import { linalg } from "pumice"`. */

export { diagonal, matmul, matrixTranspose, outer, tensordot, trace, vecdot } from "../tensor/index.js";
export { type CheckOptions, check } from "./check.js";
export { det, type SignAndLog, slogdet } from "./determinant.js";
export { eig, eigvals } from "./eig.js";
export { type Eigenpairs, eigh, eigvalsh, type HermitianOptions } from "./eigh.js";
export { type GmresOptions, gmres } from "./gmres.js";
export { hermitianFunction } from "./hermitian-function.js";
export type { IterationStart, LinearMap } from "./iteration-start.js";
export { type ConjugateGradientOptions, cg } from "./iterative.js";
export { type LdlFactors, ldl } from "./ldl.js";
export { type LeastSquares, lstsq, pinv } from "./least-squares.js";
export {
  inv,
  type LuFactor,
  type LuMatrices,
  lu,
  luFactor,
  luSolve,
  solve,
} from "./lu.js";
export { matrixExp, matrixPower } from "./matrix-functions.js";
export {
  cond,
  type MatrixNormOptions,
  type MatrixNormOrder,
  matrixNorm,
  type VectorNormOptions,
  vectorNorm,
} from "./norms.js";
export { adjoint, cross, multiDot } from "./products.js";
export { type PivotedQrFactors, type QrFactors, type QrOptions, qr } from "./qr.js";
export {
  matrixRank,
  type PolarFactors,
  polar,
  type RandomizedSvdOptions,
  type RankOptions,
  randomizedSvd,
  type SvdFactors,
  type SvdOptions,
  svd,
  svdvals,
} from "./svd.js";
export { solveSylvester } from "./sylvester.js";
export { cholesky, choSolve, type TriangularSolveOptions, triangularSolve } from "./triangular.js";

/** Linear algebra: `import { linalg } from "pumice"`. */
export {
  det,
  inv,
  type LuFactor,
  type LuMatrices,
  lu,
  luFactor,
  luSolve,
  type SignAndLog,
  slogdet,
  solve,
} from "./lu.js";
export { cholesky, choSolve, type TriangularSolveOptions, triangularSolve } from "./triangular.js";

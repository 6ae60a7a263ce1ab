/** Linear algebra: `import { linalg } from "pumice"`. */
export { cholesky, type TriangularSolveOptions, triangularSolve } from "./triangular.js";

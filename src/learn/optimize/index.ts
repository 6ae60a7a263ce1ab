/** Minima and roots: `import { optimize } from "pumice/learn"`. Whole searches are loops on the device, which `jit` and `vmap` take. */
export { type BfgsOptions, bfgs } from "./bfgs.js";
export { type LbfgsOptions, lbfgs } from "./lbfgs.js";
export { type LevenbergMarquardtOptions, levenbergMarquardt } from "./levenberg-marquardt.js";
export { type NelderMeadOptions, nelderMead, type SimplexMinimum } from "./nelder-mead.js";
export type { Minimum, StopOptions } from "./result.js";
export { broyden, newton, type Root, type RootOptions } from "./root.js";
export {
  type Bracket,
  bracket,
  brent,
  goldenSection,
  type ScalarMinimum,
  type ScalarOptions,
} from "./scalar-minimum.js";
export { bisect, brentq, type ScalarRoot, type ScalarRootOptions } from "./scalar-root.js";

/**
 * The search for a kernel's parameters: the largest likelihood within their bounds, by L-BFGS from several starts. A parameter θ with
 * bounds is searched as u with θ = middle + half·sin(u / half): bounds are reached and never passed, and near the middle u moves
 * as θ does. Gaussian processes call this; it is a function of tensors, so that their fits trace.
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { key, split, uniform } from "../../random/index.js";
import { type Tensor, where } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import { ravel } from "../../transforms/ravel.js";
import { lbfgs } from "../optimize/lbfgs.js";
import { type KernelParameters, kernelTree, parameters } from "./covariance.js";
import type { Kernel } from "./kernel.js";

/** Options of the search. */
export interface ParameterSearchOptions {
  /** How parameters of the kernel are found: "lbfgs" unless told; "none" keeps those that the kernel starts with. */
  readonly optimizer?: "lbfgs" | "none";
  /** Further searches from random starts within the bounds: 0 unless told. The best of all counts. */
  readonly nRestartsOptimizer?: number;
  /** The largest element of the gradient at which a search ends: 1e-5 unless told. */
  readonly tol?: number;
  /** Rounds of a search at most: 200 unless told. */
  readonly maxIter?: number;
  /** Decides the random starts: 0 unless told. */
  readonly seed?: number;
}

export const SEARCH = {
  optimizer: "text",
  nRestartsOptimizer: "number",
  tol: "number",
  maxIter: "number",
  seed: "number",
} as const;

export function checkSearch(
  kind: string,
  { nRestartsOptimizer = 0, tol = 0, maxIter = 1 }: ParameterSearchOptions,
): void {
  checkWhole(kind, "nRestartsOptimizer", nRestartsOptimizer, 0);
  checkWhole(kind, "maxIter", maxIter, 1);
  if (tol >= 0 && Number.isFinite(tol)) return;
  throw new ArgumentError(`${kind}: tol is ${shown(tol)}; it is a number, zero or more.`);
}

/** Whether a kernel has a parameter that is not fixed. */
const isFree = ({ bounds, parts }: Kernel): boolean =>
  Object.values(bounds).some((bound) => bound !== "fixed") || parts.some(isFree);

/** Parameters of a kernel as a vector within bounds. */
function box(kernel: Kernel, like: Tensor) {
  const end = (place: 0 | 1): Tensor => {
    const tree = kernelTree(kernel, like, (value, name, { bounds }) => {
      const bound = bounds[name];
      return Math.log(bound === "fixed" || bound === undefined ? value : bound[place]);
    });
    return ravel("kernels.parameters", tree).vector;
  };
  const [least, most] = [end(0), end(1)];
  const start = ravel("kernels.parameters", parameters(kernel, like));
  const half = most.sub(least).mul(0.5) as Tensor;
  const middle = most.add(least).mul(0.5) as Tensor;
  const width = where(half.equal(0), 1, half) as Tensor;
  return {
    least,
    most,
    start: start.vector,
    restore: start.restore,
    toFree: (theta: Tensor): Tensor => theta.sub(middle).div(width).clip(-1, 1).asin().mul(width) as Tensor,
    toBounded: (u: Tensor): Tensor => middle.add(half.mul(u.div(width).sin())) as Tensor,
  };
}

/**
 * The parameters with the largest likelihood. `likelihood` is a function of parameters and of `data`, the tensors that it needs: the
 * search is one program for all starts.
 */
export function likeliestParameters<D>(
  kernel: Kernel,
  like: Tensor,
  data: D,
  likelihood: (parameters: KernelParameters, data: D) => Tensor,
  { optimizer = "lbfgs", nRestartsOptimizer = 0, tol = 1e-5, maxIter = 200, seed = 0 }: ParameterSearchOptions,
): KernelParameters {
  if (optimizer === "none" || !isFree(kernel)) return parameters(kernel, like);
  const { least, most, start, restore, toFree, toBounded } = box(kernel, like);
  const search = jit((from: Tensor, given: D) => {
    const loss = (u: Tensor): Tensor => likelihood(restore(toBounded(u)), given).neg() as Tensor;
    const { x, value } = lbfgs(loss, from, { tol, maxIter });
    return { theta: toBounded(x), value };
  });
  let best = search(toFree(start), data);
  const keys = split(key(seed, { device: like.device }), nRestartsOptimizer);
  for (const each of keys) {
    const share = uniform(each, [start.size]).cast(like.dtype);
    const found = search(toFree(least.add(most.sub(least).mul(share)) as Tensor), data);
    const isBetter = found.value.less(best.value).logicalOr(best.value.isNaN());
    best = {
      theta: where(isBetter, found.theta, best.theta) as Tensor,
      value: where(isBetter, found.value, best.value) as Tensor,
    };
  }
  return restore(best.theta);
}

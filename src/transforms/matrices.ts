/** Matrices of derivatives: Jacobians in either mode, Hessians, and their products with vectors. */
import { checkFunction, checkNoOptions, checkOptions } from "../core/arguments.js";
import { ArgumentError } from "../core/errors.js";
import { eye, zeros } from "../tensor/creation.js";
import type { Tensor } from "../tensor/tensor.js";
import { gradAs, linearizeAs, onVariables, pullbackOf, pushOf, type Run } from "./grad.js";
import { type FlatTree, flattenTensors, unflatten } from "./trees.js";
import { vmap } from "./vmap.js";

export interface JacobianOptions {
  /** "reverse" runs once per element of the result, "forward" once per element of the argument; the shorter unless told. */
  readonly mode?: "reverse" | "forward";
}

/** The derivative of trees R by trees X: at each leaf of R a tree like X. */
export type JacobianOf<R, X> = R extends Tensor ? X : { [K in keyof R]: JacobianOf<R[K], X> };

/**
 * All partial derivatives of a function's result by its first argument. A result of shape [m] and an argument of shape [n]
 * give [m, n]; shapes of any rank stand one after the other. Trees give trees of such tensors.
 */
export function jacobian<X, A extends readonly unknown[], R>(
  f: (x: X, ...rest: A) => R,
  options: JacobianOptions = {},
): (x: X, ...rest: A) => JacobianOf<R, X> {
  checkFunction("jacobian", f);
  checkOptions("jacobian", options, { mode: "text" });
  if (![undefined, "forward", "reverse"].includes(options.mode)) {
    throw new ArgumentError(`jacobian: there is no mode "${options.mode}"; use "forward" or "reverse".`);
  }
  return jacobianAs("jacobian", f, options);
}

/** jacobian under the name that errors have. */
function jacobianAs<X, A extends readonly unknown[], R>(
  operation: string,
  f: (x: X, ...rest: A) => R,
  options: JacobianOptions,
): (x: X, ...rest: A) => JacobianOf<R, X> {
  return (x, ...rest) => {
    const at = (each: X) => f(each, ...rest);
    return onVariables(operation, at, [x] as [X], (run) => {
      const count = ({ leaves }: FlatTree<Tensor>) => leaves.reduce((sum, { size }) => sum + size, 0);
      const mode = options.mode ?? (count(run.inputs) < count(run.outputs) ? "forward" : "reverse");
      return (mode === "forward" ? byColumns(run) : byRows(run)) as JacobianOf<R, X>;
    });
  };
}

/** One run of the way back for all elements of a result. */
function byRows<X, R>(run: Run<[X], R>): unknown {
  const { outputs } = run;
  const pullback = pullbackOf(run);
  const trees = outputs.leaves.map((leaf, i) => {
    const [gradient] = vmap(pullback)(unflatten(outputs.structure, basis(outputs.leaves, i)) as R);
    const parts = flattenTensors(gradient, "jacobian");
    return unflatten(
      parts.structure,
      parts.leaves.map((part) => part.reshape([...leaf.shape, ...part.shape.slice(1)])),
    );
  });
  return unflatten(outputs.structure, trees);
}

/** One linear approximation for all elements of an argument. */
function byColumns<X, R>(run: Run<[X], R>): unknown {
  const { outputs } = run;
  const [x] = unflatten(run.inputs.structure, run.inputs.leaves) as [X];
  const { leaves, structure } = flattenTensors(x, "jacobian");
  const push = pushOf(run);
  const columns = leaves.map((leaf, i) => {
    const moved = vmap(push)(unflatten(structure, basis(leaves, i)) as X);
    return flattenTensors(moved, "jacobian").leaves.map((part) => {
      const last = part.moveAxis(0, -1);
      return last.reshape([...last.shape.slice(0, -1), ...leaf.shape]);
    });
  });
  const trees = outputs.leaves.map((_, o) =>
    unflatten(
      structure,
      columns.map((column) => column[o]),
    ),
  );
  return unflatten(outputs.structure, trees);
}

/** One direction per element of the i-th leaf, as a batch; the other leaves do not move. */
function basis(leaves: readonly Tensor[], i: number): Tensor[] {
  const { size } = leaves[i];
  return leaves.map((leaf, k) => {
    const options = { dtype: leaf.dtype, device: leaf.device };
    return k === i ? eye(size, size, options).reshape([size, ...leaf.shape]) : zeros([size, ...leaf.shape], options);
  });
}

/** The second derivatives of a function that returns one number, by its first argument: a tree of trees. */
export function hessian<X, A extends readonly unknown[]>(
  f: (x: X, ...rest: A) => Tensor,
): (x: X, ...rest: A) => JacobianOf<X, X>;
export function hessian<X>(f: (x: X, ...rest: readonly unknown[]) => Tensor, ...more: unknown[]) {
  checkNoOptions("hessian", more);
  return jacobianAs("hessian", gradAs("hessian", f) as typeof f, { mode: "forward" });
}

/** The Hessian of a function that returns one number, times a vector (a tree like the argument), without the matrix. */
export function hvp<X>(f: (x: X) => Tensor, x: X, v: X): X {
  const [, push] = linearizeAs("hvp", gradAs("hvp", f) as (x: X) => X, [x]);
  return push(v);
}

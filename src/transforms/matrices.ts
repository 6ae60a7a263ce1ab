/** Matrices of derivatives: Jacobians in either mode, Hessians, and their products with vectors. */

import { checkFunction, checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { isComplex } from "../core/dtype.js";
import { ArgumentError, DTypeError } from "../core/errors.js";
import { eye, type Tensor, zeros } from "../tensor/index.js";
import { gradAs, linearizeAs, onVariables, pullbackOf, pushOf, type Run } from "./grad.js";
import { type FlatTree, flattenTensors, unflatten } from "./trees.js";
import { vmap } from "./vmap.js";

/** Options of `jacobian` and `hessian`. */
export interface JacobianOptions {
  /** "reverse" runs once per element of the result, "forward" once per element of the argument; the shorter unless told. */
  readonly mode?: "reverse" | "forward";
  /** Says that a function of complex numbers with complex results has a complex derivative: no conj, abs, real in it. */
  readonly holomorphic?: boolean;
}

/** The derivative of trees R by trees X: at each leaf of R a tree like X. */
type JacobianOf<R, X> = R extends Tensor ? X : { [K in keyof R]: JacobianOf<R[K], X> };

/**
 * All partial derivatives of a function's result by its first argument. A result of shape [m] and an argument of shape [n]
 * give [m, n]; shapes of any rank stand one after the other. Trees give trees of such tensors.
 *
 * A real result by a complex argument z = x + iy gives ∂/∂x − i·∂/∂y, as `grad` does, a complex result by a real argument its
 * complex derivative. A complex result by a complex argument has one derivative only if the function is `holomorphic`.
 */
export function jacobian<X, A extends readonly unknown[], R>(
  f: (x: X, ...rest: A) => R,
  options: JacobianOptions = {},
): (x: X, ...rest: A) => JacobianOf<R, X> {
  checkCount("jacobian", 2, arguments);
  checkFunction("jacobian", f);
  checkOptions("jacobian", options, { mode: "text", holomorphic: "flag" });
  if (![undefined, "forward", "reverse"].includes(options.mode)) {
    throw new ArgumentError(`jacobian: there is no mode "${options.mode}"; use "forward" or "reverse".`);
  }
  return jacobianAs("jacobian", f, options);
}

/** jacobian; errors name `operation`. */
function jacobianAs<X, A extends readonly unknown[], R>(
  operation: string,
  f: (x: X, ...rest: A) => R,
  options: JacobianOptions,
): (x: X, ...rest: A) => JacobianOf<R, X> {
  return (x, ...rest) => {
    const at = (each: X) => f(each, ...rest);
    return onVariables(operation, at, [x] as [X], (run) => {
      const count = ({ leaves }: FlatTree<Tensor>) => leaves.reduce((sum, { size }) => sum + size, 0);
      const shorter = count(run.inputs) < count(run.outputs) ? "forward" : "reverse";
      const mode = options.mode ?? modeFor(run, options) ?? shorter;
      checkComplex(run, mode, options);
      return (mode === "forward" ? byColumns(run) : byRows(run)) as JacobianOf<R, X>;
    });
  };
}

const hasComplex = ({ leaves }: FlatTree<Tensor>): boolean => leaves.some(({ dtype }) => isComplex(dtype));

/** The mode in which one run per element gives all derivatives; null if both modes do. */
function modeFor({ inputs, outputs }: Run<unknown, unknown>, { holomorphic }: JacobianOptions) {
  if (holomorphic) return null;
  return hasComplex(outputs) ? "forward" : hasComplex(inputs) ? "reverse" : null;
}

/** A complex element can change in two directions. One matrix entry holds both derivatives only in some cases. */
function checkComplex({ inputs, outputs }: Run<unknown, unknown>, mode: string, options: JacobianOptions): void {
  const [isFrom, isTo] = [hasComplex(inputs), hasComplex(outputs)];
  if (options.holomorphic) {
    if (isFrom && isTo) return;
    throw new ArgumentError("jacobian: { holomorphic: true } is for functions with complex arguments and results.");
  }
  if (isFrom && isTo) {
    throw new DTypeError(
      "jacobian: argument and result are complex. If the function is holomorphic (no conj, abs, real or imag in it), say " +
        "{ holomorphic: true }; else it has no single derivative: take those of its real() and imag() parts.",
    );
  }
  if (isTo && mode === "reverse") {
    throw new DTypeError(
      'jacobian: the result is complex, and backwards only its real part would be seen; use { mode: "forward" }.',
    );
  }
  if (isFrom && mode === "forward") {
    throw new DTypeError(
      'jacobian: the argument is complex, and forwards only its real part would move; use { mode: "reverse" }.',
    );
  }
}

/** One batched run of the pullback for all elements of a result. */
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

/** One batched run of the linear approximation for all elements of an argument. */
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

/** The second derivatives of a function that returns one number, by its first argument, which is real: a tree of trees. */
export function hessian<X, A extends readonly unknown[]>(
  f: (x: X, ...rest: A) => Tensor,
): (x: X, ...rest: A) => JacobianOf<X, X>;
export function hessian<X>(f: (x: X, ...rest: readonly unknown[]) => Tensor) {
  checkCount("hessian", 1, arguments);
  const matrix = jacobianAs("hessian", gradAs("hessian", f) as typeof f, { mode: "forward" });
  return (x: X, ...rest: readonly unknown[]) => {
    if (hasComplex(flattenTensors(x, "hessian"))) {
      throw new DTypeError(
        "hessian: the argument is complex; make the function one of the real and the imaginary part, with complex(x, y) in it.",
      );
    }
    return matrix(x, ...rest);
  };
}

/** The Hessian of a function that returns one number, times a vector (a tree like the argument), without the matrix. */
export function hvp<X>(f: (x: X) => Tensor, x: X, v: X): X {
  checkCount("hvp", 3, arguments);
  const [, push] = linearizeAs("hvp", gradAs("hvp", f) as (x: X) => X, [x]);
  return push(v);
}

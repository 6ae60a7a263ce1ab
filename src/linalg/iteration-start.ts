/**
 * What the iterations for equations share, `cg` and `gmres`: the product with A and the preconditioner, given as functions, and
 * the place to begin at.
 */
import { checkFunction } from "../core/arguments.js";
import { ShapeError } from "../core/errors.js";
import { formatShape } from "../core/shape.js";
import { shown } from "../core/shown.js";
import { checkOneDevice, checkTensor, isTensor, type Tensor, where } from "../tensor/index.js";

/** The product of a matrix that depends on parameters with a vector. */
export type LinearMap<P> = (parameters: P, v: Tensor) => Tensor;

/** What iterations share: where they begin, and a cheap matrix that is nearly the inverse. P are the parameters of A. */
export interface IterationStart<P> {
  /** Where the iteration begins, of the shape of b: an earlier solution saves rounds. Zeros. The solution has no derivative by it. */
  readonly x0?: Tensor;
  /**
   * M·v for a matrix M near the inverse of A, from the parameters of A: fewer rounds. Linear in v; for `cg` symmetric (Hermitian) and
   * positive definite, too. The solution does not depend on it, so no derivative goes through it.
   */
  readonly preconditioner?: LinearMap<P>;
}

/** Where an iteration begins, in the dtype of the work; an empty list stands for zeros, which need no product. */
export function startOf(operation: string, x0: unknown, b: Tensor): readonly Tensor[] {
  if (x0 === undefined) return [];
  checkTensor(operation, "x0", x0);
  checkOneDevice(operation, [x0.node, b.node]);
  if (formatShape(x0.shape) !== formatShape(b.shape)) {
    throw new ShapeError(
      `${operation}: x0 is ${formatShape(x0.shape)} and the right side ${formatShape(b.shape)}; they are alike.`,
    );
  }
  // The solution of zeros is zeros, and no residual is small beside them.
  return [where(b.equal(0).all(), 0, x0.cast(b.dtype)).cast(b.dtype) as Tensor];
}

/** A and its preconditioner, which keep shape and dtype of the vector or are refused by name. */
export function iterationMaps<P>(
  operation: string,
  apply: LinearMap<P>,
  preconditioner: LinearMap<P> | undefined,
  { shape, dtype }: Tensor,
): readonly [LinearMap<P>, LinearMap<P> | null] {
  const checked =
    (of: LinearMap<P>, what: string): LinearMap<P> =>
    (parameters, v) => {
      const product: unknown = of(parameters, v);
      if (isTensor(product) && formatShape(product.shape) === formatShape(shape)) return product.cast(dtype);
      const found = isTensor(product) ? formatShape(product.shape) : shown(product);
      throw new ShapeError(
        `${operation}: ${what} gave ${found} for a vector of ${formatShape(shape)}; it returns a tensor of that shape.`,
      );
    };
  if (preconditioner !== undefined) checkFunction(operation, preconditioner, "preconditioner");
  return [checked(apply, "the function"), preconditioner ? checked(preconditioner, "the preconditioner") : null];
}

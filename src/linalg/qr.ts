/** QR decompositions: orthonormal columns times a triangle. Leading axes are batches. */

import { checkOptions, type OptionKinds } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ArgumentError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import { computedTogether, concat, type FloatOf, orthogonalFactors, type Tensor } from "../tensor/index.js";
import { adjointOf, checkMatrices, workDTypes } from "./arguments.js";
import { pivotedColumns } from "./pivoted-columns.js";

/** Options of `qr`. */
export interface QrOptions {
  /**
   * reduced: q is [.., m, k] and r is [.., k, n], k = min(m, n). complete: q is [.., m, m] and r is [.., m, n].
   */
  readonly mode?: "reduced" | "complete";
  /** Exchange columns, so that the diagonal of r falls: it shows the rank. */
  readonly pivoting?: boolean;
}

/** Orthonormal columns and a triangle: q·r is a, or a with its columns in the order of the pivots. */
export interface QrFactors<D extends DType> {
  readonly q: Tensor<D>;
  /** Upper triangular. Its diagonal is real and may be negative. */
  readonly r: Tensor<D>;
}

/** The same with the order of the columns: q·r is `a.take(pivots, { axis: -1 })`. */
export interface PivotedQrFactors<D extends DType> extends QrFactors<D> {
  /** i32 [.., n]. */
  readonly pivots: Tensor<"i32">;
}

const OPTIONS: OptionKinds<QrOptions> = { mode: "any", pivoting: "flag" };

/** The QR decomposition of matrices [.., m, n], by Householder reflections. */
export function qr<D extends DType>(
  a: Tensor<D>,
  options: QrOptions & { readonly pivoting: true },
): PivotedQrFactors<FloatOf<D>>;
export function qr<D extends DType>(a: Tensor<D>, options?: QrOptions): QrFactors<FloatOf<D>>;
export function qr<D extends DType>(a: Tensor<D>, options: QrOptions = {}): QrFactors<FloatOf<D>> {
  checkCount("linalg.qr", 2, arguments);
  checkOptions("linalg.qr", options, OPTIONS);
  checkMatrices("qr", a);
  const { mode = "reduced", pivoting = false } = options;
  if (mode !== "reduced" && mode !== "complete") {
    throw new ArgumentError(`linalg.qr: the option mode is "reduced" or "complete", not ${shown(mode)}.`);
  }
  const { work, result } = workDTypes(a.dtype);
  const given = a.cast(work);
  const pivots = pivoting ? pivotedColumns(given) : null;
  const ordered = pivots ? given.takeAlongAxis(pivots.expandDims(-2).broadcastTo(given.shape), { axis: -1 }) : given;
  const { q, r } = factorsOf(ordered, mode === "complete");
  const factors = { q: q.cast(result), r: r.cast(result) };
  return computedTogether(pivots ? { ...factors, pivots } : factors) as QrFactors<FloatOf<D>>;
}

/** Of a wide matrix the first columns give q, and the others are turned by it: derivatives follow from that. */
function factorsOf(a: Tensor, isComplete: boolean): { readonly q: Tensor; readonly r: Tensor } {
  const [m, n] = a.shape.slice(-2);
  if (m >= n) {
    const [q, r] = orthogonalFactors(a, isComplete ? m : n);
    return { q, r };
  }
  const [q, square] = orthogonalFactors(a.at("...", `:${m}`), m);
  return { q, r: concat([square, adjointOf(q).matmul(a.at("...", `${m}:`))], { axis: -1 }) };
}

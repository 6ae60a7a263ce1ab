/**
 * Checks and preparation of the arguments of linear algebra, in one place: what is square, which dtype the work is done in,
 * how batches broadcast, and vectors among matrices. Every function of this folder calls these before it makes a node.
 */
import { DTYPES, type DType, isComplex } from "../core/dtype.js";
import { ShapeError } from "../core/errors.js";
import { promote } from "../core/promotion.js";
import { broadcastShapes, formatShape } from "../core/shape.js";
import { checkOneDevice, checkTensor, type Tensor } from "../tensor/index.js";

/** The dtypes that factors and solutions are computed in. */
type WorkDType = "f32" | "f64" | "c64" | "c128";

/** The dtypes of an operation: the one it computes in, and the one of its result. */
interface WorkDTypes {
  readonly work: WorkDType;
  readonly result: DType;
}

/** Integers become f32; f16, bf16 and the narrower floats are computed in f32 and rounded in the end. */
export function workDTypes(dtype: DType): WorkDTypes {
  if (isComplex(dtype)) return { work: dtype as WorkDType, result: dtype };
  const isFloat = DTYPES[dtype].kind === "float";
  return { work: dtype === "f64" ? "f64" : "f32", result: isFloat ? dtype : "f32" };
}

/** The same of two operands that meet. */
const workOf = (a: Tensor, b: Tensor): WorkDTypes => workDTypes(promote(a.dtype, b.dtype));

/** Throws unless a is a tensor of matrices, [.., m, n]. */
export function checkMatrices(operation: string, a: unknown, what = "the matrix"): asserts a is Tensor {
  checkTensor(`linalg.${operation}`, what, a);
  if (a.rank >= 2) return;
  throw new ShapeError(
    `linalg.${operation}: ${formatShape(a.shape)} is no matrix; ${what} has two axes or more, of which the last two count.`,
  );
}

/** Throws unless a is a tensor of square matrices, [.., n, n]. */
export function checkSquare(operation: string, a: unknown, what = "the matrix"): asserts a is Tensor {
  checkTensor(`linalg.${operation}`, what, a);
  if (a.rank >= 2 && a.shape.at(-1) === a.shape.at(-2)) return;
  throw new ShapeError(
    `linalg.${operation}: ${formatShape(a.shape)} are no square matrices; the last two axes are equal.`,
  );
}

/** Matrices and right sides, prepared for solving: batches alike, in the dtype of the work. */
interface Equations {
  readonly a: Tensor;
  readonly b: Tensor;
  /** The solution as the caller wants it: in the result's dtype, a vector if b was one. */
  finish(x: Tensor): Tensor;
}

/**
 * Prepares a·x = b, for a of [.., m, n] and b of [.., m, k] or a vector [m]; leading axes broadcast. With `isLeft` false it
 * is x·a = b, and b has as many columns as a.
 */
export function equations(operation: string, a: Tensor, b: unknown, isLeft = true): Equations {
  const name = `linalg.${operation}`;
  checkTensor(name, "the right side", b);
  checkOneDevice(name, [a.node, b.node]);
  const extent = a.shape.at(isLeft ? -2 : -1) as number;
  const isVector = b.rank === 1;
  const sides = isVector ? b.expandDims(isLeft ? 1 : 0) : b;
  if (sides.rank < 2 || sides.shape.at(isLeft ? -2 : -1) !== extent) {
    throw new ShapeError(
      `${name}: matrices of ${formatShape(a.shape)} and right sides of ${formatShape(b.shape)}; ` +
        `b has ${extent} ${isLeft ? "rows" : "columns"}, or is a vector of ${extent}.${remedyForVectors(b, extent, isLeft)}`,
    );
  }
  const { work, result } = workOf(a, b);
  const batch = broadcastShapes(name, a.shape.slice(0, -2), sides.shape.slice(0, -2));
  const spread = (x: Tensor): Tensor => x.cast(work).broadcastTo([...batch, ...x.shape.slice(-2)]);
  return {
    a: spread(a),
    b: spread(sides),
    finish: (x) => (isVector ? x.squeeze(isLeft ? -1 : -2) : x).cast(result),
  };
}

/** What to write for a batch of vectors, [.., extent], which reads as matrices. */
function remedyForVectors(b: Tensor, extent: number, isLeft: boolean): string {
  if (b.rank < 2 || b.shape.at(isLeft ? -1 : -2) !== extent) return "";
  if (!isLeft) return " Turn it: b.mT.";
  return " A batch of vectors is a batch of matrices of one column: b.expandDims(-1), and squeeze(-1) of the solution.";
}

/** The conjugate transpose of the last two axes; the transpose of real matrices. */
export const adjointOf = (a: Tensor): Tensor => (isComplex(a.dtype) ? a.mT.conj() : a.mT);

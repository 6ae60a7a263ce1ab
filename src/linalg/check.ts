/**
 * Looks at factors and solutions once they are computed. Functions of `linalg` do not wait for the device, so a matrix without
 * a factor shows as NaN or a zero pivot; this reads the result and throws an error that says which.
 */

import { checkChoice, checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { isComplex, isFloat } from "../core/dtype.js";
import { ArgumentError, LinalgError, ShapeError } from "../core/errors.js";
import { formatShape } from "../core/shape.js";
import { shown } from "../core/shown.js";
import { isTensor, type Tensor } from "../tensor/index.js";

/** Results of `linalg`: a tensor, or an object of tensors, such as factors. */
type Result = Tensor | object;

/** Options of `linalg.check`. */
export interface CheckOptions {
  /** The kind of the tensor: a factor of `cholesky`, or any result, which must be finite. "finite". */
  readonly as?: "cholesky" | "finite";
  /** The sides of the equation that the result solves, computed from it, such as `[a.matmul(x), b]`: they must be equal. */
  readonly solves?: readonly [Tensor, Tensor];
  /** Norm of the difference of the sides over that of the right one, at most; 1e-4, and 1e-9 in f64: ten times that of `cg`. */
  readonly tolerance?: number;
}

/**
 * The same result, once it is known to be good: `const l = await linalg.check(linalg.cholesky(a), { as: "cholesky" })`. Takes
 * what `lu`, `eig`, `svd` and the others give, too: objects of tensors. Throws a LinalgError: not positive definite (which
 * leading minor), singular (which pivot of `lu` or `luFactor`), or not finite. Whether `cg` or `gmres` converged only the equation tells:
 * `await linalg.check(x, { solves: [a.matmul(x), b] })`.
 */
export async function check<T extends Result>(result: T, options: CheckOptions = {}): Promise<T> {
  checkCount("linalg.check", 2, arguments);
  checkOptions("linalg.check", options, { as: "text", solves: "any", tolerance: "number" });
  checkChoice("linalg.check", "the option as", options.as, ["cholesky", "finite"]);
  if (isTensor(result)) {
    await (options.as === "cholesky" ? checkCholesky(result) : checkFinite(result));
    await checkEquation(options);
    return result;
  }
  const parts = typeof result === "object" && result !== null ? Object.values(result) : [];
  if (parts.length === 0 || !parts.every(isTensor)) {
    throw new ArgumentError(
      `linalg.check: takes a tensor, or an object of tensors such as luFactor and eig give, not ${shown(result)}.`,
    );
  }
  if ("lu" in result) await checkLu(result.lu as Tensor);
  if ("p" in result && "l" in result && "u" in result) await checkLu(result.u as Tensor);
  for (const part of parts as readonly Tensor[]) if (canBeNaN(part)) await checkFinite(part);
  await checkEquation(options);
  return result;
}

const canBeNaN = ({ dtype }: Tensor): boolean => isFloat(dtype) || isComplex(dtype);

/** The first matrix of a batch and its first place where a flag, [.., n], is set; null where none is. */
async function firstOf(flags: Tensor): Promise<{ readonly matrix: string; readonly at: number } | null> {
  const n = flags.shape.at(-1) as number;
  const values = await flags.cast("i32").data();
  const found = (values as ArrayLike<number> & { indexOf(x: number): number }).indexOf(1);
  if (found < 0) return null;
  const matrix = flags.rank === 1 ? "the matrix" : `matrix ${Math.floor(found / n)} of the batch`;
  return { matrix, at: found % n };
}

async function checkCholesky(factor: Tensor): Promise<void> {
  const found = await firstOf(factor.diagonal().isFinite().logicalNot());
  if (!found) return checkFinite(factor);
  throw new LinalgError(
    `linalg.check: ${found.matrix} is not positive definite: its leading minor of order ${found.at + 1} is not positive. ` +
      "Add a multiple of the identity, or use lu.",
  );
}

async function checkLu(factors: Tensor): Promise<void> {
  const found = await firstOf(factors.diagonal().equal(0));
  if (!found) return checkFinite(factors);
  throw new LinalgError(
    `linalg.check: ${found.matrix} is singular: pivot ${found.at} is zero. It has no inverse; lstsq or pinv may do.`,
  );
}

/** Throws where the sides of an equation differ: an iteration stopped before it converged. */
async function checkEquation({ solves, tolerance }: CheckOptions): Promise<void> {
  if (solves === undefined) {
    if (tolerance === undefined) return;
    throw new ArgumentError(
      "linalg.check: a tolerance is that of an equation; give its sides, solves: [a.matmul(x), b].",
    );
  }
  if (!Array.isArray(solves) || solves.length !== 2 || !solves.every(isTensor)) {
    throw new ArgumentError(`linalg.check: solves has two tensors, such as [a.matmul(x), b], not ${shown(solves)}.`);
  }
  const [left, right] = solves as readonly [Tensor, Tensor];
  if (formatShape(left.shape) !== formatShape(right.shape)) {
    throw new ShapeError(
      `linalg.check: the sides of the equation are ${formatShape(left.shape)} and ${formatShape(right.shape)}; they are alike.`,
    );
  }
  const isWide = left.dtype === "f64" || left.dtype === "c128";
  const most = tolerance ?? (isWide ? 1e-9 : 1e-4);
  const [difference, size] = [left.sub(right).norm(), right.norm()];
  if (await difference.lessEqual(size.mul(most)).item()) return;
  const share = Number(await difference.div(size).item());
  throw new LinalgError(
    `linalg.check: the equation does not hold: its sides differ by ${share.toPrecision(2)} of the right one, more than ${most}. ` +
      "The iteration did not converge: allow more rounds, give a matrix of a better condition, or use solve or lstsq.",
  );
}

async function checkFinite(x: Tensor): Promise<void> {
  const bad = await x.isFinite().logicalNot().any().item();
  if (!bad) return;
  throw new LinalgError(
    "linalg.check: the result has NaN or infinities: a matrix was singular, something in it was not finite, or an iteration " +
      "did not converge.",
  );
}

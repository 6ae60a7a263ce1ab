/**
 * Looks at factors and solutions once they are computed. Functions of `linalg` do not wait for the device, so a matrix without
 * a factor shows as NaN or a zero pivot; this reads the result and throws an error that says which.
 */

import { checkChoice, checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { isComplex, isFloat } from "../core/dtype.js";
import { ArgumentError, LinalgError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import { isTensor, type Tensor } from "../tensor/index.js";

/** Results of `linalg`: a tensor, or an object of tensors, such as factors. */
type Result = Tensor | object;

/** Options of `linalg.check`. */
export interface CheckOptions {
  /** The kind of the tensor: a factor of `cholesky`, or any result, which must be finite. "finite". */
  readonly as?: "cholesky" | "finite";
}

/**
 * The same result, once it is known to be good: `const l = await linalg.check(linalg.cholesky(a), { as: "cholesky" })`. Takes
 * what `luFactor`, `eig`, `svd` and the others give, too: objects of tensors. Throws a LinalgError: not positive definite (which
 * leading minor), singular (which pivot of `luFactor`), or not finite.
 */
export async function check<T extends Result>(result: T, options: CheckOptions = {}): Promise<T> {
  checkCount("linalg.check", 2, arguments);
  checkOptions("linalg.check", options, { as: "text" });
  checkChoice("linalg.check", "the option as", options.as, ["cholesky", "finite"]);
  if (isTensor(result)) {
    await (options.as === "cholesky" ? checkCholesky(result) : checkFinite(result));
    return result;
  }
  const parts = typeof result === "object" && result !== null ? Object.values(result) : [];
  if (parts.length === 0 || !parts.every(isTensor)) {
    throw new ArgumentError(
      `linalg.check: takes a tensor, or an object of tensors such as luFactor and eig give, not ${shown(result)}.`,
    );
  }
  if ("lu" in result) await checkLu(result.lu as Tensor);
  for (const part of parts as readonly Tensor[]) if (canBeNaN(part)) await checkFinite(part);
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

async function checkFinite(x: Tensor): Promise<void> {
  const bad = await x.isFinite().logicalNot().any().item();
  if (!bad) return;
  throw new LinalgError(
    "linalg.check: the result has NaN or infinities: a matrix was singular, something in it was not finite, or an iteration " +
      "did not converge.",
  );
}

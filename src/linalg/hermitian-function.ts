/** Functions of symmetric and Hermitian matrices: roots, logarithms, whatever has a meaning for eigenvalues. */

import { checkFunction, checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ArgumentError } from "../core/errors.js";
import { formatShape } from "../core/shape.js";
import { shown } from "../core/shown.js";
import { type FloatOf, hermitianEigen, isTensor, type Tensor, where } from "../tensor/index.js";
import { customGradient } from "../transforms/custom.js";
import { jvp } from "../transforms/grad.js";
import { adjointOf, checkSquare, workDTypes } from "./arguments.js";
import { type HermitianOptions, wholeOf } from "./eigh.js";

/**
 * V f(Λ) Vᴴ for a Hermitian a = V Λ Vᴴ, of which the lower half is read: `hermitianFunction(a, (x) => x.sqrt())` is the square
 * root. f takes a tensor of eigenvalues and works element by element. The derivative is the true one among equal eigenvalues, too,
 * where that of `eigh`, composed, lacks what f' adds. Tensors that f brings along get no gradient.
 */
export function hermitianFunction<D extends DType>(
  a: Tensor<D>,
  f: (eigenvalues: Tensor) => Tensor,
  options: HermitianOptions = {},
): Tensor<FloatOf<D>> {
  checkCount("linalg.hermitianFunction", 3, arguments);
  checkFunction("linalg.hermitianFunction", f);
  checkOptions("linalg.hermitianFunction", options, { upper: "flag" });
  checkSquare("hermitianFunction", a);
  const { work, result } = workDTypes(a.dtype);
  const checked = (eigenvalues: Tensor): Tensor => checkedResult(f(eigenvalues), eigenvalues);
  const applied = customGradient((given: Tensor) => matrixOf(given, checked), {
    jvp: ([change], given) => changeOf(given, change, checked),
  });
  return applied(wholeOf(a.cast(work), options.upper === true)).cast(result) as Tensor<FloatOf<D>>;
}

function checkedResult(result: unknown, eigenvalues: Tensor): Tensor {
  if (isTensor(result) && formatShape(result.shape) === formatShape(eigenvalues.shape)) return result;
  throw new ArgumentError(
    `linalg.hermitianFunction: the function gave ${shown(result)} for eigenvalues of ${formatShape(eigenvalues.shape)}; it ` +
      "returns a tensor of their shape, element by element.",
  );
}

function matrixOf(a: Tensor, f: (eigenvalues: Tensor) => Tensor): Tensor {
  const [values, vectors] = hermitianEigen(a);
  return vectors.mul(f(values).cast(a.dtype).expandDims(-2)).matmul(adjointOf(vectors)) as Tensor;
}

/** V (Δ ∘ Vᴴ E V) Vᴴ with the divided differences of f for Δ, which are f' where eigenvalues are equal (Daletskii and Krein 1951). */
function changeOf(a: Tensor, change: Tensor, f: (eigenvalues: Tensor) => Tensor): Tensor {
  const [values, vectors] = hermitianEigen(a);
  const [left, right] = [values.expandDims(-1), values.expandDims(-2)];
  const gaps = left.sub(right);
  // Nearer than this, the slope between two eigenvalues has a smaller error than their divided difference.
  const epsilon = values.dtype === "f64" ? 2 ** -52 : 2 ** -23;
  const isClose = gaps.abs().lessEqual(
    left
      .abs()
      .add(right.abs())
      .mul(epsilon ** (1 / 3)),
  );
  const middle = left.add(right).mul(0.5);
  const slopes = jvp(f, [middle], [middle.mul(0).add(1)])[1];
  const heights = f(values);
  const differences = heights
    .expandDims(-1)
    .sub(heights.expandDims(-2))
    .div(where(isClose, 1, gaps).cast(values.dtype));
  const factors = where(isClose, slopes, differences).cast(a.dtype);
  const inner = adjointOf(vectors).matmul(change).matmul(vectors);
  return vectors.matmul(inner.mul(factors)).matmul(adjointOf(vectors)) as Tensor;
}

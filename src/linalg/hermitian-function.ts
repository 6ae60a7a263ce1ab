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
 * root. f takes a tensor of eigenvalues and works element by element. First and second derivatives are the true ones among equal
 * eigenvalues, too, where those of `eigh`, composed, lack what f' and f'' add. Tensors that f brings along get no gradient.
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
  const checked: Elementwise = (eigenvalues) => checkedResult(f(eigenvalues), eigenvalues);
  // tr(C D[E]) is the same for C and E exchanged, and so are all arguments of the second derivative: rules back are those forth.
  const derivative: (given: Tensor, change: Tensor) => Tensor = customGradient(
    (given: Tensor, change: Tensor) => changeOf(given, change, checked),
    {
      jvp: ([further, changed], given, change) =>
        derivative(given, changed).add(secondChange(given, change, further, checked)) as Tensor,
      vjp: (cotangent, _result, given, change) => [
        secondChange(given, change, cotangent.mT as Tensor, checked).mT,
        derivative(given, cotangent.mT as Tensor).mT,
      ],
    },
  );
  const applied = customGradient((given: Tensor) => matrixOf(given, checked), {
    jvp: ([change], given) => derivative(given, change),
    vjp: (cotangent, _result, given) => [derivative(given, cotangent.mT as Tensor).mT],
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

function matrixOf(a: Tensor, f: Elementwise): Tensor {
  const [values, vectors] = hermitianEigen(a);
  return vectors.mul(f(values).cast(a.dtype).expandDims(-2)).matmul(adjointOf(vectors)) as Tensor;
}

/** V (Δ ∘ Vᴴ E V) Vᴴ with the divided differences of f for Δ, which are f' where eigenvalues are equal (Daletskii and Krein 1951). */
function changeOf(a: Tensor, change: Tensor, f: Elementwise): Tensor {
  const [values, vectors] = hermitianEigen(a);
  const factors = firstDifferences(f, values.expandDims(-1), values.expandDims(-2)).cast(a.dtype);
  const inner = adjointOf(vectors).matmul(change).matmul(vectors);
  return vectors.matmul(inner.mul(factors)).matmul(adjointOf(vectors)) as Tensor;
}

/**
 * The second derivative along E and G: V (Σₖ f[λᵢ, λₖ, λⱼ] (E'ᵢₖ G'ₖⱼ + G'ᵢₖ E'ₖⱼ)) Vᴴ, with E' = Vᴴ E V and the second divided
 * differences of f, which are f'' / 2 where eigenvalues are equal. It takes n³ numbers.
 */
function secondChange(a: Tensor, first: Tensor, second: Tensor, f: Elementwise): Tensor {
  const [values, vectors] = hermitianEigen(a);
  const [i, k, j] = [[-1, -1], [-2, -1], [-2, -2]].map((axes) => axes.reduce((x, axis) => x.expandDims(axis), values)) as [Tensor, Tensor, Tensor]; // biome-ignore format: one line
  const factors = secondDifferences(f, i, k, j).cast(a.dtype);
  const [one, other] = [first, second].map((x) => adjointOf(vectors).matmul(x).matmul(vectors)) as [Tensor, Tensor];
  const pairs = (x: Tensor, y: Tensor) => x.expandDims(-1).mul(y.expandDims(-3));
  const inner = pairs(one, other).add(pairs(other, one)).mul(factors).sum({ axis: -2 });
  return vectors.matmul(inner).matmul(adjointOf(vectors)) as Tensor;
}

type Elementwise = (eigenvalues: Tensor) => Tensor;

const slopeOf = (f: Elementwise, at: Tensor): Tensor => jvp(f, [at], [at.mul(0).add(1)])[1];

/** Whether numbers are so near that a derivative has a smaller error than their divided difference, of an order. */
function areClose(x: Tensor, y: Tensor, order: number): Tensor<"bool"> {
  const epsilon = x.dtype === "f64" ? 2 ** -52 : 2 ** -23;
  const size = x.abs().add(y.abs());
  return x
    .sub(y)
    .abs()
    .lessEqual(size.mul(epsilon ** (1 / (order + 2)))) as Tensor<"bool">;
}

/** (f(x) - f(y)) / (x - y), or the slope between them. */
function firstDifferences(f: Elementwise, x: Tensor, y: Tensor): Tensor {
  const isClose = areClose(x, y, 1);
  const slopes = slopeOf(f, x.add(y).mul(0.5));
  const differences = f(x)
    .sub(f(y))
    .div(where(isClose, 1, x.sub(y)).cast(x.dtype));
  return where(isClose, slopes, differences) as Tensor;
}

/** f[x, y, z]: the divided difference of divided differences, in the order that keeps most digits. */
function secondDifferences(f: Elementwise, x: Tensor, y: Tensor, z: Tensor): Tensor {
  const [areEnds, isFirst] = [areClose(x, z, 2), areClose(x, y, 2)];
  const apart = firstDifferences(f, x, y)
    .sub(firstDifferences(f, y, z))
    .div(where(areEnds, 1, x.sub(z)).cast(x.dtype));
  const middle = x.add(z).mul(0.5);
  const gap = where(isFirst, 1, middle.sub(y)).cast(x.dtype);
  const beside = slopeOf(f, middle)
    .sub(firstDifferences(f, middle, y))
    .div(gap);
  const curves = slopeOf((v) => slopeOf(f, v), x.add(y).add(z).div(3)).mul(0.5);
  return where(areEnds, where(isFirst, curves, beside), apart) as Tensor;
}

/** Powers and the exponential of square matrices. Leading axes are batches. */

import { checkWhole } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { eye, type FloatOf, type Tensor, where } from "../tensor/index.js";
import { cond, forLoop } from "../transforms/control.js";
import { stopGradient } from "../transforms/grad.js";
import { checkSquare, workDTypes } from "./arguments.js";
import { inv, solve } from "./lu.js";

/** The n-th power of matrices, by squaring; negative n gives powers of the inverse, 0 the identity. */
export function matrixPower<D extends DType>(a: Tensor<D>, n: number): Tensor<FloatOf<D>> {
  checkCount("linalg.matrixPower", 2, arguments);
  checkSquare("matrixPower", a);
  checkWhole("linalg.matrixPower", "the exponent", n);
  const { work, result } = workDTypes(a.dtype);
  let square: Tensor = n < 0 ? inv(a.cast(work)) : a.cast(work);
  let power: Tensor | null = null;
  for (let rest = Math.abs(n); rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = power ? power.matmul(square) : square;
    if (rest > 1) square = square.matmul(square);
  }
  const unit = () => eye(a.shape.at(-1) as number, { dtype: work, device: a.device }).broadcastTo(a.shape);
  return (power ?? unit()).cast(result) as Tensor<FloatOf<D>>;
}

/** Coefficients of the Padé approximant of degree 7 and 13, from the lowest on, and the norm up to which it is exact enough. */
const PADE = {
  single: {
    coefficients: [17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1],
    largest: 3.92572478313866,
  },
  double: {
    coefficients: [
      ...[64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600],
      ...[670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1],
    ],
    largest: 5.371920351148152,
  },
} as const;

/** Squarings at most: norms of up to some 300,000. The exponential of larger matrices overflows, or is NaN here. */
const MOST_SQUARINGS = 16;

/**
 * The exponential of square matrices, by scaling and squaring (Higham, The scaling and squaring method for the matrix
 * exponential revisited, 2005). Matrices of a 1-norm beyond 250,000 give NaN.
 */
export function matrixExp<D extends DType>(a: Tensor<D>): Tensor<FloatOf<D>> {
  checkCount("linalg.matrixExp", 1, arguments);
  checkSquare("matrixExp", a);
  const { work, result } = workDTypes(a.dtype);
  if (a.size === 0) return a.cast(result) as Tensor<FloatOf<D>>;
  const x = a.cast(work);
  const { coefficients, largest } = work === "f64" || work === "c128" ? PADE.double : PADE.single;
  const norm = stopGradient(x).abs().sum({ axis: -2 }).max({ axis: -1 });
  const wanted = norm.div(largest).maximum(1).log2().ceil();
  // NaN, and what no number of squarings brings back, stays NaN.
  const squarings = where(wanted.lessEqual(MOST_SQUARINGS), wanted, Number.NaN).expandDims(-1).expandDims(-1);
  const scaled = x.mul(squarings.neg().exp2().cast(work));
  const start = padeOf(scaled, coefficients);
  const power = forLoop(
    0,
    MOST_SQUARINGS,
    (i, now: Tensor) => {
      const isLeft = i.cast(squarings.dtype).less(squarings);
      const squared = (given: Tensor): Tensor => {
        // Matrices that are done would overflow, and their derivative with them.
        const left = where(isLeft, given, 0).cast(work);
        return where(isLeft, left.matmul(left), given).cast(work) as Tensor;
      };
      // Most rounds have nothing to square.
      return cond(isLeft.any() as Tensor, squared, (given: Tensor) => given, now);
    },
    start,
  );
  return power.cast(result) as Tensor<FloatOf<D>>;
}

/** The Padé approximant of the exponential: (V - U)⁻¹ (V + U), with the even powers in V and the odd ones in U. */
function padeOf(x: Tensor, coefficients: readonly number[]): Tensor {
  const unit = eye(x.shape.at(-1) as number, { dtype: x.dtype, device: x.device }).broadcastTo(x.shape);
  const square = x.matmul(x);
  const powers: Tensor[] = [unit, square];
  while (2 * powers.length < coefficients.length) powers.push((powers.at(-1) as Tensor).matmul(square));
  const sum = (first: 0 | 1) =>
    powers.map((power, i) => power.mul(coefficients[2 * i + first] ?? 0)).reduce((total, term) => total.add(term));
  const [even, odd] = [sum(0), x.matmul(sum(1))];
  return solve(even.sub(odd), even.add(odd));
}

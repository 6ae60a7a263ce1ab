/**
 * Random covariance matrices: Wishart, the scatter of normal vectors, and its inverse. Densities are written by Bartlett's
 * decomposition (On the theory of statistical regression, 1933): relative to the scale, the Cholesky factor has independent
 * elements, roots of χ² numbers on the diagonal and standard normal ones below. So nothing large cancels, and draws are made
 * of the same.
 */
import { checkCount } from "../../core/arity.js";
import { DTYPES, type DType } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { type Shape, sizeOf } from "../../core/shape.js";
import { cholesky, triangularSolve } from "../../linalg/triangular.js";
import { gamma as gammaNumbers } from "../../random/gamma.js";
import { split } from "../../random/key.js";
import { normal as normalNumbers } from "../../random/normal.js";
import { countingLike, eye, scalarLike, Tensor, where } from "../../tensor/index.js";
import { type Argument, shapeOfArgument } from "../arguments/argument.js";
import type { Arguments } from "../arguments/check-arguments.js";
import { symmetric, symmetricMatrix } from "../arguments/joint-rules.js";
import { parameter } from "../arguments/parameter.js";
import { covarianceMatrix, factorBehind } from "../constraints/matrices.js";
import type { DrawRequest } from "../definition/completed.js";
import { bind, type Definition } from "../definition/definition.js";
import { mayCancel } from "../definition/deviance.js";
import { LOG_SQRT_2PI } from "../definition/normal-probability.js";
import { positiveFloats } from "../numerics/float-range.js";
import { sumOfTerms, type Term } from "../numerics/terms.js";
import { RandomVariable } from "../variables/variable.js";
import { gammaTerms } from "./gamma.js";

type Name = "freedom" | "scale";
type Tensors = Readonly<Record<Name, Tensor>>;

const sizeIn = ({ scale }: Tensors): number => scale.shape.at(-1) as number;
const counting = (like: Tensor, n: number): Tensor => countingLike(like, n).cast(like.dtype);

/** The parts in which the Wishart distribution and its inverse differ. */
interface Kind {
  readonly name: "wishart" | "inverseWishart";
  /** The factor that has independent elements, from that of the value and that of the scale. */
  relative(value: Tensor, scale: Tensor): Tensor;
  /** Degrees of freedom of the squares on its diagonal. */
  freedoms(freedom: Tensor, n: number): Tensor;
  /** The powers of its diagonal that the change of variables adds to the density. */
  powers(like: Tensor, n: number): Tensor;
  /** A matrix from an independent factor and that of the scale. */
  made(relative: Tensor, scale: Tensor): Tensor;
}

const product = (factor: Tensor): Tensor => factor.matmul(factor.mT);

/** X = A B Bᵀ Aᵀ, for the factor A of the scale. */
const asWishart: Kind = {
  name: "wishart",
  relative: (value, scale) => triangularSolve(scale, value),
  freedoms: (freedom, n) => freedom.expandDims(-1).sub(counting(freedom, n)),
  powers: (like, n) => counting(like, n).sub(n - 1),
  made: (relative, scale) => product(scale.matmul(relative)),
};

/** X = (A C⁻¹)(A C⁻¹)ᵀ: its inverse relative to the scale is CᵀC, which is Wishart with the order of its axes reversed. */
const asInverse: Kind = {
  name: "inverseWishart",
  relative: (value, scale) => triangularSolve(value, scale),
  freedoms: (freedom, n) => freedom.expandDims(-1).add(counting(freedom, n).sub(n - 1)),
  powers: (like, n) =>
    counting(like, n)
      .neg()
      .add(2 * (n + 1)),
  made: (relative, scale) => product(triangularSolve(relative, scale.mT, { transposed: true }).mT),
};

/** The terms, by the factor of the value. */
function termsOf(kind: Kind, factor: Tensor, p: Tensors, given: Arguments<Name>, isShort: boolean): readonly Term[] {
  const n = sizeIn(p);
  const scale = cholesky(p.scale);
  const relative = kind.relative(factor, scale);
  const diagonal = relative.diagonal();
  const freedoms = kind.freedoms(p.freedom, n);
  // The density of freedoms that are too few is 0: χ² numbers of none there are not.
  const isEnough = freedoms.greater(0);
  const isLarge = !isShort && mayCancel(given.freedom);
  const squares = gammaTerms(
    diagonal.square(),
    where(isEnough, freedoms, 1).mul(0.5),
    scalarLike(factor, 0.5),
    isLarge,
  );
  const below = relative
    .tril(-1)
    .square()
    .sum({ axis: [-2, -1] });
  const chi = where(isEnough, sumOfTerms(squares) as Tensor, -Infinity).sum({ axis: -1 });
  return [
    chi.sub(below.mul(0.5)),
    diagonal.log().mul(kind.powers(factor, n)).sum({ axis: -1 }),
    scale
      .diagonal()
      .log()
      .sum({ axis: -1 })
      .mul(-(n + 1)),
    -LOG_SQRT_2PI * (n * (n - 1) * 0.5),
  ];
}

/** A factor of independent elements. */
function drawnFactor({ key, shape, dtype }: DrawRequest, freedoms: Tensor, n: number): Tensor {
  const [first, second] = split(key);
  const below = normalNumbers(first, [...shape, n, n], { dtype }).tril(-1);
  const squares = gammaNumbers(second, freedoms.mul(0.5), [...shape, n], { dtype }).mul(2);
  const isDiagonal = eye(n, n, { dtype: "bool", device: key.device });
  return where(isDiagonal, positiveFloats(squares).sqrt().expandDims(-1), below);
}

/** Whether matrices of a dtype are factored, which tells those inside the support. */
const isMatrixDType = (dtype: DType): boolean => dtype === "f32" || dtype === "f64";

/**
 * Draws of few degrees of freedom may be singular but for less than rounding, which then makes them indefinite. As much more on
 * the diagonal as rounding can take away keeps them inside the support. They are rounded to the dtype that was asked for.
 */
function insideSupport(drawn: Tensor, n: number): Tensor {
  const rounding = 2 * n * (n + 2) * DTYPES[drawn.dtype as DType].epsilon;
  const isDiagonal = eye(n, n, { dtype: "bool", device: drawn.device });
  const raised = drawn.mul(where(isDiagonal, 1 + rounding, scalarLike(drawn, 1)));
  return where(covarianceMatrix.holds(drawn).expandDims(-1).expandDims(-1), drawn, raised);
}

const definitionOf = (
  kind: Kind,
  moments: Required<Pick<Definition<Name>, "mean" | "variance">>,
): Definition<Name> => ({
  name: kind.name,
  parameters: {
    freedom: parameter.positive,
    scale: { ...parameter.matrix, joint: symmetric("scale"), kind: symmetricMatrix },
  },
  eventShape: ({ scale }) => scale.slice(-2),
  support: covarianceMatrix,
  terms: (x, p, given, isShort) => termsOf(kind, cholesky(x), p, given, isShort),
  freeTerms: (free, p, given, isShort) => termsOf(kind, factorBehind(free, sizeIn(p)), p, given, isShort),
  draw(request, p) {
    const n = sizeIn(p);
    const drawn = kind.made(drawnFactor(request, kind.freedoms(p.freedom, n), n), cholesky(p.scale));
    return insideSupport(drawn.cast(isMatrixDType(request.rounded) ? request.rounded : request.dtype), n);
  },
  ...moments,
});

/** Degrees of freedom with the axes of a matrix. */
const spread = ({ freedom }: Tensors): Tensor => freedom.expandDims(-1).expandDims(-1);
/** Products of the diagonal elements of rows and columns. */
const crossed = ({ scale }: Tensors): Tensor => scale.diagonal().expandDims(-1).mul(scale.diagonal().expandDims(-2));

const wishartDefinition = definitionOf(asWishart, {
  mean: (p) => p.scale.mul(spread(p)),
  variance: (p) => p.scale.square().add(crossed(p)).mul(spread(p)),
});

const inverseWishartDefinition = definitionOf(asInverse, {
  mean(p) {
    const excess = spread(p).sub(sizeIn(p) + 1);
    return where(excess.greater(0), p.scale.div(excess), Number.NaN);
  },
  variance(p) {
    const excess = spread(p).sub(sizeIn(p) + 1);
    const spreads = excess
      .add(2)
      .mul(p.scale.square())
      .add(excess.mul(crossed(p)));
    const variance = spreads.div(excess.add(1).mul(excess.square()).mul(excess.sub(2)));
    return where(excess.greater(2), variance, Number.NaN);
  },
});

/** An error where degrees of freedom are known to be too few. The shape of a variable is not asked for: that would fix its value. */
function checkFreedom(name: string, freedom: Argument, scale: Argument): void {
  if (typeof freedom !== "number" || typeof scale === "number" || scale instanceof RandomVariable) return;
  const shape: Shape = scale instanceof Tensor ? scale.shape : shapeOfArgument(scale);
  const n = shape.at(-1) as number;
  if (sizeOf(shape) === 0 || !(freedom <= n - 1)) return;
  throw new ArgumentError(`${name}: freedom is ${freedom}; for ${n} × ${n} matrices it is a number above ${n - 1}.`);
}

/**
 * The sum of v·vᵀ over `freedom` normal vectors v of covariance `scale`: symmetric, positive definite matrices [.., n, n] of mean
 * freedom·scale. `freedom` is a number above n - 1.
 */
export function wishart(freedom: Argument, scale: Argument): RandomVariable {
  checkCount("wishart", 2, arguments);
  checkFreedom("wishart", freedom, scale);
  return new RandomVariable(bind(wishartDefinition, { freedom, scale }));
}

/** The inverse of a wishart(freedom, inverse of scale) matrix, of mean scale/(freedom - n - 1). `freedom` is above n - 1. */
export function inverseWishart(freedom: Argument, scale: Argument): RandomVariable {
  checkCount("inverseWishart", 2, arguments);
  checkFreedom("inverseWishart", freedom, scale);
  return new RandomVariable(bind(inverseWishartDefinition, { freedom, scale }));
}

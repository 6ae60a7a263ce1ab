/**
 * Least squares with absolute values in the penalty: the lasso and the elastic net, by cyclic coordinate descent on the Gram matrix.
 * A fit ends as scikit-learn's does: when a sweep changes little and the duality gap is a small share of the targets' squares.
 */
import { solve } from "../../linalg/lu.js";
import { eye, full, type Tensor, zeros } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { customGradient } from "../../transforms/custom.js";
import { jvp, vjp } from "../../transforms/grad.js";
import { vmap } from "../../transforms/vmap.js";
import { checkAmount } from "../core/settings.js";
import { regressor } from "../core/sorts.js";
import { sweep } from "./coordinate-descent.js";
import { amongFree } from "./implicit-minimum.js";
import { centred, linearPrediction } from "./linear-model.js";
import { checkStopping, type Setting, type Stopping, scalarBeside } from "./settings.js";

/** Options of `lasso`. `tol` is 1e-4 unless told, `maxIter`, sweeps at most, 1000. */
export interface LassoOptions extends Stopping {
  /** The weight of the penalty: 1 unless told. A tensor, too, so that fits with many penalties are one `vmap`. */
  readonly alpha?: Setting;
  /** True unless told: an intercept is learned. It is not penalised. */
  readonly fitIntercept?: boolean;
  /** Coefficients are zero or more; false unless told. */
  readonly positive?: boolean;
}

/** Options of `elasticNet`. */
export interface ElasticNetOptions extends LassoOptions {
  /** The share of absolute values in the penalty: 0.5 unless told. */
  readonly l1Ratio?: Setting;
}

/** Coefficients [features] or [features, outputs], the intercept, and how the fit ended. */
export interface SparseLearned {
  readonly coefficients: Tensor;
  readonly intercept: Tensor;
  /** The duality gap, in the units of the objective. */
  readonly dualityGap: Tensor;
  /** Sweeps, i32. */
  readonly iterations: Tensor;
  readonly [name: string]: Tensor;
}

const KINDS = { alpha: "any", fitIntercept: "flag", positive: "flag", tol: "number", maxIter: "number" } as const;

/** 1/(2 · samples) · Σ (y − x·w)² + alpha · Σ |w|: many coefficients are exactly zero. */
export const lasso = regressor<SparseLearned, LassoOptions>({
  kind: "lasso",
  options: KINDS,
  settings: ["alpha"],
  check: (options) => checkLasso("lasso", options),
  learn: ({ x, y, weights }, options) => learned(x, y, weights, { ...options, l1Ratio: 1 }),
  predict: linearPrediction,
});

/** 1/(2 · samples) · Σ (y − x·w)² + alpha · (l1Ratio · Σ |w| + (1 − l1Ratio)/2 · Σ w²). */
export const elasticNet = regressor<SparseLearned, ElasticNetOptions>({
  kind: "elasticNet",
  options: { ...KINDS, l1Ratio: "any" },
  settings: ["alpha", "l1Ratio"],
  check(options) {
    checkLasso("elasticNet", options);
    checkAmount("elasticNet", "l1Ratio", options.l1Ratio ?? 0.5, 0, 1);
  },
  learn: ({ x, y, weights }, options) => learned(x, y, weights, { l1Ratio: 0.5, ...options }),
  predict: linearPrediction,
});

function checkLasso(operation: string, { alpha = 1, tol, maxIter }: LassoOptions): void {
  checkAmount(operation, "alpha", alpha);
  checkStopping(operation, { tol, maxIter });
}

function learned(
  x: Tensor,
  y: Tensor,
  weights: Tensor | null,
  { alpha = 1, l1Ratio = 1, fitIntercept = true, positive = false, tol = 1e-4, maxIter = 1000 }: ElasticNetOptions,
): SparseLearned {
  // Weights have the sum of as many ones.
  const samples = x.shape[0] as number;
  const shares = weights ? (weights.mul(weights.sum().reciprocal().mul(samples)) as Tensor) : null;
  const problem = centred(x, y, shares, fitIntercept);
  const strength = scalarBeside(alpha, x).mul(samples) as Tensor;
  const share = scalarBeside(l1Ratio, x);
  const gram = problem.x.T.matmul(problem.x) as Tensor;
  const one = (target: Tensor): Solved =>
    solved(
      {
        gram,
        products: target.matmul(problem.x) as Tensor,
        squares: target.square().sum() as Tensor,
        l1: strength.mul(share) as Tensor,
        l2: strength.mul(share.neg().add(1)) as Tensor,
      },
      { positive, tol, maxIter },
    );
  const outAxes = { coefficients: 1, dualityGap: 0, iterations: 0 };
  const found = problem.y.rank === 1 ? one(problem.y) : vmap(one, { in: 1, out: outAxes })(problem.y);
  const { coefficients, dualityGap, iterations } = found;
  return { ...problem.learned(coefficients), dualityGap: dualityGap.div(samples) as Tensor, iterations };
}

/** ½ Σ (y − Xw)² + l1 · Σ |w| + l2/2 · Σ w², with XᵀX, Xᵀy and Σ y². */
interface LassoProblem extends Readonly<Record<string, Tensor>> {
  readonly gram: Tensor;
  readonly products: Tensor;
  readonly squares: Tensor;
  readonly l1: Tensor;
  readonly l2: Tensor;
}

interface Solved extends Readonly<Record<string, Tensor>> {
  readonly coefficients: Tensor;
  readonly dualityGap: Tensor;
  readonly iterations: Tensor;
}

interface Search {
  readonly positive: boolean;
  readonly tol: number;
  readonly maxIter: number;
}

/**
 * The minimum, with derivatives by the implicit function theorem: coefficients of zero stay zero nearby, and on the others the force below
 * stays zero, so that dw = H⁻¹ d(force), with H the matrix of the squares there. The gap is zero at every minimum, and so is its slope.
 */
function solved(problem: LassoProblem, search: Search): Solved {
  const force = ({ gram, products, l1, l2 }: LassoProblem, w: Tensor): Tensor =>
    products.sub(gram.matmul(w)).sub(w.mul(l2)).sub(w.sign().mul(l1)) as Tensor;
  const change = ({ gram, l2 }: LassoProblem, w: Tensor, right: Tensor): Tensor => {
    const isFree = w.notEqual(0).cast(w.dtype) as Tensor;
    const unit = eye(w.size, { dtype: w.dtype, device: w.device });
    const h = amongFree(gram.add(unit.mul(l2)) as Tensor, isFree);
    return solve(h, right.mul(isFree).expandDims(1) as Tensor).squeeze(1) as Tensor;
  };
  const solver: (given: LassoProblem) => Solved = customGradient((given: LassoProblem) => searched(given, search), {
    vjp: ({ coefficients }, _found, given) => {
      const w = solver(given).coefficients;
      const [, pullback] = vjp((each: LassoProblem) => force(each, w), given);
      return pullback(change(given, w, coefficients));
    },
    jvp: ([moved], given) => {
      const w = solver(given).coefficients;
      const [, ofForce] = jvp((each: LassoProblem) => force(each, w), [given], [moved]);
      const nothing = null as unknown as Tensor;
      return { coefficients: change(given, w, ofForce), dualityGap: nothing, iterations: nothing };
    },
  });
  return solver(problem);
}

function searched(problem: LassoProblem, { positive, tol, maxIter }: Search): Solved {
  const { gram, products, squares, l1, l2 } = problem;
  const { dtype, device } = products;
  const [features] = products.shape as [number];
  const nothing = zeros([features], { dtype, device }) as Tensor;
  const zero = l1.mul(0).add(squares.mul(0)) as Tensor;
  const start = nothing.add(zero) as Tensor;
  const quadratic = {
    q: gram.add(eye(features, { dtype, device }).mul(l2)) as Tensor,
    l1: nothing.add(l1) as Tensor,
    positive,
  };
  const spacing = dtype === "f64" ? 2 ** -52 : 2 ** -23;
  const end = whileLoop(
    ({ goesOn, count }) => goesOn.logicalAnd(count.less(maxIter)) as Tensor,
    ({ descent, count }) => {
      const next = sweep(quadratic, descent);
      const gap = gapOf(problem, next.z, next.rest, positive);
      const size = next.z.abs().max();
      const isStill = next.change.lessEqual(size.mul(tol));
      const isClose = gap.less(squares.mul(tol));
      // A sweep that changes only the last digit is the last one, whatever the gap: without an l1 penalty it never closes.
      const isRounding = next.change.lessEqual(size.mul(spacing));
      return {
        descent: next,
        gap,
        goesOn: isStill.logicalAnd(isClose).logicalOr(isRounding).logicalNot() as Tensor,
        count: count.add(1) as Tensor,
      };
    },
    {
      descent: { z: start, rest: products.add(zero) as Tensor, change: zero, force: zero },
      gap: zero,
      goesOn: full([], true, { device, dtype: "bool" }) as Tensor,
      count: full([], 0, { device, dtype: "i32" }) as Tensor,
    },
  );
  return { coefficients: end.descent.z, dualityGap: end.gap, iterations: end.count };
}

/** The duality gap; `rest` is Xᵀ(y − Xw) − l2 · w. A dual point is the residual, shrunk until it is feasible. */
function gapOf({ products, squares, l1, l2 }: LassoProblem, w: Tensor, rest: Tensor, positive: boolean): Tensor {
  const largest = (positive ? rest.max() : rest.abs().max()) as Tensor;
  const ofTargets = squares.sub(w.mul(products).sum());
  const sizes = w.square().sum();
  // |y − Xw|² = y·(y − Xw) − w·Xᵀ(y − Xw)
  const residual = ofTargets.sub(w.mul(rest).sum()).sub(sizes.mul(l2));
  const scale = l1.div(largest.maximum(l1).maximum(1e-300)).minimum(1);
  const squaresOf = scale.square().add(1).mul(0.5);
  return residual
    .mul(squaresOf)
    .add(w.abs().sum().mul(l1))
    .sub(scale.mul(ofTargets))
    .add(sizes.mul(l2).mul(squaresOf)) as Tensor;
}

/**
 * Sums of losses of linear predictors as problems of newton.ts: a loss of one predictor for each sample, and the softmax loss of
 * several. `design` puts the intercept's column beside the samples. implicit-minimum.ts finds their minima.
 */
import { concat, eye, full, type Tensor, zeros } from "../../tensor/index.js";
import type { Loss } from "./losses.js";
import type { SmoothProblem } from "./newton.js";

/** Samples, and a last column of ones (or of `scale`) where an intercept is learned. */
export function design(x: Tensor, fitIntercept: boolean, scale = 1): Tensor {
  if (!fitIntercept) return x;
  const column = full([x.shape[0] as number, 1], scale, { device: x.device, dtype: x.dtype });
  return concat([x, column], { axis: 1 }) as Tensor;
}

/** A penalty for each parameter: the same for all coefficients, none for the intercept. */
export function penalties(x: Tensor, penalty: Tensor, fitIntercept: boolean): Tensor {
  const { device, dtype } = x;
  const each = full([x.shape[1] as number], 1, { device, dtype }).mul(penalty) as Tensor;
  return fitIntercept ? (concat([each, zeros([1], { device, dtype })]) as Tensor) : each;
}

/** Coefficients and intercept of parameters [features + 1, …]. */
export function parted(parameters: Tensor, fitIntercept: boolean): { coefficients: Tensor; intercept: Tensor } {
  const last = parameters.shape[0] as number;
  if (fitIntercept) {
    return { coefficients: parameters.at(`:${last - 1}`) as Tensor, intercept: parameters.at(last - 1) as Tensor };
  }
  const { device, dtype } = parameters;
  return { coefficients: parameters, intercept: zeros(parameters.shape.slice(1), { device, dtype }) as Tensor };
}

/** Σ weight · loss(a·v) + ½ Σ ridge · v². */
export function summedLoss(a: Tensor, loss: Loss, weights: Tensor | null, ridge: Tensor): SmoothProblem {
  const weighted = (of: Tensor): Tensor => (weights ? of.mul(weights) : of) as Tensor;
  const { secondDerivative } = loss;
  const summed = (curvature: Tensor): Tensor =>
    a.T.matmul(a.mul(weighted(curvature).expandDims(1))).add(diagonalOf(ridge)) as Tensor;
  return {
    predictors: (v) => a.matmul(v) as Tensor,
    value: (v, z) => weighted(loss.value(z)).sum().add(ridge.mul(v.square()).sum().mul(0.5)) as Tensor,
    gradient: (v, z) => weighted(loss.slope(z)).matmul(a).add(ridge.mul(v)) as Tensor,
    curvature: (_, z) => summed(loss.curvature(z)),
    ...(secondDerivative ? { hessian: (_: Tensor, z: Tensor) => summed(secondDerivative(z)) } : {}),
  };
}

/** A matrix with these values on its diagonal. */
export const diagonalOf = (values: Tensor): Tensor =>
  eye(values.shape[0] as number, { device: values.device, dtype: values.dtype }).mul(values.expandDims(1)) as Tensor;

/**
 * −Σ weight · log softmax(a·V)[label] + ½ Σ ridge · V², of parameters V as a vector of [parameters · classes]. The same number added to
 * all classes changes no probability. With `fills`, second derivatives are filled along that direction, in which gradients are zero, so
 * that equations with them have a solution.
 */
export function softmaxLoss(
  a: Tensor,
  isLabel: Tensor,
  weights: Tensor | null,
  ridge: Tensor,
  fills: boolean,
): SmoothProblem {
  const [width, classes] = [a.shape[1] as number, isLabel.shape[1] as number];
  const { device, dtype } = a;
  const weighted = (of: Tensor): Tensor => (weights ? of.mul(weights.expandDims(1)) : of) as Tensor;
  const matrix = (v: Tensor): Tensor => v.reshape([width, classes]) as Tensor;
  const ofRow = ridge.expandDims(1);
  return {
    predictors: (v) => a.matmul(matrix(v)) as Tensor,
    value: (v, z) =>
      weighted(z.logsumexp({ axis: 1, keepDims: true }).sub(z.mul(isLabel).sum({ axis: 1, keepDims: true })) as Tensor)
        .sum()
        .add(matrix(v).square().mul(ofRow).sum().mul(0.5)) as Tensor,
    gradient: (v, z) =>
      a.T.matmul(weighted(z.softmax({ axis: 1 }).sub(isLabel) as Tensor))
        .add(matrix(v).mul(ofRow))
        .flatten() as Tensor,
    curvature(_, z) {
      const probability = z.softmax({ axis: 1 }) as Tensor;
      const spread = (of: Tensor): Tensor =>
        a
          .expandDims(2)
          .mul(of.expandDims(1))
          .reshape([a.shape[0] as number, -1]) as Tensor;
      const ofWeights = spread(weighted(probability));
      const unit = eye(classes, { device, dtype });
      const within = ofWeights.T.matmul(a).reshape([width, classes, width, 1]);
      const across = ofWeights.T.matmul(spread(probability)).reshape([width, classes, width, classes]);
      const blocks = within.mul(unit.reshape([1, classes, 1, classes])).sub(across);
      const own = eye(width, { device, dtype }).reshape([width, 1, width, 1]);
      const penalised = own.mul(unit.reshape([1, classes, 1, classes])).mul(ridge.reshape([width, 1, 1, 1]));
      const count = width * classes;
      const curved = blocks.add(penalised);
      if (!fills) return curved.reshape([count, count]) as Tensor;
      const size = within
        .reshape([width, classes, width])
        .mul(eye(width, { device, dtype }).expandDims(1))
        .sum({ axis: [1, 2] });
      const filled = own.mul(size.div(classes * classes).reshape([width, 1, 1, 1]));
      return curved.add(filled).reshape([count, count]) as Tensor;
    },
  };
}

/**
 * The quadratic discriminant: classes are normal, each with a covariance of its own, so that the borders between them are curved. All
 * classes are learned at once, by the eigenvalues of their covariances, so that fits trace.
 */
import { eigh } from "../../linalg/eigh.js";
import { finfo, maximum, type Tensor } from "../../tensor/index.js";
import { membersOf, normalizedLogs } from "../core/members.js";
import { checkAmount, checkPriors, logPriorsOf } from "../core/settings.js";
import { classifier, decisionMethods, probabilityMethods } from "../core/sorts.js";
import { checkClasses } from "./linear.js";

/** Options of `quadraticDiscriminantAnalysis`. */
export interface QuadraticDiscriminantOptions {
  /** Probabilities of the classes, in their order; their shares among the samples unless told. */
  readonly priors?: readonly number[];
  /** Variances become (1 − regParam) · variance + regParam: 0 unless told. A tensor, too, so that `vmap` can go over it. */
  readonly regParam?: number | Tensor;
}

/** By class: means, the principal directions as columns of `rotations`, [classes, features, features], and the variances along them. */
export interface QuadraticDiscriminantLearned {
  readonly means: Tensor;
  readonly logPriors: Tensor;
  readonly rotations: Tensor;
  readonly variances: Tensor;
  readonly [name: string]: Tensor;
}

function scores({ means, logPriors, rotations, variances }: QuadraticDiscriminantLearned, x: Tensor): Tensor {
  const offset = x.expandDims(0).sub(means.expandDims(1));
  const along = offset.matmul(rotations).square().div(variances.expandDims(1)).sum({ axis: 2 });
  return along
    .add(variances.log().sum({ axis: 1, keepDims: true }))
    .mul(-0.5)
    .add(logPriors.expandDims(1)).T as Tensor;
}

const methods = {
  ...probabilityMethods<QuadraticDiscriminantLearned, QuadraticDiscriminantOptions>((learned, x) =>
    normalizedLogs(scores(learned, x)),
  ),
  ...decisionMethods<QuadraticDiscriminantLearned, QuadraticDiscriminantOptions>(scores),
};

/** Normal classes, each of its own covariance: curved borders. A class whose samples lie in a plane keeps the least variance that can be told. */
export const quadraticDiscriminantAnalysis = classifier<
  QuadraticDiscriminantLearned,
  QuadraticDiscriminantOptions,
  typeof methods
>({
  kind: "quadraticDiscriminantAnalysis",
  options: { priors: "list", regParam: "any" },
  settings: ["regParam"],
  check({ priors, regParam = 0 }) {
    checkPriors("quadraticDiscriminantAnalysis", priors);
    checkAmount("quadraticDiscriminantAnalysis", "regParam", regParam, 0, 1);
  },
  learn({ x, y, classes, weights }, { priors, regParam = 0 }) {
    checkClasses("quadraticDiscriminantAnalysis", x.shape[0] as number, classes);
    const members = membersOf(x, y, classes, weights);
    const counts = members.sum({ axis: 1 }) as Tensor;
    const means = members.matmul(x).div(counts.expandDims(1)) as Tensor;
    const within = x.sub(means.take(y, { axis: 0 })) as Tensor;
    const one = counts.expandDims(1).expandDims(2);
    const weighted = members.expandDims(2).mul(within).permute(0, 2, 1);
    const covariance = weighted.matmul(within).div(maximum(one.sub(1), 1)) as Tensor;
    const { eigenvalues: values, eigenvectors: vectors } = eigh(covariance);
    const kept = typeof regParam === "number" ? 1 - regParam : regParam.neg().add(1);
    const regular = values.mul(kept).add(regParam);
    // Rounding makes variances of zero a little more or less than that.
    const least = regular.max({ axis: 1, keepDims: true }).mul(finfo(x.dtype as "f32").eps);
    return {
      means,
      logPriors: logPriorsOf("quadraticDiscriminantAnalysis", priors, counts),
      rotations: vectors as Tensor,
      variances: maximum(regular, maximum(least, finfo(x.dtype as "f32").smallestNormal)) as Tensor,
    };
  },
  scores,
  methods,
});

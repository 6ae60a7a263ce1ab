/**
 * Kernel ridge regression: least squares with a penalty in the space of a kernel, where only similarities of samples are known. A closed
 * form, so that fits trace.
 */
import { ArgumentError, LinalgError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { solve } from "../../linalg/lu.js";
import { eye, isTensor, stack, type Tensor, tensor } from "../../tensor/index.js";
import type { LearnedTree } from "../core/model.js";
import { regressor } from "../core/sorts.js";
import { checkPairwise, gramMatrix, kernelFunction, PAIRWISE, type PairwiseOptions } from "./pairwise.js";

/** Options of `kernelRidge`. The kernel is "linear" unless told. */
export interface KernelRidgeOptions extends PairwiseOptions {
  /** The weight of the penalty: 1 unless told. A list has one for each output. A tensor, too, so that many fits are one `vmap`. */
  readonly alpha?: number | readonly number[] | Tensor;
}

/** What `kernelRidge` learns. */
export interface KernelRidgeLearned extends LearnedTree {
  /** The weight of each sample of the fit in predictions, [samples] or [samples, outputs]. */
  readonly dualCoefficients: Tensor;
  /** The samples of the fit; null with similarities that were precomputed. */
  readonly samples: Tensor | null;
}

const NAMES = ["linear", "rbf", "polynomial", "sigmoid", "laplacian", "cosine", "precomputed"];

/** The equations (K + penalty) · weights = targets. Weights of samples scale both sides by their roots. */
function weightsFor(gram: Tensor, y: Tensor, penalty: Tensor, weights: Tensor | null): Tensor {
  const unit = eye(gram.shape[0] as number, { device: gram.device, dtype: gram.dtype });
  if (!weights) return solve(gram.add(unit.mul(penalty)) as Tensor, y) as Tensor;
  const root = weights.sqrt();
  const scaled = gram.mul(root).mul(root.expandDims(1));
  const column = root.expandDims(1);
  return solve(scaled.add(unit.mul(penalty)) as Tensor, y.mul(column) as Tensor).mul(column) as Tensor;
}

/** Ridge regression in the space of a kernel. */
export const kernelRidge = regressor<KernelRidgeLearned, KernelRidgeOptions>({
  kind: "kernelRidge",
  options: { ...PAIRWISE, alpha: "any" },
  check(options) {
    const { alpha = 1 } = options;
    checkPairwise("kernelRidge", options, NAMES);
    const list = Array.isArray(alpha) ? alpha : [alpha];
    if (isTensor(alpha) ? alpha.rank < 2 : list.every((each) => typeof each === "number" && each >= 0)) return;
    throw new ArgumentError(
      `kernelRidge: alpha is ${shown(alpha)}; it is a number, zero or more, or a list of one for each output.`,
    );
  },
  learn({ x, y, weights }, options) {
    const { alpha = 1, kernel } = options;
    const gram = gramMatrix("kernelRidge.fit", x, options);
    const { device, dtype } = x;
    const penalty = (isTensor(alpha) ? alpha.cast(dtype) : tensor(alpha as number[], { device, dtype })) as Tensor;
    const columns = (y.rank === 1 ? y.expandDims(1) : y) as Tensor;
    const outputs = columns.shape[1] as number;
    if (penalty.rank === 1 && penalty.shape[0] !== outputs) {
      throw new ArgumentError(
        `kernelRidge.fit: there are ${penalty.shape[0]} numbers in alpha and ${outputs} outputs.`,
      );
    }
    const found =
      penalty.rank === 0
        ? weightsFor(gram, columns, penalty, weights)
        : (stack(
            Array.from({ length: outputs }, (_, j) =>
              weightsFor(gram, columns.at(":", `${j}:${j + 1}`) as Tensor, penalty.at(j) as Tensor, weights).squeeze(1),
            ),
            { axis: 1 },
          ) as Tensor);
    return {
      dualCoefficients: (y.rank === 1 ? found.squeeze(1) : found) as Tensor,
      samples: kernel === "precomputed" ? null : x,
    };
  },
  async checkLearned(operation, { dualCoefficients }) {
    if (await dualCoefficients.isFinite().all().item()) return;
    throw new LinalgError(`${operation}: the kernel with the penalty has no inverse; raise alpha.`);
  },
  predict({ dualCoefficients, samples }, x, options) {
    const at = x.cast(dualCoefficients.dtype) as Tensor;
    const similarities = samples ? kernelFunction("kernelRidge.predict", options)(at, samples) : at;
    return similarities.matmul(dualCoefficients) as Tensor;
  },
});

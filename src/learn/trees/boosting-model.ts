/** Raw predictions of boosted models: the baseline and what all trees add. Estimators of boosting call it. */
import { type Tensor, tensor, where } from "../../tensor/index.js";
import type { BoostingLearned } from "./boosting.js";
import { predictionsOf } from "./grown-tree.js";

/** The sum of the baseline and of all trees' values, [samples, outputs]. */
export const rawPrediction = (learned: BoostingLearned, x: Tensor): Tensor =>
  valuesOfRounds(learned, x).sum({ axis: 1 }).add(learned.baseline) as Tensor;

/** The same after each round, [rounds, samples, outputs]. */
export const stagedRawPrediction = (learned: BoostingLearned, x: Tensor): Tensor =>
  valuesOfRounds(learned, x).cumsum({ axis: 1 }).add(learned.baseline).transpose([1, 0, 2]) as Tensor;

/** The terms that each round adds, [samples, rounds, outputs]. */
function valuesOfRounds({ baseline, trees, categories }: BoostingLearned, x: Tensor): Tensor {
  const known = categories ? withoutUnknown(x.cast(baseline.dtype) as Tensor, categories) : x;
  return predictionsOf(trees, known).reshape([x.shape[0] as number, -1, baseline.size]) as Tensor;
}

/** Categories that the fit did not know are missing values. */
export function withoutUnknown(x: Tensor, categories: Tensor): Tensor {
  const features = categories.shape[0] as number;
  const { device } = x;
  const code = where(x.isNaN(), 0, x).maximum(0).minimum(255).cast("i32");
  const first = tensor(
    Int32Array.from({ length: features }, (_, f) => 8 * f),
    { device },
  );
  const word = categories.flatten().take(code.floorDivide(32).cast("i32").add(first));
  const bit = word.floorDivide(
    tensor(
      Uint32Array.from({ length: 32 }, (_, i) => 2 ** i),
      { device },
    ).take(code.remainder(32).cast("i32")),
  );
  const isKnown = bit
    .remainder(2)
    .equal(1)
    .logicalAnd(x.equal(code.cast(x.dtype)));
  const isCategorical = categories.notEqual(0).any({ axis: 1 }).expandDims(0);
  return where(isCategorical.logicalAnd(isKnown.logicalNot()), Number.NaN, x) as Tensor;
}

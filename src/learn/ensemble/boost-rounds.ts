/**
 * The rounds of AdaBoost: each fits a copy of an estimator to weighted samples, measures its error, and gives more weight to the samples that
 * it got wrong. The classifier and the regressor say how a round goes.
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { ones, stack, type Tensor, tensor, where } from "../../tensor/index.js";
import type { FitProgress } from "../core/estimator.js";
import { checkPositive } from "../core/settings.js";
import type { Member } from "./members.js";

/** Options that both kinds of AdaBoost have. */
export interface BoostRoundsOptions {
  /** Rounds at most: 50 unless told. A copy without any error is the last one. */
  readonly nEstimators?: number;
  /** The factor of each round's weight: 1 unless told. */
  readonly learningRate?: number;
}

/** The copies of all rounds. */
export interface Boosted {
  readonly models: readonly Member[];
  /** The weight of each copy, and its error by the sample weights of its round, [rounds]. */
  readonly estimatorWeights: Tensor;
  readonly estimatorErrors: Tensor;
}

/** A round: its copy, and numbers as tensors. */
interface Round {
  readonly model: Member;
  readonly error: Tensor;
  /** The weight of a copy that has errors. */
  readonly weight: Tensor;
  /** Weights of samples for the next round; their sum need not be 1. */
  readonly next: Tensor;
}

/** The rules by which kinds of AdaBoost differ: a round, and errors that are too large. */
interface RoundRule {
  round(weights: Tensor, number: number): Promise<Round>;
  /** A copy whose error is as large is left out, and is the last one; null where there is no such error. */
  readonly hopeless: number | null;
  /** Says what to do if the first copy is hopeless already: take it without weight, or make no model. */
  readonly first: "taken" | "refused";
}

export function checkRounds(kind: string, { nEstimators = 50, learningRate = 1 }: BoostRoundsOptions): void {
  checkWhole(kind, "nEstimators", nEstimators, 1);
  checkPositive(kind, "learningRate", learningRate);
}

/** The least weight of a sample that counts, and the least probability, in every dtype: what scikit-learn has in f64. */
export const LEAST_SHARE = 2 ** -52;

/** Runs the rounds; their progress counts them. */
export async function* boostRounds(
  operation: string,
  x: Tensor,
  given: Tensor | null,
  { round, hopeless, first }: RoundRule,
  { nEstimators = 50 }: BoostRoundsOptions,
): AsyncGenerator<FitProgress, Boosted> {
  const { device, dtype } = x;
  const whole = given ?? (ones([x.shape[0] as number], { device, dtype }) as Tensor);
  const counts = whole.greater(0).realize() as Tensor;
  const models: Member[] = [];
  const [weightOf, errorOf]: [number[], number[]] = [[], []];
  const taken = (model: Member, weight: number, error: number): void => {
    models.push(model);
    weightOf.push(weight);
    errorOf.push(error);
  };
  let weights = whole.div(whole.sum()) as Tensor;
  for (let step = 1; step <= nEstimators; step++) {
    // Samples that count keep some weight.
    weights = where(counts, weights.maximum(LEAST_SHARE), 0).realize() as Tensor;
    const { model, error, weight, next } = await round(weights, step - 1);
    const numbers = await stack([error, weight, next.sum()]).data();
    const [wrong, own, total] = Array.from(numbers, Number) as [number, number, number];
    if (hopeless !== null && wrong >= hopeless) {
      if (models.length === 0) {
        if (first === "refused") {
          throw new ArgumentError(
            `${operation}: the estimator is no better than chance (its error is ${wrong}); take another.`,
          );
        }
        taken(model, 0, wrong);
      }
      break;
    }
    taken(model, wrong <= 0 ? 1 : own, Math.max(0, wrong));
    yield { step, steps: nEstimators };
    if (wrong <= 0 || !(total > 0 && Number.isFinite(total))) break;
    weights = next.div(total) as Tensor;
  }
  return {
    models,
    estimatorWeights: tensor(weightOf, { device, dtype }) as Tensor,
    estimatorErrors: tensor(errorOf, { device, dtype }) as Tensor,
  };
}

/** The mean of what copies make of each feature, by what they count, [features]. */
export function boostedImportances(operation: string, { models, estimatorWeights }: Boosted): Tensor {
  const each = models.map((model) => {
    const { featureImportances } = model as unknown as { featureImportances?: () => Tensor };
    if (featureImportances) return featureImportances.call(model);
    throw new ArgumentError(`${operation}: ${model.kind} has no featureImportances; take an estimator of trees.`);
  });
  return estimatorWeights.expandDims(0).matmul(stack(each)).squeeze(0).div(estimatorWeights.sum()) as Tensor;
}

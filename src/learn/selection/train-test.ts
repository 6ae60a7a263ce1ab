/** One random split into samples to fit to and samples to test on. */
import { checkOptions } from "../../core/arguments.js";
import { countOf, samplesAt, targetsAt } from "../core/rows.js";
import type { Samples } from "../core/samples.js";
import { type Labels, labelsOf } from "../core/targets.js";
import { labelledSplit } from "./labelled-split.js";
import { randomSplit, type ShuffleOptions, type Split } from "./splits.js";

/** Options of `trainTestSplit`. */
export interface TrainTestOptions extends ShuffleOptions {
  /** True: the targets are labels, and each class has its share in both parts. False unless told. */
  readonly stratify?: boolean;
}

/** Samples and targets in two parts. */
export interface TrainTest<S extends Samples, Y> {
  readonly xTrain: S;
  readonly xTest: S;
  readonly yTrain: Y;
  readonly yTest: Y;
  /** The positions of both parts. */
  readonly split: Split;
}

/** Splits samples and targets at random: `const { xTrain, xTest, yTrain, yTest } = await trainTestSplit(x, y, { seed: 1 })`. */
export async function trainTestSplit<S extends Samples, Y>(
  samples: S,
  targets: Y,
  options: TrainTestOptions = {},
): Promise<TrainTest<S, Y>> {
  checkOptions("trainTestSplit", options, { testSize: "number", seed: "number", stratify: "flag" });
  const count = countOf("trainTestSplit", samples);
  const { stratify = false } = options;
  const plain = randomSplit("trainTestSplit", count, options, 0);
  const split = stratify
    ? labelledSplit("trainTestSplit", plain, await labelsOf("trainTestSplit", targets as Labels))
    : plain;
  return {
    xTrain: samplesAt(samples, split.train) as S,
    xTest: samplesAt(samples, split.test) as S,
    yTrain: targetsAt(targets, split.train),
    yTest: targetsAt(targets, split.test),
    split,
  };
}

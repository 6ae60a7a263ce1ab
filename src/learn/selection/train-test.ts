/** One random split into samples to fit to and samples to test on. */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { countOf, samplesAt, targetsAt } from "../core/rows.js";
import type { Samples } from "../core/samples.js";
import { type Label, type Labels, labelsOf } from "../core/targets.js";
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
  const count = countOf(samples);
  const { stratify = false } = options;
  const plain = randomSplit("trainTestSplit", count, options, 0);
  const split = stratify ? stratified(plain, await labelsOf("trainTestSplit", targets as Labels)) : plain;
  return {
    xTrain: samplesAt(samples, split.train) as S,
    xTest: samplesAt(samples, split.test) as S,
    yTrain: targetsAt(targets, split.train),
    yTest: targetsAt(targets, split.test),
    split,
  };
}

/** The mixed order of a split, with as many of each class in the test as its share is: the largest remainders are rounded up. */
function stratified({ train, test }: Split, labels: readonly Label[]): Split {
  const members = new Map<Label, number[]>();
  for (const i of [...test, ...train]) {
    const label = labels[i] as Label;
    const known = members.get(label);
    if (known) known.push(i);
    else members.set(label, [i]);
  }
  const share = test.length / labels.length;
  const quotas = [...members].map(([label, own]) => ({ label, own, count: Math.floor(own.length * share) }));
  const missing = test.length - quotas.reduce((sum, { count }) => sum + count, 0);
  const byRemainder = [...quotas].sort((a, b) => b.own.length * share - b.count - (a.own.length * share - a.count));
  for (const quota of byRemainder.slice(0, missing)) quota.count++;
  const lone = quotas.find(({ own, count }) => count === 0 || count === own.length);
  if (lone) {
    throw new ArgumentError(
      `trainTestSplit: the class ${String(lone.label)} has ${lone.own.length} samples, too few for both parts; leave stratify out.`,
    );
  }
  const chosen = new Set(quotas.flatMap(({ own, count }) => own.slice(0, count)));
  const order = [...train, ...test];
  return {
    train: Int32Array.from(order.filter((i) => !chosen.has(i))),
    test: Int32Array.from(order.filter((i) => chosen.has(i))),
  };
}

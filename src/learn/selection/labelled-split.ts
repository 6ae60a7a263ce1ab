/** A random split in which each class has its share: for `trainTestSplit` and `stratifiedShuffleSplit`. */
import { ArgumentError } from "../../core/errors.js";
import type { Label } from "../core/targets.js";
import type { Split } from "./splits.js";

/** The mixed order of a split, with as many of each class in the test as its share is: the largest remainders are rounded up. */
export function labelledSplit(operation: string, { train, test }: Split, labels: readonly Label[]): Split {
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
      `${operation}: the class ${String(lone.label)} has ${lone.own.length} samples, too few for both parts; split without regard to classes.`,
    );
  }
  const chosen = new Set(quotas.flatMap(({ own, count }) => own.slice(0, count)));
  const order = [...train, ...test];
  return {
    train: Int32Array.from(order.filter((i) => !chosen.has(i))),
    test: Int32Array.from(order.filter((i) => chosen.has(i))),
  };
}

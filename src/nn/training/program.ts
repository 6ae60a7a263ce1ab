/**
 * The step of a trainer as one compiled program, which also keeps the means of its metrics and notices a loss that is not
 * finite: from that step on it does not change what is needed to find the reason, so that it is there to be looked at, however much
 * later the loss is read. What goes from step to step is given away and updated in place.
 */
import { ArgumentError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { foldIn, type Key } from "../../random/index.js";
import { full, isTensor, type Tensor, where } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import { leaves } from "../../transforms/tree.js";
import { flattenTensors, leafPaths, unflatten } from "../../transforms/trees.js";
import { Drawn, rowsAt } from "../data/drawn.js";
import { countOf } from "../losses/loss.js";
import { runningMean } from "../metrics/running.js";
import { checkedMetrics, type Means } from "./meter.js";
import type { Trainer } from "./trainer.js";

/** All that goes from step to step. */
export interface DeviceState<C> {
  readonly carry: C;
  /** Means over the epoch so far. */
  readonly means: Means;
  /** The step, counted from 0, whose loss was the first that is not finite; -1 for none. */
  readonly bad: Tensor;
}

export const noFailure = (device: string): Tensor => full([], -1, { dtype: "i32", device }).realize() as Tensor;

/** Runs a step. `index` counts them from 0; the step's own key is made of it and the key, on the device. */
export type StepProgram<C, B> = (state: DeviceState<C>, batch: B | Drawn, key: Key, index: number) => DeviceState<C>;

/** The compiled step, which takes the rows of a batch that is drawn. `stops`: whether a loss that is not finite ends the training. */
export function stepProgram<C, B>(trainer: Trainer<C, B>, stops: boolean): StepProgram<C, B> {
  const step = ({ carry, means, bad }: DeviceState<C>, batch: B, key: Key, index: Tensor): DeviceState<C> => {
    // Folded in here: a trainer that draws nothing needs no key, and none is uploaded.
    const [next, metrics] = trainer.step(carry, batch, foldIn(key, index.cast("u32") as Tensor));
    const { loss } = checkedMetrics(metrics);
    if (!isTensor(loss)) {
      throw new ArgumentError(`train: a step gives { loss } among its metrics, not ${Object.keys(metrics)}.`);
    }
    const failed = stops ? trainer.hasFailed?.(carry, next) : undefined;
    const isGood = (failed ? loss.isFinite().logicalAnd(failed.logicalNot()) : loss.isFinite()) as Tensor;
    const counted = updatedMeans(means, metrics, weightOf(trainer, batch), stops ? isGood : null);
    if (!stops) return { carry: likeBefore(carry, next, () => null), means: counted, bad: bad.mul(1) };
    const isFirst = bad.less(0).logicalAnd(isGood.logicalNot());
    const first = where(isFirst, index.cast("i32"), bad) as Tensor;
    // Of the number that is kept anyway: a kernel for a parameter reads that alone, and does not look at the loss for each element.
    const isKept = first.greaterEqual(0);
    const isNeeded = (path: string) => trainer.explain !== undefined && (trainer.explainsBy?.(path) ?? true);
    return { carry: likeBefore(carry, next, (path) => (isNeeded(path) ? isKept : null)), means: counted, bad: first };
  };
  const taken = jit(step, { donate: 0 }) as unknown as StepProgram<C, B>;
  const taking = jit(
    (state: DeviceState<C>, whole: unknown, places: Tensor, key: Key, index: Tensor) =>
      step(state, rowsAt(whole, places) as B, key, index),
    { donate: 0 },
  );
  return (state, batch, key, index) =>
    batch instanceof Drawn
      ? taking(state, batch.whole, batch.places, key, index as unknown as Tensor)
      : taken(state, batch, key, index);
}

/** Runs a batch of a validation. */
export type EvaluateProgram<C, B> = (means: Means, carry: C, batch: B) => Means;

/** The compiled evaluation of a batch. */
export function evaluateProgram<C, B>(
  evaluate: (carry: C, batch: B) => Readonly<Record<string, Tensor>>,
  weigh: (batch: B) => number | Tensor,
): EvaluateProgram<C, B> {
  const run = (means: Means, carry: C, batch: B): Means =>
    updatedMeans(means, checkedMetrics(evaluate(carry, batch)), weigh(batch), null);
  return jit(run, { donate: 0 }) as unknown as EvaluateProgram<C, B>;
}

/** How much a batch counts: as many examples as it has, without the copies that fill it. */
export function weightOf<B>({ weigh }: Pick<Trainer<never, B>, "weigh">, batch: B): number | Tensor {
  if (weigh) return weigh(batch);
  const { mask } = (batch ?? {}) as { readonly mask?: unknown };
  if (isTensor(mask) && mask.dtype === "bool" && mask.rank === 1) return mask.cast("f32").sum() as Tensor;
  const first = leaves(batch).find(({ rank }) => rank > 0);
  return (first?.shape[0] as number | undefined) ?? 1;
}

/**
 * The means with the metrics of one more batch. A metric counts by what it was divided by where that is known, otherwise by the weight of
 * the batch. A batch whose loss is not finite does not count.
 */
function updatedMeans(
  means: Means,
  metrics: Readonly<Record<string, Tensor>>,
  weight: number | Tensor,
  isCounted: Tensor | null,
): Means {
  const names = Object.keys(metrics);
  if (names.length !== Object.keys(means).length || names.some((name) => !Object.hasOwn(means, name))) {
    throw new ArgumentError(`train: the metrics are ${names}; before they were ${Object.keys(means)}.`);
  }
  return Object.fromEntries(
    Object.entries(means).map(([name, before]) => {
      const metric = metrics[name] as Tensor;
      const count = countOf(metric) ?? weight;
      const value = metric.cast(before.mean.dtype) as Tensor;
      return [name, runningMean(before, value, isCounted ? where(isCounted, count, 0) : count)];
    }),
  );
}

/** The next carry, which must have the form of the one before; at a path, that one where `keeps` gives a true bool. */
function likeBefore<C>(before: C, after: C, keeps: (path: string) => Tensor | null): C {
  const [old, next] = [flattenTensors(before, "train, the carry"), flattenTensors(after, "train, the next carry")];
  if (old.structure.key !== next.structure.key) {
    const paths = (tree: typeof old) => leafPaths(tree.structure).join(", ");
    throw new ArgumentError(`train: a step gives a carry of another form: ${paths(next)}; it got ${paths(old)}.`);
  }
  const paths = leafPaths(old.structure);
  const kept = next.leaves.map((leaf, i) => {
    const was = old.leaves[i] as Tensor;
    if (leaf.dtype !== was.dtype || !sameShape(leaf.shape, was.shape)) {
      const form = ({ dtype, shape }: Tensor) => `${dtype} ${formatShape(shape)}`;
      throw new ArgumentError(
        `train: a step makes ${paths[i]} of the carry ${form(leaf)}; it was ${form(was)}. Cast or reshape it.`,
      );
    }
    const isKept = keeps(paths[i] as string);
    return isKept === null || leaf === was ? leaf : (where(isKept, was, leaf) as Tensor);
  });
  return unflatten(old.structure, kept) as C;
}

/** Handles of one's own on the same memory: they stay when the others are given to a step, which then makes new memory. */
export function held<T>(tree: T): T {
  const { leaves: all, structure } = flattenTensors(tree, "train");
  return unflatten(
    structure,
    all.map((leaf) => leaf.again()),
  ) as T;
}

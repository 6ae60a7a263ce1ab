/**
 * Means of metrics over batches, kept on the device. They are read as one vector, now and then: no step waits for a number.
 * program.ts updates them inside the compiled step.
 */
import { ArgumentError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, stack, type Tensor, where } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import { placeholderLike, tracedOn } from "../../transforms/trace.js";
import { flattenTensors, unflatten } from "../../transforms/trees.js";
import { type RunningMean, startMean } from "../metrics/running.js";

/** Means by the names of metrics. */
export type Means = Readonly<Record<string, RunningMean>>;

/** Metrics in numbers, by name. */
export type Metrics = Readonly<Record<string, number>>;

/** Means of nothing yet, for the metrics that a function gives. It is traced and not computed. */
export function startMeans<A extends readonly unknown[]>(
  f: (...args: A) => Readonly<Record<string, Tensor>>,
  ...args: A
): Means {
  const { leaves, structure } = flattenTensors(args, "train");
  const own = leaves.map(({ node }) => placeholderLike(node));
  const found = tracedOn(
    "train",
    own.map(({ node }) => node),
    () => checkedMetrics(f(...(unflatten(structure, own) as A))),
  );
  return Object.fromEntries(
    Object.entries(found).map(([name, { dtype, device }]) => {
      const { mean, weight } = startMean({ dtype: dtype === "f64" ? "f64" : "f32", device });
      return [name, { mean: mean.realize(), weight: weight.realize() }];
    }),
  );
}

/** Throws on metrics that are not scalars by name. */
export function checkedMetrics<M extends Readonly<Record<string, Tensor>>>(metrics: M): M {
  if (typeof metrics !== "object" || metrics === null || isTensor(metrics)) {
    throw new ArgumentError(`train: metrics are scalars by name, as { loss }, not ${shown(metrics)}.`);
  }
  for (const [name, value] of Object.entries(metrics)) {
    if (isTensor(value) && value.rank === 0) continue;
    const what = isTensor(value) ? `a tensor of shape ${formatShape(value.shape)}` : shown(value);
    throw new ArgumentError(`train: the metric ${name} is a scalar, not ${what}.`);
  }
  return metrics;
}

/** What was read: the means, and how many steps ago the loss was first not finite; null where it has been. */
export interface Reading {
  readonly metrics: Metrics;
  readonly failedStepsAgo: number | null;
}

/** The means and the failure in a vector of its own: the originals are given to the next step. */
const gathered = jit((means: Means, bad: Tensor, index: Tensor) => {
  // A mean of no step, where all were skipped, is NaN and not 0.
  const values = Object.values(means).map(({ mean, weight }) => where(weight.greater(0), mean, Number.NaN) as Tensor);
  const { dtype } = values[0] as Tensor;
  const ago = index.cast("i32").sub(bad).cast(dtype);
  return stack([...values.map((each) => each.cast(dtype)), ago.mul(bad.greaterEqual(0).cast(dtype))]);
});

/** Reads the means after step `index`, counted from 1. `bad`: the first step whose loss was not finite, -1 for none. */
export async function readMeans(means: Means, bad: Tensor, index: number): Promise<Reading> {
  const values = Array.from((await gathered(means, bad, index as unknown as Tensor).data()) as ArrayLike<number>);
  const ago = values.pop() as number;
  return {
    metrics: Object.fromEntries(Object.keys(means).map((name, i) => [name, values[i] as number])),
    failedStepsAgo: ago > 0 ? ago : null,
  };
}

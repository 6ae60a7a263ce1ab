/** The metrics of training as users give them: names, or functions by name, for the output or for each of several. */
import { ArgumentError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import * as metrics from "../metrics/index.js";
import { type Labelled, partAt, weightsOf } from "./loss-choice.js";

/** The name of a metric of `metrics`. */
export type MetricName = Exclude<keyof typeof metrics, "startMean" | "runningMean" | "confusionMatrix">;

/**
 * A metric of the user's own: one number for a batch, of which training shows the mean. `weights` are there where examples count
 * differently: those of the data, and 0 for the copies that fill a last batch. `batch` is all that came with the input.
 */
export type MetricFunction = (
  predictions: never,
  targets: never,
  options: { readonly weights?: Tensor },
  batch: never,
) => Tensor;

/** One metric. */
export type OneMetric = MetricName | readonly [name: MetricName, options: object] | MetricFunction;

/** Metrics by their own names: `["accuracy", ["topKAccuracy", { k: 5 }]]`. */
type MetricList = readonly Exclude<OneMetric, MetricFunction>[];

/**
 * Metrics to report: `["accuracy", ["topKAccuracy", { k: 5 }]]`, or by names of the user's own, `{ top5: ["topKAccuracy", { k: 5 }] }`. Of
 * models with several outputs, by the names of these: `{ head: ["accuracy"], tail: { error: "meanAbsoluteError" } }`.
 */
export type MetricChoice = MetricList | { readonly [name: string]: OneMetric | MetricChoice };

/** Predictions and a batch to the metrics of the batch. */
export type MetricsOf = (predictions: unknown, batch: Labelled) => Record<string, Tensor>;

/** Names that training gives by itself: `auxiliary` are the losses of layers. */
const TAKEN = ["loss", "auxiliary"];
const NOT_MEANS = ["startMean", "runningMean", "confusionMatrix"];
/** The metrics by name. */
const BY_NAME = new Map(
  Object.entries(metrics).filter(([name]) => !NOT_MEANS.includes(name)),
) as unknown as ReadonlyMap<unknown, (p: Tensor, y: Tensor, options?: object) => Tensor>;

/** Metrics of which more is better. */
const RISING = new Set<string>([
  ...["accuracy", "binaryAccuracy", "topKAccuracy", "precision", "recall", "sensitivity", "specificity"],
  ...["f1", "auc", "r2", "truePositives", "trueNegatives"],
]);

/** Whether a smaller or a larger value of a metric is better, by its name; "min" for names that nobody knows. */
export function modeOf(name: string): "min" | "max" {
  const last = name.split(".").at(-1) as string;
  return RISING.has(last) ? "max" : "min";
}

/** A metric, the output that it looks at, and the name that it is reported by. */
interface NamedMetric {
  readonly path: readonly string[];
  readonly name: string;
  readonly metric: MetricFunction;
}

/** The metrics of a choice, checked. */
export function metricsOf(operation: string, choice: MetricChoice = []): MetricsOf {
  const named = flatMetrics(operation, choice, []);
  const twice = named.find(({ name }, i) => named.findIndex((each) => each.name === name) !== i);
  if (twice) {
    throw new ArgumentError(
      `${operation}: the option metrics has two called ${shown(twice.name)}; give names of your own, as in ` +
        `{ top1: ["topKAccuracy", { k: 1 }], top5: ["topKAccuracy", { k: 5 }] }.`,
    );
  }
  return (predictions, batch) => {
    const weights = weightsOf(batch);
    const options = weights === undefined ? {} : { weights };
    return Object.fromEntries(
      named.map(({ path, name, metric }) => {
        const part = (what: string, tree: unknown) => partAt(`${operation}: the option metrics`, what, tree, path);
        const [p, y] = [part("predictions", predictions), part("targets", batch.y)];
        if (isNamed(metric) && !isTensor(p)) throw severalOutputs(operation, name, p);
        return [name, scalar(operation, name, metric(p as never, y as never, options, batch as never))];
      }),
    );
  };
}

function flatMetrics(operation: string, choice: MetricChoice, path: readonly string[]): NamedMetric[] {
  if (typeof choice !== "object" || choice === null) {
    throw new ArgumentError(
      `${operation}: the option metrics is a list of names or functions by name, not ${shown(choice)}.`,
    );
  }
  const entries: [string, OneMetric | MetricChoice][] = Array.isArray(choice)
    ? choice.map((each: OneMetric) => [(Array.isArray(each) ? each[0] : each) as string, each])
    : Object.entries(choice);
  return entries.flatMap(([name, each]) => {
    if (!Array.isArray(choice) && isOfOutput(each)) return flatMetrics(operation, each, [...path, name]);
    const metric = oneMetric(operation, name, each as OneMetric);
    return [{ path, name: [...path, name].join("."), metric }];
  });
}

/** An object, or a list that is no metric with its options: the metrics of an output. */
function isOfOutput(choice: OneMetric | MetricChoice): choice is MetricChoice {
  if (typeof choice !== "object" || choice === null) return false;
  const isOptions = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  return !(Array.isArray(choice) && typeof choice[0] === "string" && choice.length === 2 && isOptions(choice[1]));
}

/** Metrics of `metrics`, which take tensors. */
const KNOWN = new WeakSet<object>();
const isNamed = (metric: MetricFunction): boolean => KNOWN.has(metric);

function severalOutputs(operation: string, name: string, predictions: unknown): ArgumentError {
  const outputs = typeof predictions === "object" && predictions !== null ? Object.keys(predictions) : [];
  const one = outputs[0] ?? "head";
  return new ArgumentError(
    `${operation}: the metric ${name} takes the tensor of one output; the model gives ${outputs.join(", ") || shown(predictions)}. ` +
      `Give metrics by output, as { ${one}: ["accuracy"] }.`,
  );
}

function oneMetric(operation: string, name: string, choice: OneMetric): MetricFunction {
  if (typeof name !== "string" || TAKEN.includes(name) || name.includes(".")) {
    throw new ArgumentError(
      `${operation}: no metric can be called ${shown(name)}; ${TAKEN.join(", ")} and dots are taken. ` +
        "Functions come by name, as in { mine: (predictions, targets) => … }.",
    );
  }
  if (typeof choice === "function") return choice;
  const [called, options] = Array.isArray(choice) ? choice : [choice, undefined];
  const metric = BY_NAME.get(called);
  if (!metric) {
    throw new ArgumentError(
      `${operation}: the metric ${shown(called)} is no function (predictions, targets) => number, nor one of ${[...BY_NAME.keys()].join(", ")}.`,
    );
  }
  const known = ((p: Tensor, y: Tensor, more: object) => metric(p, y, { ...options, ...more })) as MetricFunction;
  KNOWN.add(known);
  return known;
}

function scalar(operation: string, name: string, value: unknown): Tensor {
  if (isTensor(value) && value.size === 1) return value.rank === 0 ? value : value.reshape([]);
  const what = isTensor(value) ? `a tensor of shape ${formatShape(value.shape)}` : shown(value);
  throw new ArgumentError(`${operation}: the metric ${name} is one number for a batch, not ${what}.`);
}

/** The metrics of training as users give them: names, or functions by name. */
import { ArgumentError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import * as metrics from "../metrics/index.js";

/** The name of a metric of `metrics`. */
export type MetricName = Exclude<keyof typeof metrics, "startMean" | "runningMean" | "confusionMatrix">;

/** A metric of the user's own: one number for a batch, of which training shows the mean. */
export type MetricFunction = (predictions: never, targets: never) => Tensor;

/** One metric. */
export type OneMetric = MetricName | readonly [name: MetricName, options: object] | MetricFunction;

/** Metrics to report: `["accuracy", ["topKAccuracy", { k: 5 }]]`, or by names of the user's own, `{ top5: ["topKAccuracy", { k: 5 }] }`. */
export type MetricChoice = readonly Exclude<OneMetric, MetricFunction>[] | Readonly<Record<string, OneMetric>>;

/** Predictions and targets to the metrics of a batch. */
export type MetricsOf = (predictions: unknown, targets: unknown) => Record<string, Tensor>;

/** Names that training gives by itself. */
const TAKEN = ["loss"];
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

/** The metrics of a choice, checked. */
export function metricsOf(operation: string, choice: MetricChoice = []): MetricsOf {
  if (typeof choice !== "object" || choice === null) {
    throw new ArgumentError(
      `${operation}: the option metrics is a list of names or functions by name, not ${shown(choice)}.`,
    );
  }
  const entries: [string, OneMetric][] = Array.isArray(choice)
    ? choice.map((each: OneMetric) => [(Array.isArray(each) ? each[0] : each) as string, each])
    : Object.entries(choice);
  const functions = entries.map(([name, each]) => [name, oneMetric(operation, name, each)] as const);
  return (predictions, targets) =>
    Object.fromEntries(
      functions.map(([name, metric]) => [
        name,
        scalar(operation, name, metric(predictions as never, targets as never)),
      ]),
    );
}

function oneMetric(operation: string, name: string, choice: OneMetric): MetricFunction {
  if (typeof name !== "string" || TAKEN.includes(name) || name.includes(".")) {
    throw new ArgumentError(
      `${operation}: no metric can be called ${shown(name)}; ${TAKEN} and dots are taken. ` +
        "Functions come by name, as in { mine: (predictions, targets) => … }.",
    );
  }
  if (typeof choice === "function") return choice;
  const [known, options] = Array.isArray(choice) ? choice : [choice, undefined];
  const metric = BY_NAME.get(known);
  if (!metric) {
    throw new ArgumentError(
      `${operation}: the metric ${shown(known)} is no function (predictions, targets) => number, nor one of ${[...BY_NAME.keys()].join(", ")}.`,
    );
  }
  return ((p: Tensor, y: Tensor) => (options === undefined ? metric(p, y) : metric(p, y, options))) as MetricFunction;
}

function scalar(operation: string, name: string, value: unknown): Tensor {
  if (isTensor(value) && value.size === 1) return value.rank === 0 ? value : value.reshape([]);
  const what = isTensor(value) ? `a tensor of shape ${formatShape(value.shape)}` : shown(value);
  throw new ArgumentError(`${operation}: the metric ${name} is one number for a batch, not ${what}.`);
}

/**
 * Importances by permutation (Breiman 2001): what the score of a model loses when one column of the samples is shuffled. Shuffled copies
 * are predicted together, as more rows of one program; each copy is then scored by its own predictions.
 */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { permutation } from "../../core/seeded-order.js";
import { arange, isTensor, type Tensor, tensor, where } from "../../tensor/index.js";
import type { Samples } from "../core/samples.js";
import { type Scorer, scorer } from "../metrics/scorers.js";
import { checkInspected, copiesTogether, type Inspected, inspectedMatrix } from "./inspected.js";

/** Options of `permutationImportance`. */
export interface PermutationImportanceOptions {
  /** How often each column is shuffled: 5 unless told. */
  readonly nRepeats?: number;
  /** The score: by its name (`metrics.scorerNames()`), or a function; the model's own `score` unless told. */
  readonly scoring?: string | Scorer;
  /** Which orders: 0 unless told. */
  readonly seed?: number;
  readonly signal?: AbortSignal;
}

/** Importances of features. */
export interface PermutationImportance {
  /** What the score lost, [features, repeats], f64. */
  readonly importances: Tensor;
  /** Their mean and standard deviation over repeats, [features]. */
  readonly mean: Tensor;
  readonly deviation: Tensor;
  /** The score of the samples as they are. */
  readonly score: number;
}

const OPTIONS: OptionKinds<PermutationImportanceOptions> = {
  nRepeats: "number",
  scoring: "any",
  seed: "number",
  signal: "signal",
};

const OPERATION = "permutationImportance";

/** How much the score of a model falls when one feature's values are shuffled among the samples. */
export async function permutationImportance<Y>(
  model: Inspected,
  samples: Samples,
  targets: Y,
  options: PermutationImportanceOptions = {},
): Promise<PermutationImportance> {
  checkOptions(OPERATION, options, OPTIONS);
  checkInspected(OPERATION, model);
  const { nRepeats = 5, seed = 0, signal } = options;
  checkWhole(OPERATION, "nRepeats", nRepeats, 1);
  checkWhole(OPERATION, "seed", seed, 0);
  const { score, looksAtSamples } = scoreOf(model, options);
  const x = inspectedMatrix(OPERATION, model, samples).realize() as Tensor;
  const features = x.shape[1] as number;
  const whole = await numberOf(score(model, x, targets));
  const found: (number | Tensor)[] = [];
  const together = looksAtSamples ? 1 : Math.min(features * nRepeats, copiesTogether(x));
  for (let first = 0; first < features * nRepeats; first += together) {
    signal?.throwIfAborted();
    const count = Math.min(together, features * nRepeats - first);
    const rows = shuffledCopies(x, { first, count, nRepeats, seed });
    if (looksAtSamples) {
      found.push(await started(score(model, rows, targets)));
      continue;
    }
    const predicted = predictedOnce(model, rows, count);
    for (let copy = 0; copy < count; copy++) found.push(await started(score(predicted(copy), x, targets)));
  }
  const lost = Float64Array.from(await Promise.all(found.map(numberOf)), (value) => whole - value);
  const importances = tensor(lost, { device: "cpu", dtype: "f64", shape: [features, nRepeats] }) as Tensor;
  return {
    importances,
    mean: importances.mean({ axis: 1 }) as Tensor,
    deviation: importances.std({ axis: 1 }) as Tensor,
    score: whole,
  };
}

/** The score of the options. Named scores look at predictions alone; functions, and scores of models, get samples. */
function scoreOf(model: Inspected, { scoring }: PermutationImportanceOptions) {
  if (typeof scoring === "function") return { score: scoring, looksAtSamples: true };
  if (scoring !== undefined) return { score: scorer(scoring), looksAtSamples: false };
  // Accuracy is the score of every classification.
  if (model.classes && model.predictLabels) return { score: scorer("accuracy"), looksAtSamples: false };
  if (model.score) {
    const own: Scorer = (of: Inspected, x, y) => (of.score as NonNullable<Inspected["score"]>).call(of, x, y);
    return { score: own, looksAtSamples: true };
  }
  throw new ArgumentError(
    `${OPERATION}: ${model.kind} has no score of its own; give one: { scoring: (model, x, y) => … }, or the name of one.`,
  );
}

interface Copies {
  readonly first: number;
  readonly count: number;
  readonly nRepeats: number;
  readonly seed: number;
}

/** Copies of samples one below the other, [copies · samples, features]; copy c has one column in another order. */
function shuffledCopies(x: Tensor, { first, count, nRepeats, seed }: Copies): Tensor {
  const [samples, features] = x.shape as [number, number];
  const { device } = x;
  const columns = Int32Array.from({ length: count }, (_, c) => Math.floor((first + c) / nRepeats));
  const orders = new Int32Array(count * samples);
  for (let c = 0; c < count; c++) {
    const order = permutation(samples, [0, seed >>> 0], first + c);
    orders.set(order, c * samples);
  }
  const column = tensor(columns, { device }).reshape([count, 1, 1]);
  const order = tensor(orders, { device, shape: [count, samples] });
  const place = order.mul(features).add(column.squeeze(2)).cast("i32") as Tensor;
  const shuffled = x.flatten().take(place).expandDims(2);
  const isColumn = arange(features, { device, dtype: "i32" }).reshape([1, 1, features]).equal(column);
  return where(isColumn, shuffled, x.expandDims(0))
    .reshape([count * samples, features])
    .realize() as Tensor;
}

type Method = "predict" | "predictProbability" | "decisionFunction";

/** Stand-ins for a model that know its predictions for each of the copies, which are predicted together when the first is asked for. */
function predictedOnce(model: Inspected, rows: Tensor, copies: number): (copy: number) => Inspected {
  const samples = (rows.shape[0] as number) / copies;
  const held = new Map<Method, Tensor>();
  let labels: ReturnType<NonNullable<Inspected["predictLabels"]>> | null = null;
  const all = (method: Method): Tensor => {
    const known = held.get(method);
    if (known) return known;
    const values = (model[method] as (x: Samples) => Tensor).call(model, rows);
    const made = values.reshape([copies, samples, ...values.shape.slice(1)]).realize() as Tensor;
    held.set(method, made);
    return made;
  };
  const part = (method: Method, copy: number) =>
    model[method] &&
    (() => all(method).take(tensor(copy, { device: rows.device, dtype: "i32" }), { axis: 0 }) as Tensor);
  return (copy) => ({
    kind: model.kind,
    features: model.features,
    classes: model.classes,
    predict: part("predict", copy),
    predictProbability: part("predictProbability", copy),
    decisionFunction: part("decisionFunction", copy),
    predictLabels:
      model.predictLabels &&
      (async () => {
        labels ??= (model.predictLabels as NonNullable<Inspected["predictLabels"]>).call(model, rows);
        return (await labels).slice(copy * samples, (copy + 1) * samples);
      }),
  });
}

/** A score whose work has begun; tensors are read when all have. */
async function started(score: ReturnType<Scorer>): Promise<number | Tensor> {
  const value = await score;
  return isTensor(value) ? (value.realize() as Tensor) : value;
}

async function numberOf(score: ReturnType<Scorer>): Promise<number> {
  const value = await score;
  return isTensor(value) ? Number(await value.item()) : value;
}

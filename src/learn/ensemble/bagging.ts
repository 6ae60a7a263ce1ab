/**
 * Bagging: copies of an estimator, each fitted to samples (and columns) drawn by a seed, and the mean of what they predict. Samples that a
 * copy did not see test it: their predictions are the out-of-bag ones. (Breiman 1996.)
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { below, bitsFrom, permutation } from "../../core/seeded-order.js";
import { shown } from "../../core/shown.js";
import { stack, type Tensor, tensor, where } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/steps.js";
import type { Data, FitProgress } from "../core/estimator.js";
import { categorySamples } from "../core/samples.js";
import { classifier, probabilityMethods, regressor } from "../core/sorts.js";
import { type ClassMembers, checkMember, fitMember, type Member, placesOf, probabilitiesOf } from "./members.js";

/** Options of `baggingRegressor` and `baggingClassifier`. */
export interface BaggingOptions {
  /** The estimator that is copied. */
  readonly estimator: AnyEstimator;
  /** Copies: 10 unless told. */
  readonly nEstimators?: number;
  /** The share of samples that each copy sees, or their number where it is above 1: all, 1, unless told. */
  readonly maxSamples?: number;
  /** The same of columns. */
  readonly maxFeatures?: number;
  /** True unless told: samples are drawn with replacement. */
  readonly bootstrap?: boolean;
  /** True: columns are drawn with replacement. False unless told. */
  readonly bootstrapFeatures?: boolean;
  /** True: samples that copies did not see are predicted by them. False unless told. */
  readonly oob?: boolean;
  /** The seed of the draws: 0 unless told. */
  readonly seed?: number;
}

/** The copies, and what each was fitted to. */
export interface Bag {
  readonly models: readonly Member[];
  /** The samples of each copy, [copies, samples drawn], i32. */
  readonly rows: Tensor;
  /** The columns of each, [copies, columns drawn], i32; null where it is all of them. */
  readonly columns: Tensor | null;
  /** Predictions, or probabilities of classes, by the copies that did not see a sample; NaN where all did. Null unless asked for. */
  readonly oobPrediction: Tensor | null;
  /** R² or the accuracy of these predictions. */
  readonly oobScore: Tensor | null;
}

const KINDS = {
  estimator: "any",
  nEstimators: "number",
  maxSamples: "number",
  maxFeatures: "number",
  bootstrap: "flag",
  bootstrapFeatures: "flag",
  oob: "flag",
  seed: "number",
} as const;

function checkBagging(kind: string, options: BaggingOptions, labels: boolean): void {
  const { estimator, nEstimators = 10, bootstrap = true, oob = false, seed = 0 } = options;
  checkMember(kind, "estimator", estimator, labels);
  checkWhole(kind, "nEstimators", nEstimators, 1);
  checkWhole(kind, "the seed", seed, 0);
  for (const name of ["maxSamples", "maxFeatures"] as const) {
    const { [name]: amount = 1 } = options;
    if ((amount > 0 && amount <= 1) || (Number.isSafeInteger(amount) && amount > 1)) continue;
    throw new ArgumentError(
      `${kind}: ${name} is ${shown(amount)}; it is a share, above 0 and up to 1, or a number of two or more.`,
    );
  }
  if (oob && !bootstrap)
    throw new ArgumentError(`${kind}: oob needs samples that are left out; take { bootstrap: true }.`);
}

/** So many of `count`, in order unless they are drawn with replacement. */
function draw(count: number, amount: number, replaces: boolean, seed: number, stream: number): Int32Array {
  const wanted = Math.min(count, amount <= 1 ? Math.max(1, Math.floor(amount * count)) : amount);
  if (replaces) {
    const bits = bitsFrom([0, seed >>> 0], stream);
    return Int32Array.from({ length: wanted }, () => below(count, bits));
  }
  if (wanted === count) return Int32Array.from({ length: count }, (_, i) => i);
  return Int32Array.from(
    permutation(count, [0, seed >>> 0], stream)
      .slice(0, wanted)
      .sort(),
  );
}

const tableOf = (lists: readonly Int32Array[], { device }: Tensor): Tensor =>
  stack(lists.map((list) => tensor(list, { device })) as Tensor[]) as Tensor;

/** The columns of a copy. */
const columnsOf = (x: Tensor, columns: Tensor | null, place: number): Tensor =>
  columns ? (x.take(columns.at(place) as Tensor, { axis: 1 }) as Tensor) : x;

interface Bagged {
  readonly models: readonly Member[];
  readonly rows: readonly Int32Array[];
  readonly columns: Tensor | null;
}

/** Fits one copy after another; its progress counts them. */
async function* fitBag(data: Data, options: BaggingOptions): AsyncGenerator<FitProgress, Bagged> {
  const { estimator, nEstimators = 10, maxSamples = 1, maxFeatures = 1, bootstrap = true, seed = 0 } = options;
  const { bootstrapFeatures = false } = options;
  const [samples, features] = data.x.shape as [number, number];
  const copies = Array.from({ length: nEstimators }, (_, i) => i);
  const rows = copies.map((i) => draw(samples, maxSamples, bootstrap, seed, 2 * i));
  const chosen = copies.map((i) => draw(features, maxFeatures, bootstrapFeatures, seed, 2 * i + 1));
  const isAll = !bootstrapFeatures && chosen[0]?.length === features;
  const columns = isAll ? null : tableOf(chosen, data.x);
  const models: Member[] = [];
  for (const i of copies) {
    const own = isAll ? data : ofColumns(data, columnsOf(data.x, columns, i), chosen[i] as Int32Array);
    models.push(await fitMember(estimator, own, rows[i] as Int32Array));
    yield { step: i + 1, steps: nEstimators };
  }
  return { models, rows, columns };
}

/** The data with some columns of the samples. One that stands twice has its name twice. */
function ofColumns(data: Data, x: Tensor, chosen: Int32Array): Data {
  const { names, categories } = data.facts.features;
  const at = <T>(list: readonly T[] | null): T[] | null => list && Array.from(chosen, (place) => list[place] as T);
  const features = { count: chosen.length, names: at(names), categories: at(categories) };
  return { ...data, x, facts: { ...data.facts, features } };
}

/** The mean of what copies say. */
function meanOf(
  x: Tensor,
  { models, columns }: Pick<Bag, "models" | "columns">,
  say: (model: Member, x: Tensor) => Tensor,
) {
  const said = models.map((model, i) => say(model, columnsOf(x, columns, i)));
  return stack(said).mean({ axis: 0 }) as Tensor;
}

/** The mean of what copies say of samples that they did not see; NaN where all saw one. */
function outOfBag(x: Tensor, { models, rows, columns }: Bagged, say: (model: Member, x: Tensor) => Tensor): Tensor {
  const samples = x.shape[0] as number;
  const { device, dtype } = x;
  let [sum, count]: [Tensor | null, Tensor | null] = [null, null];
  for (const [i, model] of models.entries()) {
    const isOut = new Float32Array(samples).fill(1);
    for (const row of rows[i] as Int32Array) isOut[row] = 0;
    const said = say(model, columnsOf(x, columns, i));
    const factors = tensor(isOut, { device, dtype }).reshape([-1, ...said.shape.slice(1).map(() => 1)]) as Tensor;
    const own = said.mul(factors) as Tensor;
    sum = sum ? (sum.add(own) as Tensor) : own;
    count = count ? (count.add(factors) as Tensor) : factors;
  }
  return (sum as Tensor).div(count as Tensor) as Tensor;
}

/** The mean over samples that have a prediction. */
const meanOfKnown = (values: Tensor, isKnown: Tensor): Tensor =>
  where(isKnown, values, 0)
    .sum({ axis: 0 })
    .div(isKnown.cast(values.dtype).sum({ axis: 0 })) as Tensor;

/** R² of out-of-bag predictions, the mean over outputs. */
function knownR2(found: Tensor, y: Tensor): Tensor {
  const isKnown = found.isFinite() as Tensor;
  const rest = meanOfKnown(y.sub(found).square() as Tensor, isKnown);
  const total = meanOfKnown(y.sub(meanOfKnown(y, isKnown)).square() as Tensor, isKnown);
  return rest.div(total).neg().add(1).mean() as Tensor;
}

const say = (model: Member, x: Tensor): Tensor => model.predict(x);

/** The mean prediction of copies of a regression that see different samples. */
export const baggingRegressor = regressor<Bag, BaggingOptions>({
  kind: "baggingRegressor",
  options: KINDS,
  samples: categorySamples,
  allowsMissing: ({ estimator }) => estimator.allowsMissing ?? false,
  takesWeights: ({ estimator }) => estimator.takesWeights ?? true,
  check: (options) => checkBagging("baggingRegressor", options, false),
  async *learn(data, options) {
    const bag = yield* fitBag(data, options);
    const oobPrediction = options.oob ? outOfBag(data.x, bag, say) : null;
    const oobScore = oobPrediction && knownR2(oobPrediction, data.y);
    return { ...bag, rows: tableOf(bag.rows, data.x), oobPrediction, oobScore };
  },
  predict: (bag, x) => meanOf(x, bag, say),
});

type ClassBag = Bag & ClassMembers;

const probabilities = (bag: ClassBag, x: Tensor): Tensor =>
  meanOf(x, bag, (model, own) => probabilitiesOf(model, own, bag.places));

const methods = probabilityMethods<ClassBag, BaggingOptions>((bag, x) => probabilities(bag, x).log() as Tensor);

/** The mean probabilities, or votes, of copies of a classifier that see different samples. */
export const baggingClassifier = classifier<ClassBag, BaggingOptions, typeof methods>({
  kind: "baggingClassifier",
  options: KINDS,
  samples: categorySamples,
  allowsMissing: ({ estimator }) => estimator.allowsMissing ?? false,
  takesWeights: ({ estimator }) => estimator.takesWeights ?? true,
  check: (options) => checkBagging("baggingClassifier", options, true),
  async *learn(data, options) {
    const bag = yield* fitBag(data, options);
    const places = placesOf(data.x, data.classes);
    const oobPrediction = options.oob
      ? outOfBag(data.x, bag, (model, own) => probabilitiesOf(model, own, places))
      : null;
    const isRight = oobPrediction?.argmax({ axis: 1 }).cast("i32").equal(data.y).cast(data.x.dtype) as
      | Tensor
      | undefined;
    const oobScore =
      oobPrediction && isRight ? meanOfKnown(isRight, oobPrediction.isFinite().all({ axis: 1 }) as Tensor) : null;
    return { ...bag, rows: tableOf(bag.rows, data.x), places, oobPrediction, oobScore };
  },
  scores: probabilities,
  methods,
});

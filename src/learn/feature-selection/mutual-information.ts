/**
 * Mutual information of each feature and the targets, in nats: how much one tells about the other, whatever the form of it. Columns of
 * categories, and those that options name, are discrete; others are continuous, and their information is estimated from nearest neighbours.
 */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { foldIn, key, normal } from "../../random/index.js";
import type { Tensor } from "../../tensor/index.js";
import { checkFinite } from "../core/finite.js";
import { categorySamples, type Features, type Samples } from "../core/samples.js";
import { checkAmount } from "../core/settings.js";
import { codesBeside, type Labels, type Numbers, numbersBeside } from "../core/targets.js";
import { mutualInfo } from "../metrics/cluster-agreement.js";
import { informationOfClasses, informationOfPair } from "./neighbor-information.js";

/** Options of `mutualInfoClassification` and `mutualInfoRegression`. */
export interface MutualInfoFeatureOptions {
  /** Which features are discrete: "auto" (columns of categories), unless told, all or none, or one answer for each. */
  readonly discreteFeatures?: "auto" | boolean | readonly boolean[];
  /** The neighbour whose distance is taken: the 3rd unless told. More vary less and are further off. */
  readonly nNeighbors?: number;
  /** The size of the noise that is added to continuous variables, so that none are equal: 1e-10 of theirs unless told. 0: none. */
  readonly noise?: number;
  /** Which noise: 0 unless told. */
  readonly seed?: number;
}

const MUTUAL_INFO: OptionKinds<MutualInfoFeatureOptions> = {
  discreteFeatures: "any",
  nNeighbors: "number",
  noise: "number",
  seed: "number",
};

/** The information of each feature about the class. */
export async function mutualInfoClassification(
  samples: Samples,
  labels: Labels,
  options: MutualInfoFeatureOptions = {},
): Promise<Float64Array> {
  const operation = "mutualInfoClassification";
  const { columns, isDiscrete, k } = await featuresOf(operation, samples, options);
  const { codes } = await codesBeside(operation, labels, columns.matrix, undefined);
  const classes = Array.from((await codes.data()) as Int32Array);
  const found = columns.values.map((values, j) =>
    isDiscrete[j] ? informationOfLabels(values, classes) : informationOfClasses(values, classes, k),
  );
  return Float64Array.from(await Promise.all(found));
}

/** The information of each feature about the numbers to predict. */
export async function mutualInfoRegression(
  samples: Samples,
  targets: Numbers,
  options: MutualInfoFeatureOptions = {},
): Promise<Float64Array> {
  const operation = "mutualInfoRegression";
  const { columns, isDiscrete, k } = await featuresOf(operation, samples, options);
  const given = numbersBeside(operation, targets, columns.matrix);
  if (given.rank !== 1) throw new ArgumentError(`${operation}: the targets are one number for each sample.`);
  await checkFinite(operation, "target", given);
  const [wanted] = prepared([Float64Array.from((await given.data()) as Float64Array)], options, 1) as [Float64Array];
  return Float64Array.from(columns.values, (values, j) =>
    isDiscrete[j] ? informationOfClasses(wanted, values, k) : informationOfPair(values, wanted, k),
  );
}

async function informationOfLabels(values: Float64Array, classes: readonly number[]): Promise<number> {
  // Values need not be whole numbers, and labels are: their places serve.
  const places = new Map([...new Set(values)].map((value, place) => [value, place]));
  const found = mutualInfo(
    Int32Array.from(values, (value) => places.get(value) as number),
    classes,
    { dtype: "f64", device: "cpu" },
  );
  return Number(await found.item());
}

interface FeatureColumns {
  readonly columns: { readonly matrix: Tensor; readonly values: readonly Float64Array[] };
  readonly isDiscrete: readonly boolean[];
  readonly k: number;
}

/** Columns of the samples on the host; continuous ones in their own standard deviations, with noise. */
async function featuresOf(
  operation: string,
  samples: Samples,
  options: MutualInfoFeatureOptions,
): Promise<FeatureColumns> {
  checkOptions(operation, options, MUTUAL_INFO);
  const { nNeighbors: k = 3, noise = 1e-10, seed = 0 } = options;
  checkWhole(operation, "nNeighbors", k, 1);
  checkWhole(operation, "seed", seed, 0);
  checkAmount(operation, "noise", noise);
  const { matrix, features } = categorySamples.read(operation, samples, { device: "cpu", dtype: "f64" }, {});
  await checkFinite(operation, "the sample", matrix, { features });
  const [count, width] = matrix.shape as [number, number];
  if (k >= count) {
    throw new ArgumentError(`${operation}: nNeighbors is ${k}, and there are ${count} samples; take fewer.`);
  }
  const all = (await matrix.data()) as ArrayLike<number>;
  const given = Array.from({ length: width }, (_, j) =>
    Float64Array.from({ length: count }, (_row, i) => all[i * width + j] as number),
  );
  const isDiscrete = discreteOf(operation, features, options);
  const continuous = prepared(
    given.filter((_, j) => !isDiscrete[j]),
    options,
    0,
  );
  let at = 0;
  const values = given.map((column, j) => (isDiscrete[j] ? column : (continuous[at++] as Float64Array)));
  return { columns: { matrix, values }, isDiscrete, k };
}

function discreteOf(
  operation: string,
  { count, categories }: Features,
  { discreteFeatures = "auto" }: MutualInfoFeatureOptions,
): readonly boolean[] {
  if (typeof discreteFeatures === "boolean") return Array.from({ length: count }, () => discreteFeatures);
  if (discreteFeatures === "auto") return Array.from({ length: count }, (_, j) => Boolean(categories?.[j]));
  const isList = Array.isArray(discreteFeatures) && discreteFeatures.every((each) => typeof each === "boolean");
  if (isList && discreteFeatures.length === count) return discreteFeatures;
  throw new ArgumentError(
    `${operation}: discreteFeatures is ${shown(discreteFeatures)}; it is "auto", true, false, or true or false for each of ${count} features.`,
  );
}

/** Columns in their own standard deviations, each with noise of its own; `stream` tells features from targets. */
function prepared(
  columns: readonly Float64Array[],
  { noise = 1e-10, seed = 0 }: MutualInfoFeatureOptions,
  stream: number,
): readonly Float64Array[] {
  const samples = columns[0]?.length ?? 0;
  if (samples === 0) return columns;
  const scaled = columns.map((values) => {
    const mean = values.reduce((sum, each) => sum + each, 0) / samples;
    const deviation = Math.sqrt(values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / samples);
    return values.map((each) => each / (deviation > 0 ? deviation : 1));
  });
  if (noise === 0) return scaled;
  const from = foldIn(key(seed, { device: "cpu" }), stream);
  const steps = normal(from, [columns.length, samples], { dtype: "f64" }).dataSync() as Float64Array;
  return scaled.map((values, j) => {
    const size = noise * Math.max(1, values.reduce((sum, each) => sum + Math.abs(each), 0) / samples);
    return values.map((each, i) => each + size * (steps[j * samples + i] as number));
  });
}

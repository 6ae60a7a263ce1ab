/**
 * Categories as the mean target of their samples (encodings.ts). A sample's own target is in that mean, and what learns from it next would
 * trust it too much: so the samples of a fit are encoded by the targets of others, split by split (`fitTransform`, which pipelines use).
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { stack, type Tensor, tensor } from "../../tensor/index.js";
import type { Data, Estimator, EstimatorMaker, FitOptions, FittedWith, TargetReader } from "../core/estimator.js";
import { inputNames } from "../core/feature-names.js";
import type { Fitted, LearnedTree, Model } from "../core/model.js";
import type { SampleReader, Samples } from "../core/samples.js";
import { checkAmount } from "../core/settings.js";
import { type Ignored, type TransformMethods, transformer } from "../core/sorts.js";
import { areNames, codesBeside, type Labels, type Numbers, numbersBeside } from "../core/targets.js";
import {
  becoming,
  type CategoryOptions,
  categoriesIn,
  categoryTable,
  encoderSamples,
  rowsOfTable,
} from "../preprocessing/categories.js";
import { kFold, type Splitter, stratifiedKFold } from "../selection/splits.js";
import { type CodedColumn, encodingsOf } from "./encodings.js";

/** Options of `targetEncoder`. */
export interface TargetEncoderOptions extends CategoryOptions {
  /** What targets are: "auto" unless told, which tells by their values. Whole numbers are classes. */
  readonly targetType?: "auto" | "continuous" | "binary" | "multiclass";
  /** How many samples the mean of all targets counts for in a category; "auto" unless told: by the variances of targets. */
  readonly smooth?: number | "auto";
  /** The rule of splitting for the samples of a fit, or a number of folds, whose samples are mixed: 5 unless told. */
  readonly splits?: Splitter | number;
  /** How they are mixed: 0 unless told. */
  readonly seed?: number;
}

/** Encodings of categories by feature. */
export interface TargetEncoderLearned extends LearnedTree {
  /** Categories in order, [features, most + 1], infinity after the last: places of texts, or numbers. */
  readonly values: Tensor;
  /** The encoding of each category, then of missing and of unknown ones, [outputs, features, most + 3]; of several classes one output each. */
  readonly encodings: Tensor;
  /** The mean target, [outputs]. */
  readonly targetMean: Tensor;
  /** The classes of whole numbers as targets; null for others. */
  readonly targetClasses: Tensor | null;
}

/** A text that the fit did not see is unknown: nothing is refused. */
const samples: SampleReader<TargetEncoderOptions> = {
  read: (operation, given, placing, options) =>
    encoderSamples.read(operation, given, placing, { ...options, handleUnknown: "encode" }),
  readLike: (operation, given, fitted, placing, options) =>
    encoderSamples.readLike(operation, given, fitted, placing, { ...options, handleUnknown: "encode" }),
};

const targets: TargetReader<Ignored> = {
  areLabels: false,
  async read(operation, given, x) {
    if (given === undefined) throw new ArgumentError(`${operation}: categories are encoded by targets; give them.`);
    if (!areNames(given)) return { y: numbersBeside(operation, given as Numbers, x), classes: null };
    const { codes, classes } = await codesBeside(operation, given as Labels, x, undefined);
    return { y: codes.cast(x.dtype) as Tensor, classes };
  },
  trace(operation) {
    throw new ArgumentError(`${operation}: targetEncoder reads values while it learns; await its fit.`);
  },
};

/** Targets as columns of numbers, one for each output: themselves, ones of the second class, or ones of each class. */
interface Outputs {
  readonly columns: readonly Float64Array[];
  readonly isOfClasses: boolean;
  readonly codes: Float64Array;
  /** The classes of whole numbers. */
  readonly classes: Float64Array | null;
}

async function outputsOf({ y, facts }: Data, { targetType = "auto" }: TargetEncoderOptions): Promise<Outputs> {
  const given = y as Tensor;
  if (given.rank !== 1) throw new ArgumentError("targetEncoder.fit: there is one target for each sample.");
  const values = Float64Array.from((await given.data()) as Float64Array);
  const distinct = Float64Array.from(new Set(values)).sort();
  const count = facts.classes?.length ?? distinct.length;
  const areClasses = facts.classes !== null || values.every(Number.isInteger);
  const found = !areClasses ? "continuous" : count <= 2 ? "binary" : "multiclass";
  const type = targetType === "auto" ? found : targetType;
  if (type === "continuous" && facts.classes) {
    throw new ArgumentError('targetEncoder.fit: targetType is "continuous", and the targets are labels.');
  }
  if (type === "continuous") return { columns: [values], isOfClasses: false, codes: values, classes: null };
  if (type === "binary" ? count !== 2 : count < 2) {
    throw new ArgumentError(`targetEncoder.fit: targetType is "${type}", and the targets have ${count} values.`);
  }
  const places = new Map(Array.from(distinct, (value, place) => [value, place]));
  const codes = facts.classes ? values : values.map((value) => places.get(value) as number);
  const wanted = type === "binary" ? [1] : Array.from({ length: count }, (_, k) => k);
  return {
    columns: wanted.map((k) => codes.map((code) => Number(code === k))),
    isOfClasses: true,
    codes,
    classes: facts.classes ? null : distinct,
  };
}

/** Columns as codes: the place of each category, then one more for missing and one for unknown ones. */
async function codedColumns(x: Tensor, values: Tensor): Promise<readonly CodedColumn[]> {
  const [features, width] = values.shape as [number, number];
  const places = tensor(
    Array.from({ length: features }, () => Array.from({ length: width + 2 }, (_, place) => place)),
    { device: x.device, dtype: "i32" },
  ) as Tensor;
  const codes = (await becoming(places, values, x).T.data()) as Int32Array;
  const count = x.shape[0] as number;
  return Array.from({ length: features }, (_, j) => ({
    codes: Int32Array.from(codes.subarray(j * count, (j + 1) * count)),
    count: width + 2,
  }));
}

/** What the categories of a fit are, and their targets. */
async function partsOf(data: Data, options: TargetEncoderOptions) {
  const { x, facts } = data;
  const sets = await categoriesIn("targetEncoder.fit", x, facts.features, options);
  const values = categoryTable(sets.values, x);
  const [columns, outputs] = await Promise.all([codedColumns(x, values), outputsOf(data, options)]);
  return { sets, values, columns, outputs };
}

const everyPlace = ({ x }: Data): Int32Array => Int32Array.from({ length: x.shape[0] as number }, (_, i) => i);

async function learned(data: Data, options: TargetEncoderOptions): Promise<TargetEncoderLearned> {
  const { device, dtype } = data.x;
  const { smooth = "auto" } = options;
  const { sets, values, columns, outputs } = await partsOf(data, options);
  const places = everyPlace(data);
  const missing = values.shape[1] as number as number;
  const found = outputs.columns.map((target) => columns.map((column) => encodingsOf(column, target, places, smooth)));
  const encodings = found.map((each) =>
    rowsOfTable(
      sets,
      (feature, place) => each[feature]?.values[place] as number,
      (feature) => each[feature]?.values[missing] as number,
      (feature) => each[feature]?.mean as number,
    ),
  );
  return {
    values,
    encodings: tensor(encodings, { device, dtype }) as Tensor,
    targetMean: tensor(
      found.map((each) => each[0]?.mean as number),
      { device, dtype },
    ) as Tensor,
    targetClasses: outputs.classes ? (tensor(outputs.classes, { device, dtype }) as Tensor) : null,
  };
}

/** The samples of a fit, each encoded by the samples that are not in its part of the splits. */
async function crossFitted(data: Data, options: TargetEncoderOptions): Promise<Tensor> {
  const { smooth = "auto", splits = 5, seed = 0 } = options;
  const { columns, outputs } = await partsOf(data, options);
  const samples = data.x.shape[0] as number;
  const labels = outputs.isOfClasses ? Array.from(outputs.codes) : undefined;
  const rule = typeof splits === "number" ? (labels ? stratifiedKFold : kFold)(splits, { seed }) : splits;
  const width = columns.length * outputs.columns.length;
  const values = new Float64Array(samples * width).fill(Number.NaN);
  for (const { train, test } of rule.split({ samples, labels })) {
    columns.forEach((column, j) => {
      outputs.columns.forEach((target, k) => {
        const found = encodingsOf(column, target, train, smooth);
        const at = j * outputs.columns.length + k;
        for (const i of test) values[i * width + at] = found.values[column.codes[i] as number] as number;
      });
    });
  }
  if (values.some(Number.isNaN)) {
    throw new ArgumentError("targetEncoder.fitTransform: the splits must test each sample, as kFold does.");
  }
  const { device, dtype } = data.x;
  return tensor(values, { device, dtype, shape: [samples, width] }) as Tensor;
}

type TargetModel = Fitted<TargetEncoderLearned, TargetEncoderOptions>;

const methods = {
  /** The names of the columns: those of the features, with the class where there are several. */
  featureNames({ learned: { encodings, targetClasses }, features, classes }: TargetModel): readonly string[] {
    const names = inputNames(features);
    if (encodings.shape[0] === 1) return names;
    const labels = classes ?? Array.from((targetClasses as Tensor).dataSync() as Float64Array);
    return names.flatMap((name) => labels.map((label) => `${name}_${String(label)}`));
  },
};

type Methods = TransformMethods<TargetEncoderLearned, TargetEncoderOptions> & typeof methods;
type FittedTargetEncoder = Model<TargetEncoderLearned, TargetEncoderOptions, Methods>;

/** `targetEncoder`: an estimator with `fitTransform`. */
export interface TargetEncoderMaker
  extends Pick<EstimatorMaker<Ignored, TargetEncoderLearned, TargetEncoderOptions, Methods>, "model" | "kind"> {
  (
    options?: TargetEncoderOptions,
  ): Estimator<Ignored, FittedTargetEncoder, TargetEncoderOptions> & {
    fitTransform(samples: Samples, targets: Ignored, options?: FitOptions): Promise<FittedWith<FittedTargetEncoder>>;
  };
}

/** Each category as what targets are like in it. */
export const targetEncoder = transformer<TargetEncoderLearned, TargetEncoderOptions, typeof methods>({
  kind: "targetEncoder",
  options: { categories: "any", targetType: "text", smooth: "any", splits: "any", seed: "number" },
  samples,
  allowsMissing: true,
  takesWeights: false,
  targets,
  check({ targetType, smooth = "auto", splits = 5 }) {
    checkChoice("targetEncoder", "targetType", targetType, ["auto", "continuous", "binary", "multiclass"]);
    if (smooth !== "auto") checkAmount("targetEncoder", "smooth", smooth);
    if (typeof splits === "number" ? Number.isSafeInteger(splits) && splits > 1 : typeof splits?.split === "function")
      return;
    throw new ArgumentError(
      `targetEncoder: splits is ${shown(splits)}; it is a number of folds, 2 or more, or a rule.`,
    );
  },
  learn: (data, options) => () => learned(data, options),
  ofFit: crossFitted,
  transform({ values, encodings }, x) {
    const outputs = encodings.shape[0] as number;
    const each = Array.from({ length: outputs }, (_, k) => becoming(encodings.at(k) as Tensor, values, x));
    return stack(each, { axis: 2 })
      .reshape([x.shape[0] as number, -1])
      .cast(x.dtype) as Tensor;
  },
  methods,
}) as unknown as TargetEncoderMaker;

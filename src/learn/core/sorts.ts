/**
 * The sorts of estimators: regressions predict numbers, classifications labels, transformers new columns, clusterers groups and outlier
 * detectors what is unusual. Each sort adds to a kind's definition what all of its kind share: how targets are read, and `predict`,
 * `transform`, `score`.
 */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { isTensor, type Tensor, tensor, where, zeros } from "../../tensor/index.js";
import { leaves } from "../../transforms/tree.js";
import {
  type Claim,
  type Data,
  type EstimatorMaker,
  estimator,
  type Learning,
  type TargetReader,
  weightsBeside,
} from "./estimator.js";
import { numberedNames } from "./feature-names.js";
import { type Fitted, FittedModel, type Method } from "./model.js";
import { type Features, numberSamples, type Placing, type SampleReader, type Samples } from "./samples.js";
import { codesBeside, type Label, type Labels, type Numbers, numbersBeside, tracedCodes } from "./targets.js";

/** Data of a regression: numbers as targets. */
type RegressionData = Data & { readonly y: Tensor };
/** Data of a classification: positions of classes as targets, i32. */
type ClassificationData = Data & { readonly y: Tensor; readonly classes: number };

/** The part of a definition that every sort has. */
interface Common<L, O extends object, M> {
  readonly kind: string;
  readonly options: OptionKinds<O>;
  check?(options: O): void;
  checkSamples?(operation: string, x: Tensor, features: Features, options: O): Promise<void>;
  checkTargets?(operation: string, y: Tensor, options: O): Promise<void>;
  checkLearned?(operation: string, learned: L): Promise<void>;
  /** NaN marks missing values, which the kind handles. */
  readonly allowsMissing?: Claim<O>;
  readonly takesWeights?: Claim<O>;
  /** Options that may be tensors of one number, so that fits that differ in them alone are one `vmap`. */
  readonly settings?: readonly (keyof O & string)[];
  /** How samples become a matrix: columns of numbers unless told. `categorySamples` lets categories in, as codes. */
  readonly samples?: SampleReader<O>;
  /** Methods of this kind alone: functions of a model. */
  readonly methods?: M;
  /** Names of methods that models with these options do not have; they have all unless told. */
  lacks?(options: O): readonly string[];
}

type Methods = Readonly<Record<string, Method>>;
// biome-ignore lint/complexity/noBannedTypes: no methods besides those of the sort
type None = {};

/** The samples of a method, as a matrix that fits the model. */
export function samplesFor(model: Fitted<unknown, object>, method: string, samples: Samples): Tensor {
  const like = firstTensor(model.learned);
  const placing: Placing = isTensor(samples) ? {} : { device: like?.device, dtype: floatOf(like) };
  const reader = model instanceof FittedModel ? model.sampleReader : numberSamples;
  return reader.readLike(`${model.kind}.${method}`, samples, model.features, placing, model.options);
}

/** The dtype of what was learned, where samples can have it: counts and positions are whole numbers. */
const floatOf = (like: Tensor | undefined): "f32" | "f64" | undefined =>
  like?.dtype === "f64" ? "f64" : like?.dtype === "f32" ? "f32" : undefined;

function firstTensor(tree: unknown): Tensor | undefined {
  const found = leaves(tree) as Tensor[];
  return found.find(({ dtype }) => dtype === "f32" || dtype === "f64") ?? found[0];
}

// ---------------------------------------------------------------------------------------------- regression

/** Numbers as targets. */
export const numberTargets: TargetReader<Numbers> = {
  areLabels: false,
  read: async (operation, targets, x) => ({ y: numbersBeside(operation, targets, x), classes: null }),
  trace: (operation, targets, x) => ({ y: numbersBeside(operation, targets, x), classes: null }),
};

/** Options of `score`. */
interface ScoreOptions {
  /** One weight for each sample; all count the same unless told. */
  readonly weights?: Tensor | ArrayLike<number>;
}

/** The weights of a score beside its samples, [samples]; null where all count the same. */
function scoreWeights(operation: string, options: ScoreOptions, beside: Tensor): Tensor | null {
  checkOptions(operation, options, { weights: "any" });
  return options.weights === undefined ? null : weightsBeside(operation, options.weights, beside);
}

/** Methods of every regression. */
export interface RegressionMethods<L, O> extends Methods {
  /** The numbers predicted for samples: [samples], or [samples, outputs]. */
  predict(model: Fitted<L, O>, samples: Samples): Tensor;
  /** R², the share of the targets' variance that predictions explain; the mean over several outputs. */
  score(model: Fitted<L, O>, samples: Samples, targets: Numbers, options?: ScoreOptions): Tensor;
}

/** Estimators that predict numbers. */
export function regressor<L, O extends object, M extends Methods = None>(
  definition: Common<L, O, M> & {
    learn(data: RegressionData, options: O): Learning<L>;
    predict(learned: L, x: Tensor, options: O): Tensor;
  },
): EstimatorMaker<Numbers, L, O, RegressionMethods<L, O> & M> {
  const predict = (model: Fitted<L, O>, samples: Samples): Tensor =>
    definition.predict(model.learned, samplesFor(model as Fitted<unknown, object>, "predict", samples), model.options);
  const methods = {
    predict,
    score(model: Fitted<L, O>, samples: Samples, targets: Numbers, options: ScoreOptions = {}): Tensor {
      const predicted = predict(model, samples);
      const operation = `${definition.kind}.score`;
      const weights = scoreWeights(operation, options, predicted);
      return explainedShare(predicted, numbersBeside(operation, targets, predicted), weights);
    },
    ...definition.methods,
  };
  const { learn } = definition;
  return estimator({
    ...definition,
    targets: numberTargets,
    learn: (data, options) => learn(data as RegressionData, options),
    methods,
  }) as never;
}

/** R² by output, then its mean. Constant targets that are met give 1, others 0, and one sample alone NaN, as in scikit-learn. */
function explainedShare(predicted: Tensor, targets: Tensor, weights: Tensor | null): Tensor {
  if ((targets.shape[0] as number) < 2) return targets.mul(0).add(Number.NaN).mean() as Tensor;
  const counted = weights && targets.rank > 1 ? weights.expandDims(1) : weights;
  const summed = (of: Tensor): Tensor => (counted ? of.mul(counted) : of).sum({ axis: 0 }) as Tensor;
  const mean = counted ? summed(targets).div(counted.sum({ axis: 0 })) : targets.mean({ axis: 0, keepDims: true });
  const rest = summed(targets.sub(predicted).square() as Tensor);
  const total = summed(targets.sub(mean).square() as Tensor);
  const isConstant = total.equal(0);
  const share = rest
    .div(where(isConstant, 1, total))
    .neg()
    .add(1);
  return where(isConstant, rest.equal(0).cast(share.dtype), share).mean() as Tensor;
}

// ---------------------------------------------------------------------------------------------- classification

const labelTargets: TargetReader<Labels> = {
  areLabels: true,
  async read(operation, targets, x, { classes }) {
    const { codes, classes: found } = await codesBeside(operation, targets, x, classes);
    return { y: codes, classes: found };
  },
  trace(operation, targets, x, { classes }) {
    if (isTensor(targets) && classes) return { y: tracedCodes(operation, targets, x, classes), classes };
    throw new ArgumentError(
      `${operation}: give the labels as a tensor, and the classes: fitTensors(x, y, { classes: [0, 1] }).`,
    );
  },
};

/** Methods of every classification. */
export interface ClassificationMethods<L, O> extends Methods {
  /** The likeliest class of each sample: its label where labels are numbers or booleans, else its position in `classes`. */
  predict(model: Fitted<L, O>, samples: Samples): Tensor;
  /** The likeliest class of each sample as a label. */
  predictLabels(model: Fitted<L, O>, samples: Samples): Promise<Label[]>;
  /** The share of samples whose class is predicted. */
  score(model: Fitted<L, O>, samples: Samples, targets: Labels, options?: ScoreOptions): Promise<number>;
}

/** Labels at positions of classes, where labels are numbers or booleans; else the positions. */
export function labelsAt(places: Tensor, classes: readonly Label[]): Tensor {
  if (typeof classes[0] === "string") return places;
  const dtype = typeof classes[0] === "boolean" ? "bool" : "i32";
  return tensor(classes.map(Number), { device: places.device, dtype: "i32" }).take(places).cast(dtype) as Tensor;
}

/** Estimators that predict labels. `scores` gives [samples, classes]; the largest wins, the first of equals. */
export function classifier<L, O extends object, M extends Methods = None>(
  definition: Common<L, O, M> & {
    learn(data: ClassificationData, options: O): Learning<L>;
    scores(learned: L, x: Tensor, options: O): Tensor;
  },
): EstimatorMaker<Labels, L, O, ClassificationMethods<L, O> & M> {
  const places = (model: Fitted<L, O>, method: string, samples: Samples): Tensor => {
    const x = samplesFor(model as Fitted<unknown, object>, method, samples);
    return definition.scores(model.learned, x, model.options).argmax({ axis: 1 }).cast("i32") as Tensor;
  };
  const methods = {
    predict(model: Fitted<L, O>, samples: Samples): Tensor {
      return labelsAt(places(model, "predict", samples), model.classes as readonly Label[]);
    },
    async predictLabels(model: Fitted<L, O>, samples: Samples): Promise<Label[]> {
      const found = (await places(model, "predictLabels", samples).data()) as ArrayLike<number>;
      return Array.from(found, (place) => (model.classes as readonly Label[])[place] as Label);
    },
    async score(model: Fitted<L, O>, samples: Samples, targets: Labels, options: ScoreOptions = {}): Promise<number> {
      const found = places(model, "score", samples);
      const operation = `${definition.kind}.score`;
      const weights = scoreWeights(operation, options, found.cast("f32") as Tensor);
      const { codes } = await codesBeside(operation, targets, found.expandDims(1), model.classes ?? undefined);
      const isRight = found.equal(codes).cast("f32");
      return Number(await (weights ? isRight.mul(weights).sum().div(weights.sum()) : isRight.mean()).item());
    },
    ...definition.methods,
  };
  const learn = (data: Data, options: O) =>
    definition.learn({ ...data, classes: data.facts.classes?.length ?? 0 } as ClassificationData, options);
  return estimator({ ...definition, targets: labelTargets, learn, methods }) as never;
}

/** Methods of classifications that know probabilities. */
export interface ProbabilityMethods<L, O> extends Methods {
  /** The probability of each class, [samples, classes], in the order of `classes`. */
  predictProbability(model: Fitted<L, O>, samples: Samples): Tensor;
  /** The logarithms of the probabilities. */
  predictLogProbability(model: Fitted<L, O>, samples: Samples): Tensor;
}

/** The methods of a kind whose `logProbability` gives [samples, classes]. */
export function probabilityMethods<L, O extends object>(
  logProbability: (learned: L, x: Tensor, options: O) => Tensor,
): ProbabilityMethods<L, O> {
  const logs = (model: Fitted<L, O>, method: string, samples: Samples): Tensor =>
    logProbability(model.learned, samplesFor(model as Fitted<unknown, object>, method, samples), model.options);
  return {
    predictProbability: (model: Fitted<L, O>, samples: Samples): Tensor =>
      logs(model, "predictProbability", samples).exp() as Tensor,
    predictLogProbability: (model: Fitted<L, O>, samples: Samples): Tensor =>
      logs(model, "predictLogProbability", samples),
  };
}

/** The methods of a kind whose `scores`, [samples, classes], differ by log-odds. */
export const decisionMethods = <L, O extends object>(scores: (learned: L, x: Tensor) => Tensor) => ({
  /** The log-odds of the second of two classes, [samples]; of more classes the scores of each, [samples, classes]. */
  decisionFunction(model: Fitted<L, O>, samples: Samples): Tensor {
    const found = scores(model.learned, samplesFor(model as Fitted<unknown, object>, "decisionFunction", samples));
    return found.shape[1] === 2 ? (found.at(":", 1).sub(found.at(":", 0)) as Tensor) : found;
  },
});

// ---------------------------------------------------------------------------------------------- without targets

/** Targets of kinds that take none: left out, or given by a pipeline and not looked at. */
// biome-ignore lint/suspicious/noConfusingVoidType: an argument of this type may be left out
export type Ignored = void | Numbers | Labels;

/** @see Ignored */
export const noTargets: TargetReader<Ignored> = {
  areLabels: false,
  read: async () => ({ y: null, classes: null }),
  trace: () => ({ y: null, classes: null }),
};

/** Methods of every transformer. */
export interface TransformMethods<L, O> extends Methods {
  /** The samples in their new columns. */
  transform(model: Fitted<L, O>, samples: Samples): Tensor;
  /** The names of the columns that `transform` gives. */
  featureNames(model: Fitted<L, O>): readonly string[];
  /** What whole numbers in those columns mean: texts for a column of categories, else null; null where there are none. */
  featureCategories(model: Fitted<L, O>): Features["categories"];
}

/** Estimators that change samples: scalers, encoders, projections. */
export function transformer<L, O extends object, M extends Methods = None>(
  definition: Common<L, O, M> & {
    learn(data: Data, options: O): Learning<L>;
    transform(learned: L, x: Tensor, options: O): Tensor;
    /** How targets are read, for kinds that look at them; not at all unless told. */
    readonly targets?: TargetReader<Ignored>;
    /** The samples of a fit as they go on, where that is not what `transform` makes of them. */
    ofFit?(data: Data, options: O): Promise<Tensor>;
    /** Names of the new columns; numbered under the name of the kind unless told. */
    featureNames?(learned: L, features: Features, options: O): readonly string[];
    /** What whole numbers in the new columns mean, as in `Features`; nothing unless told. */
    featureCategories?(learned: L, features: Features, options: O): Features["categories"];
  },
): EstimatorMaker<Ignored, L, O, TransformMethods<L, O> & M> {
  const { kind } = definition;
  const methods = {
    transform: (model: Fitted<L, O>, samples: Samples): Tensor =>
      definition.transform(
        model.learned,
        samplesFor(model as Fitted<unknown, object>, "transform", samples),
        model.options,
      ),
    featureNames({ learned, features, options }: Fitted<L, O>): readonly string[] {
      if (definition.featureNames) return definition.featureNames(learned, features, options);
      const like = firstTensor(learned);
      // One row is enough to tell the width; nothing is computed.
      const row = zeros([1, features.count], { device: like?.device, dtype: floatOf(like) }) as Tensor;
      return numberedNames(kind, definition.transform(learned, row, options).shape[1] as number);
    },
    featureCategories: ({ learned, features, options }: Fitted<L, O>): Features["categories"] =>
      definition.featureCategories?.(learned, features, options) ?? null,
    ...definition.methods,
  };
  return estimator({ targets: noTargets, ...definition, methods }) as never;
}

/** The place of samples, for kinds that learn nothing: models go where they were fitted. */
export interface PlaceLearned {
  /** A zero on the device and in the dtype of the samples of the fit. */
  readonly place: Tensor;
  readonly [name: string]: Tensor;
}

/** @see PlaceLearned */
export const placeOf = ({ device, dtype }: Tensor): PlaceLearned => ({ place: zeros([], { device, dtype }) as Tensor });

// ---------------------------------------------------------------------------------------------- clusters

/** Groups of the samples: what every clusterer learns, besides what is its own. */
export interface ClusterLearned {
  /** The group of each sample of the fit, [samples], i32; -1 for a sample in none. */
  readonly labels: Tensor;
}

/**
 * Estimators that put samples into groups. The groups of the samples of the fit are `model.learned.labels`. Kinds that can place
 * new samples have `predict` among their methods.
 */
export function clusterer<L extends ClusterLearned, O extends object, M extends Methods = None>(
  definition: Common<L, O, M> & { learn(data: Data, options: O): Learning<L> },
): EstimatorMaker<Ignored, L, O, M> {
  return estimator({ ...definition, targets: noTargets, methods: definition.methods ?? ({} as M) }) as never;
}

// ---------------------------------------------------------------------------------------------- outliers

/** Methods of every outlier detector. */
export interface OutlierMethods<L, O> extends Methods {
  /** 1 for a usual sample, -1 for an outlier, [samples], i32, as in scikit-learn. */
  predict(model: Fitted<L, O>, samples: Samples): Tensor;
  /** How usual each sample is, [samples]; below 0 it is an outlier. */
  decisionFunction(model: Fitted<L, O>, samples: Samples): Tensor;
}

/** Estimators that find what is unusual. `decision` is below 0 for outliers. */
export function outlierDetector<L, O extends object, M extends Methods = None>(
  definition: Common<L, O, M> & {
    learn(data: Data, options: O): Learning<L>;
    decision(learned: L, x: Tensor, options: O): Tensor;
  },
): EstimatorMaker<Ignored, L, O, OutlierMethods<L, O> & M> {
  const decision = (model: Fitted<L, O>, method: string, samples: Samples): Tensor =>
    definition.decision(model.learned, samplesFor(model as Fitted<unknown, object>, method, samples), model.options);
  const methods = {
    decisionFunction: (model: Fitted<L, O>, samples: Samples): Tensor => decision(model, "decisionFunction", samples),
    predict: (model: Fitted<L, O>, samples: Samples): Tensor =>
      where(decision(model, "predict", samples).less(0), -1, 1).cast("i32") as Tensor,
    ...definition.methods,
  };
  return estimator({ ...definition, targets: noTargets, methods }) as never;
}

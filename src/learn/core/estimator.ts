/**
 * Estimators: values made of options, whose `fit` gives a model. A kind is one definition: its options, a function that learns from
 * tensors, and the methods of its models. `regressor`, `classifier` and
 * `transformer` (sorts.ts) add what kinds of one sort share.
 *
 * `fit` takes samples as people have them, looks at their values, and is awaited. `fitTensors` is the function of tensors below it: it
 * reads nothing, so that `jit`, `vmap` and `grad` go through it.
 */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError, UnsupportedError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { Run } from "../../runs/run.js";
import {
  checkTensor,
  computedTogether,
  hasWhileLoop,
  isTensor,
  stack,
  type Tensor,
  tensor,
} from "../../tensor/index.js";
import { leaves } from "../../transforms/tree.js";
import { changedOptions } from "./changed-options.js";
import { featuresNamed, inputNames } from "./feature-names.js";
import { checkFinite } from "./finite.js";
import { registerKind, takenApart } from "./kinds.js";
import { type Facts, type Method, type Model, type ModelMaker, modelMaker } from "./model.js";

import { factsOf, learnedOf, optionsOf } from "./parts.js";
import {
  type Features,
  holdsCategories,
  numberSamples,
  type Placing,
  type SampleReader,
  type Samples,
} from "./samples.js";

import { checkRows, type Label } from "./targets.js";
import { withTimeLeft } from "./time-left.js";

/** Options of `fit`. */
export interface FitOptions extends Placing {
  /** One weight for each sample; all count the same unless told. */
  readonly weights?: Tensor | ArrayLike<number>;
  /** The classes of a classification, where not all of them are among the labels, or the labels are traced. */
  readonly classes?: readonly Label[];
  /** Names of the columns, where samples are a matrix: the model knows its features by them. */
  readonly featureNames?: readonly string[];
  /** What whole numbers in a column mean, where samples are a matrix: a list of texts for each column of categories, else null. */
  readonly featureCategories?: readonly (readonly string[] | null)[] | null;
  /** The query of each sample, for kinds that rank the samples of a query among themselves. */
  readonly groups?: ArrayLike<Label>;
  readonly signal?: AbortSignal;
}

const FIT: OptionKinds<FitOptions> = {
  device: "text",
  dtype: "dtype",
  weights: "any",
  classes: "any",
  featureNames: "any",
  featureCategories: "any",
  groups: "any",
  signal: "signal",
};

/** The data that a kind learns from. */
export interface Data {
  readonly x: Tensor;
  /** Targets; null where the kind takes none. */
  readonly y: Tensor | null;
  readonly weights: Tensor | null;
  /** The query of each sample, where the fit was told. */
  readonly groups: ArrayLike<Label> | null;
  readonly facts: Facts;
  readonly signal: AbortSignal | undefined;
}

/** Targets as a sort of estimators reads them. */
export interface TargetReader<Y> {
  /** Targets of any form; may read tensors. */
  read(operation: string, targets: Y, x: Tensor, options: FitOptions): Promise<Targets>;
  /** Targets that are tensors; reads nothing. */
  trace(operation: string, targets: Y, x: Tensor, options: FitOptions): Targets;
  readonly areLabels: boolean;
}

interface Targets {
  readonly y: Tensor | null;
  readonly classes: readonly Label[] | null;
}

/** The progress of a fit. */
export interface FitProgress {
  readonly step: number;
  /** The number of steps, where it is known. */
  readonly steps: number | null;
  /** Seconds that the rest takes, if it goes on as before; null where the number of steps is not known. Runs tell it, kinds do not. */
  readonly secondsLeft?: number | null;
  /** The progress of the step under way, where that is the fit of another estimator, and which one. */
  readonly within?: FitProgress & { readonly kind: string };
}

/**
 * The result of learning; or the work of learning, with or without progress, of kinds that read values on the way. Work begins when
 * the values of the samples have been checked. Learning that only records tensors does not wait for that.
 */
export type Learning<L> = L | (() => Promise<L>) | AsyncGenerator<FitProgress, L>;

const isWork = <L>(learning: Learning<L>): learning is AsyncGenerator<FitProgress, L> =>
  typeof learning === "object" && learning !== null && Symbol.asyncIterator in learning;

const isPromised = <L>(learning: Learning<L>): learning is () => Promise<L> => typeof learning === "function";

const isLater = <L>(learning: Learning<L>): learning is (() => Promise<L>) | AsyncGenerator<FitProgress, L> =>
  isPromised(learning) || isWork(learning);

/** Whether something holds of a kind, or of its estimators with these options. */
export type Claim<O> = boolean | ((options: O) => boolean);

const holds = <O>(claim: Claim<O> | undefined, options: O, otherwise: boolean): boolean =>
  typeof claim === "function" ? claim(options) : (claim ?? otherwise);

/** A kind of estimator. */
interface Definition<Y, L, O extends object, M extends Readonly<Record<string, Method>>> {
  readonly kind: string;
  readonly options: OptionKinds<O>;
  /** Throws on options that no table of kinds can tell to be wrong. */
  check?(options: O): void;
  /** Throws, or rejects, on values of samples that the kind cannot learn from; `fit` asks, `fitTensors` does not. */
  checkSamples?(operation: string, x: Tensor, features: Features, options: O): Promise<void>;
  /** The same of targets. */
  checkTargets?(operation: string, y: Tensor, options: O): Promise<void>;
  /** The same of what was learned: where an equation had no solution, say. */
  checkLearned?(operation: string, learned: L): Promise<void>;
  /** NaN marks missing values, which the kind handles. */
  readonly allowsMissing?: Claim<O>;
  /** How samples become a matrix; columns of numbers unless told. */
  readonly samples?: SampleReader<O>;
  /** False where weights of samples have no meaning; they are refused then. */
  readonly takesWeights?: Claim<O>;
  /** Samples belong to queries; groups are refused elsewhere. */
  readonly takesGroups?: boolean;
  /** Options that may be tensors of one number, so that fits that differ in them alone are one `vmap`. None unless told. */
  readonly settings?: readonly (keyof O & string)[];
  readonly targets: TargetReader<Y>;
  /** A function of tensors; work that yields its progress where values must be read on the way. */
  learn(data: Data, options: O): Learning<L>;
  readonly methods: M;
  /** Names of methods that models with these options do not have; they have all unless told. */
  lacks?(options: O): readonly string[];
  /** The samples of a fit as they go on, where that is not what `transform` makes of them. */
  ofFit?(data: Data, options: O): Promise<Tensor>;
}

/** A fitted model, and the samples of its fit as they go on. */
export interface FittedWith<Mo> {
  readonly model: Mo;
  readonly transformed: Tensor;
}

/** An estimator: its options, and `fit`. */
export interface Estimator<Y, Mo, O extends object = object> {
  readonly kind: string;
  readonly options: O;
  /** Whether targets are labels: a classification. */
  readonly predictsLabels: boolean;
  /** False where weights of samples have no meaning. */
  readonly takesWeights?: boolean;
  /** Whether NaN marks missing values, which it handles. */
  readonly allowsMissing?: boolean;
  /** Options that may be tensors of one number: searches fit candidates that differ in them alone at once. "1.alpha" in a pipeline. */
  readonly settings?: readonly string[];
  /**
   * The model of these samples and targets. Samples are a matrix as tensor or arrays, or a table. The run is awaited for the model,
   * or watched on its way.
   */
  fit(samples: Samples, targets: Y, options?: FitOptions): Run<FitProgress, Mo>;
  /** The same of tensors, as a function that `jit`, `vmap` and `grad` take: nothing is read, and values are not checked. */
  fitTensors(samples: Tensor, targets: Y, options?: FitOptions): Mo;
  /** The model, and the samples of the fit transformed, for kinds where these are not what the model's `transform` makes of them. */
  fitTransform?(samples: Samples, targets: Y, options?: FitOptions): Promise<FittedWith<Mo>>;
  /** The same estimator with other options. One that is an estimator itself may be changed by options of its own. */
  with(options: Partial<O>): Estimator<Y, Mo, O>;
}

/** A function that makes estimators of a kind. */
export interface EstimatorMaker<Y, L, O extends object, M> {
  (options?: O): Estimator<Y, Model<L, O, M>, O>;
  /** @internal for files: models of this kind from their parts. */
  readonly model: ModelMaker<L, O, M>;
  readonly kind: string;
}

/** Estimators of a kind, by its definition. */
export function estimator<Y, L, O extends object, M extends Readonly<Record<string, Method>>>(
  definition: Definition<Y, L, O, M>,
): EstimatorMaker<Y, L, O, M> {
  const { kind } = definition;
  const model = modelMaker<L, O, M>(kind, definition.methods, definition.samples, definition.lacks);
  const make = (options: O = {} as O): Estimator<Y, Model<L, O, M>, O> => {
    checkOptions(kind, options, definition.options);
    definition.check?.(options);
    const made: Estimator<Y, Model<L, O, M>, O> = {
      kind,
      options,
      predictsLabels: definition.targets.areLabels,
      takesWeights: holds(definition.takesWeights, options, true),
      allowsMissing: holds(definition.allowsMissing, options, false),
      settings: definition.settings ?? [],
      fit: (samples, targets, given = {}) =>
        new Run(() => fitting(definition, model, options, samples, targets, given)),
      fitTensors: (samples, targets, given = {}) => traced(definition, model, options, samples, targets, given),
      with: (others) => make(changedOptions(options, others)),
      ...(definition.ofFit
        ? {
            async fitTransform(samples: Samples, targets: Y, given: FitOptions = {}) {
              let transformed: Tensor | null = null;
              const ofFit = async (data: Data): Promise<void> => {
                transformed = (await definition.ofFit?.(data, options)) as Tensor;
              };
              const fitted = await new Run(() => fitting(definition, model, options, samples, targets, given, ofFit));
              return { model: fitted, transformed: transformed as unknown as Tensor };
            },
          }
        : {}),
    };
    return takenApart("estimator", kind, made, () => ({ options }));
  };
  registerKind(kind, {
    estimator: ({ options }) => make(optionsOf(options) as O),
    model: ({ learned, options, features, classes }) => {
      const { options: checked } = make(optionsOf(options) as O);
      return model(learnedOf(learned) as L, checked, factsOf(features, classes));
    },
  });
  return Object.defineProperty(Object.assign(make, { model }), "kind", { value: kind }) as never;
}

const readerOf = <Y, L, O extends object, M extends Readonly<Record<string, Method>>>(
  definition: Definition<Y, L, O, M>,
): SampleReader<O> => definition.samples ?? (numberSamples as SampleReader<O>);

/** The matrix of a fit, and its columns under the names that the fit was told. */
function readSamples<Y, L, O extends object, M extends Readonly<Record<string, Method>>>(
  operation: string,
  definition: Definition<Y, L, O, M>,
  samples: Samples,
  given: FitOptions,
  options: O,
): { readonly matrix: Tensor; readonly features: Features } {
  const { matrix, features } = readerOf(definition).read(operation, samples, given, options);
  const told = featuresNamed(operation, features, given);
  const column = definition.samples ? -1 : (told.categories?.findIndex((list) => list !== null) ?? -1);
  if (column >= 0) throw holdsCategories(operation, inputNames(told)[column] as string);
  return { matrix, features: told };
}

async function* fitting<Y, L, O extends object, M extends Readonly<Record<string, Method>>>(
  definition: Definition<Y, L, O, M>,
  model: ModelMaker<L, O, M>,
  options: O,
  samples: Samples,
  targets: Y,
  given: FitOptions,
  besides?: (data: Data) => Promise<void>,
): AsyncGenerator<FitProgress, Model<L, O, M>> {
  const operation = `${definition.kind}.fit`;
  checkOptions(operation, given, FIT);
  const { matrix: x, features } = readSamples(operation, definition, samples, given, options);
  checkSomeSamples(operation, x);
  const { y, classes } = await definition.targets.read(operation, targets, x, given);
  const weights = weightsOf(operation, definition, given, x, options);
  const groups = groupsOf(operation, definition, given);
  const allowsMissing = holds(definition.allowsMissing, options, false);
  given.signal?.throwIfAborted();
  const check = async (): Promise<void> => {
    await Promise.all([
      checkFinite(operation, "the sample", x, { features, allowsMissing }),
      y && classes === null ? checkFinite(operation, "target", y) : null,
      weights ? checkWeights(operation, weights) : null,
    ]);
    await definition.checkSamples?.(operation, x, features, options);
    if (y) await definition.checkTargets?.(operation, y, options);
  };
  // Samples that are an expression are computed first: as a part of other programs they would make another fit round differently.
  for (const each of [x, y, weights]) each?.realize();
  const facts: Facts = { features, classes };
  const data: Data = { x, y, weights, groups, facts, signal: given.signal };
  const learning = await begun(() => definition.learn(data, options), check);
  given.signal?.throwIfAborted();
  const learned = isWork(learning) ? yield* withTimeLeft(learning) : isPromised(learning) ? await learning() : learning;
  startComputing(leaves(learned));
  await definition.checkLearned?.(operation, learned);
  await besides?.(data);
  return model(learned, options, facts);
}

/**
 * Learning, begun before the values of samples are known to be good: a GPU computes what was learned while the host records the check, and
 * the host waits once for both. Loops without a known end wait for the check, since bad values may keep them going. Refused values are
 * told first: they may be why anything else failed.
 */
async function begun<L>(learn: () => Learning<L>, check: () => Promise<void>): Promise<Learning<L>> {
  let learning: Learning<L>;
  try {
    learning = learn();
    if (!isLater(learning) && !hasWhileLoop(leaves(learning))) startComputing(leaves(learning));
  } catch (error) {
    await check();
    throw error;
  }
  await check();
  return learning;
}

/**
 * Starts computing what was learned, all at once. A model has its numbers from then on: a prediction that computed them anew, as a part
 * of its own program, might round them differently, and would keep the samples of the fit alive.
 */
function startComputing(learned: readonly Tensor[]): void {
  computedTogether(learned);
  for (const each of learned) each.realize();
}

function traced<Y, L, O extends object, M extends Readonly<Record<string, Method>>>(
  definition: Definition<Y, L, O, M>,
  model: ModelMaker<L, O, M>,
  options: O,
  samples: Tensor,
  targets: Y,
  given: FitOptions,
): Model<L, O, M> {
  const operation = `${definition.kind}.fitTensors`;
  checkOptions(operation, given, FIT);
  checkTensor(operation, "samples", samples);
  const { matrix: x, features } = readSamples(operation, definition, samples, given, options);
  checkSomeSamples(operation, x);
  const { y, classes } = definition.targets.trace(operation, targets, x, given);
  const facts: Facts = { features, classes };
  const learned = definition.learn(
    {
      ...{ x, y, facts, signal: given.signal },
      weights: weightsOf(operation, definition, given, x, options),
      groups: groupsOf(operation, definition, given),
    },
    options,
  );
  if (isLater(learned)) {
    throw new UnsupportedError(`${operation}: ${definition.kind} reads values while it learns; await its fit.`);
  }
  return model(learned, options, facts);
}

function checkSomeSamples(operation: string, { shape: [samples, features] }: Tensor): void {
  if (samples === 0) throw new ShapeError(`${operation}: there are no samples.`);
  if (features === 0) throw new ShapeError(`${operation}: the samples have no features.`);
}

function weightsOf<O>(
  operation: string,
  { kind, takesWeights }: { readonly kind: string; readonly takesWeights?: Claim<O> },
  { weights }: FitOptions,
  x: Tensor,
  options: O,
): Tensor | null {
  if (weights === undefined) return null;
  if (!holds(takesWeights, options, true))
    throw new ArgumentError(`${operation}: ${kind} takes no weights: all samples count the same.`);
  return weightsBeside(operation, weights, x);
}

/** Weights beside samples, [samples]. */
export function weightsBeside(operation: string, weights: Tensor | ArrayLike<number>, x: Tensor): Tensor {
  const given = isTensor(weights) ? weights : (tensor(weights as number[], { device: x.device }) as Tensor);
  if (given.rank !== 1)
    throw new ArgumentError(`${operation}: weights are a list, one for each sample, not ${shown(weights)}.`);
  checkRows(operation, "weights", given, x);
  return given.cast(x.dtype) as Tensor;
}

function groupsOf(
  operation: string,
  { kind, takesGroups = false }: { readonly kind: string; readonly takesGroups?: boolean },
  { groups }: FitOptions,
): ArrayLike<Label> | null {
  if (groups === undefined || takesGroups) return groups ?? null;
  throw new ArgumentError(`${operation}: ${kind} takes no groups; rankings do.`);
}

async function checkWeights(operation: string, weights: Tensor): Promise<void> {
  await checkFinite(operation, "weight", weights);
  const [least, most] = Array.from(await stack([weights.min(), weights.max()]).data(), Number) as [number, number];
  if (most === 0) throw new ArgumentError(`${operation}: all weights are 0; no sample would count.`);
  if (least < 0) throw new ArgumentError(`${operation}: a weight is ${least}; weights are zero or more.`);
}

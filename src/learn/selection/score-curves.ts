/**
 * Scores by the number of samples, and by the value of an option: cross-validations in a row. They show whether more samples would help, and
 * where a model is too simple or too free. `plots.learningCurve` and `plots.validationCurve` draw them.
 */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { permutation } from "../../core/seeded-order.js";
import { shown } from "../../core/shown.js";
import type { AnyEstimator } from "../compose/pipeline.js";
import type { Samples } from "../core/samples.js";
import { CROSS_VALIDATE, type CrossValidateOptions, crossValidate, splitsFor } from "./cross-validate.js";
import type { Split } from "./splits.js";

/** Scores by name: for each point of a curve, one for each split. */
export type CurveScores = Readonly<Record<string, readonly (readonly number[])[]>>;

/** Options of `learningCurve`. */
export interface LearningCurveOptions extends Omit<CrossValidateOptions, "trainScores"> {
  /** Shares of the largest number of samples to fit, above 0 and up to 1, or numbers of them: 0.1, 0.325, 0.55, 0.775 and 1 unless told. */
  readonly sizes?: readonly number[];
  /** Mixes the samples of each fit first; the seed says how. Unless told, the first ones of each split are taken, in order. */
  readonly seed?: number;
}

/** Scores by the number of samples that were fitted. */
export interface LearningCurve {
  readonly sizes: readonly number[];
  readonly trainScores: CurveScores;
  readonly scores: CurveScores;
}

const { trainScores: _, ...CURVE } = CROSS_VALIDATE;

/** Fits an estimator to more and more of the samples, and scores it on the same tests. */
export async function learningCurve<Y>(
  estimator: AnyEstimator,
  samples: Samples,
  targets: Y,
  options: LearningCurveOptions = {},
): Promise<LearningCurve> {
  checkOptions("learningCurve", options, { ...CURVE, sizes: "list", seed: "number" });
  const { sizes: wanted, seed, ...validation } = options;
  const whole = mixed(await splitsFor("learningCurve", estimator, samples, targets, options), seed);
  const sizes = sizesOf(wanted, Math.min(...whole.map(({ train }) => train.length)));
  const found = await inOrder(sizes, (size) => {
    const split = () => whole.map(({ train, test }) => ({ train: train.slice(0, size), test }));
    const splits = { kind: "learningCurve", split };
    return crossValidate(estimator, samples, targets, { ...validation, splits, trainScores: true });
  });
  return { sizes, ...curvesOf(found) };
}

/** The samples of each fit in a mixed order. */
function mixed(splits: readonly Split[], seed: number | undefined): readonly Split[] {
  if (seed === undefined) return splits;
  return splits.map(({ train, test }, k) => ({
    train: Int32Array.from(permutation(train.length, [0, seed >>> 0], k), (place) => train[place]),
    test,
  }));
}

/** Numbers of samples, each once, in rising order. */
function sizesOf(wanted: readonly number[] = [0.1, 0.325, 0.55, 0.775, 1], most: number): readonly number[] {
  const wrong = wanted.find((size) => !(size > 0 && (size <= 1 || (Number.isInteger(size) && size <= most))));
  if (wrong !== undefined || wanted.length === 0) {
    throw new ArgumentError(
      `learningCurve: sizes are ${shown(wrong ?? wanted)}; they are shares, above 0 and up to 1, or numbers of samples up to ${most}.`,
    );
  }
  // All above 1 are numbers of samples; then 1 is one sample, and no share.
  const areNumbers = wanted.some((size) => size > 1);
  const numbers = wanted.map((size) => (areNumbers ? size : Math.max(1, Math.floor(size * most + 1e-9))));
  const part = numbers.find((size) => !Number.isInteger(size));
  if (part === undefined) return [...new Set(numbers)].sort((a, b) => a - b);
  throw new ArgumentError(
    `learningCurve: sizes have the share ${part} among numbers of samples; write all in one way.`,
  );
}

/** Options of `validationCurve`. */
export interface ValidationCurveOptions<V> extends Omit<CrossValidateOptions, "trainScores"> {
  /** The values to try, in the order of the curve. */
  readonly values: readonly V[];
  /** A name for them in pictures: "value" unless told. */
  readonly name?: string;
}

/** Scores by the value of an option. */
export interface ValidationCurve<V = number | string | boolean> {
  readonly name: string;
  readonly values: readonly V[];
  readonly trainScores: CurveScores;
  readonly scores: CurveScores;
}

/** Scores the estimators that a function makes of values: `validationCurve((alpha) => ridge({ alpha }), x, y, { values: [0.1, 1] })`. */
export async function validationCurve<V extends number | string | boolean, Y>(
  estimatorOf: (value: V) => AnyEstimator,
  samples: Samples,
  targets: Y,
  options: ValidationCurveOptions<V>,
): Promise<ValidationCurve<V>> {
  checkOptions("validationCurve", options, { ...CURVE, values: "any", name: "text" });
  const { values, name = "value", ...validation } = options;
  if (!Array.isArray(values) || values.length === 0) {
    throw new ArgumentError(
      `validationCurve: values are ${shown(values)}; give a list, as in { values: [0.1, 1, 10] }.`,
    );
  }
  if (typeof estimatorOf !== "function" || "kind" in estimatorOf) {
    throw new ArgumentError(
      "validationCurve: takes a function that makes an estimator, as in (alpha) => ridge({ alpha }).",
    );
  }
  const found = await inOrder(values, (value) =>
    crossValidate(estimatorOf(value), samples, targets, { ...validation, trainScores: true }),
  );
  return { name, values, ...curvesOf(found) };
}

async function inOrder<V, R>(values: readonly V[], run: (value: V) => Promise<R>): Promise<R[]> {
  const found: R[] = [];
  for (const value of values) found.push(await run(value));
  return found;
}

type Validated = Awaited<ReturnType<typeof crossValidate>>;

/** Scores of several cross-validations by name. */
function curvesOf(found: readonly Validated[]): { readonly trainScores: CurveScores; readonly scores: CurveScores } {
  const of = (read: (each: Validated) => Validated["trainScores"]): CurveScores =>
    Object.fromEntries(
      Object.keys(found[0].scores).map((name) => [name, found.map((each) => read(each)?.[name] ?? [])]),
    );
  return { trainScores: of((each) => each.trainScores), scores: of((each) => each.scores) };
}

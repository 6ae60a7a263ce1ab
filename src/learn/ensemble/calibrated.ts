/**
 * Calibration: probabilities that mean what they say. A curve takes what a classifier says of samples that it was not fitted to, to the share
 * of them that are of the class: a sigmoid (Platt 1999), or any curve that climbs. Curves are one for each class; several classes are
 * scaled to the sum 1 (Zadrozny & Elkan 2002).
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { concat, stack, type Tensor, where } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/steps.js";
import type { Data, FitProgress } from "../core/estimator.js";
import { partsOf } from "../core/kinds.js";
import { categorySamples } from "../core/samples.js";
import { classifier, probabilityMethods } from "../core/sorts.js";
import type { Label } from "../core/targets.js";
import { isotonicRegression } from "../linear/isotonic.js";
import { checkSeveral } from "../linear/logistic.js";
import { sigmoidCurve } from "../linear/sigmoid-curve.js";
import type { Splitter } from "../selection/splits.js";
import { checkMember, confidenceOf, fitMember, type Member, rowsOf } from "./members.js";
import { outOfFold, splitsOf } from "./out-of-fold.js";

/** Options of `calibratedClassifier`. */
export interface CalibratedOptions {
  /** The classifier that is calibrated. */
  readonly estimator?: AnyEstimator;
  /** A fitted classifier in its place: the samples of the fit are for calibration alone, and must be new to it. */
  readonly model?: object;
  /** The curve: "sigmoid", unless told, for few samples; "isotonic" for a thousand or more. */
  readonly method?: "sigmoid" | "isotonic";
  /** The rule of splitting, or a number of folds: 5 unless told. */
  readonly splits?: Splitter | number;
  /** True unless told: the mean of the models of all splits. False: one model of all samples, one curve of all tests. */
  readonly ensemble?: boolean;
}

/** A curve: of a sigmoid the slope and the offset, [2]; else places and values, [2, places]. */
interface Calibrated {
  readonly model: Member;
  readonly curves: readonly Tensor[];
}

interface CalibratedLearned {
  readonly calibrated: readonly Calibrated[];
  readonly [name: string]: unknown;
}

/** What a classifier says, [samples, 1] for two classes and [samples, classes] for more. */
function saidOf(model: Member, x: Tensor, classes: number): Tensor {
  if (model.classes?.length !== classes) {
    throw new ArgumentError(
      `calibratedClassifier: ${model.kind} was fitted to ${model.classes?.length} of the ${classes} classes; take fewer folds.`,
    );
  }
  if (classes === 2) return confidenceOf(model, x).values.expandDims(1) as Tensor;
  const said = model.decisionFunction?.(x) ?? model.predictProbability?.(x);
  if (said?.rank === 2 && said.shape[1] === classes) return said;
  throw new ArgumentError(
    `calibratedClassifier: ${model.kind} says nothing of each of the ${classes} classes; take another estimator.`,
  );
}

/** The curve that climbs and is closest to ones and zeros. */
function isotonicCurve(said: Tensor, isClass: Tensor, weights: Tensor | null): Tensor {
  const options = weights ? { weights } : {};
  const { learned } = isotonicRegression().fitTensors(said.expandDims(1) as Tensor, isClass, options);
  // Predictions climb by definition: more of what is said for a class is never less likely.
  return stack([learned.thresholds, learned.values]) as Tensor;
}

function onCurve(curve: Tensor, said: Tensor): Tensor {
  if (curve.rank === 1) return said.mul(curve.at(0)).add(curve.at(1)).sigmoid() as Tensor;
  return said
    .clip(curve.at(0, 0) as Tensor, curve.at(0, -1) as Tensor)
    .interp(curve.at(0) as Tensor, curve.at(1) as Tensor) as Tensor;
}

/** [samples, classes]. */
function probabilities({ calibrated }: CalibratedLearned, x: Tensor): Tensor {
  const each = calibrated.map(({ model, curves }) => {
    const classes = curves.length === 1 ? 2 : curves.length;
    const said = saidOf(model, x, classes);
    const found = stack(
      curves.map((curve, k) => onCurve(curve, said.at(":", k) as Tensor)),
      { axis: 1 },
    );
    if (classes === 2) return concat([found.neg().add(1), found], { axis: 1 }) as Tensor;
    const sum = found.sum({ axis: 1, keepDims: true });
    const isNone = sum.equal(0);
    return where(isNone, 1 / classes, found.div(where(isNone, 1, sum))) as Tensor;
  });
  return stack(each).mean({ axis: 0 }) as Tensor;
}

/** The curves of what was said of samples with these labels. */
function curvesOf(said: Tensor, { y, weights }: Data, { method = "sigmoid" }: CalibratedOptions): Tensor[] {
  const curve = method === "sigmoid" ? sigmoidCurve : isotonicCurve;
  const columns = said.shape[1] as number;
  return Array.from({ length: columns }, (_, k) => {
    const isClass = (y as Tensor).equal(columns === 1 ? 1 : k).cast(said.dtype) as Tensor;
    return curve(said.at(":", k) as Tensor, isClass, weights);
  });
}

const methods = probabilityMethods<CalibratedLearned, CalibratedOptions>(
  (learned, x) => probabilities(learned, x).log() as Tensor,
);

/** A classifier whose probabilities are calibrated: 0.8 is said of samples of which four in five are of the class. */
export const calibratedClassifier = classifier<CalibratedLearned, CalibratedOptions, typeof methods>({
  kind: "calibratedClassifier",
  options: { estimator: "any", model: "any", method: "text", splits: "any", ensemble: "flag" },
  samples: categorySamples,
  allowsMissing: ({ estimator }) => estimator?.allowsMissing ?? false,
  takesWeights: ({ estimator }) => estimator?.takesWeights ?? true,
  check({ estimator, model, method }) {
    checkChoice("calibratedClassifier", "the method", method, ["sigmoid", "isotonic"]);
    if ((estimator === undefined) === (model === undefined)) {
      throw new ArgumentError(
        "calibratedClassifier: takes an estimator, or a model that is fitted already: one of them.",
      );
    }
    if (estimator !== undefined) return checkMember("calibratedClassifier", "estimator", estimator, true);
    if (typeof model === "object" && model !== null && partsOf(model)?.sort === "model") return;
    throw new ArgumentError(`calibratedClassifier: model is ${shown(model)}; it is a fitted classifier.`);
  },
  async *learn(data, options) {
    checkSeveral("calibratedClassifier", data.classes, data.facts.classes);
    const { estimator, model, splits = 5, ensemble = true } = options;
    if (!estimator) return { calibrated: [ofModel(model as Member, data, options)] };
    const folds = await splitsOf(data, splits, true);
    const say = (each: Member, x: Tensor): Tensor => saidOf(each, x, data.classes);
    if (!ensemble) {
      const said = await outOfFold("calibratedClassifier.fit", estimator, data, folds, say);
      return { calibrated: [{ model: await fitMember(estimator, data, null), curves: curvesOf(said, data, options) }] };
    }
    return { calibrated: yield* ofFolds(data, folds, estimator, options, say) };
  },
  scores: probabilities,
  methods,
});

/** A model and its curves for each split. */
async function* ofFolds(
  data: Data,
  folds: readonly { readonly train: Int32Array; readonly test: Int32Array }[],
  estimator: AnyEstimator,
  options: CalibratedOptions,
  say: (model: Member, x: Tensor) => Tensor,
): AsyncGenerator<FitProgress, Calibrated[]> {
  const calibrated: Calibrated[] = [];
  for (const { train, test } of folds) {
    const model = await fitMember(estimator, data, train);
    const tested = rowsOf(data, test);
    calibrated.push({ model, curves: curvesOf(say(model, tested.x), tested, options) });
    yield { step: calibrated.length, steps: folds.length };
  }
  return calibrated;
}

/** The curves of a model that is fitted already. */
function ofModel(model: Member, data: Data & { readonly classes: number }, options: CalibratedOptions): Calibrated {
  const own = (model.classes ?? []) as readonly Label[];
  const given = data.facts.classes as readonly Label[];
  if (own.length !== given.length || own.some((label, k) => label !== given[k])) {
    throw new ArgumentError(
      `calibratedClassifier.fit: the model knows the classes ${shown(own)}, and the labels are of ${shown(given)}.`,
    );
  }
  return { model, curves: curvesOf(saidOf(model, data.x, data.classes), data, options) };
}

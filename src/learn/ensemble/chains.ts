/**
 * Several targets at once in a chain of estimators of one: each sees the samples and the targets before its own. A fit shows it the right ones,
 * or with `splits` what the estimator says of samples that were held out; a model, what its chain has predicted. (Read et al. 2009.)
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError, UnsupportedError } from "../../core/errors.js";
import { permutation } from "../../core/seeded-order.js";
import { shown } from "../../core/shown.js";
import { concat, stack, type Tensor } from "../../tensor/index.js";
import type { Data, FitProgress } from "../core/estimator.js";
import { inputNames } from "../core/feature-names.js";
import type { Fitted } from "../core/model.js";
import type { Features, Samples } from "../core/samples.js";
import { regressor, samplesFor } from "../core/sorts.js";
import type { Numbers } from "../core/targets.js";
import type { Splitter } from "../selection/splits.js";
import { fitMember, type Member } from "./members.js";
import { type MultiOutputOptions, type Outputs, ofOutputs, outputsOf, shareOfAllRight } from "./multi-output.js";
import { outOfFold, splitsOf } from "./out-of-fold.js";

/** Options of `regressorChain` and `classifierChain`. */
export interface ChainOptions extends MultiOutputOptions {
  /** The order in which targets are learned, as their columns: from the first to the last unless told. "random" draws one by `seed`. */
  readonly order?: readonly number[] | "random";
  /** Folds, or a rule of them, by which a fit predicts the targets that it shows to later estimators; the right ones are shown unless told. */
  readonly splits?: number | Splitter;
  /** Decides the order that "random" draws: 0 unless told. */
  readonly seed?: number;
}

const KINDS = { estimator: "any", order: "any", splits: "any", seed: "number" } as const;

function checkChain(kind: string, { order, splits = 2, seed = 0 }: ChainOptions): void {
  checkWhole(kind, "seed", seed, 0);
  if (typeof splits === "number") checkWhole(kind, "splits", splits, 2);
  if (order === undefined || order === "random" || Array.isArray(order)) return;
  throw new ArgumentError(`${kind}: order is ${shown(order)}; it is a list of columns or "random".`);
}

function orderOf(kind: string, outputs: number, { order, seed = 0 }: ChainOptions): readonly number[] {
  const all = Array.from({ length: outputs }, (_, k) => k);
  if (order === undefined) return all;
  if (order === "random") return Array.from(permutation(outputs, [0, seed]));
  if (order.length === outputs && all.every((k) => order.includes(k))) return order;
  throw new ArgumentError(`${kind}.fit: order is ${shown(order)}; it has each of the columns 0 … ${outputs - 1} once.`);
}

/** The columns of samples, and targets beside them. */
const besideTargets = (features: Features, targets: readonly number[]): Features => ({
  count: features.count + targets.length,
  names: [...inputNames(features), ...targets.map((place) => `y${place}`)],
  categories: features.categories && [...features.categories, ...targets.map(() => null)],
});

const saying = (model: Member, x: Tensor): Tensor => model.predict(x).cast(x.dtype) as Tensor;

/** Fits one target after the other; its progress counts them. */
async function* fitChain(
  kind: string,
  data: Data & { readonly y: Tensor },
  options: ChainOptions,
  isOfClasses: boolean,
): AsyncGenerator<FitProgress, Outputs> {
  const { estimator, splits } = options;
  const places = orderOf(kind, outputsOf(kind, data.y), options);
  const models: Member[] = [];
  let seen = data.x;
  for (const place of places) {
    const target = data.y.at(":", place) as Tensor;
    const features = besideTargets(data.facts.features, places.slice(0, models.length));
    const own = { ...data, x: seen, y: target, facts: { ...data.facts, features } };
    models.push(await fitMember(estimator, own, null));
    yield { step: models.length, steps: places.length };
    if (models.length === places.length) break;
    const shown =
      splits === undefined
        ? target
        : await outOfFold(`${kind}.fit`, estimator, own, await splitsOf(own, splits, isOfClasses), saying);
    seen = concat([seen, shown.expandDims(1)], { axis: 1 }) as Tensor;
  }
  return { models };
}

/** The results of `say` for all models, each of which sees the predictions of those before, [samples, outputs] in the order of the targets. */
function alongChain(
  kind: string,
  { models }: Outputs,
  x: Tensor,
  options: ChainOptions,
  say: (model: Member, x: Tensor, predicted: Tensor) => Tensor,
): Tensor {
  let seen = x;
  const found: Tensor[] = [];
  const places = orderOf(kind, models.length, options);
  for (const [i, model] of models.entries()) {
    const predicted = saying(model, seen);
    found[places[i] as number] = say(model, seen, predicted);
    seen = concat([seen, predicted.expandDims(1)], { axis: 1 }) as Tensor;
  }
  return stack(found, { axis: 1 }) as Tensor;
}

const predicted = (_: Member, __: Tensor, values: Tensor): Tensor => values;

/** A regression for each column of the targets, which sees the samples and the columns before: the right ones in `fit`, predicted ones later. */
export const regressorChain = regressor<Outputs, ChainOptions>({
  ...ofOutputs("regressorChain", false),
  options: KINDS,
  check(options) {
    ofOutputs("regressorChain", false).check(options);
    checkChain("regressorChain", options);
  },
  learn: (data, options) => fitChain("regressorChain", data, options, false),
  predict: (learned, x, options) => alongChain("regressorChain", learned, x, options, predicted),
});

type ChainModel = Fitted<Outputs, ChainOptions>;

const ofClasses = (model: ChainModel, method: string, samples: Samples, say: (each: Member, x: Tensor) => Tensor) => {
  const x = samplesFor(model as Fitted<unknown, object>, method, samples);
  return alongChain("classifierChain", model.learned, x, model.options, say);
};

/** The score of the second class by a model of two. */
function ofSecond(model: Member, x: Tensor): Tensor {
  if (!model.predictProbability) throw new UnsupportedError(`classifierChain: ${model.kind} knows no probabilities.`);
  if (model.classes?.length === 2) return model.predictProbability(x).at(":", 1) as Tensor;
  throw new UnsupportedError(
    `classifierChain: a target has ${model.classes?.length} classes; probabilities and decisions are of targets of two.`,
  );
}

const classMethods = {
  /** The probability of the second class of each target, [samples, outputs]. */
  predictProbability: (model: ChainModel, samples: Samples): Tensor =>
    ofClasses(model, "predictProbability", samples, ofSecond),
  /** How far samples are on the side of the second class of each target, [samples, outputs]. */
  decisionFunction: (model: ChainModel, samples: Samples): Tensor =>
    ofClasses(model, "decisionFunction", samples, (each, x) => {
      if (each.decisionFunction && each.classes?.length === 2) return each.decisionFunction(x);
      throw new UnsupportedError(`classifierChain: ${each.kind} has no decisionFunction of two classes.`);
    }),
  /** The share of samples of which all outputs are right. */
  score: (model: ChainModel, samples: Samples, targets: Numbers): Tensor =>
    shareOfAllRight(
      "classifierChain",
      ofClasses(model, "score", samples, (each, x) => saying(each, x)),
      targets,
    ),
};

/** A classifier for each column of the targets, whose labels are whole numbers; each sees the samples and the columns before. */
export const classifierChain = regressor<Outputs, ChainOptions, typeof classMethods>({
  ...ofOutputs("classifierChain", true),
  options: KINDS,
  check(options) {
    ofOutputs("classifierChain", true).check(options);
    checkChain("classifierChain", options);
  },
  learn: (data, options) => fitChain("classifierChain", data, options, true),
  predict: (learned, x, options) => alongChain("classifierChain", learned, x, options, predicted),
  methods: classMethods,
});

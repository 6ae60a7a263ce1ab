/** Several targets at once by estimators of one: side by side, or in a chain, where each sees the targets before its own. */
import { ArgumentError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { concat, stack, type Tensor } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/steps.js";
import type { Data, FitProgress } from "../core/estimator.js";
import { inputNames } from "../core/feature-names.js";
import type { Fitted } from "../core/model.js";
import { categorySamples, type Features, type Samples } from "../core/samples.js";
import { regressor, samplesFor } from "../core/sorts.js";
import { type Label, type Numbers, numbersBeside } from "../core/targets.js";
import { checkMember, fitMember, type Member } from "./members.js";

/** Options of `multiOutputRegressor` and `multiOutputClassifier`. */
export interface MultiOutputOptions {
  /** The estimator of one target. */
  readonly estimator: AnyEstimator;
}

/** A model for each target. */
interface Outputs {
  readonly models: readonly Member[];
}

function outputsOf(kind: string, y: Tensor): number {
  if (y.rank === 2) return y.shape[1] as number;
  throw new ArgumentError(
    `${kind}.fit: the targets are ${formatShape(y.shape)}; it learns several, [samples, outputs].`,
  );
}

async function* fitOutputs(
  kind: string,
  data: Data & { readonly y: Tensor },
  estimator: AnyEstimator,
): AsyncGenerator<FitProgress, Outputs> {
  const outputs = outputsOf(kind, data.y);
  const models: Member[] = [];
  for (let k = 0; k < outputs; k++) {
    models.push(await fitMember(estimator, { ...data, y: data.y.at(":", k) as Tensor }, null));
    yield { step: k + 1, steps: outputs };
  }
  return { models };
}

const sideBySide = ({ models }: Outputs, x: Tensor): Tensor =>
  stack(
    models.map((model) => model.predict(x)),
    { axis: 1 },
  ) as Tensor;

const common = (kind: string, labels: boolean) => ({
  kind,
  samples: categorySamples,
  allowsMissing: ({ estimator }: MultiOutputOptions) => estimator.allowsMissing ?? false,
  takesWeights: ({ estimator }: MultiOutputOptions) => estimator.takesWeights ?? true,
  check: ({ estimator }: MultiOutputOptions) => checkMember(kind, "estimator", estimator, labels),
});

/** A regression for each column of the targets, [samples, outputs]. */
export const multiOutputRegressor = regressor<Outputs, MultiOutputOptions>({
  ...common("multiOutputRegressor", false),
  options: { estimator: "any" },
  learn: (data, { estimator }) => fitOutputs("multiOutputRegressor", data, estimator),
  predict: sideBySide,
});

const labelMethods = {
  /** The probabilities of the classes of each output, a list of [samples, classes]. */
  predictProbability(model: Fitted<Outputs, MultiOutputOptions>, samples: Samples): readonly Tensor[] {
    const x = samplesFor(model as Fitted<unknown, object>, "predictProbability", samples);
    return model.learned.models.map((each) => {
      if (each.predictProbability) return each.predictProbability(x);
      throw new ArgumentError(`multiOutputClassifier: ${each.kind} knows no probabilities.`);
    });
  },
  /** The classes of each output, in order. */
  outputClasses: ({ learned }: Fitted<Outputs, MultiOutputOptions>): readonly (readonly Label[])[] =>
    learned.models.map((model) => model.classes as readonly Label[]),
  /** The share of samples of which all outputs are right. */
  score(model: Fitted<Outputs, MultiOutputOptions>, samples: Samples, targets: Numbers): Tensor {
    const found = sideBySide(model.learned, samplesFor(model as Fitted<unknown, object>, "score", samples));
    const right = numbersBeside("multiOutputClassifier.score", targets, found);
    return found.equal(right).all({ axis: 1 }).cast("f32").mean() as Tensor;
  },
};

/** A classifier for each column of the targets, [samples, outputs], whose labels are whole numbers. */
export const multiOutputClassifier = regressor<Outputs, MultiOutputOptions, typeof labelMethods>({
  ...common("multiOutputClassifier", true),
  options: { estimator: "any" },
  learn: (data, { estimator }) => fitOutputs("multiOutputClassifier", data, estimator),
  predict: sideBySide,
  methods: labelMethods,
});

/** Options of `regressorChain`. */
export interface RegressorChainOptions extends MultiOutputOptions {
  /** The order in which targets are learned, as their columns: from the first to the last unless told. */
  readonly order?: readonly number[];
}

const orderOf = (kind: string, outputs: number, order: readonly number[] | undefined): readonly number[] => {
  const all = Array.from({ length: outputs }, (_, k) => k);
  if (order === undefined) return all;
  if (order.length === outputs && all.every((k) => order.includes(k))) return order;
  throw new ArgumentError(`${kind}.fit: order is ${shown(order)}; it has each of the columns 0 … ${outputs - 1} once.`);
};

/** The columns of samples, and targets beside them. */
const besideTargets = (features: Features, targets: readonly number[]): Features => ({
  count: features.count + targets.length,
  names: [...inputNames(features), ...targets.map((place) => `y${place}`)],
  categories: features.categories && [...features.categories, ...targets.map(() => null)],
});

/** A regression for each column of the targets, which sees the samples and the columns before: the right ones in `fit`, predicted ones later. */
export const regressorChain = regressor<Outputs, RegressorChainOptions>({
  ...common("regressorChain", false),
  options: { estimator: "any", order: "list" },
  async *learn(data, { estimator, order }) {
    const places = orderOf("regressorChain", outputsOf("regressorChain", data.y), order);
    const models: Member[] = [];
    let seen = data.x;
    for (const place of places) {
      const target = data.y.at(":", place) as Tensor;
      const features = besideTargets(data.facts.features, places.slice(0, models.length));
      models.push(
        await fitMember(estimator, { ...data, x: seen, y: target, facts: { ...data.facts, features } }, null),
      );
      seen = concat([seen, target.expandDims(1)], { axis: 1 }) as Tensor;
      yield { step: models.length, steps: places.length };
    }
    return { models };
  },
  predict({ models }, x, { order }) {
    let seen = x;
    const found: Tensor[] = [];
    const places = orderOf("regressorChain", models.length, order);
    for (const [i, model] of models.entries()) {
      const said = model.predict(seen);
      found[places[i] as number] = said;
      seen = concat([seen, said.expandDims(1)], { axis: 1 }) as Tensor;
    }
    return stack(found, { axis: 1 }) as Tensor;
  },
});

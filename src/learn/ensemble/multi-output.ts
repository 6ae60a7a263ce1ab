/** Several targets at once by estimators of one, side by side. Chains, where each sees the targets before its own, are in chains.ts. */
import { ArgumentError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { stack, type Tensor } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/steps.js";
import type { Data, FitProgress } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";
import { categorySamples, type Samples } from "../core/samples.js";
import { regressor, samplesFor } from "../core/sorts.js";
import { type Label, type Numbers, numbersBeside } from "../core/targets.js";
import { checkMember, fitMember, type Member } from "./members.js";

/** Options of `multiOutputRegressor` and `multiOutputClassifier`. */
export interface MultiOutputOptions {
  /** The estimator of one target. */
  readonly estimator: AnyEstimator;
}

/** A model for each target. */
export interface Outputs {
  readonly models: readonly Member[];
}

export function outputsOf(kind: string, y: Tensor): number {
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

/** The parts in which estimators of several targets differ; `labels` if their targets are classes. */
export const ofOutputs = (kind: string, labels: boolean) => ({
  kind,
  samples: categorySamples,
  allowsMissing: ({ estimator }: MultiOutputOptions) => estimator.allowsMissing ?? false,
  takesWeights: ({ estimator }: MultiOutputOptions) => estimator.takesWeights ?? true,
  check: ({ estimator }: MultiOutputOptions) => checkMember(kind, "estimator", estimator, labels),
});

/** The share of samples of which all outputs are right. */
export function shareOfAllRight(kind: string, found: Tensor, targets: Numbers): Tensor {
  const right = numbersBeside(`${kind}.score`, targets, found);
  return found.equal(right).all({ axis: 1 }).cast("f32").mean() as Tensor;
}

/** A regression for each column of the targets, [samples, outputs]. */
export const multiOutputRegressor = regressor<Outputs, MultiOutputOptions>({
  ...ofOutputs("multiOutputRegressor", false),
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
    return shareOfAllRight(model.kind, found, targets);
  },
};

/** A classifier for each column of the targets, [samples, outputs], whose labels are whole numbers. */
export const multiOutputClassifier = regressor<Outputs, MultiOutputOptions, typeof labelMethods>({
  ...ofOutputs("multiOutputClassifier", true),
  options: { estimator: "any" },
  learn: (data, { estimator }) => fitOutputs("multiOutputClassifier", data, estimator),
  predict: sideBySide,
  methods: labelMethods,
});

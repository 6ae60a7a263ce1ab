/** Many classes by classifiers of two: each class against the rest, or each pair of classes against one another. */
import { UnsupportedError } from "../../core/errors.js";
import { concat, stack, type Tensor, tensor } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/steps.js";
import type { Data } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";
import { categorySamples, type Samples } from "../core/samples.js";
import { classifier, probabilityMethods, samplesFor } from "../core/sorts.js";
import { checkSeveral, scoresOf } from "../linear/logistic.js";
import { type ClassMembers, checkMember, confidenceOf, fitMember, type Member, placesOf } from "./members.js";

/** Options of `oneVsRest` and `oneVsOne`. */
export interface OneVsOptions {
  /** The classifier of two classes. */
  readonly estimator: AnyEstimator;
}

const common = (kind: string) => ({
  kind,
  options: { estimator: "any" } as const,
  samples: categorySamples,
  allowsMissing: ({ estimator }: OneVsOptions) => estimator.allowsMissing ?? false,
  takesWeights: ({ estimator }: OneVsOptions) => estimator.takesWeights ?? true,
  check: ({ estimator }: OneVsOptions) => checkMember(kind, "estimator", estimator, true),
});

/** How sure each member is, from its even point on, [samples, members]. */
function confidences({ models }: ClassMembers, x: Tensor): Tensor {
  const each = models.map((model) => confidenceOf(model, x));
  return stack(each.map(({ values, even }) => values.sub(even)) as Tensor[], { axis: 1 }) as Tensor;
}

/** One decision for two classes, one for each of several. */
const decisionOfRest = (learned: ClassMembers, x: Tensor): Tensor => {
  const found = confidences(learned, x);
  return learned.models.length === 1 ? (found.squeeze(1) as Tensor) : found;
};

const restMethods = {
  ...probabilityMethods<ClassMembers, OneVsOptions>((learned, x) => {
    const silent = learned.models.find((model) => !model.predictProbability);
    if (silent) throw new UnsupportedError(`oneVsRest: ${silent.kind} knows no probabilities; take decisionFunction.`);
    const each = learned.models.map((model) => model.predictProbability?.(x).at(":", "1:") as Tensor);
    const all = concat(each, { axis: 1 });
    if (each.length === 1) return concat([all.neg().add(1), all], { axis: 1 }).log() as Tensor;
    return all.div(all.sum({ axis: 1, keepDims: true })).log() as Tensor;
  }),
  /** How sure the estimators are of the second of two classes, [samples], or of each class, [samples, classes]; 0 is even. */
  decisionFunction: (model: Fitted<ClassMembers, OneVsOptions>, samples: Samples): Tensor =>
    decisionOfRest(model.learned, samplesFor(model as Fitted<unknown, object>, "decisionFunction", samples)),
};

/** Each class against the rest: as many fits as classes, one for two classes. */
export const oneVsRest = classifier<ClassMembers, OneVsOptions, typeof restMethods>({
  ...common("oneVsRest"),
  async *learn(data, { estimator }) {
    checkSeveral("oneVsRest", data.classes, data.facts.classes);
    const models: Member[] = [];
    const count = data.classes === 2 ? 1 : data.classes;
    for (let k = 0; k < count; k++) {
      const isClass = data.y.equal(data.classes === 2 ? 1 : k).cast("i32") as Tensor;
      models.push(await fitMember(estimator, { ...data, y: isClass }, null));
      yield { step: k + 1, steps: count };
    }
    return { models, places: placesOf(data.x, data.classes) };
  },
  scores: (learned, x) => scoresOf(decisionOfRest(learned, x)),
  methods: restMethods,
});

/** All pairs of classes, the lower one first. */
const pairsOf = (classes: number): [number, number][] =>
  Array.from({ length: classes }, (_, i) =>
    Array.from({ length: classes - i - 1 }, (_, j): [number, number] => [i, i + j + 1]),
  ).flat();

/** Votes of the pairs, and a part of a vote, less than one half, by how sure they are; as in scikit-learn. [samples, classes]. */
function pairVotes({ models, places }: ClassMembers, x: Tensor): Tensor {
  const classes = places.shape[0] as number;
  const { device, dtype } = x;
  // The matrix that adds what a pair says to its second class and takes it from its first.
  const sides = (first: number, second: number): Tensor =>
    tensor(
      pairsOf(classes).map(([i, j]) =>
        Array.from({ length: classes }, (_, k) => (k === i ? first : k === j ? second : 0)),
      ),
      { device, dtype },
    ) as Tensor;
  const said = stack(
    models.map((model) => confidenceOf(model, x).values),
    { axis: 1 },
  ) as Tensor;
  const isSecond = stack(
    models.map((model) => model.predict(x).cast(dtype)),
    { axis: 1 },
  ) as Tensor;
  const votes = isSecond.matmul(sides(0, 1)).add(isSecond.neg().add(1).matmul(sides(1, 0)));
  const sure = said.matmul(sides(-1, 1)) as Tensor;
  return votes.add(sure.div(sure.abs().add(1).mul(3))) as Tensor;
}

const pairMethods = {
  /** Votes and how sure they are: of the second of two classes, [samples], or of each class, [samples, classes]. */
  decisionFunction(model: Fitted<ClassMembers, OneVsOptions>, samples: Samples): Tensor {
    const x = samplesFor(model as Fitted<unknown, object>, "decisionFunction", samples);
    const votes = pairVotes(model.learned, x);
    return model.learned.models.length === 1 ? (votes.at(":", 1) as Tensor) : votes;
  },
};

/** Each pair of classes against one another: a fit for each pair, to the samples of both. */
export const oneVsOne = classifier<ClassMembers, OneVsOptions, typeof pairMethods>({
  ...common("oneVsOne"),
  async *learn(data, { estimator }) {
    checkSeveral("oneVsOne", data.classes, data.facts.classes);
    const codes = (await data.y.data()) as Int32Array;
    const pairs = pairsOf(data.classes);
    const models: Member[] = [];
    for (const [first, second] of pairs) {
      const own = positionsOf(codes, first, second);
      const isSecond: Data = { ...data, y: data.y.equal(second).cast("i32") as Tensor };
      models.push(await fitMember(estimator, isSecond, own));
      yield { step: models.length, steps: pairs.length };
    }
    return { models, places: placesOf(data.x, data.classes) };
  },
  scores: pairVotes,
  methods: pairMethods,
});

function positionsOf(codes: Int32Array, first: number, second: number): Int32Array {
  const own: number[] = [];
  codes.forEach((code, i) => {
    if (code === first || code === second) own.push(i);
  });
  return Int32Array.from(own);
}

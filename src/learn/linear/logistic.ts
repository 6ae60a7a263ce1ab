/**
 * Logistic regression: of two classes, of several at once (softmax), or of each class against the rest. Smooth penalties go to Newton's
 * method or L-BFGS, absolute values to the proximal Newton method; all of it is one loop on the device, so that fits trace.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { concat, type Tensor, zeros } from "../../tensor/index.js";
import { vmap } from "../../transforms/vmap.js";
import { type ClassWeight, checkClassWeight, withClassWeights } from "../core/class-weights.js";
import { membersOf } from "../core/members.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkAmount, checkPositive } from "../core/settings.js";
import { classifier, probabilityMethods, samplesFor } from "../core/sorts.js";
import type { Label } from "../core/targets.js";
import { smoothMinimum } from "./implicit-minimum.js";
import { linearPrediction } from "./linear-model.js";
import { logisticLoss } from "./losses.js";
import { checkStopping, type Setting, type Stopping, scalarBeside } from "./settings.js";
import { design, parted, penalties, softmaxLoss, summedLoss } from "./smooth-problem.js";

/** Options of `logisticRegression`. `tol`, 1e-4 unless told, is the largest element of the gradient at which a fit ends; `maxIter` is 100. */
export interface LogisticRegressionOptions extends Stopping {
  /** What is penalised: squares ("l2", unless told), absolute values ("l1"), both ("elasticnet") or nothing ("none"). */
  readonly penalty?: "l2" | "l1" | "elasticnet" | "none";
  /** The inverse of the penalty's weight: 1 unless told. A tensor, too, so that fits with many penalties are one `vmap`. */
  readonly c?: Setting;
  /** The share of absolute values in "elasticnet": 0.5 unless told. */
  readonly l1Ratio?: Setting;
  /** True unless told: an intercept is learned. It is not penalised. */
  readonly fitIntercept?: boolean;
  /** Weights of the classes; all count the same unless told. */
  readonly classWeight?: ClassWeight;
  /** More than two classes: all at once ("multinomial", unless told), or each against the rest ("ovr"). */
  readonly multiClass?: "multinomial" | "ovr";
}

/** Coefficients [features] and an intercept for two classes; [features, classes] and [classes] for more. */
export interface LogisticLearned {
  readonly coefficients: Tensor;
  readonly intercept: Tensor;
  /** Rounds of the solver, i32; by class with "ovr". */
  readonly iterations: Tensor;
  readonly [name: string]: Tensor;
}

/** log p(class | x), [samples, classes]. */
function logProbability(learned: LogisticLearned, x: Tensor, { multiClass }: LogisticRegressionOptions): Tensor {
  const z = linearPrediction(learned, x);
  if (z.rank === 1)
    return concat([z.expandDims(1), z.neg().expandDims(1)], { axis: 1 })
      .softplus()
      .neg() as Tensor;
  if (multiClass !== "ovr") return z.sub(z.logsumexp({ axis: 1, keepDims: true })) as Tensor;
  const logs = z.neg().softplus().neg();
  return logs.sub(logs.logsumexp({ axis: 1, keepDims: true })) as Tensor;
}

const methods = {
  ...probabilityMethods<LogisticLearned, LogisticRegressionOptions>(logProbability),
  /** The predictors: log-odds of the second class, [samples], or one for each class, [samples, classes]. */
  decisionFunction: (model: Fitted<LogisticLearned, LogisticRegressionOptions>, samples: Samples): Tensor =>
    linearPrediction(model.learned, samplesFor(model as Fitted<unknown, object>, "decisionFunction", samples)),
};

/** Scores of both classes where there is one predictor. */
export const scoresOf = (z: Tensor): Tensor =>
  z.rank === 1 ? (concat([z.neg().expandDims(1), z.expandDims(1)], { axis: 1 }) as Tensor) : z;

/** Classes whose log-odds are linear in the features. */
export const logisticRegression = classifier<LogisticLearned, LogisticRegressionOptions, typeof methods>({
  kind: "logisticRegression",
  options: {
    penalty: "text",
    c: "any",
    l1Ratio: "any",
    fitIntercept: "flag",
    classWeight: "any",
    multiClass: "text",
    tol: "number",
    maxIter: "number",
  },
  settings: ["c", "l1Ratio"],
  check({ penalty, c = 1, l1Ratio = 0.5, classWeight, multiClass, tol, maxIter }) {
    checkChoice("logisticRegression", "the penalty", penalty, ["l2", "l1", "elasticnet", "none"]);
    checkChoice("logisticRegression", "multiClass", multiClass, ["multinomial", "ovr"]);
    checkPositive("logisticRegression", "c", c);
    checkAmount("logisticRegression", "l1Ratio", l1Ratio, 0, 1);
    checkClassWeight("logisticRegression", classWeight);
    checkStopping("logisticRegression", { tol, maxIter });
  },
  learn({ x, y, weights, classes, facts }, options) {
    const { fitIntercept = true, multiClass = "multinomial", classWeight } = options;
    checkSeveral("logisticRegression", classes, facts.classes);
    const members = membersOf(x, y, classes, null);
    const counted = withClassWeights("logisticRegression", classWeight, members, weights, facts.classes ?? []);
    const fits = solver(x, counted, options);
    if (classes === 2) return named(fits.binary(members.at(1) as Tensor), fitIntercept);
    if (multiClass === "multinomial") return named(fits.softmax(members.T as Tensor), fitIntercept);
    const each = vmap(fits.binary, { out: { parameters: 1, iterations: 0 } })(members);
    return named(each, fitIntercept);
  },
  scores: (learned, x) => scoresOf(linearPrediction(learned, x)),
  methods,
});

/** Labels of one class tell nothing apart. */
export function checkSeveral(operation: string, classes: number, labels: readonly Label[] | null): void {
  if (classes > 1) return;
  throw new ArgumentError(
    `${operation}.fit: all labels are ${String(labels?.[0])}; a classification needs two classes or more.`,
  );
}

interface Found {
  readonly parameters: Tensor;
  readonly iterations: Tensor;
}

const named = ({ parameters, iterations }: Found, fitIntercept: boolean): LogisticLearned => ({
  ...parted(parameters, fitIntercept),
  iterations,
});

/** Fits of labels to these samples under these options. */
function solver(x: Tensor, weights: Tensor | null, options: LogisticRegressionOptions) {
  const { penalty = "l2", c = 1, l1Ratio = 0.5, fitIntercept = true, tol = 1e-4, maxIter = 100 } = options;
  const strength = scalarBeside(c, x).reciprocal() as Tensor;
  const share = scalarBeside(penalty === "elasticnet" ? l1Ratio : penalty === "l1" ? 1 : 0, x);
  const none = strength.mul(0) as Tensor;
  const ridge = penalties(x, penalty === "none" ? none : (strength.mul(share.neg().add(1)) as Tensor), fitIntercept);
  const hasAbsolutes = penalty === "l1" || penalty === "elasticnet";
  const l1 = hasAbsolutes ? penalties(x, strength.mul(share) as Tensor, fitIntercept) : undefined;
  const a = design(x, fitIntercept);
  const [samples, width] = a.shape as [number, number];
  const { dtype, device } = x;
  const start = (count: number): Tensor => zeros([count], { dtype, device }) as Tensor;
  return {
    binary: (isSecond: Tensor): Found =>
      smoothMinimum(
        {
          given: { a, isSecond, weights, ridge },
          problemOf: ({ a, isSecond, weights, ridge }) => summedLoss(a, logisticLoss(isSecond), weights, ridge),
          start: start(width),
          samples,
        },
        { tol, maxIter, l1 },
      ),
    softmax(members: Tensor): Found {
      const classes = members.shape[1] as number;
      const wide = l1?.expandDims(1).broadcastTo([width, classes]).flatten() as Tensor | undefined;
      const found = smoothMinimum(
        {
          given: { a, members, weights, ridge },
          problemOf: ({ a, members, weights, ridge }) => softmaxLoss(a, members, weights, ridge, !hasAbsolutes),
          start: start(width * classes),
          samples,
        },
        { tol, maxIter, l1: wide },
      );
      const parameters = found.parameters.reshape([width, classes]) as Tensor;
      // A number added to all intercepts changes nothing: their mean is zero.
      if (!fitIntercept || !hasAbsolutes) return { ...found, parameters };
      const last = parameters.at(`${width - 1}:`);
      const centred = concat([parameters.at(`:${width - 1}`), last.sub(last.mean())]) as Tensor;
      return { ...found, parameters: centred };
    },
  };
}

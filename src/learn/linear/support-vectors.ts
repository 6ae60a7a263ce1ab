/**
 * Linear support vector machines: the problems of LIBLINEAR (Fan et al. 2008), with its penalised intercept. Squared losses go to
 * Newton's method, plain ones to an interior-point method; both are one loop on the device.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { concat, full, type Tensor, zeros } from "../../tensor/index.js";
import { vmap } from "../../transforms/vmap.js";
import { type ClassWeight, checkClassWeight, withClassWeights } from "../core/class-weights.js";
import { membersOf } from "../core/members.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkAmount, checkPositive } from "../core/settings.js";
import { classifier, regressor, samplesFor } from "../core/sorts.js";
import { checkOneOutput } from "./generalized.js";
import { hingeMinimum } from "./hinge-problem.js";
import { smoothMinimum } from "./implicit-minimum.js";
import { linearPrediction } from "./linear-model.js";
import { checkSeveral, scoresOf } from "./logistic.js";
import { type Loss, squaredHingeLoss, squaredTubeLoss } from "./losses.js";
import type { Minimum, NewtonOptions } from "./newton.js";
import { checkStopping, type Setting, type Stopping, scalarBeside } from "./settings.js";
import { design, parted, summedLoss } from "./smooth-problem.js";

/** Options that both linear machines have. `tol` is 1e-4 unless told, `maxIter` 1000. */
interface MachineOptions extends Stopping {
  /** The weight of the losses beside the penalty: 1 unless told. A tensor, too, so that many fits are one `vmap`. */
  readonly c?: Setting;
  /** True unless told: an intercept is learned. */
  readonly fitIntercept?: boolean;
  /** The intercept is penalised as the coefficient of a column of this value: 1 unless told. The larger, the less it is. */
  readonly interceptScaling?: number;
}

/** Options of `linearSvc`. */
export interface LinearSvcOptions extends MachineOptions {
  /** What is penalised: squares ("l2", unless told) or absolute values ("l1", with the squared hinge alone). */
  readonly penalty?: "l2" | "l1";
  /** max(0, 1 − y z)² ("squaredHinge", unless told) or max(0, 1 − y z) ("hinge"). */
  readonly loss?: "squaredHinge" | "hinge";
  /** Weights of the classes; all count the same unless told. */
  readonly classWeight?: ClassWeight;
}

/** Options of `linearSvr`. */
export interface LinearSvrOptions extends MachineOptions {
  /** Residuals up to this count nothing: 0 unless told. */
  readonly epsilon?: Setting;
  /** max(0, |z − y| − epsilon) ("epsilonInsensitive", unless told), or its square. */
  readonly loss?: "epsilonInsensitive" | "squaredEpsilonInsensitive";
}

/** Coefficients [features] and the intercept; for more than two classes [features, classes] and [classes]. */
export interface LinearMachineLearned {
  readonly coefficients: Tensor;
  readonly intercept: Tensor;
  /** Rounds of the solver, i32; by class for more than two. */
  readonly iterations: Tensor;
  readonly [name: string]: Tensor;
}

const KINDS = { c: "any", fitIntercept: "flag", interceptScaling: "number", tol: "number", maxIter: "number" } as const;

function checkMachine(operation: string, { c = 1, interceptScaling = 1, tol, maxIter }: MachineOptions): void {
  checkPositive(operation, "c", c);
  checkPositive(operation, "interceptScaling", interceptScaling);
  checkStopping(operation, { tol, maxIter });
}

const methods = {
  /** Distances from the borders in units of the margin: [samples] for two classes, [samples, classes] for more. */
  decisionFunction: (model: Fitted<LinearMachineLearned, LinearSvcOptions>, samples: Samples): Tensor =>
    linearPrediction(model.learned, samplesFor(model as Fitted<unknown, object>, "decisionFunction", samples)),
};

/** Classes parted by planes with the widest margins; more than two, each against the rest. */
export const linearSvc = classifier<LinearMachineLearned, LinearSvcOptions, typeof methods>({
  kind: "linearSvc",
  options: { ...KINDS, penalty: "text", loss: "text", classWeight: "any" },
  settings: ["c"],
  check(options) {
    const { penalty, loss, classWeight } = options;
    checkMachine("linearSvc", options);
    checkChoice("linearSvc", "the penalty", penalty, ["l2", "l1"]);
    checkChoice("linearSvc", "the loss", loss, ["squaredHinge", "hinge"]);
    checkClassWeight("linearSvc", classWeight);
    if (penalty !== "l1" || loss !== "hinge") return;
    throw new ArgumentError('linearSvc: the penalty "l1" goes with the loss "squaredHinge", not with "hinge".');
  },
  learn({ x, y, weights, classes, facts }, options) {
    const { c = 1, fitIntercept = true, interceptScaling = 1, classWeight } = options;
    checkSeveral("linearSvc", classes, facts.classes);
    const members = membersOf(x, y, classes, null);
    const counted = withClassWeights("linearSvc", classWeight, members, weights, facts.classes ?? []);
    const costs = costsOf(x, c, counted);
    const a = design(x, fitIntercept, interceptScaling);
    const one = (isMember: Tensor): Minimum => separated(a, isMember.mul(2).sub(1) as Tensor, costs, options);
    const found =
      classes === 2 ? one(members.at(1) as Tensor) : vmap(one, { out: { parameters: 1, iterations: 0 } })(members);
    return named(found, fitIntercept, interceptScaling);
  },
  scores: (learned, x) => scoresOf(linearPrediction(learned, x)),
  methods,
});

/** Linear regression that residuals within a tube do not count in, and that is flat otherwise. */
export const linearSvr = regressor<LinearMachineLearned, LinearSvrOptions>({
  kind: "linearSvr",
  options: { ...KINDS, epsilon: "any", loss: "text" },
  settings: ["c", "epsilon"],
  check(options) {
    checkMachine("linearSvr", options);
    checkAmount("linearSvr", "epsilon", options.epsilon ?? 0);
    checkChoice("linearSvr", "the loss", options.loss, ["epsilonInsensitive", "squaredEpsilonInsensitive"]);
  },
  learn({ x, y, weights }, options) {
    const { c = 1, fitIntercept = true, interceptScaling = 1, epsilon = 0, loss } = options;
    checkOneOutput("linearSvr", y);
    const { tol = 1e-4, maxIter = 1000 } = options;
    const costs = costsOf(x, c, weights);
    const a = design(x, fitIntercept, interceptScaling);
    const tube = scalarBeside(epsilon, x);
    if (loss === "squaredEpsilonInsensitive") {
      const lossOf = ({ targets, tube }: { targets: Tensor; tube: Tensor }): Loss => squaredTubeLoss(targets, tube);
      const found = ridged(a, lossOf, { targets: y, tube }, costs, { tol, maxIter });
      return named(found, fitIntercept, interceptScaling);
    }
    // |r| beyond the tube is a hinge on each side of it.
    const problem = {
      a: concat([a, a.neg()]) as Tensor,
      b: concat([y.sub(tube), y.neg().sub(tube)]) as Tensor,
      c: concat([costs, costs]) as Tensor,
    };
    return named(hingeMinimum(problem, { kind: "linearSvr", tol, maxIter }), fitIntercept, interceptScaling);
  },
  predict: linearPrediction,
});

/** The weight of each sample's loss. */
const costsOf = (x: Tensor, c: Setting, weights: Tensor | null): Tensor => {
  const each = full([x.shape[0] as number], 1, { device: x.device, dtype: x.dtype }).mul(scalarBeside(c, x));
  return (weights ? each.mul(weights) : each) as Tensor;
};

/** ½ Σ v² + Σ cost · loss(a·v), without the squares where there are absolute values. */
function ridged<G>(a: Tensor, lossOf: (of: G) => Loss, of: G, costs: Tensor, options: NewtonOptions): Minimum {
  const { dtype, device } = a;
  const [samples, width] = a.shape as [number, number];
  const start = zeros([width], { dtype, device }) as Tensor;
  const ridge = start.add(options.l1 ? 0 : 1) as Tensor;
  return smoothMinimum(
    {
      given: { a, of, costs },
      problemOf: ({ a, of, costs }) => summedLoss(a, lossOf(of), costs, ridge),
      start,
      samples,
    },
    options,
  );
}

/** The plane that parts labels −1 and 1. */
function separated(a: Tensor, y: Tensor, costs: Tensor, options: LinearSvcOptions): Minimum {
  const { penalty = "l2", loss = "squaredHinge", tol = 1e-4, maxIter = 1000 } = options;
  if (loss === "hinge") {
    return hingeMinimum(
      { a: a.mul(y.expandDims(1)) as Tensor, b: y.mul(0).add(1) as Tensor, c: costs },
      { kind: "linearSvc", tol, maxIter },
    );
  }
  // LIBLINEAR penalises the intercept with absolute values, too.
  const l1 = penalty === "l1" ? (a.at(0).mul(0).add(1) as Tensor) : undefined;
  return ridged(a, squaredHingeLoss, y, costs, { tol, maxIter, l1 });
}

const named = ({ parameters, iterations }: Minimum, fitIntercept: boolean, scaling: number): LinearMachineLearned => {
  const { coefficients, intercept } = parted(parameters, fitIntercept);
  return { coefficients, intercept: intercept.mul(scaling) as Tensor, iterations };
};

/** Mixtures: a draw comes from one of several distributions, and nobody says from which. Sums out discrete variables. */
import { refusingSurplus } from "../../core/arity.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { broadcastShapes, formatShape, type Shape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { categorical } from "../../random/exponential.js";
import { split } from "../../random/key.js";
import { stack, type Tensor, where, zeros } from "../../tensor/index.js";
import { stopGradient } from "../../transforms/grad.js";
import { type Argument, deviceOf, floatOf, shapeOfArgument, tensorOf } from "../arguments/argument.js";
import { checkValues, problemOfNumbers } from "../arguments/check-arguments.js";
import { areErrorsDeferred } from "../arguments/deferred-errors.js";
import { probabilityVector, sumToOne } from "../arguments/joint-rules.js";
import { alongLastAxis, type Parameter, type ParameterRule, parameter } from "../arguments/parameter.js";
import { type Constraint, eachInside } from "../constraints/constraint.js";
import { real } from "../constraints/numbers.js";
import { completed, insideOnly } from "../definition/completed.js";
import { logOf } from "../definition/ends.js";
import { negated, sumOfTerms, type Term } from "../numerics/terms.js";
import type { Distribution } from "../variables/distribution.js";
import { partOf, RandomVariable } from "../variables/variable.js";

/** log Σ exp over a list, elementwise: all of it melts into one kernel. */
function logSumExpOf(parts: readonly Tensor[]): Tensor {
  const largest = parts.reduce((a, b) => a.maximum(b));
  // If all parts are -Infinity, that must not be subtracted from itself. The result does not depend on the shift.
  const shift = stopGradient(where(largest.greater(-Infinity), largest, 0));
  return logOf(parts.map((part) => part.sub(shift).exp()).reduce((a, b) => a.add(b))).add(shift);
}

interface LogWeights {
  /** The logarithms of the weights, one tensor for each component, up to the norm. */
  readonly logs: readonly Tensor[];
  /** The log of their sum. */
  readonly norm: Term;
}

function weightsAs(weights: Argument, k: number, isLogits: boolean, like: Tensor): LogWeights {
  const parts = Array.isArray(weights)
    ? (weights as readonly Argument[]).map((weight) => tensorOf(weight, like))
    : Array.from({ length: k }, (_, i) => tensorOf(weights, like).at("...", i));
  return isLogits ? { logs: parts, norm: logSumExpOf(parts) } : { logs: parts.map(logOf), norm: 0 };
}

/** The union of the components' supports. */
export function unionOf(supports: readonly Constraint[]): Constraint {
  const [first] = supports;
  if (supports.every((support) => support === first)) return first;
  const isShared = supports.every(({ bijection }) => bijection === first.bijection);
  const eventRank = Math.max(...supports.map((support) => support.eventRank));
  const isSmooth = supports.every(({ bijection }) => bijection);
  const ranges = supports.flatMap(({ range }) => (range ? [range] : []));
  const [lows, highs] = [0, 1].map((end) => ranges.map((range) => range[end]));
  return {
    name: "union",
    description: supports.every(({ description }) => description === first.description)
      ? first.description
      : "what one of the components takes",
    eventRank,
    ...(ranges.length === supports.length && { range: [Math.min(...lows), Math.max(...highs)] as const }),
    bijection: isShared ? first.bijection : isSmooth ? real.bijection : undefined,
    isDiscrete: supports.every(({ isDiscrete }) => isDiscrete),
    holds: (x) => supports.map((support) => eachInside(support, x, eventRank)).reduce((a, b) => a.logicalOr(b)),
  };
}

/** One weight would broadcast to all components, which would then have more than 1 together. */
function checkCount(weights: number | undefined, components: number): void {
  if (weights === components) return;
  const found = weights === undefined ? "a single number as weights" : `${weights} weights`;
  throw new ShapeError(`mixture: ${found} for ${components} components; each has one.`);
}

function mixtureOf(weights: Argument, components: readonly Distribution[], isLogits: boolean): Distribution {
  const [first] = components;
  const k = components.length;
  checkCount(Array.isArray(weights) ? weights.length : shapeOfArgument(weights).at(-1), k);
  const support = unionOf(components.map((component) => component.support));
  const domain = unionOf(components.map((component) => component.domain ?? component.support));
  const weighted = (x: Tensor, component: Distribution, logWeight: Tensor): Tensor => {
    if (support === first.support) return sumOfTerms([...component.terms(x), logWeight]) as Tensor;
    return insideOnly(x, component, logWeight);
  };
  return completed({
    name: "mixture",
    get batchShape() {
      return broadcastShapes("mixture", shapeOfWeights(weights), ...components.map(({ batchShape }) => batchShape));
    },
    get eventShape() {
      const other = components.find(({ eventShape }) => !sameShape(eventShape, first.eventShape));
      if (!other) return first.eventShape;
      throw new ShapeError(
        `mixture: components with draws of ${formatShape(first.eventShape)} and ${formatShape(other.eventShape)}.`,
      );
    },
    support,
    domain,
    isUnnormalized: components.some(({ isUnnormalized }) => isUnnormalized),
    isImproper: components.some(({ isImproper }) => isImproper),
    arguments: [weights],
    parameters: [...weightsIn(weights, isLogits), ...components.flatMap(({ parameters }) => parameters ?? [])],
    checkArguments() {
      checkWeights(stacked(weights), isLogits);
      for (const component of components) component.checkArguments();
    },
    terms(x) {
      const { logs, norm } = weightsAs(weights, k, isLogits, x);
      return [logSumExpOf(components.map((component, i) => weighted(x, component, logs[i]))), negated(norm)];
    },
    draw({ key, shape, dtype }) {
      const [own, ...keys] = split(key, k + 1);
      const like = zeros([], { dtype, device: key.device });
      const logits = weightsAs(weights, k, isLogits, like).logs.map((log) => log.broadcastTo(shape));
      const chosen = categorical(own, stack(logits, { axis: -1 }));
      const index = chosen.reshape([...shape, ...first.eventShape.map(() => 1)]);
      return components
        .map((component, i) => component.sample(keys[i], shape, { dtype }))
        .reduce((drawn, sample, i) => where(index.equal(i), sample, drawn));
    },
  });
}

const weightRule: ParameterRule = {
  ...parameter.probabilities,
  joint: sumToOne("weights", "mixtureLogits"),
  kind: probabilityVector,
};

/** Weights along the last axis as a parameter. */
const weightsAlong = (weights: Argument, isLogits: boolean): readonly Parameter[] =>
  isLogits ? [] : [{ name: "weights", rule: weightRule, argument: weights }];

/** Weights in a list have axes of their own. */
function weightsIn(weights: Argument, isLogits: boolean): readonly Parameter[] {
  if (isLogits || !Array.isArray(weights)) return weightsAlong(weights, isLogits);
  const rule = { ...weightRule, rank: 0, kind: undefined };
  return (weights as readonly Argument[]).map((argument) => ({ name: "weights", rule, argument }));
}

/** Weights of components along the last axis. */
function checkWeights(weights: Argument, isLogits: boolean): void {
  if (isLogits) return;
  const problem = problemOfNumbers("mixture", "weights", weightRule, weights);
  if (problem !== null) throw new ArgumentError(problem);
  checkValues("mixture", "weights", weightRule, weights);
}

/** Weights in a list may have axes of their own: then these come first, and the components last. */
function stacked(weights: Argument): Argument {
  const shape = shapeOfWeights(weights);
  if (!Array.isArray(weights) || shape.length === 0) return weights;
  const like = zeros([], { dtype: floatOf(weights), device: deviceOf(weights) });
  return stack(
    weights.map((weight) => tensorOf(weight, like).broadcastTo(shape)),
    { axis: -1 },
  );
}

const shapeOfWeights = (weights: Argument): Shape =>
  Array.isArray(weights)
    ? broadcastShapes("mixture", ...(weights as readonly Argument[]).map(shapeOfArgument))
    : shapeOfArgument(weights).slice(0, -1);

/** The union of supports of the components along the last axis of a distribution's arguments. */
export function supportAlongAxis({ support: own, domain }: Distribution): {
  /** Whether all components have the same support. */
  readonly isShared: boolean;
  readonly support: Constraint;
  readonly domain?: Constraint;
} {
  // Bounds with axes are each component's own.
  const isShared = (own.bounds ?? []).every((bound) => shapeOfArgument(bound).length === 0);
  const support: Constraint = isShared
    ? own
    : {
        name: "union",
        description: "what one of the components takes",
        eventRank: 0,
        bijection: own.bijection && real.bijection,
        isDiscrete: own.isDiscrete,
        holds: (x) => own.holds(x.expandDims(-1)).any({ axis: -1 }),
      };
  return {
    isShared,
    support,
    ...(domain && { domain: { ...domain, holds: (x) => domain.holds(x.expandDims(-1)).any({ axis: -1 }) } }),
  };
}

/** One distribution whose arguments hold the components along their last axis. */
function mixtureAlongAxis(weights: Argument, components: Distribution, isLogits: boolean): Distribution {
  if (components.eventShape.length > 0) {
    throw new ArgumentError(`mixture: list the components of ${components.name}, whose draws are no single numbers.`);
  }
  const k = components.batchShape.at(-1);
  if (k === undefined) {
    throw new ShapeError(
      `mixture: ${components.name}(…) is a single component; give its arguments an axis, or a list.`,
    );
  }
  checkCount(shapeOfArgument(weights).at(-1), k);
  const { isShared, support, domain } = supportAlongAxis(components);
  const logW = (like: Tensor): Tensor => (isLogits ? tensorOf(weights, like) : logOf(tensorOf(weights, like)));
  return completed({
    name: "mixture",
    batchShape: broadcastShapes("mixture", shapeOfArgument(weights), components.batchShape).slice(0, -1),
    eventShape: [],
    support,
    isUnnormalized: components.isUnnormalized,
    isImproper: components.isImproper,
    domain,
    arguments: [weights],
    parameters: [...weightsAlong(weights, isLogits), ...alongLastAxis(components.parameters)],
    checkArguments() {
      checkWeights(weights, isLogits);
      components.checkArguments();
    },
    terms(x) {
      const logs = logW(x);
      const each = x.expandDims(-1);
      const total = isShared
        ? (sumOfTerms([...components.terms(each), logs]) as Tensor)
        : insideOnly(each, components, logs);
      return [total.logsumexp({ axis: -1 }), isLogits ? logs.logsumexp({ axis: -1 }).neg() : 0];
    },
    draw({ key, shape, dtype }) {
      const [first, second] = split(key);
      const extent = [...shape, k];
      const index = categorical(first, logW(zeros([], { dtype, device: key.device })).broadcastTo(extent));
      const draws = components.sample(second, extent, { dtype });
      return draws.takeAlongAxis(index.expandDims(-1), { axis: -1 }).squeeze(-1);
    },
  });
}

function made(weights: Argument, components: Components, isLogits: boolean): RandomVariable {
  const areNumbers = Array.isArray(weights) && weights.every((weight) => typeof weight === "number");
  if (areNumbers && !areErrorsDeferred()) checkWeights(weights, isLogits);
  if (components instanceof RandomVariable) {
    return new RandomVariable(mixtureAlongAxis(weights, partOf(components, "mixture"), isLogits));
  }
  if (!Array.isArray(components)) throw new ArgumentError(`mixture: the components are ${shown(components)}, no list.`);
  if (components.length === 0) throw new ArgumentError("mixture: no components.");
  return new RandomVariable(
    mixtureOf(
      weights,
      components.map((component) => partOf(component, "mixture")),
      isLogits,
    ),
  );
}

/** A list, or one distribution with the components along the last axis of its arguments. */
export type Components = RandomVariable | readonly RandomVariable[];

/**
 * A draw from one of several distributions, with weights that sum to 1: `mixture([0.3, 0.7], [normal(0, 1), cauchy(0, 1)])`
 * or, for components along an axis, `mixture(w, normal(mu, sigma))`.
 */
export const mixture = refusingSurplus(
  "mixture",
  (weights: Argument, components: Components): RandomVariable => made(weights, components, false),
);

/** The same with weights in proportion to exp(logits). */
export const mixtureLogits = refusingSurplus(
  "mixtureLogits",
  (logits: Argument, components: Components): RandomVariable => made(logits, components, true),
);

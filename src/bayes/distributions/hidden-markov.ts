/** Series whose distribution at each step depends on a hidden state, which moves by chance: hidden Markov models. */

import { checkOptions } from "../../core/arguments.js";
import { checkCount } from "../../core/arity.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { broadcastShapes, formatShape, type Shape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { type Key, split } from "../../random/key.js";
import { stack, type Tensor, where, zeros } from "../../tensor/index.js";
import { type Argument, shapeOfArgument, tensorOf } from "../arguments/argument.js";
import { argumentsOf } from "../arguments/check-arguments.js";
import { probabilityVector, rowsSumToOne, sumToOne } from "../arguments/joint-rules.js";
import { alongLastAxis, type Parameter, parameter } from "../arguments/parameter.js";
import type { Constraint } from "../constraints/constraint.js";
import { completed, insideOnly } from "../definition/completed.js";
import { logOf } from "../definition/ends.js";
import { drawnPaths, hmmLogDensity } from "../numerics/hidden-markov.js";
import { sumOfTerms } from "../numerics/terms.js";
import type { Distribution } from "../variables/distribution.js";
import { partOf, RandomVariable } from "../variables/variable.js";
import { type Components, supportAlongAxis, unionOf } from "./mixture.js";
import { checkSteps } from "./series.js";

/** Options of `hmm`. */
export interface HmmOptions {
  /** Length of the series. */
  readonly steps: number;
}

/** The emission distributions: how each hidden state produces an observation. */
interface Emissions {
  readonly parts: readonly Distribution[];
  /** The number of states. */
  readonly count: number;
  /** The batch shape of the series, without the axis of steps. */
  readonly batchShape: Shape;
  /** The shape of the observation at one step. */
  readonly eventShape: Shape;
  readonly support: Constraint;
  readonly domain?: Constraint;
  readonly parameters: readonly Parameter[];
  /** Log densities [.., steps, states]. */
  logDensities(x: Tensor): Tensor;
  /** Draws an observation for each of the states [.., steps]. */
  draw(key: Key, states: Tensor, dtype: "f32" | "f64"): Tensor;
}

/** One distribution whose arguments hold the states along their last axis; before it they may have one for the steps. */
function alongAxis(part: Distribution): Emissions {
  if (part.eventShape.length > 0) {
    throw new ArgumentError(
      `hmm: list the distributions of ${part.name}, one for each state; its draws are no single numbers.`,
    );
  }
  const count = part.batchShape.at(-1);
  if (count === undefined) {
    throw new ShapeError(`hmm: ${part.name}(…) is the same in all states; give its arguments an axis, or a list.`);
  }
  const { isShared, support, domain } = supportAlongAxis(part);
  return {
    parts: [part],
    count,
    batchShape: part.batchShape.slice(0, -2),
    eventShape: [],
    support,
    domain,
    parameters: alongLastAxis(alongLastAxis(part.parameters)),
    logDensities(x) {
      const each = x.expandDims(-1);
      const logs = isShared ? tensorOf(sumOfTerms(part.terms(each)), x) : insideOnly(each, part);
      return logs.broadcastTo(broadcastShapes("hmm", logs.shape, [...x.shape, count]));
    },
    draw(key, states, dtype) {
      const draws = part.sample(key, [...states.shape, count], { dtype });
      return draws.takeAlongAxis(states.expandDims(-1), { axis: -1 }).squeeze(-1);
    },
  };
}

/** A distribution for each state. */
function ofStates(parts: readonly Distribution[]): Emissions {
  const [{ eventShape }] = parts;
  const other = parts.find((part) => !sameShape(part.eventShape, eventShape));
  if (other) {
    throw new ShapeError(
      `hmm: states show ${formatShape(eventShape)} and ${formatShape(other.eventShape)}; all show the same.`,
    );
  }
  return {
    parts,
    count: parts.length,
    batchShape: broadcastShapes("hmm", ...parts.map(({ batchShape }) => batchShape.slice(0, -1))),
    eventShape,
    support: unionOf(parts.map(({ support }) => support)),
    domain: unionOf(parts.map(({ domain, support }) => domain ?? support)),
    parameters: parts.flatMap((part) => alongLastAxis(part.parameters)),
    logDensities(x) {
      const shape = x.shape.slice(0, x.rank - eventShape.length);
      const logs = parts.map((part) => insideOnly(x, part));
      const whole = broadcastShapes("hmm", shape, ...logs.map((log) => log.shape));
      return stack(
        logs.map((log) => log.broadcastTo(whole)),
        { axis: -1 },
      );
    },
    draw(key, states, dtype) {
      const keys = split(key, parts.length);
      const index = states.reshape([...states.shape, ...eventShape.map(() => 1)]);
      return parts
        .map((part, k) => part.sample(keys[k], states.shape, { dtype }))
        .reduce((drawn, sample, k) => where(index.equal(k), sample, drawn));
    },
  };
}

function emissionsOf(emission: Components): Emissions {
  if (emission instanceof RandomVariable) return alongAxis(partOf(emission, "hmm"));
  if (Array.isArray(emission) && emission.length > 0) return ofStates(emission.map((one) => partOf(one, "hmm")));
  throw new ArgumentError(
    `hmm: what states show is ${shown(emission)}; give normal(…) with an axis of states, or a list.`,
  );
}

function hmmOf(initial: Argument, transition: Argument, emission: Components, steps: number): Distribution {
  const seen = emissionsOf(emission);
  const { checkArguments, parameters } = argumentsOf(
    {
      name: "hmm",
      parameters: {
        initial: { ...parameter.probabilities, joint: sumToOne("initial"), kind: probabilityVector },
        transition: {
          ...parameter.probabilities,
          rank: 2,
          says: "a matrix of probabilities, in rows that sum to 1",
          joint: rowsSumToOne("transition"),
          kind: probabilityVector,
        },
      },
    },
    { initial, transition },
  );
  return completed({
    name: "hmm",
    get batchShape() {
      const [first, moves] = [shapeOfArgument(initial), shapeOfArgument(transition)];
      return broadcastShapes("hmm", first.slice(0, -1), moves.slice(0, -2), seen.batchShape);
    },
    eventShape: [steps, ...seen.eventShape],
    support: seen.support,
    domain: seen.domain,
    isUnnormalized: seen.parts.some(({ isUnnormalized }) => isUnnormalized),
    isImproper: seen.parts.some(({ isImproper }) => isImproper),
    arguments: [initial, transition, ...seen.parts.flatMap((part) => part.arguments)],
    parameters: [...parameters, ...seen.parameters],
    checkArguments() {
      checkArguments();
      for (const part of seen.parts) part.checkArguments();
    },
    terms: (x) => [hmmLogDensity(tensorOf(initial, x), tensorOf(transition, x), seen.logDensities(x))],
    draw({ key, shape, dtype }) {
      const [first, second] = split(key);
      const like = zeros([], { dtype, device: key.device });
      const states = drawnPaths(
        first,
        logOf(tensorOf(initial, like)).broadcastTo([...shape, seen.count]),
        logOf(tensorOf(transition, like)).broadcastTo([...shape, seen.count, seen.count]),
        steps,
      );
      return seen.draw(second, states, dtype);
    },
  });
}

/**
 * A series of `steps` values, each seen under a hidden state: the first state by the probabilities `initial` [K], each next one
 * by the row of `transition` [K, K] that belongs to the state before, as those of `dirichlet([1, 1]).shape(2)` are. `emission`
 * is one distribution with the states along the last axis of its arguments, `normal(mu, sigma)` with mu [K] or [steps, K], or a
 * list with one for each state. The states are summed out; `hmmStateProbabilities` and its neighbours find them again.
 */
export function hmm(
  initial: Argument,
  transition: Argument,
  emission: Components,
  options: HmmOptions,
): RandomVariable {
  checkCount("hmm", 4, arguments);
  checkOptions("hmm", options, { steps: "number" });
  checkSteps("hmm", options.steps, 0);
  return new RandomVariable(hmmOf(initial, transition, emission, options.steps));
}

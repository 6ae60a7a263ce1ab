/** Series in which each value starts from the ones before: random walks and autoregressions, along the last axis. */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { broadcastShapes, type Shape } from "../../core/shape.js";
import { triangularSolve } from "../../linalg/triangular.js";
import { split } from "../../random/key.js";
import { normal as normalNumbers } from "../../random/normal.js";
import { concat, countingLike, type Tensor, where, zeros } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import { type Argument, shapeOfArgument, tensorOf } from "../argument.js";
import { real } from "../constraints/numbers.js";
import { evaluation, partOf, RandomVariable } from "../model/variable.js";
import { runningSum } from "../running-sum.js";
import {
  alongLastAxis,
  argumentsOf,
  bind,
  completed,
  type Distribution,
  type Draws,
  type Family,
  parameter,
  type Term,
} from "./distribution.js";
import { normalFamily } from "./normal.js";
import { LOG_SQRT_2PI } from "./normal-probability.js";

const support = { ...real, description: "series of finite numbers" };

/** The normal terms of deviations along the last axis, for one scale per series. */
function stepTerms(deviations: Tensor, scale: Tensor): Term[] {
  const count = deviations.shape.at(-1) as number;
  return [
    deviations.mul(scale.reciprocal().expandDims(-1)).square().sum({ axis: -1 }).mul(-0.5),
    scale.log().mul(-count),
    -LOG_SQRT_2PI * count,
  ];
}

/** The density of first values, each by itself. */
function startTerms(start: Distribution, values: Tensor): Term[] {
  const isAnywhere = start.support.bijection === real.bijection;
  return (isAnywhere ? start.terms(values) : [start.logDensity(values)]).map((term) => {
    if (typeof term === "number") return term * (values.shape.at(-1) as number);
    return term.broadcastTo(values.shape).sum({ axis: -1 });
  });
}

const isFirst = (x: Tensor, count: number): Tensor => countingLike(x, x.shape.at(-1) as number).less(count);

function checkSteps(name: string, steps: number, least: number): void {
  if (Number.isInteger(steps) && steps > least) return;
  throw new ArgumentError(`${name}: ${steps} steps; a series has more than ${least}.`);
}

export interface RandomWalkOptions {
  /** Length of the series. */
  readonly steps: number;
  /** What is added at each step besides noise; 0. */
  readonly drift?: Argument;
  /** Distribution of the first value; normal(0, scale) unless told. */
  readonly start?: RandomVariable;
}

/** Distributions of first values hold one number for each series, and apply along its axis. */
const startOf = (given: Distribution | null, scale: Argument, like: Tensor): Distribution => {
  if (given) return given;
  return bind(normalFamily, { location: 0, scale: tensorOf(scale, like).expandDims(-1) });
};

/** What a series and the distribution of its first values are given, and the check of both. */
function seriesArguments<P extends string>(
  series: Pick<Family<P>, "name" | "parameters">,
  given: Readonly<Record<P, Argument>>,
  start: Distribution | null,
): Pick<Distribution, "parameters" | "isImproper" | "checkArguments"> {
  const { parameters, checkArguments } = argumentsOf(series, given);
  const checkStart = () => {
    if (!start) return;
    const { isDiscrete, eventRank } = start.support;
    if (!isDiscrete && eventRank === 0 && start.eventShape.length === 0) return;
    throw new ArgumentError(
      `${series.name}: its start is ${start.name}(…), which takes ${start.support.description}; the values of a series are ` +
        "single numbers of any size, so give normal(…) or another distribution of such.",
    );
  };
  // In a model the variable's name is not known yet: `given` asks again when it is.
  if (!evaluation()) checkStart();
  return {
    parameters: [...parameters, ...alongLastAxis(start?.parameters)],
    isImproper: start?.isImproper,
    checkArguments() {
      checkArguments();
      checkStart();
      start?.checkArguments();
    },
  };
}

/** A walk of normal steps: x_t = x_{t-1} + drift + scale·z_t. */
export function gaussianRandomWalk(scale: Argument, options: RandomWalkOptions): RandomVariable {
  checkOptions("gaussianRandomWalk", options, { steps: "number", drift: "any", start: "any" });
  const { steps, drift = 0 } = options;
  const start = options.start === undefined ? null : partOf(options.start, "gaussianRandomWalk");
  checkSteps("gaussianRandomWalk", steps, 0);
  const given = seriesArguments(
    { name: "gaussianRandomWalk", parameters: { scale: parameter.positive, drift: parameter.real } },
    { scale, drift },
    start,
  );
  const walked = (z: Tensor, first: Tensor): Tensor => {
    const step = z.mul(tensorOf(scale, z).expandDims(-1)).add(tensorOf(drift, z).expandDims(-1));
    return runningSum(where(isFirst(z, 1), first, step));
  };
  return new RandomVariable(
    completed({
      name: "gaussianRandomWalk",
      get batchShape() {
        return broadcastShapes("gaussianRandomWalk", shapeOfArgument(scale), shapeOfArgument(drift));
      },
      eventShape: [steps],
      support,
      arguments: [scale, drift],
      ...given,
      terms(x) {
        const first = startTerms(startOf(start, scale, x), x.at("...", "0:1"));
        if (steps === 1) return first;
        const moved = drift === 0 ? x.diff({ axis: -1 }) : x.diff({ axis: -1 }).sub(tensorOf(drift, x).expandDims(-1));
        return [...first, ...stepTerms(moved, tensorOf(scale, x))];
      },
      draw({ key, shape, dtype }: Draws) {
        const [own, other] = split(key);
        const z = normalNumbers(own, [...shape, steps], { dtype });
        return walked(z, startOf(start, scale, z).sample(other, [...shape, 1], { dtype }));
      },
      noncentered: () => ({
        base: bind(normalFamily, { location: 0, scale: 1 }),
        forward: (z) => walked(z, standardOf("gaussianRandomWalk", startOf(start, scale, z)).forward(z)),
        inverse(x) {
          const first = standardOf("gaussianRandomWalk", startOf(start, scale, x)).inverse(x.at("...", "0:1"));
          const step = x.diff({ axis: -1 }).sub(tensorOf(drift, x).expandDims(-1));
          return concat([first, step.div(tensorOf(scale, x).expandDims(-1))], { axis: -1 });
        },
      }),
    }),
  );
}

function standardOf(name: string, start: Distribution) {
  if (start.name === "normal" && start.noncentered) return start.noncentered();
  throw new ArgumentError(`${name}: noncentered() needs a normal start, not ${start.name}.`);
}

export interface AutoregressionOptions {
  /** Length of the series. */
  readonly steps: number;
  /** What is added at each step; 0. */
  readonly intercept?: Argument;
  /** Distribution of each of the first values; normal(0, scale) unless told, flat() to take them as given. */
  readonly start?: RandomVariable;
}

/** An autoregression: x_t = intercept + Σ coefficients_i x_{t-i} + scale·z_t, with coefficients along their last axis. */
export function ar(coefficients: Argument, scale: Argument, options: AutoregressionOptions): RandomVariable {
  checkOptions("ar", options, { steps: "number", intercept: "any", start: "any" });
  const { steps, intercept = 0 } = options;
  const start = options.start === undefined ? null : partOf(options.start, "ar");
  const given = seriesArguments(
    {
      name: "ar",
      parameters: { coefficients: parameter.vector, scale: parameter.positive, intercept: parameter.real },
    },
    { coefficients, scale, intercept },
    start,
  );
  const order = (): number => {
    const found = shapeOfArgument(coefficients).at(-1);
    if (found === undefined) throw new ArgumentError("ar: coefficients are a vector, one for each lag.");
    checkSteps("ar", steps, found);
    return found;
  };
  const meanOf = (x: Tensor): Tensor => {
    const lags = order();
    const weights = tensorOf(coefficients, x);
    const parts = Array.from({ length: lags }, (_, i) =>
      x.at("...", `${lags - 1 - i}:${steps - 1 - i}`).mul(weights.at("...", `${i}:${i + 1}`)),
    );
    const total = parts.reduce((a, b) => a.add(b));
    return intercept === 0 ? total : total.add(tensorOf(intercept, x).expandDims(-1));
  };
  return new RandomVariable(
    completed({
      name: "ar",
      get batchShape(): Shape {
        const own = shapeOfArgument(coefficients).slice(0, -1);
        return broadcastShapes("ar", own, shapeOfArgument(scale), shapeOfArgument(intercept));
      },
      eventShape: [steps],
      support,
      arguments: [coefficients, scale, intercept],
      ...given,
      terms(x) {
        const lags = order();
        const first = startTerms(startOf(start, scale, x), x.at("...", `0:${lags}`));
        const deviations = x.at("...", `${lags}:`).sub(meanOf(x));
        return [...first, ...stepTerms(deviations, tensorOf(scale, x))];
      },
      /** x - Σ φ_i x_{t-i} = noise is a triangular system with ones on the diagonal. */
      draw({ key, shape, dtype }) {
        const lags = order();
        const [own, other] = split(key);
        const like = zeros([], { dtype, device: key.device });
        const z = normalNumbers(own, [...shape, steps], { dtype });
        const noise = z.mul(tensorOf(scale, like).expandDims(-1)).add(tensorOf(intercept, like).expandDims(-1));
        const first = startOf(start, scale, like).sample(other, [...shape, lags], { dtype });
        const right = where(
          isFirst(z, lags),
          first.pad([...shape.map(() => [0, 0] as const), [0, steps - lags]]),
          noise,
        );
        const row = countingLike(like, steps).expandDims(-1);
        const lag = row.sub(countingLike(like, steps));
        const weights = tensorOf(coefficients, like);
        const bands = Array.from({ length: lags }, (_, i) => {
          const weight = weights.at("...", i).expandDims(-1).expandDims(-1);
          return where(lag.equal(i + 1).logicalAnd(row.greaterEqual(lags)), weight.neg(), 0);
        });
        const matrix = bands.reduce((a, b) => a.add(b)).broadcastTo([...shape, steps, steps]);
        return triangularSolve(matrix, right.expandDims(-1), { unitDiagonal: true }).squeeze(-1);
      },
      noncentered: () => ({
        base: bind(normalFamily, { location: 0, scale: 1 }),
        forward(z) {
          const lags = order();
          const first = standardOf("ar", startOf(start, scale, z)).forward(z.at("...", `0:${lags}`));
          const shocks = z
            .at("...", `${lags}:`)
            .mul(tensorOf(scale, z).expandDims(-1))
            .add(tensorOf(intercept, z).expandDims(-1));
          const weights = tensorOf(coefficients, z);
          const next = (past: readonly Tensor[], shock: Tensor) => {
            const value = past.reduce((sum, x, i) => sum.add(x.mul(weights.at("...", i))), shock);
            return [[value, ...past.slice(0, -1)], value] as const;
          };
          const past = Array.from({ length: lags }, (_, i) => first.at("...", lags - 1 - i));
          const [, rest] = scan(next, past, shocks.moveAxis(-1, 0));
          return concat([first, rest.moveAxis(0, -1)], { axis: -1 });
        },
        inverse(x) {
          const lags = order();
          const first = standardOf("ar", startOf(start, scale, x)).inverse(x.at("...", `0:${lags}`));
          const rest = x.at("...", `${lags}:`).sub(meanOf(x)).div(tensorOf(scale, x).expandDims(-1));
          return concat([first, rest], { axis: -1 });
        },
      }),
    }),
  );
}

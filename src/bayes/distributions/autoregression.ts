/** Autoregressions along the last axis: each value starts from the ones before. */

import { checkOptions } from "../../core/arguments.js";
import { checkCount } from "../../core/arity.js";
import { ArgumentError } from "../../core/errors.js";
import { broadcastShapes, type Shape } from "../../core/shape.js";
import { triangularSolve } from "../../linalg/triangular.js";
import { split } from "../../random/key.js";
import { normal as normalNumbers } from "../../random/normal.js";
import { concat, countingLike, type Tensor, where, zeros } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import { type Argument, shapeOfArgument, tensorOf } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { completed, type DrawRequest } from "../definition/completed.js";
import { bind } from "../definition/definition.js";
import type { Term } from "../numerics/terms.js";
import type { Distribution, Noncentered } from "../variables/distribution.js";
import { partOf, RandomVariable } from "../variables/variable.js";
import { normalDefinition } from "./normal.js";
import {
  checkSteps,
  isAmongFirst,
  noncenteredStart,
  seriesArguments,
  seriesSupport,
  startOf,
  startTerms,
  stepTerms,
} from "./series.js";

/** Options of `ar`. */
export interface AutoregressionOptions {
  /** Length of the series. */
  readonly steps: number;
  /** Added at each step; 0 unless told. */
  readonly intercept?: Argument;
  /** Distribution of each of the first values; normal(0, scale) unless told, flat() to take them as given. */
  readonly start?: RandomVariable;
}

/** An autoregression as it was given. */
interface Series {
  readonly coefficients: Argument;
  readonly scale: Argument;
  readonly intercept: Argument;
  readonly steps: number;
  /** Of the first values; null for normal(0, scale). */
  readonly start: Distribution | null;
}

/** The number of lags. */
function orderOf({ coefficients, steps }: Series): number {
  const found = shapeOfArgument(coefficients).at(-1);
  if (found === undefined) throw new ArgumentError("ar: coefficients are a vector, one for each lag.");
  checkSteps("ar", steps, found);
  return found;
}

const startLike = ({ start, scale }: Series, like: Tensor): Distribution => startOf(start, scale, like);

/** The means of all values but the first ones, by the values before them. */
function expectedValues(series: Series, x: Tensor): Tensor {
  const { coefficients, intercept, steps } = series;
  const lags = orderOf(series);
  const weights = tensorOf(coefficients, x);
  const parts = Array.from({ length: lags }, (_, i) =>
    x.at("...", `${lags - 1 - i}:${steps - 1 - i}`).mul(weights.at("...", `${i}:${i + 1}`)),
  );
  const total = parts.reduce((a, b) => a.add(b));
  return intercept === 0 ? total : total.add(tensorOf(intercept, x).expandDims(-1));
}

function termsOf(series: Series, x: Tensor): Term[] {
  const lags = orderOf(series);
  const first = startTerms(startLike(series, x), x.at("...", `0:${lags}`));
  const deviations = x.at("...", `${lags}:`).sub(expectedValues(series, x));
  return [...first, ...stepTerms(deviations, tensorOf(series.scale, x))];
}

/** x - Σ φ_i x_{t-i} = noise is a triangular system with ones on the diagonal. */
function drawnFrom(series: Series, { key, shape, dtype }: DrawRequest): Tensor {
  const { coefficients, scale, intercept, steps } = series;
  const lags = orderOf(series);
  const [own, other] = split(key);
  const like = zeros([], { dtype, device: key.device });
  const z = normalNumbers(own, [...shape, steps], { dtype });
  const noise = z.mul(tensorOf(scale, like).expandDims(-1)).add(tensorOf(intercept, like).expandDims(-1));
  const first = startLike(series, like).sample(other, [...shape, lags], { dtype });
  const right = where(
    isAmongFirst(z, lags),
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
}

const noncenteredOf = (series: Series): Noncentered => ({
  base: bind(normalDefinition, { location: 0, scale: 1 }),
  forward(z) {
    const { coefficients, scale, intercept } = series;
    const lags = orderOf(series);
    const first = noncenteredStart("ar", startLike(series, z)).forward(z.at("...", `0:${lags}`));
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
    const lags = orderOf(series);
    const first = noncenteredStart("ar", startLike(series, x)).inverse(x.at("...", `0:${lags}`));
    const rest = x.at("...", `${lags}:`).sub(expectedValues(series, x)).div(tensorOf(series.scale, x).expandDims(-1));
    return concat([first, rest], { axis: -1 });
  },
});

/** An autoregression: x_t = intercept + Σ coefficients_i x_{t-i} + scale·z_t, with coefficients along their last axis. */
export function ar(coefficients: Argument, scale: Argument, options: AutoregressionOptions): RandomVariable {
  checkCount("ar", 3, arguments);
  checkOptions("ar", options, { steps: "number", intercept: "any", start: "any" });
  const { steps, intercept = 0 } = options;
  const start = options.start === undefined ? null : partOf(options.start, "ar");
  const series: Series = { coefficients, scale, intercept, steps, start };
  const checked = seriesArguments(
    {
      name: "ar",
      parameters: { coefficients: parameter.vector, scale: parameter.positive, intercept: parameter.real },
    },
    { coefficients, scale, intercept },
    start,
  );
  return new RandomVariable(
    completed({
      name: "ar",
      get batchShape(): Shape {
        const own = shapeOfArgument(coefficients).slice(0, -1);
        return broadcastShapes("ar", own, shapeOfArgument(scale), shapeOfArgument(intercept));
      },
      eventShape: [steps],
      support: seriesSupport,
      arguments: [coefficients, scale, intercept],
      ...checked,
      terms: (x) => termsOf(series, x),
      draw: (request) => drawnFrom(series, request),
      noncentered: () => noncenteredOf(series),
    }),
  );
}

/** Gaussian random walks along the last axis. */

import { checkOptions } from "../../core/arguments.js";
import { checkCount } from "../../core/arity.js";
import { broadcastShapes } from "../../core/shape.js";
import { split } from "../../random/key.js";
import { normal as normalNumbers } from "../../random/normal.js";
import { concat, type Tensor, where } from "../../tensor/index.js";
import { type Argument, shapeOfArgument, tensorOf } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { completed } from "../definition/completed.js";
import { bind } from "../definition/definition.js";
import { runningSum } from "../numerics/running-sum.js";
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

/** Options of `gaussianRandomWalk`. */
export interface RandomWalkOptions {
  /** Length of the series. */
  readonly steps: number;
  /** Added at each step besides noise; 0 unless told. */
  readonly drift?: Argument;
  /** Distribution of the first value; normal(0, scale) unless told. */
  readonly start?: RandomVariable;
}

/** A walk of normal steps: x_t = x_{t-1} + drift + scale·z_t. */
export function gaussianRandomWalk(scale: Argument, options: RandomWalkOptions): RandomVariable {
  checkCount("gaussianRandomWalk", 2, arguments);
  checkOptions("gaussianRandomWalk", options, { steps: "number", drift: "any", start: "any" });
  const { steps, drift = 0 } = options;
  const given = options.start === undefined ? null : partOf(options.start, "gaussianRandomWalk");
  checkSteps("gaussianRandomWalk", steps, 0);
  const checked = seriesArguments(
    { name: "gaussianRandomWalk", parameters: { scale: parameter.positive, drift: parameter.real } },
    { scale, drift },
    given,
  );
  const startLike = (like: Tensor) => startOf(given, scale, like);
  const walked = (z: Tensor, first: Tensor): Tensor => {
    const step = z.mul(tensorOf(scale, z).expandDims(-1)).add(tensorOf(drift, z).expandDims(-1));
    return runningSum(where(isAmongFirst(z, 1), first, step));
  };
  return new RandomVariable(
    completed({
      name: "gaussianRandomWalk",
      get batchShape() {
        return broadcastShapes("gaussianRandomWalk", shapeOfArgument(scale), shapeOfArgument(drift));
      },
      eventShape: [steps],
      support: seriesSupport,
      arguments: [scale, drift],
      ...checked,
      terms(x) {
        const first = startTerms(startLike(x), x.at("...", "0:1"));
        if (steps === 1) return first;
        const moved = drift === 0 ? x.diff({ axis: -1 }) : x.diff({ axis: -1 }).sub(tensorOf(drift, x).expandDims(-1));
        return [...first, ...stepTerms(moved, tensorOf(scale, x))];
      },
      draw({ key, shape, dtype }) {
        const [own, other] = split(key);
        const z = normalNumbers(own, [...shape, steps], { dtype });
        return walked(z, startLike(z).sample(other, [...shape, 1], { dtype }));
      },
      noncentered: () => ({
        base: bind(normalDefinition, { location: 0, scale: 1 }),
        forward: (z) => walked(z, noncenteredStart("gaussianRandomWalk", startLike(z)).forward(z)),
        inverse(x) {
          const first = noncenteredStart("gaussianRandomWalk", startLike(x)).inverse(x.at("...", "0:1"));
          const step = x.diff({ axis: -1 }).sub(tensorOf(drift, x).expandDims(-1));
          return concat([first, step.div(tensorOf(scale, x).expandDims(-1))], { axis: -1 });
        },
      }),
    }),
  );
}

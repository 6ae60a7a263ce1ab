/** Support vector regression with kernels: a function as flat as can be, for which residuals within a tube do not count. */
import type { Tensor } from "../../tensor/index.js";
import type { LearnedTree } from "../core/model.js";
import { checkAmount, checkPositive } from "../core/settings.js";
import { regressor } from "../core/sorts.js";
import { checkOneOutput } from "../linear/generalized.js";
import {
  checkMachine,
  MACHINE,
  type MachineOptions,
  type Supports,
  similaritiesTo,
  spaceOf,
  stoppingOf,
  thresholds,
} from "./machine.js";
import { dualMinimum } from "./smo.js";

/** Options of `svr`. */
export interface SvrOptions extends MachineOptions {
  /** The weight of residuals beyond the tube: 1 unless told. */
  readonly c?: number;
  /** Residuals up to this count nothing: 0.1 unless told. */
  readonly epsilon?: number;
}

/** The result of `svr`, `nuSvr` and `oneClassSvm`. */
export interface MachineLearned extends LearnedTree, Supports {
  readonly supportVectors: Tensor | null;
  readonly supportIndices: Tensor;
  readonly gamma: Tensor;
  /** The weight of each support vector, [1, supports]. */
  readonly dualCoefficients: Tensor;
  readonly intercept: Tensor;
  /** The minimum of the dual problem, and the rounds it took. */
  readonly objectives: Tensor;
  readonly iterations: Tensor;
}

/** The sum over the support vectors, [samples]. */
export const summed = (operation: string, learned: MachineLearned, x: Tensor, options: MachineOptions): Tensor =>
  similaritiesTo(operation, learned, x, options)
    .matmul(learned.dualCoefficients.T)
    .add(learned.intercept)
    .squeeze(1) as Tensor;

/** The dual problem of a tube of this width: two variables for each sample, residuals above it and below it. */
export async function tubeOf(y: Tensor, weights: Tensor | null, c: number, width: number) {
  const targets = (await y.flatten().data()) as Float64Array;
  const shares = weights ? ((await weights.data()) as Float64Array) : new Float64Array(targets.length).fill(1);
  const both = (upper: (i: number) => number, lower: (i: number) => number): number[] =>
    [upper, lower].flatMap((side) => Array.from(targets, (_, i) => side(i)));
  const cost = (i: number): number => c * (shares[i] as number);
  return {
    signs: Int8Array.from(
      both(
        () => 1,
        () => -1,
      ),
    ),
    linear: Float64Array.from(
      both(
        (i) => width - (targets[i] as number),
        (i) => width + (targets[i] as number),
      ),
    ),
    limits: Float64Array.from(both(cost, cost)),
  };
}

/** A function in the space of a kernel that stays within a tube around the targets. */
export const svr = regressor<MachineLearned, SvrOptions>({
  kind: "svr",
  options: { ...MACHINE, c: "number", epsilon: "number" },
  check(options) {
    checkMachine("svr", options);
    checkPositive("svr", "c", options.c ?? 1);
    checkAmount("svr", "epsilon", options.epsilon ?? 0.1);
  },
  learn:
    ({ x, y, weights, signal }, options) =>
    async () => {
      checkOneOutput("svr", y);
      const tube = await tubeOf(y, weights, options.c ?? 1, options.epsilon ?? 0.1);
      const space = spaceOf("svr", x, options, signal);
      const solution = await dualMinimum("svr.fit", space.rows(null), tube, stoppingOf(options));
      return { ...space.supports([solution.weights]), ...thresholds([solution], x) };
    },
  predict: (learned, x, options) => summed("svr.predict", learned, x, options),
});

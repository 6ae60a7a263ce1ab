/** One-class support vector machines (Schölkopf et al. 2001): the region of a kernel's space that holds most samples and little else. */
import { ArgumentError } from "../../core/errors.js";
import { outlierDetector } from "../core/sorts.js";
import { filledInOrder, sumOf } from "./fixed-sum.js";
import { checkMachine, MACHINE, type MachineOptions, spaceOf, stoppingOf, thresholds } from "./machine.js";
import { dualMinimum } from "./smo.js";
import { type MachineLearned, summed } from "./svr.js";

/** Options of `oneClassSvm`. */
export interface OneClassSvmOptions extends MachineOptions {
  /** The share of outliers among the samples of the fit, at most, and of support vectors, at least: 0.5 unless told. */
  readonly nu?: number;
}

/** Outliers as samples outside the region that holds most of them. */
export const oneClassSvm = outlierDetector<MachineLearned, OneClassSvmOptions>({
  kind: "oneClassSvm",
  options: { ...MACHINE, nu: "number" },
  check(options) {
    const { nu = 0.5 } = options;
    checkMachine("oneClassSvm", options);
    if (nu > 0 && nu <= 1) return;
    throw new ArgumentError(`oneClassSvm: nu is ${nu}; it is a share above zero, up to 1.`);
  },
  learn:
    ({ x, weights, signal }, options) =>
    async () => {
      const { nu = 0.5 } = options;
      const count = x.shape[0] as number;
      const limits = weights
        ? Float64Array.from((await weights.data()) as Float64Array)
        : new Float64Array(count).fill(1);
      // The sum of the variables is fixed.
      const start = filledInOrder(limits, nu * sumOf(limits));
      const space = spaceOf("oneClassSvm", x, options, signal);
      const solution = await dualMinimum(
        "oneClassSvm.fit",
        space.rows(null),
        { signs: new Int8Array(count).fill(1), linear: new Float64Array(count), limits, start },
        stoppingOf(options),
      );
      return { ...space.supports([solution.weights]), ...thresholds([solution], x) };
    },
  decision: (learned, x, options) => summed("oneClassSvm.decisionFunction", learned, x, options),
});

/** Support vector regression with ν in place of ε (Schölkopf et al. 2000): the share of samples outside the tube is chosen, its width follows. */
import { ArgumentError } from "../../core/errors.js";
import { full, type Tensor } from "../../tensor/index.js";
import { checkPositive } from "../core/settings.js";
import { regressor } from "../core/sorts.js";
import { checkOneOutput } from "../linear/generalized.js";
import { filledInOrder, sumOf } from "./fixed-sum.js";
import { checkMachine, MACHINE, type MachineOptions, spaceOf, stoppingOf, thresholds } from "./machine.js";
import { dualMinimum } from "./smo.js";
import { type MachineLearned, summed, tubeOf } from "./svr.js";

/** Options of `nuSvr`. */
export interface NuSvrOptions extends MachineOptions {
  /** The weight of residuals beyond the tube: 1 unless told. */
  readonly c?: number;
  /** The share of samples outside the tube at most, and of support vectors at least: 0.5 unless told. */
  readonly nu?: number;
}

/** The result of `nuSvr`. */
export interface NuSvrLearned extends MachineLearned {
  /** Residuals up to this count nothing. */
  readonly epsilon: Tensor;
}

/** A function in the space of a kernel that stays within a tube around the targets, of which a chosen share lies outside. */
export const nuSvr = regressor<NuSvrLearned, NuSvrOptions>({
  kind: "nuSvr",
  options: { ...MACHINE, c: "number", nu: "number" },
  check(options) {
    const { c = 1, nu = 0.5 } = options;
    checkMachine("nuSvr", options);
    checkPositive("nuSvr", "c", c);
    if (nu > 0 && nu <= 1) return;
    throw new ArgumentError(`nuSvr: nu is ${nu}; it is a share above zero, up to 1.`);
  },
  learn:
    ({ x, y, weights, signal }, options) =>
    async () => {
      const { c = 1, nu = 0.5 } = options;
      checkOneOutput("nuSvr", y);
      const tube = await tubeOf(y, weights, c, 0);
      const side = tube.limits.slice(0, tube.limits.length / 2);
      const half = filledInOrder(side, (nu * sumOf(side)) / 2);
      const start = Float64Array.from([...half, ...half]);
      const space = spaceOf("nuSvr", x, options, signal);
      const dual = { ...tube, start, keepsSums: true };
      const solution = await dualMinimum("nuSvr.fit", space.rows(null), dual, stoppingOf(options));
      const { device, dtype } = x;
      const epsilon = full([], -solution.margin, { device, dtype }) as Tensor;
      return { ...space.supports([solution.weights]), ...thresholds([solution], x), epsilon };
    },
  predict: (learned, x, options) => summed("nuSvr.predict", learned, x, options),
});

/** Support vector classification with kernels (Cortes & Vapnik 1995), as LIBSVM does it: pairs of classes are parted with the widest margins. */
import { tensor } from "../../tensor/index.js";
import { type ClassWeight, checkClassWeight, withClassWeights } from "../core/class-weights.js";
import { membersOf } from "../core/members.js";
import { checkPositive } from "../core/settings.js";
import { stoppingOf } from "./machine.js";
import { type PairMachineMaker, type PairMachineOptions, pairMachine } from "./pair-machines.js";
import { dualMinimum } from "./smo.js";

/** Options of `svc`. */
export interface SvcOptions extends PairMachineOptions {
  /** The weight of samples within the margin: 1 unless told. */
  readonly c?: number;
  /** Weights of the classes; all count the same unless told. */
  readonly classWeight?: ClassWeight;
}

/** Classes parted by the widest margins in the space of a kernel. */
export const svc: PairMachineMaker<SvcOptions> = pairMachine<SvcOptions>({
  kind: "svc",
  options: { c: "number", classWeight: "any" },
  check({ c = 1, classWeight }) {
    checkPositive("svc", "c", c);
    checkClassWeight("svc", classWeight);
  },
  async costs({ x, y, classes }, weights, { c = 1, classWeight }) {
    if (classWeight === undefined) return weights.map((share) => c * share);
    const { device, dtype } = x;
    const own = tensor(weights, { device, dtype });
    const counted = withClassWeights("svc", classWeight, membersOf(x, y, classes.length, null), own, classes);
    return Float64Array.from((await counted?.data()) as Float64Array, (share) => c * share);
  },
  solve: ({ rows, signs, limits }, options) =>
    dualMinimum(
      "svc.fit",
      rows,
      { signs, linear: new Float64Array(signs.length).fill(-1), limits },
      stoppingOf(options),
    ),
});

/**
 * Support vector classification with ν in place of C (Schölkopf et al. 2000), as LIBSVM does it: the share of samples within the margin is chosen,
 * and what they cost follows.
 */
import { ArgumentError } from "../../core/errors.js";
import { filledInOrder, sumOf } from "./fixed-sum.js";
import { stoppingOf } from "./machine.js";
import { type PairMachineMaker, type PairMachineOptions, type PairProblem, pairMachine } from "./pair-machines.js";
import { dualMinimum } from "./smo.js";

/** Options of `nuSvc`. */
export interface NuSvcOptions extends PairMachineOptions {
  /** The share of samples within the margin at most, and of support vectors at least: 0.5 unless told. */
  readonly nu?: number;
}

/** The limits of the samples of each class of a pair; 0 for those of the other. */
const limitsBySign = ({ signs, limits }: PairProblem): [Float64Array, Float64Array] => [
  limits.map((limit, i) => (signs[i] === 1 ? limit : 0)),
  limits.map((limit, i) => (signs[i] === 1 ? 0 : limit)),
];

/** Classes parted in the space of a kernel, with a chosen share of samples within the margin. */
export const nuSvc: PairMachineMaker<NuSvcOptions> = pairMachine<NuSvcOptions>({
  kind: "nuSvc",
  options: { nu: "number" },
  check({ nu = 0.5 }) {
    if (nu > 0 && nu <= 1) return;
    throw new ArgumentError(`nuSvc: nu is ${nu}; it is a share above zero, up to 1.`);
  },
  costs: async (_, weights) => weights,
  checkPair(problem, { nu = 0.5 }) {
    const [first, second] = limitsBySign(problem).map(sumOf) as [number, number];
    const most = (2 * Math.min(first, second)) / (first + second);
    if (nu <= most) return;
    throw new ArgumentError(
      `nuSvc.fit: nu is ${nu}; two of the classes have so different sizes that it is ${most.toPrecision(3)} at most.`,
    );
  },
  async solve(problem, options) {
    const { rows, signs, limits } = problem;
    const sides = limitsBySign(problem);
    const half = ((options.nu ?? 0.5) * sumOf(limits)) / 2;
    // While samples are held out, a class may have fewer than that.
    const most = Math.min(half, ...sides.map(sumOf));
    const [first, second] = sides.map((side) => filledInOrder(side, most)) as [Float64Array, Float64Array];
    const start = first.map((value, i) => value + (second[i] as number));
    const dual = { signs, linear: new Float64Array(signs.length), limits, start, keepsSums: true };
    const found = await dualMinimum("nuSvc.fit", rows, dual, stoppingOf(options));
    // The margin is scaled to 1, as machines with C have it.
    const scaled = (values: Float64Array): Float64Array => values.map((value) => value / found.margin);
    return {
      ...found,
      weights: scaled(found.weights),
      pull: scaled(found.pull),
      rho: found.rho / found.margin,
      objective: found.objective / found.margin ** 2,
    };
  },
});

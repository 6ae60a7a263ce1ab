/**
 * Support vector classification with kernels (Cortes & Vapnik 1995), as LIBSVM does it: each pair of classes is parted with the widest
 * margin, and pairs vote. The search for the support vectors reads values; decisions of a model trace. Probabilities are those of the pairs,
 * by sigmoids of decisions on samples held out (pair-probabilities.ts).
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { concat, type Tensor, tensor } from "../../tensor/index.js";
import { type ClassWeight, checkClassWeight, withClassWeights } from "../core/class-weights.js";
import type { Estimator, EstimatorMaker } from "../core/estimator.js";
import { membersOf } from "../core/members.js";
import type { Fitted, LearnedTree, Model } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkPositive } from "../core/settings.js";
import {
  type ClassificationMethods,
  classifier,
  type ProbabilityMethods,
  probabilityMethods,
  samplesFor,
} from "../core/sorts.js";
import type { Labels } from "../core/targets.js";
import { checkSeveral } from "../linear/logistic.js";
import type { KernelRows } from "./kernel-rows.js";
import {
  checkMachine,
  MACHINE,
  type MachineOptions,
  type Space,
  type Supports,
  similaritiesTo,
  spaceOf,
  stoppingOf,
  thresholds,
} from "./machine.js";
import { type HeldOut, heldOutFolds, pairSigmoids, probabilitiesOf } from "./pair-probabilities.js";
import { type DualSolution, dualMinimum } from "./smo.js";

/** Options of `svc`. */
export interface SvcOptions extends MachineOptions {
  /** The weight of samples within the margin: 1 unless told. */
  readonly c?: number;
  /** Weights of the classes; all count the same unless told. */
  readonly classWeight?: ClassWeight;
  /** What `decisionFunction` gives for more than two classes: a column for each class ("ovr", unless told) or for each pair ("ovo"). */
  readonly decisionFunctionShape?: "ovr" | "ovo";
  /** False unless told: of classes with as many votes the first is predicted. True: the one with the larger decisions. */
  readonly breakTies?: boolean;
  /**
   * Whether models have `predictProbability`. False unless told: the fit takes six times as long, and the likeliest class need not be the one
   * that is predicted.
   */
  readonly probability?: boolean;
  /** Which samples are held out for the probabilities: 0 unless told. */
  readonly seed?: number;
}

/** What `svc` learns. Of two classes there is one pair, and positive decisions stand for the second; else for the first of a pair. */
export interface SvcLearned extends LearnedTree, Supports {
  readonly supportVectors: Tensor | null;
  readonly supportIndices: Tensor;
  readonly gamma: Tensor;
  /** The weight of each support vector in the decisions of each pair, [pairs, supports]; pairs are 0-1, 0-2 … 1-2 … */
  readonly dualCoefficients: Tensor;
  readonly intercept: Tensor;
  /** The minimum of the dual problem of each pair, and the rounds it took. */
  readonly objectives: Tensor;
  readonly iterations: Tensor;
  /** Slope and offset of the sigmoid that takes the decisions of each pair to probabilities, [pairs, 2]; null without `probability`. */
  readonly sigmoids: Tensor | null;
}

const pairsOf = (classes: number): [number, number][] =>
  Array.from({ length: classes }, (_, i) =>
    Array.from({ length: classes - i - 1 }, (_, j) => [i, i + 1 + j]),
  ).flat() as [number, number][];

/** The number of classes of so many pairs. */
const classesOf = (pairs: number): number => Math.round((1 + Math.sqrt(1 + 8 * pairs)) / 2);

/** Decisions of all pairs, [samples, pairs]. */
function decisions(learned: SvcLearned, x: Tensor, options: SvcOptions): Tensor {
  const similarities = similaritiesTo("svc.decisionFunction", learned, x, options);
  return similarities.matmul(learned.dualCoefficients.T).add(learned.intercept) as Tensor;
}

/** Votes of the pairs for each class, [samples, classes], and the sums of decisions for it. */
function votesOf(found: Tensor) {
  const { device, dtype } = found;
  const pairs = pairsOf(classesOf(found.shape[1] as number));
  const of = (place: 0 | 1): Tensor => {
    const rows = pairs.map((pair) =>
      Array.from({ length: classesOf(pairs.length) }, (_, k) => (pair[place] === k ? 1 : 0)),
    );
    return tensor(rows, { device, dtype }) as Tensor;
  };
  const [first, second] = [of(0), of(1)];
  const isFirst = found.greater(0).cast(dtype);
  return {
    votes: isFirst.matmul(first).add(isFirst.neg().add(1).matmul(second)) as Tensor,
    sums: found.matmul(first.sub(second)) as Tensor,
  };
}

/** Votes with what the sums of decisions say, scaled to less than half a vote, as in scikit-learn. */
const byClass = (found: Tensor): Tensor => {
  const { votes, sums } = votesOf(found);
  return votes.add(sums.div(sums.abs().add(1).mul(3))) as Tensor;
};

const isOnePair = (found: Tensor): boolean => found.shape[1] === 1;

/** The logarithm of the probability of each class, [samples, classes]. */
function logProbabilities(learned: SvcLearned, x: Tensor, options: SvcOptions): Tensor {
  const found = decisions(learned, x, options);
  return probabilitiesOf(
    found,
    learned.sigmoids as Tensor,
    pairsOf(classesOf(found.shape[1] as number)),
  ).log() as Tensor;
}

const own = {
  /** How far samples are on the side of a class: [samples] for two classes, [samples, classes] or [samples, pairs] for more. */
  decisionFunction(model: Fitted<SvcLearned, SvcOptions>, samples: Samples): Tensor {
    const found = decisions(model.learned, samplesFor(model, "decisionFunction", samples), model.options);
    if (isOnePair(found)) return found.squeeze(1) as Tensor;
    return model.options.decisionFunctionShape === "ovo" ? found : byClass(found);
  },
};

const methods = { ...own, ...probabilityMethods(logProbabilities) };

/** The samples of a pair of classes, and their dual problem. */
interface PairProblem {
  readonly places: Int32Array;
  readonly rows: KernelRows;
  readonly signs: Int8Array;
  readonly limits: Float64Array;
}

function problemOf(space: Space, codes: ArrayLike<number>, costs: Float64Array, pair: [number, number]): PairProblem {
  const places = Int32Array.from(Array.from(codes, (_, i) => i).filter((i) => pair.includes(codes[i] as number)));
  return {
    places,
    rows: space.rows(places.length === codes.length ? null : places),
    signs: Int8Array.from(places, (i) => (codes[i] === pair[0] ? 1 : -1)),
    limits: Float64Array.from(places, (i) => costs[i] as number),
  };
}

const solved = ({ rows, signs, limits }: PairProblem, options: SvcOptions): Promise<DualSolution> =>
  dualMinimum("svc.fit", rows, { signs, linear: new Float64Array(signs.length).fill(-1), limits }, stoppingOf(options));

/** The widest margin between two classes, in weights of all samples. Positive decisions stand for the first. */
async function parted(problem: PairProblem, samples: number, options: SvcOptions): Promise<DualSolution> {
  const solution = await solved(problem, options);
  const weights = new Float64Array(samples);
  problem.places.forEach((place, i) => {
    weights[place] = solution.weights[i] as number;
  });
  return { ...solution, weights };
}

/** Decisions about the samples of a pair, each by a machine that was fitted without it. */
async function heldOut(problem: PairProblem, pair: number, options: SvcOptions): Promise<HeldOut> {
  // Samples without weight are not there.
  const here = Int32Array.from(problem.limits.keys()).filter((i) => (problem.limits[i] as number) > 0);
  const decisions = new Float64Array(here.length);
  for (const fold of heldOutFolds(here.length, options.seed ?? 0, pair)) {
    const limits = problem.limits.slice();
    for (const i of fold) limits[here[i] as number] = 0;
    const { pull, rho } = await solved({ ...problem, limits }, options);
    for (const i of fold) decisions[i] = (pull[here[i] as number] as number) - rho;
  }
  return { decisions, isFirst: Uint8Array.from(here, (i) => Number(problem.signs[i] === 1)) };
}

const turned = (solution: DualSolution): DualSolution => ({
  ...solution,
  weights: solution.weights.map((each) => -each),
  rho: -solution.rho,
});

type OwnMethods = ClassificationMethods<SvcLearned, SvcOptions> & typeof own;

/** `svc`: with `probability: true` its models have `predictProbability` and `predictLogProbability`. */
interface SvcMaker extends EstimatorMaker<Labels, SvcLearned, SvcOptions, OwnMethods> {
  (
    options: SvcOptions & { readonly probability: true },
  ): Estimator<
    Labels,
    Model<SvcLearned, SvcOptions, OwnMethods & ProbabilityMethods<SvcLearned, SvcOptions>>,
    SvcOptions
  >;
}

/** Classes parted by the widest margins in the space of a kernel. */
export const svc = classifier<SvcLearned, SvcOptions, typeof methods>({
  kind: "svc",
  options: {
    ...MACHINE,
    c: "number",
    classWeight: "any",
    decisionFunctionShape: "text",
    breakTies: "flag",
    probability: "flag",
    seed: "number",
  },
  check(options) {
    const { c = 1, classWeight, decisionFunctionShape, seed = 0 } = options;
    checkMachine("svc", options);
    checkWhole("svc", "seed", seed, 0);
    checkPositive("svc", "c", c);
    checkClassWeight("svc", classWeight);
    checkChoice("svc", "decisionFunctionShape", decisionFunctionShape, ["ovr", "ovo"]);
  },
  async learn({ x, y, weights, classes, facts, signal }, options) {
    const { c = 1, classWeight } = options;
    checkSeveral("svc", classes, facts.classes);
    const members = membersOf(x, y, classes, null);
    const counted = withClassWeights("svc", classWeight, members, weights, facts.classes ?? []);
    const codes = (await y.data()) as Int32Array;
    const shares = counted ? ((await counted.data()) as Float64Array) : new Float64Array(codes.length).fill(1);
    const costs = Float64Array.from(shares, (share) => c * share);
    const space = spaceOf("svc", x, options, signal);
    const solutions: DualSolution[] = [];
    const said: HeldOut[] = [];
    for (const [place, pair] of pairsOf(classes).entries()) {
      const problem = problemOf(space, codes, costs, pair);
      const found = await parted(problem, codes.length, options);
      solutions.push(classes === 2 ? turned(found) : found);
      if (options.probability) said.push(await heldOut(problem, place, options));
    }
    const sigmoids = options.probability ? await pairSigmoids(said, classes === 2, x) : null;
    return { ...space.supports(solutions.map((each) => each.weights)), ...thresholds(solutions, x), sigmoids };
  },
  scores(learned, x, options) {
    const found = decisions(learned, x, options);
    if (isOnePair(found)) return concat([found.neg(), found], { axis: 1 }) as Tensor;
    return options.breakTies ? byClass(found) : votesOf(found).votes;
  },
  methods,
  lacks: ({ probability }) => (probability ? [] : ["predictProbability", "predictLogProbability"]),
}) as unknown as SvcMaker;

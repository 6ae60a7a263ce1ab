/**
 * Support vector machines of pairs of classes, which vote: what `svc` and `nuSvc` share. Each says how the dual problem of a pair is solved. The
 * search for the support vectors reads values; decisions of a model trace. Probabilities are those of the pairs, by sigmoids of decisions
 * on samples held out (pair-probabilities.ts).
 */
import type { OptionKinds } from "../../core/arguments.js";
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { concat, type Tensor, tensor } from "../../tensor/index.js";
import type { Estimator, EstimatorMaker } from "../core/estimator.js";
import type { Fitted, LearnedTree, Model } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import {
  type ClassificationMethods,
  classifier,
  type ProbabilityMethods,
  probabilityMethods,
  samplesFor,
} from "../core/sorts.js";
import type { Label, Labels } from "../core/targets.js";
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
  thresholds,
} from "./machine.js";
import { type HeldOut, heldOutFolds, pairSigmoids, probabilitiesOf } from "./pair-probabilities.js";
import type { DualSolution } from "./smo.js";

/** Options that machines of pairs of classes have. */
export interface PairMachineOptions extends MachineOptions {
  /** The columns of `decisionFunction` for more than two classes: a column for each class ("ovr", unless told) or for each pair ("ovo"). */
  readonly decisionFunctionShape?: "ovr" | "ovo";
  /** False unless told: of classes with as many votes the first is predicted. True: the one with the larger decisions. */
  readonly breakTies?: boolean;
  /**
   * Whether models have `predictProbability`. False unless told: the fit takes six times as long, and the likeliest class need not be the one
   * that is predicted.
   */
  readonly probability?: boolean;
  /** Decides the samples that are held out for the probabilities: 0 unless told. */
  readonly seed?: number;
}

/** The result of `svc` and `nuSvc`. Of two classes there is one pair, and positive decisions stand for the second; else for the first of a pair. */
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
function decisions(learned: SvcLearned, x: Tensor, options: PairMachineOptions): Tensor {
  const similarities = similaritiesTo("decisionFunction", learned, x, options);
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
function logProbabilities(learned: SvcLearned, x: Tensor, options: PairMachineOptions): Tensor {
  const found = decisions(learned, x, options);
  return probabilitiesOf(
    found,
    learned.sigmoids as Tensor,
    pairsOf(classesOf(found.shape[1] as number)),
  ).log() as Tensor;
}

/** Methods of machines of pairs. */
interface OwnMethods<O> {
  /** How far samples are on the side of a class: [samples] for two classes, [samples, classes] or [samples, pairs] for more. */
  decisionFunction(model: Fitted<SvcLearned, O>, samples: Samples): Tensor;
  readonly [name: string]: (model: Fitted<SvcLearned, O>, ...rest: never[]) => unknown;
}

const ownMethods = <O extends PairMachineOptions>(): OwnMethods<O> => ({
  decisionFunction(model: Fitted<SvcLearned, O>, samples: Samples): Tensor {
    const found = decisions(model.learned, samplesFor(model, "decisionFunction", samples), model.options);
    if (isOnePair(found)) return found.squeeze(1) as Tensor;
    return model.options.decisionFunctionShape === "ovo" ? found : byClass(found);
  },
});

/** The samples of a pair of classes, and their dual problem. */
export interface PairProblem {
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

/** The solution for a pair; a sample whose limit is 0 is not there. Positive decisions stand for the first class. */
type Solve<O> = (problem: PairProblem, options: O) => Promise<DualSolution>;

/** The solution in weights of all samples. */
function ofAllSamples(solution: DualSolution, { places }: PairProblem, samples: number): DualSolution {
  const weights = new Float64Array(samples);
  places.forEach((place, i) => {
    weights[place] = solution.weights[i] as number;
  });
  return { ...solution, weights };
}

/** Decisions about the samples of a pair, each by a machine that was fitted without it. */
async function heldOut<O extends PairMachineOptions>(
  problem: PairProblem,
  pair: number,
  options: O,
  solve: Solve<O>,
): Promise<HeldOut> {
  // Samples without weight are not there.
  const here = Int32Array.from(problem.limits.keys()).filter((i) => (problem.limits[i] as number) > 0);
  const decisions = new Float64Array(here.length);
  for (const fold of heldOutFolds(here.length, options.seed ?? 0, pair)) {
    const limits = problem.limits.slice();
    for (const i of fold) limits[here[i] as number] = 0;
    const { pull, rho } = await solve({ ...problem, limits }, options);
    for (const i of fold) decisions[i] = (pull[here[i] as number] as number) - rho;
  }
  return { decisions, isFirst: Uint8Array.from(here, (i) => Number(problem.signs[i] === 1)) };
}

const turned = (solution: DualSolution): DualSolution => ({
  ...solution,
  weights: solution.weights.map((each) => -each),
  rho: -solution.rho,
});

type Methods<O> = ClassificationMethods<SvcLearned, O> & OwnMethods<O>;

/** With `probability: true` models of these kinds have `predictProbability` and `predictLogProbability`. */
export interface PairMachineMaker<O extends PairMachineOptions>
  extends EstimatorMaker<Labels, SvcLearned, O, Methods<O>> {
  (
    options: O & { readonly probability: true },
  ): Estimator<Labels, Model<SvcLearned, O, Methods<O> & ProbabilityMethods<SvcLearned, O>>, O>;
}

/** The parts in which machines of pairs differ. */
interface PairMachine<O extends PairMachineOptions> {
  readonly kind: string;
  readonly options: OptionKinds<Omit<O, keyof PairMachineOptions>>;
  check(options: O): void;
  /** The largest weight of each sample, from its own weight and class. */
  costs(data: ClassData, weights: Float64Array, options: O): Promise<Float64Array>;
  /** Throws where a pair has no solution. */
  checkPair?(problem: PairProblem, options: O): void;
  readonly solve: Solve<O>;
}

/** Samples and their classes. */
interface ClassData {
  readonly x: Tensor;
  readonly y: Tensor;
  readonly classes: readonly Label[];
}

/** A kind of machine of pairs of classes. */
export function pairMachine<O extends PairMachineOptions>(machine: PairMachine<O>): PairMachineMaker<O> {
  const { kind } = machine;
  const methods = { ...ownMethods<O>(), ...probabilityMethods<SvcLearned, O>(logProbabilities) };
  return classifier<SvcLearned, O, typeof methods>({
    kind,
    options: {
      ...MACHINE,
      ...{ decisionFunctionShape: "text", breakTies: "flag", probability: "flag", seed: "number" },
      ...machine.options,
    } as unknown as OptionKinds<O>,
    check(options) {
      checkMachine(kind, options);
      checkWhole(kind, "seed", options.seed ?? 0, 0);
      checkChoice(kind, "decisionFunctionShape", options.decisionFunctionShape, ["ovr", "ovo"]);
      machine.check(options);
    },
    learn:
      ({ x, y, weights, classes, facts, signal }, options) =>
      async () => {
        checkSeveral(kind, classes, facts.classes);
        const codes = (await y.data()) as Int32Array;
        const own = weights
          ? Float64Array.from((await weights.data()) as Float64Array)
          : new Float64Array(codes.length).fill(1);
        const costs = await machine.costs({ x, y, classes: facts.classes ?? [] }, own, options);
        const space = spaceOf(kind, x, options, signal);
        const solutions: DualSolution[] = [];
        const said: HeldOut[] = [];
        for (const [place, pair] of pairsOf(classes).entries()) {
          const problem = problemOf(space, codes, costs, pair);
          machine.checkPair?.(problem, options);
          const found = ofAllSamples(await machine.solve(problem, options), problem, codes.length);
          solutions.push(classes === 2 ? turned(found) : found);
          if (options.probability) said.push(await heldOut(problem, place, options, machine.solve));
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
  }) as unknown as PairMachineMaker<O>;
}

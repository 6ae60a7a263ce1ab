/**
 * Reverse mode of a scan: a scan from the other end. It carries the cotangents of carries and the summed ones of constants, and
 * computes the values of each round again from the carries that the round began with, which the loop has stacked. Large products
 * are done for all rounds at once, before the loop or after it (scan-fission.ts).
 */
import { closeOver, makePlaceholder, substitute } from "../../function.js";
import type { Node } from "../../node.js";
import type { GraphOps } from "../../vocabulary.js";
import { partsOf } from "../bundle.js";
import type { ScanParams } from "./scan.js";
import { bytesTogether, dependsOnAny, hoistable, type SumOfProducts, sinkable, sumOverRounds } from "./scan-fission.js";

/** Makes the parts of a scan; scan.ts gives it, which imports this file. */
type MakeScan = (inputs: readonly Node[], params: ScanParams) => Node[];

export function reversed(
  g: GraphOps,
  node: Node,
  cotangents: readonly (Node | null)[],
  isWanted: (input: number) => boolean,
  makeScan: MakeScan,
): readonly (Node | null)[] {
  const params = node.params as unknown as ScanParams;
  const { constants, length } = params;
  const { inputs } = node;
  const round = roundOf(g, params, cotangents, isWanted);
  const split = splitRound(round, params);
  const zero = (like: Node) => g.zeros(like.shape, like);
  const first = round.ctCarries.flatMap((ct, i) => (ct ? [cotangents[i] ?? zero(inputs[constants + i])] : []));
  const sums = round.sums.flatMap((sum, i) =>
    sum && !split.sunk[i] ? [{ sum, first: zero(inputs[i]), next: g.add(sum, split.sums[i] as Node) }] : [],
  );
  const stackedParameters = [...round.perRound, ...split.hoistedAs];
  const stackedInputs = inputsPerRound(g, node, round, split, cotangents);
  const stackedResults = [...present(split.perStep), ...split.extra];
  const { body, captured } = closeOver(
    [...split.nextCarries, ...sums.map(({ next }) => next), ...stackedResults],
    [
      ...round.own.slice(0, constants),
      ...present(round.ctCarries),
      ...sums.map(({ sum }) => sum),
      ...stackedParameters,
    ],
  );
  const firstSums = sums.map((sum) => sum.first);
  const parts = makeScan([...captured, ...inputs.slice(0, constants), ...first, ...firstSums, ...stackedInputs], {
    body,
    constants: captured.length + constants,
    carries: first.length + sums.length,
    length,
    isReverse: !params.isReverse,
  });
  let [carryAt, sumAt, stepAt] = [0, first.length, first.length + sums.length];
  const stackedAt = stepAt;
  const stacked = (source: Node): Node => {
    const parameter = stackedParameters.indexOf(source);
    return parameter >= 0 ? stackedInputs[parameter] : parts[stackedAt + stackedResults.indexOf(source)];
  };
  return [
    ...round.sums.map((sum, i) => {
      const sunk = split.sunk[i];
      if (sunk) return sumOverRounds(g, sunk, stacked, length);
      return sum ? parts[sumAt++] : null;
    }),
    ...round.ctCarries.map((ct) => (ct ? parts[carryAt++] : null)),
    ...split.perStep.map((step) => (step ? parts[stepAt++] : null)),
  ];
}

/** The inputs of the reverse scan that it goes along, in the order of the round's parameters; hoisted values are the last. */
function inputsPerRound(
  g: GraphOps,
  node: Node,
  { own, ctBegan }: Round,
  { hoisted }: SplitRound,
  cotangents: readonly (Node | null)[],
): Node[] {
  const { body, constants, carries, length } = node.params as unknown as ScanParams;
  const results = body.results.length;
  const ofRounds = [...partsOf(node).slice(results), ...node.inputs.slice(constants + carries)];
  const given = [...node.inputs.slice(0, constants), ...ofRounds];
  const before = g.vectorize(
    hoisted,
    own,
    given.map((each, i) => ({ node: each, isBatched: i >= constants })),
    length,
  );
  return [
    ...ofRounds,
    ...present(cotangents.slice(carries, results)),
    ...ctBegan.flatMap((ct, i) => (ct ? [cotangents[results + i] as Node] : [])),
    ...before.map((each) => each.node),
  ];
}

type Round = ReturnType<typeof roundOf>;

/**
 * A round of the reverse scan. Its parameters: the loop's constants; cotangents of carries and sums for constants, which are
 * carried; and per round the carries and the elements of sequences, cotangents of stacked results and of stacked carries.
 */
function roundOf(
  g: GraphOps,
  { body, constants, carries }: ScanParams,
  cotangents: readonly (Node | null)[],
  isWanted: (input: number) => boolean,
) {
  const own = body.parameters.map(makePlaceholder);
  const results = body.apply(own);
  const floatCarries = own.slice(constants, constants + carries).map(({ dtype }) => g.isDifferentiable(dtype));
  const ctCarries = results.slice(0, carries).map((result, i) => (floatCarries[i] ? makePlaceholder(result) : null));
  const ctStacked = results
    .slice(carries)
    .map((result, i) => (cotangents[carries + i] ? makePlaceholder(result) : null));
  // Stacked carries have cotangents too when a reverse scan is itself differentiated.
  const ctBegan = ctCarries.map((ct, i) => (cotangents[results.length + i] ? ct && makePlaceholder(ct) : null));
  // Data needs no cotangents: without these the loop neither sums nor computes them.
  const isCarry = (i: number) => i >= constants && i < constants + carries;
  const variables = own.filter((_, i) => isCarry(i) || isWanted(i));
  const found = g.pullBack(results, [...ctCarries, ...ctStacked], variables);
  const pulled = own.map((parameter) => found[variables.indexOf(parameter)] ?? null);
  const sums = own.slice(0, constants).map((parameter, i) => (pulled[i] ? makePlaceholder(parameter) : null));
  const nextCarries = ctCarries.flatMap((ct, i) => {
    if (!ct) return [];
    const carry = own[constants + i];
    const next = pulled[constants + i] ?? g.zeros(carry.shape, carry);
    const begun = ctBegan[i];
    return [begun ? g.add(next, begun) : next];
  });
  const perRound = [...own.slice(constants), ...present(ctStacked), ...present(ctBegan)];
  return { own, ctCarries, ctStacked, ctBegan, sums, pulled, nextCarries, perRound };
}

interface SplitRound {
  /** Values that are computed before the loop, and the parameters of the loop that stand for them. */
  readonly hoisted: readonly Node[];
  readonly hoistedAs: readonly Node[];
  /** What is left of the round, in terms of those parameters. */
  readonly nextCarries: readonly Node[];
  readonly sums: readonly (Node | null)[];
  readonly perStep: readonly (Node | null)[];
  /** Sums that are made after the loop, and the values that it stacks for them besides. */
  readonly sunk: readonly (SumOfProducts | null)[];
  readonly extra: readonly Node[];
}

/** Fewer rounds are not worth more kernels around the loop. */
const FEW_ROUNDS = 4;

function splitRound(round: Round, { constants, carries, length }: ScanParams): SplitRound {
  const { own, pulled, nextCarries, perRound } = round;
  const [sums, perStep] = [pulled.slice(0, constants), pulled.slice(constants + carries)];
  const carried = [...present(round.ctCarries), ...present(round.ctStacked), ...present(round.ctBegan)];
  const none = { hoisted: [], hoistedAs: [], nextCarries, sums, perStep, sunk: sums.map(() => null), extra: [] };
  if (length < FEW_ROUNDS) return none;
  const outputs = [...nextCarries, ...present(sums), ...present(perStep)];
  const keptBytes = bytesTogether([...perRound, ...present(perStep)]);
  const hoisted = hoistable(outputs, { perRound: own.slice(constants), carried, keptBytes });
  const hoistedAs = hoisted.map(makePlaceholder);
  const left = substitute(outputs, hoisted, hoistedAs);
  const renewed = (node: Node | null) => node && left[outputs.indexOf(node)];
  const steps = perStep.map(renewed);
  const known = [...perRound, ...hoistedAs, ...present(steps)];
  const isOfRound = (node: Node) => dependsOnAny(node, [...perRound, ...hoistedAs, ...present(round.ctCarries)]);
  let extra: readonly Node[] = [];
  const sunk = sums.map(renewed).map((term) => {
    const sum = term && sinkable(term, isOfRound);
    if (!sum) return null;
    const more = [...new Set([...extra, ...sum.sources.filter((source) => !known.includes(source))])];
    if (bytesTogether(more) > 2 * keptBytes) return null;
    extra = more;
    return sum;
  });
  return {
    hoisted,
    hoistedAs,
    nextCarries: nextCarries.map((node) => renewed(node) as Node),
    sums: sums.map(renewed),
    perStep: steps,
    sunk,
    extra,
  };
}

const present = (list: readonly (Node | null)[]): Node[] => list.filter((each) => each !== null);

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
  const { body, constants, carries, length, isReverse } = params;
  const { inputs } = node;
  const round = roundOf(g, params, cotangents, isWanted);
  const begun = partsOf(node).slice(body.results.length);
  const sequences = inputs.slice(constants + carries);
  const stackedInputs = [
    ...begun,
    ...sequences,
    ...present(cotangents.slice(carries, body.results.length)),
    ...round.ctBegan.flatMap((ct, i) => (ct ? [cotangents[body.results.length + i] as Node] : [])),
  ];
  const split = splitRound(round, params);
  const hoisted = g.vectorize(
    split.hoisted,
    round.own,
    [...inputs.slice(0, constants), ...begun, ...sequences].map((each, i) => ({
      node: each,
      isBatched: i >= constants,
    })),
    length,
  );
  const zero = (like: Node) => g.zeros(like.shape, like);
  const first = round.ctCarries.flatMap((ct, i) => (ct ? [cotangents[i] ?? zero(inputs[constants + i])] : []));
  const isCarried = round.sums.map((sum, i) => sum !== null && split.sunk[i] === null);
  const firstSums = isCarried.flatMap((is, i) => (is ? [zero(inputs[i])] : []));
  const stackedParameters = [...round.perRound, ...split.hoistedAs];
  const placeholders = [
    ...round.own.slice(0, constants),
    ...present(round.ctCarries),
    ...round.sums.filter((sum, i) => isCarried[i] && sum !== null).map((sum) => sum as Node),
    ...stackedParameters,
  ];
  const nextSums = split.sums.flatMap((term, i) => (isCarried[i] ? [g.add(round.sums[i] as Node, term as Node)] : []));
  const perStep = present(split.perStep);
  const { body: back, captured } = closeOver(
    [...split.nextCarries, ...nextSums, ...perStep, ...split.extra],
    placeholders,
  );
  const stackedNodes = [...stackedInputs, ...hoisted.map((each) => each.node)];
  const given = [...captured, ...inputs.slice(0, constants), ...first, ...firstSums, ...stackedNodes];
  const parts = makeScan(given, {
    body: back,
    constants: captured.length + constants,
    carries: first.length + firstSums.length,
    length,
    isReverse: !isReverse,
  });
  let carryAt = 0;
  let sumAt = first.length;
  const stepsAt = first.length + firstSums.length;
  let stepAt = stepsAt;
  const stackedResults = [...perStep, ...split.extra];
  const stacked = (source: Node): Node => {
    const parameter = stackedParameters.indexOf(source);
    return parameter >= 0 ? stackedNodes[parameter] : parts[stepsAt + stackedResults.indexOf(source)];
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

function splitRound(round: ReturnType<typeof roundOf>, { constants, carries, length }: ScanParams): SplitRound {
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

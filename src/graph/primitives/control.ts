/**
 * Operations with several results or with functions as parameters: loops, choices, custom derivatives.
 *
 * A node has one value, so such an operation is a bundle: a node without a value, whose results are its `part`s. Params of
 * every bundle: outputs, the shapes and dtypes of its parts. A bundle has at least one part.
 *
 * A custom derivative may use tensors from outside the function. So the derivative of a function is closed again: tensors
 * that a rule captured become its first parameters, and the first inputs of the operation that contains it.
 */
import type { DType } from "../../core/dtype.js";
import { UnsupportedError } from "../../core/errors.js";
import type { Shape } from "../../core/shape.js";
import { makeNode } from "../build.js";
import { abstractInOrder, closeOver, closeOverAll, GraphFunction, makePlaceholder, substitute } from "../function.js";
import { hasLoop, masked } from "../loop-mask.js";
import type { Node } from "../node.js";
import type { BatchedInput, CompositePrimitive, RoutinePrimitive } from "../primitive.js";
import type { GraphOps } from "../vocabulary.js";

interface Output {
  readonly shape: Shape;
  readonly dtype: DType;
}

/** One result of a bundle. Params: index. */
export const part: RoutinePrimitive = {
  name: "part",
  kind: "routine",
  infer: ([bundle], params) => outputsOf(bundle)[params.index as number],
};

export const outputsOf = ({ params }: Node): readonly Output[] => params.outputs as readonly Output[];

/** A bundle has no shape; this is a placeholder. */
const infer = () => ({ shape: [], dtype: "bool" as const });

const outputOf = ({ shape, dtype }: Node): Output => ({ shape: [...shape], dtype });

function partsOf(bundle: Node): Node[] {
  return outputsOf(bundle).map((_, index) => makeNode(part, [bundle], { index }, bundle.device));
}

// -------------------------------------------------------------------------------------------------- scan

export interface ScanParams {
  /** Parameters: constants, carries, one element of each sequence. Results: carries, one element of each stacked result. */
  readonly body: GraphFunction;
  readonly constants: number;
  readonly carries: number;
  readonly length: number;
  readonly isReverse: boolean;
}

/**
 * A loop over the first axis of sequences. Inputs: constants, first carries, sequences. Parts: last carries, stacked results,
 * and, for reverse mode, the carries at the start of each round, stacked too. Unused parts are not computed.
 */
export const scan: RoutinePrimitive = {
  name: "scan",
  kind: "routine",
  infer,
  bundle: {
    jvp: (g, node, tangents) => {
      const { body, constants, carries, length, isReverse } = paramsOf(node);
      const isMoving = node.inputs.map(
        (input, i) =>
          tangents[i] !== null || (i >= constants && i < constants + carries && g.isDifferentiable(input.dtype)),
      );
      const own = body.parameters.map(makePlaceholder);
      const moved = own.map((parameter, i) => (isMoving[i] ? makePlaceholder(parameter) : null));
      const results = body.apply(own);
      const changes = g.pushForward(results, own, moved);
      const solid = changes.map((change, i) => {
        if (change) return change;
        const isCarried = i < carries && isMoving[constants + i];
        return isCarried ? g.zeros(results[i].shape, results[i]) : null;
      });
      const pick = <T>(list: readonly T[], from: number, to: number) => list.slice(from, to);
      const present = (list: readonly (Node | null)[]) => list.filter((each) => each !== null);
      const end = node.inputs.length;
      const ranges = [
        [0, constants],
        [constants, constants + carries],
        [constants + carries, end],
      ] as const;
      const parameters = ranges.flatMap(([from, to]) => [...pick(own, from, to), ...present(pick(moved, from, to))]);
      const start = tangents.map((t, i) => (isMoving[i] ? (t ?? g.zeros(node.inputs[i].shape, node.inputs[i])) : null));
      const inputs = ranges.flatMap(([from, to]) => [
        ...pick(node.inputs, from, to),
        ...present(pick(start, from, to)),
      ]);
      const carried = present(pick(solid, 0, carries));
      const stacked = present(pick(solid, carries, results.length));
      const { body: next, captured } = closeOver(
        [...pick(results, 0, carries), ...carried, ...pick(results, carries, results.length), ...stacked],
        parameters,
      );
      const parts = scanNode([...captured, ...inputs], {
        body: next,
        constants: captured.length + constants + present(pick(moved, 0, constants)).length,
        carries: carries + carried.length,
        length,
        isReverse,
      });
      // Tangents follow the values they belong to: among the carries, the stacked results, the stacked carries.
      const count = results.length - carries;
      let carriedAt = carries;
      let stackedAt = carries + carried.length + count;
      let begunAt = next.results.length + carries;
      return outputsOf(node).map((_, i) => {
        if (i >= results.length) return isMoving[constants + i - results.length] ? parts[begunAt++] : null;
        if (solid[i] === null) return null;
        return parts[i < carries ? carriedAt++ : stackedAt++];
      });
    },
    vjp: (g, node, cotangents) => {
      const { body, constants, carries, length, isReverse } = paramsOf(node);
      const { inputs } = node;
      const count = body.results.length - carries;
      const isFloat = ({ dtype }: Node) => g.isDifferentiable(dtype);
      const sequences = inputs.slice(constants + carries);
      const began = partsOf(node).slice(body.results.length);
      // Reverse mode is a scan from the other end. It carries the cotangents of carries and the summed ones of constants.
      const own = body.parameters.map(makePlaceholder);
      const results = body.apply(own);
      const floatCarries = own.slice(constants, constants + carries).map(isFloat);
      const ctCarries = results
        .slice(0, carries)
        .map((result, i) => (floatCarries[i] ? makePlaceholder(result) : null));
      const ctStacked = results
        .slice(carries)
        .map((result, i) => (cotangents[carries + i] ? makePlaceholder(result) : null));
      // Stacked carries have cotangents too when a reverse scan is itself differentiated.
      const ctBegan = ctCarries.map((ct, i) => (cotangents[results.length + i] ? ct && makePlaceholder(ct) : null));
      const pulled = g.pullBack(results, [...ctCarries, ...ctStacked], own);
      const sums = own.slice(0, constants).map((parameter, i) => (pulled[i] ? makePlaceholder(parameter) : null));
      const present = (list: readonly (Node | null)[]) => list.filter((each) => each !== null);
      const zero = (like: Node) => g.zeros(like.shape, like);
      const parameters = [
        ...own.slice(0, constants),
        ...present(ctCarries),
        ...present(sums),
        ...own.slice(constants),
        ...present(ctStacked),
        ...present(ctBegan),
      ];
      const nextCarries = ctCarries.flatMap((ct, i) => {
        if (!ct) return [];
        const next = pulled[constants + i] ?? zero(own[constants + i]);
        const begun = ctBegan[i];
        return [begun ? g.add(next, begun) : next];
      });
      const nextSums = sums.flatMap((sum, i) => (sum ? [g.add(sum, pulled[i] as Node)] : []));
      const perStep = own.slice(constants + carries).map((_, i) => pulled[constants + carries + i]);
      const { body: back, captured } = closeOver([...nextCarries, ...nextSums, ...present(perStep)], parameters);
      const first = ctCarries.flatMap((ct, i) => (ct ? [cotangents[i] ?? zero(inputs[constants + i])] : []));
      const firstSums = sums.flatMap((sum, i) => (sum ? [zero(inputs[i])] : []));
      const given = [
        ...captured,
        ...inputs.slice(0, constants),
        ...first,
        ...firstSums,
        ...began,
        ...sequences,
        ...present(cotangents.slice(carries, carries + count)),
        ...ctBegan.flatMap((ct, i) => (ct ? [cotangents[results.length + i] as Node] : [])),
      ];
      const parts = scanNode(given, {
        body: back,
        constants: captured.length + constants,
        carries: first.length + firstSums.length,
        length,
        isReverse: !isReverse,
      });
      let carryAt = 0;
      let sumAt = first.length;
      let stepAt = first.length + firstSums.length;
      return [
        ...sums.map((sum) => (sum ? parts[sumAt++] : null)),
        ...ctCarries.map((ct) => (ct ? parts[carryAt++] : null)),
        ...perStep.map((step) => (step ? parts[stepAt++] : null)),
      ];
    },
    batch: (g, node, inputs, size) => {
      const params = paramsOf(node);
      const { body, constants, carries, length } = params;
      const isSequence = (i: number) => i >= constants + carries;
      // A carry is batched if its start is, or if a round makes it so: iterate until nothing changes.
      const isBatched = inputs.map((input) => input.isBatched);
      const batchedBody = () => {
        const own = body.parameters.map((parameter, i) =>
          makePlaceholder(
            isBatched[i]
              ? { ...outputOf(parameter), shape: [size, ...parameter.shape], device: parameter.device }
              : parameter,
          ),
        );
        const results = g.vectorize(
          body.results,
          body.parameters,
          own.map((each, i) => ({ node: each, isBatched: isBatched[i] })),
          size,
        );
        return { own, results };
      };
      let made = batchedBody();
      for (;;) {
        const grown = made.results
          .slice(0, carries)
          .flatMap((result, i) => (result.isBatched && !isBatched[constants + i] ? [constants + i] : []));
        if (grown.length === 0) break;
        for (const i of grown) isBatched[i] = true;
        made = batchedBody();
      }
      const whole = ({ node: each, isBatched: has }: BatchedInput) =>
        has ? each : g.broadcast(each, [size, ...each.shape]);
      const results = made.results.map((result, i) =>
        i < carries && isBatched[constants + i] ? whole(result) : result.node,
      );
      const given = inputs.map((input, i) => {
        if (!isBatched[i]) return input.node;
        if (!isSequence(i)) return whole(input);
        // Rounds first, then members.
        return g.permute(input.node, [1, 0, ...input.node.shape.slice(2).map((_, k) => k + 2)]);
      });
      const parts = scanNode(given, { ...params, body: new GraphFunction(made.own, results) });
      return parts.map((each, i): BatchedInput => {
        if (i < carries) return { node: each, isBatched: isBatched[constants + i] };
        const isOne = i < results.length ? made.results[i].isBatched : isBatched[constants + i - results.length];
        if (!isOne) return { node: each, isBatched: false };
        return {
          node: length === 0 ? g.zeros([size, 0, ...each.shape.slice(2)], each) : g.axisFirst(each, 1),
          isBatched: true,
        };
      });
    },
  },
};

const paramsOf = ({ params }: Node): ScanParams => params as unknown as ScanParams;

/** The parts of a scan. */
export function scanNode(inputs: readonly Node[], params: ScanParams): Node[] {
  const { body, carries, constants, length } = params;
  const stacked = ({ shape, dtype }: Node): Output => ({ shape: [length, ...shape], dtype });
  const outputs = [
    ...body.results.slice(0, carries).map(outputOf),
    ...body.results.slice(carries).map(stacked),
    ...body.parameters.slice(constants, constants + carries).map(stacked),
  ];
  if (outputs.length === 0) return [];
  return partsOf(makeNode(scan, inputs, { ...params, outputs }, deviceOf(inputs, body)));
}

const deviceOf = (inputs: readonly Node[], body: GraphFunction) =>
  (inputs[0] ?? body.results[0] ?? body.parameters[0]).device;

// -------------------------------------------------------------------------------------------------- while

export interface WhileParams {
  /** Parameters of both: constants, carries. The test has one bool as its result, the body the carries. */
  readonly test: GraphFunction;
  readonly body: GraphFunction;
  readonly constants: number;
  readonly maxRounds: number;
}

/** A loop that runs while its test holds. Inputs: constants, first carries. Parts: last carries. */
export const whileLoop: RoutinePrimitive = {
  name: "whileLoop",
  kind: "routine",
  infer,
  bundle: {
    jvp: (g, node, tangents) => {
      const { test, body, constants, maxRounds } = whileParams(node);
      const isMoving = node.inputs.map(
        (input, i) => tangents[i] !== null || (i >= constants && g.isDifferentiable(input.dtype)),
      );
      const own = body.parameters.map(makePlaceholder);
      const moved = own.map((parameter, i) => (isMoving[i] ? makePlaceholder(parameter) : null));
      const results = body.apply(own);
      const changes = g.pushForward(results, own, moved);
      const carried = changes.flatMap((change, i) =>
        isMoving[constants + i] ? [change ?? g.zeros(results[i].shape, results[i])] : [],
      );
      const present = (list: readonly (Node | null)[]) => list.filter((each) => each !== null);
      const parameters = [
        ...own.slice(0, constants),
        ...present(moved.slice(0, constants)),
        ...own.slice(constants),
        ...present(moved.slice(constants)),
      ];
      const start = tangents.map((t, i) => (isMoving[i] ? (t ?? g.zeros(node.inputs[i].shape, node.inputs[i])) : null));
      const inputs = [
        ...node.inputs.slice(0, constants),
        ...present(start.slice(0, constants)),
        ...node.inputs.slice(constants),
        ...present(start.slice(constants)),
      ];
      const { bodies, captured } = closeOverAll([test.apply(own), [...results, ...carried]], parameters);
      const parts = whileNode([...captured, ...inputs], {
        test: bodies[0],
        body: bodies[1],
        constants: captured.length + constants + present(moved.slice(0, constants)).length,
        maxRounds,
      });
      let at = results.length;
      return results.map((_, i) => (isMoving[constants + i] ? parts[at++] : null));
    },
    vjp: () => {
      throw new UnsupportedError(
        "grad: a whileLoop has no reverse derivative, because how many rounds it takes is not known beforehand. Use scan or " +
          'forLoop with a fixed number of rounds, forward mode (jvp, jacobian with { mode: "forward" }), or customGradient.',
      );
    },
    batch: (g, node, inputs, size) => {
      const { test, body, constants, maxRounds } = whileParams(node);
      const isBatched = inputs.map((input) => input.isBatched);
      const batchedBody = () => {
        const own = body.parameters.map((parameter, i) =>
          makePlaceholder(
            isBatched[i]
              ? { ...outputOf(parameter), shape: [size, ...parameter.shape], device: parameter.device }
              : parameter,
          ),
        );
        const given = own.map((each, i) => ({ node: each, isBatched: isBatched[i] }));
        return {
          own,
          results: g.vectorize(body.results, body.parameters, given, size),
          test: g.vectorize(test.results, test.parameters, given, size)[0],
        };
      };
      let made = batchedBody();
      for (;;) {
        const grown = made.results.flatMap((result, i) =>
          (result.isBatched || made.test.isBatched) && !isBatched[constants + i] ? [constants + i] : [],
        );
        if (grown.length === 0) break;
        for (const i of grown) isBatched[i] = true;
        made = batchedBody();
      }
      const whole = ({ node: each, isBatched: has }: BatchedInput) =>
        has ? each : g.broadcast(each, [size, ...each.shape]);
      const goesOn = made.test;
      // The loop runs while any member goes on; finished members keep their values.
      const results = made.results.map((result, i) => {
        if (!isBatched[constants + i]) return result.node;
        const next = whole(result);
        if (!goesOn.isBatched) return next;
        const mask = g.broadcast(g.reshape(goesOn.node, [size, ...next.shape.slice(1).map(() => 1)]), next.shape);
        return g.where(mask, next, made.own[constants + i]);
      });
      const parts = whileNode(
        inputs.map((input, i) => (isBatched[i] ? whole(input) : input.node)),
        {
          test: new GraphFunction(made.own, [goesOn.isBatched ? g.any(goesOn.node, [0]) : goesOn.node]),
          body: new GraphFunction(made.own, results),
          constants,
          maxRounds,
        },
      );
      return parts.map((each, i) => ({ node: each, isBatched: isBatched[constants + i] }));
    },
  },
};

const whileParams = ({ params }: Node): WhileParams => params as unknown as WhileParams;

export function whileNode(inputs: readonly Node[], params: WhileParams): Node[] {
  const outputs = params.body.results.map(outputOf);
  if (outputs.length === 0) return [];
  return partsOf(makeNode(whileLoop, inputs, { ...params, outputs }, deviceOf(inputs, params.body)));
}

// -------------------------------------------------------------------------------------------------- choice

/**
 * One of several functions of the same inputs. Inputs: index (i32), then the functions' arguments. Params: branches. The index
 * is a scalar, or has batch axes: then each member chooses, and all results and inputs have these axes first, except inputs
 * that the members share (params: shared, their positions after the index).
 * Results and derivatives are selected element by element, so a branch not taken adds nothing, not even NaN. For a scalar
 * index and costly branches the compiler uses `branching` instead.
 */
export const choice: CompositePrimitive = {
  name: "choice",
  kind: "composite",
  infer,
  expand: (g, { params }, [index, ...inputs]) => {
    const branches = params.branches as readonly GraphFunction[];
    return selectedByIndex(
      g,
      index,
      branches.map((branch) => branch.apply(inputs)),
    );
  },
  bundle: {
    jvp: (g, node, [, ...tangents]) => {
      const [index, ...inputs] = node.inputs;
      const branches = node.params.branches as readonly GraphFunction[];
      const own = inputs.map(makePlaceholder);
      const moved = own.map((parameter, i) => (tangents[i] ? makePlaceholder(parameter) : null));
      const changes = branches.map((branch) => {
        const results = branch.apply(own);
        return g.pushForward(results, own, moved).map((t, i) => t ?? g.zeros(results[i].shape, results[i]));
      });
      const moving = moved.flatMap((each, i) => (each ? [i] : []));
      const { bodies, captured } = closeOverAll(changes, [...own, ...moved.filter((each) => each !== null)]);
      const isShared = sharedBy(node);
      const parts = choiceNode(index, [...captured, ...inputs, ...tangents.filter((t) => t !== null)], bodies, [
        ...captured.map(() => index.shape.length > 0),
        ...inputs.map((_, i) => isShared(i)),
        ...moving.map(isShared),
      ]);
      return parts.map((each) => (g.isDifferentiable(each.dtype) ? each : null));
    },
    vjp: (g, node, cotangents) => {
      const [index, ...inputs] = node.inputs;
      const branches = node.params.branches as readonly GraphFunction[];
      const isShared = sharedBy(node);
      const own = inputs.map(makePlaceholder);
      const members = own.filter((_, i) => !isShared(i));
      const seeds = cotangents.map((ct) => ct && makePlaceholder(ct));
      const pulled = branches.map((branch) =>
        g.pullBack(branch.apply(own), seeds, members).map((ct, i) => ct ?? g.zeros(members[i].shape, members[i])),
      );
      const { bodies, captured } = closeOverAll(pulled, [...own, ...seeds.filter((each) => each !== null)]);
      const parts = choiceNode(index, [...captured, ...inputs, ...cotangents.filter((ct) => ct !== null)], bodies, [
        ...captured.map(() => index.shape.length > 0),
        ...inputs.map((_, i) => isShared(i)),
      ]);
      const sums = sharedCotangents(g, node, cotangents);
      return [null, ...inputs.map((_, i) => (isShared(i) ? sums.shift() : parts.shift()) ?? null)];
    },
    batch: (g, node, [index, ...others], size) => {
      const branches = node.params.branches as readonly GraphFunction[];
      const whole = ({ node: each, isBatched }: BatchedInput) =>
        isBatched ? each : g.broadcast(each, [size, ...each.shape]);
      // With an index per member all branches are computed; loops end at once for members that take another branch.
      const isLooping = index.isBatched && node.inputs[0].shape.length === 0 && branches.some(hasLoop);
      const functions = isLooping
        ? branches.map((branch, value) => ifChosen(g, branch, node.inputs[0], value))
        : branches;
      const inputs = isLooping ? [index, ...others] : others;
      // Each member needs its own inputs: the derivative by a shared input sums over members and cannot be separated.
      const isOwnChoice = index.isBatched || index.node.shape.length > 0;
      const given = inputs.map((input) => (isOwnChoice ? { node: whole(input), isBatched: true } : input));
      const own = given.map(({ node: each, isBatched }) => ({ node: makePlaceholder(each), isBatched }));
      const parameters = own.map((each) => each.node);
      const batched = functions.map(
        ({ results, parameters: from }) =>
          new GraphFunction(parameters, g.vectorize(results, from, own, size).map(whole)),
      );
      const parts = choiceNode(
        isOwnChoice ? whole(index) : index.node,
        given.map((input) => input.node),
        batched,
        inputs.map((_, i) => sharedBy(node)(i)),
      );
      return parts.map((each) => ({ node: each, isBatched: true }));
    },
  },
};

/** A branch that also takes the index; its loops run only if the index selects it. */
function ifChosen(g: GraphOps, branch: GraphFunction, index: Node, value: number): GraphFunction {
  const chosen = makePlaceholder(index);
  return new GraphFunction([chosen, ...branch.parameters], masked(g, branch, g.equal(chosen, value)));
}

/** A choice by a scalar that computes only the chosen branch. Inputs and params as of `choice`. */
export const branching: RoutinePrimitive = { name: "branching", kind: "routine", infer };

/** Selects among the results of branches by the index, or by each member's index. */
function selectedByIndex(g: GraphOps, index: Node, results: readonly (readonly Node[])[]): Node[] {
  const chosen = (i: number) =>
    results.slice(1).reduce((otherwise, branch, k) => selected(g, index, k + 1, branch[i], otherwise), results[0][i]);
  return results[0].map((_, i) => chosen(i));
}

function selected(g: GraphOps, index: Node, value: number, whenEqual: Node, otherwise: Node): Node {
  const { shape } = whenEqual;
  const isEqual = g.equal(index, value);
  const aligned = g.reshape(isEqual, [...index.shape, ...shape.slice(index.shape.length).map(() => 1)]);
  return g.where(g.broadcast(aligned, shape), whenEqual, otherwise);
}

export function choiceNode(
  index: Node,
  inputs: readonly Node[],
  branches: readonly GraphFunction[],
  isShared: readonly boolean[] = [],
): Node[] {
  const outputs = branches[0].results.map(outputOf);
  const shared = isShared.flatMap((each, i) => (each ? [i] : []));
  return partsOf(makeNode(choice, [index, ...inputs], { branches, shared, outputs }, index.device));
}

const sharedBy =
  ({ params }: Node) =>
  (position: number): boolean =>
    (params.shared as readonly number[]).includes(position);

/** Cotangents of inputs shared by members with an index each: for each branch the sum over members that take it. */
function sharedCotangents(g: GraphOps, node: Node, cotangents: readonly (Node | null)[]): (Node | null)[] {
  const [index, ...inputs] = node.inputs;
  const shared = node.params.shared as readonly number[];
  if (shared.length === 0) return [];
  const ofBranches = (node.params.branches as readonly GraphFunction[]).map((branch, value) => {
    const own = inputs.map(makePlaceholder);
    const taken = cotangents.map((ct) => ct && selected(g, index, value, ct, g.zeros(ct.shape, ct)));
    const pulled = g.pullBack(
      branch.apply(own),
      taken,
      shared.map((i) => own[i]),
    );
    const whole = pulled.map((ct, i) => ct ?? g.zeros(inputs[shared[i]].shape, inputs[shared[i]]));
    return substitute(whole, own, inputs);
  });
  return shared.map((_, i) => ofBranches.map((pulled) => pulled[i]).reduce((a, b) => g.add(a, b)));
}

// -------------------------------------------------------------------------------------------------- derivatives by hand

/** Maps arguments, results, and tangents or cotangents of one side to those of the other; null stands for zero. */
type CustomRule = (
  args: readonly Node[],
  results: readonly Node[],
  changes: readonly (Node | null)[],
) => readonly (Node | null)[];

/** The derivative rules of a `custom` node. */
export interface CustomRules {
  readonly jvp: CustomRule | null;
  readonly vjp: CustomRule;
  /** The rules for a batch of members; `isBatched` lists the arguments, then the results. */
  batch(isBatched: readonly boolean[], size: number): CustomRules;
}

/** Results with custom derivatives. Inputs: results, arguments. Params: results, their number. */
const custom: CompositePrimitive = {
  name: "custom",
  kind: "composite",
  infer,
  expand: (_g, { params }, inputs) => inputs.slice(0, params.results as number),
  bundle: {
    jvp: (g, node, tangents) => {
      const count = node.params.results as number;
      const { jvp } = rulesOf(node);
      const args = node.inputs.slice(count);
      const results = node.inputs.slice(0, count);
      if (jvp) return jvp(args, results, tangents.slice(count));
      const seeds = results.map(makePlaceholder);
      return transposed(g, "vjp", seeds, rulesOf(node).vjp(args, results, seeds), tangents.slice(count));
    },
    vjp: (_g, node, cotangents) => {
      const count = node.params.results as number;
      const results = node.inputs.slice(0, count);
      return [...results.map(() => null), ...rulesOf(node).vjp(node.inputs.slice(count), results, cotangents)];
    },
    batch: (g, node, inputs, size) => {
      const count = node.params.results as number;
      const whole = ({ node: each, isBatched }: BatchedInput) =>
        isBatched ? each : g.broadcast(each, [size, ...each.shape]);
      const results = inputs.slice(0, count).map(whole);
      const isBatched = inputs.map((input, i) => i < count || input.isBatched);
      const own = rulesOf(node).batch([...isBatched.slice(count), ...isBatched.slice(0, count)], size);
      const parts = customNode(
        results,
        inputs.slice(count).map((input) => input.node),
        own,
      );
      return parts.map((each) => ({ node: each, isBatched: true }));
    },
  },
};

/**
 * The transpose of a rule that is linear in `seeds`: from cotangents of its results to cotangents of the seeds. It is the
 * derivative of the rule.
 */
export function transposed(
  g: GraphOps,
  rule: "vjp" | "jvp",
  seeds: readonly Node[],
  made: readonly (Node | null)[],
  changes: readonly (Node | null)[],
): (Node | null)[] {
  const moving = made.flatMap((node, i) => (node && changes[i] ? [{ node, change: changes[i] }] : []));
  const turned = g.pullBack(
    moving.map(({ node }) => node),
    moving.map(({ change }) => change),
    seeds,
  );
  const present = turned.filter((node) => node !== null);
  if (abstractInOrder(present, seeds).length === 0) return turned;
  const [way, other, by] = rule === "vjp" ? ["Forward", "jvp", "cotangent"] : ["Reverse", "vjp", "tangent"];
  throw new UnsupportedError(
    `customGradient: ${way} mode would use the ${rule} turned around, but the ${rule} is not linear in the ${by} (it clips or ` +
      `compares it, say); give a ${other}, too.`,
  );
}

/** An attachment, not a parameter: rules do not affect the program that a node compiles to. */
const rulesOf = (node: Node): CustomRules => node.attachment as CustomRules;

export function customNode(results: readonly Node[], args: readonly Node[], own: CustomRules): Node[] {
  if (results.length === 0) return [];
  const params = { results: results.length, outputs: results.map(outputOf) };
  const node = makeNode(custom, [...results, ...args], params, results[0].device);
  node.attachment = own;
  return partsOf(node);
}

// -------------------------------------------------------------------------------------------------- recomputation

/** A function whose inner values are recomputed in reverse mode, not stored. Inputs: its arguments. Params: body. */
export const checkpoint: CompositePrimitive = {
  name: "checkpoint",
  kind: "composite",
  infer,
  expand: (_g, { params }, inputs) => (params.body as GraphFunction).apply(inputs),
  bundle: {
    jvp: (g, { params, inputs }, tangents) => {
      const body = params.body as GraphFunction;
      const own = body.parameters.map(makePlaceholder);
      const moved = own.map((parameter, i) => (tangents[i] ? makePlaceholder(parameter) : null));
      const results = body.apply(own);
      const changes = g.pushForward(results, own, moved).map((t, i) => t ?? g.zeros(results[i].shape, results[i]));
      const closed = closeOver(changes, [...own, ...moved.filter((each) => each !== null)]);
      const parts = checkpointNode(closed.body, [...closed.captured, ...inputs, ...tangents.filter((t) => t !== null)]);
      return parts.map((each) => (g.isDifferentiable(each.dtype) ? each : null));
    },
    vjp: (g, { params, inputs }, cotangents) => {
      const body = params.body as GraphFunction;
      // Nodes computed from these are not merged with the forward pass.
      const again = inputs.map((input) => g.anew(input));
      return g.pullBack(body.apply(again), cotangents, again);
    },
    batch: (g, { params }, inputs, size) => {
      const body = params.body as GraphFunction;
      const own = inputs.map(({ node: each }) => makePlaceholder(each));
      const given = own.map((each, i) => ({ node: each, isBatched: inputs[i].isBatched }));
      const results = g.vectorize(body.results, body.parameters, given, size);
      const next = new GraphFunction(
        own,
        results.map((result) => result.node),
      );
      const parts = checkpointNode(
        next,
        inputs.map((input) => input.node),
      );
      return parts.map((each, i) => ({ node: each, isBatched: results[i].isBatched }));
    },
  },
};

export function checkpointNode(body: GraphFunction, inputs: readonly Node[]): Node[] {
  const outputs = body.results.map(outputOf);
  if (outputs.length === 0) return [];
  return partsOf(makeNode(checkpoint, inputs, { body, outputs }, deviceOf(inputs, body)));
}

/** cond and switchCase: one of several functions of the same inputs, with their derivatives and batching. */
import { makeNode } from "../../build.js";
import { closeOverAll, GraphFunction, makePlaceholder, substitute } from "../../function.js";
import { hasWhileLoop, masked } from "../../loop-mask.js";
import type { Node } from "../../node.js";
import type { BatchedInput, CompositePrimitive, RoutinePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { inferBundle, outputOf, partsOf } from "../bundle.js";

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
  infer: inferBundle,
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
      const isLooping =
        index.isBatched && node.inputs[0].shape.length === 0 && branches.some(({ results }) => hasWhileLoop(results));
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
export const branching: RoutinePrimitive = { name: "branching", kind: "routine", infer: inferBundle };

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

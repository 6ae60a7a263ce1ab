/**
 * Loops in branches of which a vmap computes all: where each member chooses for itself, a loop runs on members that do not take
 * its branch, and need not end for them. A flag, one more input of the branch, goes into the condition of every loop in it,
 * however deep. `choice` asks for it when it is vectorised.
 */
import { makeNode, remakeNode } from "./build.js";
import { abstractInOrder, GraphFunction, makePlaceholder } from "./function.js";
import { inputsFirst, type Node } from "./node.js";
import type { Params } from "./primitive.js";
import type { GraphOps } from "./vocabulary.js";

/** The functions among a node's parameters: of loops, choices and checkpoints. A while loop is the one with a test. */
interface Functions {
  readonly body?: GraphFunction;
  readonly test?: GraphFunction;
  readonly branches?: readonly GraphFunction[];
}

const functionsOf = ({ params }: Node): readonly GraphFunction[] => {
  const { body, test, branches = [] } = params as Functions;
  return [body, test, ...branches].filter((each) => each !== undefined);
};

export function hasLoop({ results }: GraphFunction): boolean {
  const nodes = inputsFirst(results, ({ inputs }) => inputs);
  return nodes.some((node) => (node.params as Functions).test !== undefined || functionsOf(node).some(hasLoop));
}

/** The results of a function of its own parameters, the loops in it running only under a flag, a scalar bool. */
export function masked(g: GraphOps, { parameters, results }: GraphFunction, flag: Node): Node[] {
  const made = new Map<Node, Node>();
  for (const node of abstractInOrder(results, parameters)) {
    const inputs = node.inputs.map((input) => made.get(input) ?? input);
    const isLooping = (node.params as Functions).test !== undefined || functionsOf(node).some(hasLoop);
    made.set(node, isLooping ? flagged(g, node, inputs, flag) : remakeNode(node, inputs));
  }
  return results.map((result) => made.get(result) ?? result);
}

/** A loop, choice or checkpoint on other inputs, which has the flag as its first constant and hands it on. */
function flagged(g: GraphOps, node: Node, inputs: readonly Node[], flag: Node): Node {
  const { primitive, device, params } = node;
  const { body, test, branches } = params as Functions;
  const inside = (f: GraphFunction, finish = (_own: Node, results: readonly Node[]) => results) => {
    const own = makePlaceholder(flag);
    return new GraphFunction([own, ...f.parameters], finish(own, masked(g, f, own)));
  };
  const next: Record<string, unknown> = { ...params };
  if (body) next.body = inside(body);
  if (test) next.test = inside(test, (own, [goesOn]) => [g.and(own, goesOn)]);
  if ("constants" in params) next.constants = (params.constants as number) + 1;
  if (!branches) return makeNode(primitive, [flag, ...inputs], next, device);
  const [index, ...rest] = inputs;
  next.branches = branches.map((branch) => inside(branch));
  next.shared = withFlag(params, index.shape.length > 0);
  return makeNode(primitive, [index, flag, ...rest], next, device);
}

/** Which inputs of a choice its members share, with the flag in front of them. */
const withFlag = ({ shared }: Params, isShared: boolean): number[] => [
  ...(isShared ? [0] : []),
  ...(shared as readonly number[]).map((position) => position + 1),
];

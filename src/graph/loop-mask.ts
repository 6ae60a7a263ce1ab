/**
 * Masks for loops inside branches under vmap. If each member chooses its own branch, vmap computes all branches for all
 * members, and a loop might never end for members that do not take its branch. So a flag, one more input of the branch, is
 * added to the condition of every loop in it, at any depth. The batching rule of `choice` calls this. The runtime asks whether
 * a graph has such loops, because a program with one cannot be recorded.
 */
import { makeNode, remakeNode } from "./build.js";
import { abstractInOrder, GraphFunction, makePlaceholder } from "./function.js";
import { inputsFirst, type Node } from "./node.js";
import type { Params } from "./primitive.js";
import type { GraphOps } from "./vocabulary.js";

/** The functions among the parameters of loops, choices and checkpoints. Only a while loop has a test. */
interface Functions {
  readonly body?: GraphFunction;
  readonly test?: GraphFunction;
  readonly branches?: readonly GraphFunction[];
}

const functionsOf = ({ params }: Node): readonly GraphFunction[] => {
  const { body, test, branches = [] } = params as Functions;
  return [body, test, ...branches].filter((each) => each !== undefined);
};

/** Whether a graph has a while loop, also at any depth inside the functions and the definitions of its nodes. */
export const hasWhileLoop = (roots: readonly Node[]): boolean =>
  inputsFirst(roots, ({ inputs }) => inputs).some((node) => hasOwnLoop(node) || isLooping(node));

/** Whether the definition of a node has a while loop. No mask is needed: it ends by itself. */
const hasOwnLoop = ({ primitive }: Node): boolean => primitive.kind === "composite" && primitive.hasWhileLoop === true;

/** Whether a node is a while loop or has one inside. */
const isLooping = (node: Node): boolean =>
  (node.params as Functions).test !== undefined || functionsOf(node).some(({ results }) => hasWhileLoop(results));

/** The results of a function on its own parameters, with loops that run only if the flag, a scalar bool, is true. */
export function masked(g: GraphOps, { parameters, results }: GraphFunction, flag: Node): Node[] {
  const made = new Map<Node, Node>();
  for (const node of abstractInOrder(results, parameters)) {
    const inputs = node.inputs.map((input) => made.get(input) ?? input);
    made.set(node, isLooping(node) ? flagged(g, node, inputs, flag) : remakeNode(node, inputs));
  }
  return results.map((result) => made.get(result) ?? result);
}

/** A loop, choice or checkpoint on other inputs, with the flag as its first constant, passed on to inner loops. */
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

/** The positions of a choice's shared inputs after the flag is put in front. */
const withFlag = ({ shared }: Params, isShared: boolean): number[] => [
  ...(isShared ? [0] : []),
  ...(shared as readonly number[]).map((position) => position + 1),
];

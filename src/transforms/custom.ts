/** Derivatives by hand, and what is kept for the way back: `customGradient` and `checkpoint`. */
import { ArgumentError } from "../core/errors.js";
import { closeOver, makePlaceholder } from "../graph/function.js";
import type { Node } from "../graph/node.js";
import * as g from "../graph/ops.js";
import { type CustomRules, checkpointNode, customNode } from "../graph/primitives/control.js";
import { Tensor } from "../tensor/tensor.js";
import { checkNotAsync } from "./trace.js";
import { flattenTensors, leavesBeside, type TreeStructure, unflatten } from "./trees.js";
import { vmap } from "./vmap.js";

/** How a function's derivatives are computed instead of by the rules of what it does. One of the two is enough. */
export interface CustomDerivatives<A extends readonly unknown[], R> {
  /** Cotangents of the arguments, as a list like them, from the cotangent of the result. null stands for zero. */
  readonly vjp?: (cotangent: R, result: R, ...args: A) => readonly unknown[];
  /** The tangent of the result, from the tangents of the arguments (a list like them) and the arguments. */
  readonly jvp?: (tangents: A, ...args: A) => R;
}

/**
 * The same function with derivatives given by hand: for what is known in closed form, must be stable at an edge, or has
 * none of its own. The `vjp` serves `grad` and `vjp`; the `jvp` serves forward mode. With one of them the other direction
 * follows by transposing it.
 */
export function customGradient<A extends readonly unknown[], R>(
  f: (...args: A) => R,
  derivatives: CustomDerivatives<A, R>,
): (...args: A) => R {
  if (!derivatives.vjp && !derivatives.jvp) throw new ArgumentError("customGradient: give a vjp or a jvp.");
  return (...args) => {
    const given = flattenTensors(args, "customGradient");
    const result = f(...(unflatten(given.structure, given.leaves) as A));
    checkNotAsync(result, "customGradient");
    const outputs = flattenTensors(result, "customGradient, results");
    const shape: Shape = { args: given.structure, result: outputs.structure };
    const parts = customNode(
      outputs.leaves.map(({ node }) => node),
      given.leaves.map(({ node }) => node),
      rulesFrom(derivatives as CustomDerivatives<readonly unknown[], unknown>, shape),
    );
    return unflatten(outputs.structure, parts.map(asTensor)) as R;
  };
}

interface Shape {
  readonly args: TreeStructure;
  readonly result: TreeStructure;
}

const asTensor = (node: Node): Tensor => new Tensor(node);
const zerosFor = (node: Node): Node => g.zeros(node.shape, node);

function rulesFrom({ vjp, jvp }: CustomDerivatives<readonly unknown[], unknown>, shape: Shape): CustomRules {
  const argsOf = (nodes: readonly Node[]) => unflatten(shape.args, nodes.map(asTensor)) as readonly unknown[];
  const pushed = jvp
    ? (args: readonly Node[], tangents: readonly (Node | null)[]) => {
        const whole = tangents.map((t, i) => t ?? zerosFor(args[i]));
        return nodesOf(jvp(argsOf(whole), ...argsOf(args)), shape.result, "customGradient, jvp");
      }
    : null;
  const pulled = vjp
    ? (args: readonly Node[], results: readonly Node[], cotangents: readonly (Node | null)[]) => {
        const whole = cotangents.map((ct, i) => ct ?? zerosFor(results[i]));
        const back = vjp(
          unflatten(shape.result, whole.map(asTensor)),
          unflatten(shape.result, results.map(asTensor)),
          ...argsOf(args),
        );
        return nodesOf(back, shape.args, "customGradient, vjp");
      }
    : (args: readonly Node[], _results: readonly Node[], cotangents: readonly (Node | null)[]) => {
        // The jvp is linear in the tangents; its transpose is the vjp.
        const seeds = args.map(makePlaceholder);
        return g.pullBack((pushed as NonNullable<typeof pushed>)(args, seeds) as Node[], cotangents, seeds);
      };
  return {
    jvp: pushed,
    vjp: pulled,
    batch: (isBatched, _size) => batchedRules({ vjp, jvp }, shape, isBatched),
  };
}

/** The rules of one member, for all members at once. */
function batchedRules(
  { vjp, jvp }: CustomDerivatives<readonly unknown[], unknown>,
  shape: Shape,
  isBatched: readonly boolean[],
): CustomRules {
  const count = shape.args.leafCount;
  const axes = isBatched.map((each) => (each ? 0 : null));
  const argAxes = unflatten(shape.args, axes.slice(0, count)) as readonly (number | null)[];
  const resultAxes = unflatten(shape.result, axes.slice(count)) as number;
  // Cotangents of arguments that are the same for all members are added up over them.
  const summed = (tree: unknown): unknown =>
    unflatten(
      shape.args,
      flattenTensors(tree, "customGradient").leaves.map((leaf, i) => (isBatched[i] ? leaf : leaf.sum({ axis: 0 }))),
    );
  return rulesFrom(
    {
      vjp:
        vjp &&
        ((cotangent, result, ...args) =>
          summed(
            vmap(vjp, { in: [resultAxes, resultAxes, ...argAxes] })(cotangent, result, ...args),
          ) as readonly unknown[]),
      jvp: jvp && ((tangents, ...args) => vmap(jvp, { in: [argAxes as never, ...argAxes] })(tangents, ...args)),
    },
    shape,
  );
}

/** The nodes of a tree that must have a structure; null and undefined stand for zero. */
function nodesOf(tree: unknown, structure: TreeStructure, operation: string): (Node | null)[] {
  return leavesBeside(structure, tree, 2, operation).map((leaf) => {
    if (leaf === null || leaf === undefined) return null;
    if (leaf instanceof Tensor) return leaf.node;
    throw new ArgumentError(`${operation}: a leaf is no tensor.`);
  });
}

/**
 * The same function, whose inner values are not kept for the gradient but computed again on the way back: memory for
 * time.
 */
export function checkpoint<A extends readonly unknown[], R>(f: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    const given = flattenTensors(args, "checkpoint");
    const own = given.leaves.map(({ node }) => makePlaceholder(node));
    const result = f(...(unflatten(given.structure, own.map(asTensor)) as A));
    checkNotAsync(result, "checkpoint");
    const outputs = flattenTensors(result, "checkpoint, results");
    const { body, captured } = closeOver(
      outputs.leaves.map(({ node }) => node),
      own,
    );
    const parts = checkpointNode(body, [...captured, ...given.leaves.map(({ node }) => node)]);
    return unflatten(outputs.structure, parts.map(asTensor)) as R;
  };
}

/** Derivatives given by hand (`customGradient`), and values recomputed for the gradient (`checkpoint`). */

import { checkFunction, checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { formatShape } from "../core/shape.js";
import { closeOver, isLeftBehind, makePlaceholder } from "../graph/function.js";
import type { Node } from "../graph/node.js";
import { checkpointNode } from "../graph/primitives/checkpoint.js";
import { type CustomRules, customNode, transposed } from "../graph/primitives/custom.js";
import { variable } from "../graph/primitives/movement.js";
import { g } from "../graph/vocabulary.js";
import { Tensor } from "../tensor/index.js";
import { checkNotAsync, standInFor, tracedOn } from "./trace.js";
import { flattenTensors, leavesBeside, pathOf, type TreeStructure, unflatten } from "./trees.js";
import { vmap } from "./vmap.js";

/** The derivatives of a function, given by hand. One of the two is enough. */
export interface CustomDerivatives<A extends readonly unknown[], R> {
  /** Cotangents of the arguments, as a list like them, from the cotangent of the result. null stands for zero. */
  readonly vjp?: (cotangent: R, result: R, ...args: A) => readonly unknown[];
  /** The tangent of the result, from the tangents of the arguments (a list like them) and the arguments. */
  readonly jvp?: (tangents: A, ...args: A) => R;
}

/**
 * The same function with derivatives given by hand: because they are known in closed form, must be stable at an edge, or do
 * not exist otherwise. The `vjp` serves `grad` and `vjp`; the `jvp` serves forward mode. With one of them the other direction
 * follows by transposing it, if it is linear in the cotangent or the tangents; `hessian` takes both directions.
 *
 * Tensors to differentiate by must be among the arguments: a rule sends no gradient to tensors reached by closure. A rule may
 * use tensors from outside. But values that a loop, a branch or a vmap around the function hands to its body must be among
 * the arguments too, since the rule runs after the body has been traced.
 */
export function customGradient<A extends readonly unknown[], R>(
  f: (...args: A) => R,
  derivatives: CustomDerivatives<A, R>,
): (...args: A) => R {
  checkCount("customGradient", 2, arguments);
  checkFunction("customGradient", f);
  checkOptions<CustomDerivatives<A, R>>("customGradient", derivatives, { vjp: "any", jvp: "any" });
  const { vjp, jvp } = derivatives;
  if (!vjp && !jvp) throw new ArgumentError("customGradient: give a vjp or a jvp.");
  if (vjp) checkFunction("customGradient", vjp, "vjp");
  if (jvp) checkFunction("customGradient", jvp, "jvp");
  return (...args) => {
    const given = flattenTensors(args, "customGradient");
    const result = f(...(unflatten(given.structure, given.leaves) as A));
    checkNotAsync(result, "customGradient");
    const outputs = flattenTensors(result, "customGradient, results");
    const shape: Shape = { args: given.structure, result: outputs.structure };
    const [results, inputs] = [outputs.leaves.map(nodeOf), given.leaves.map(nodeOf)];
    checkClosed(results, inputs);
    const rules = rulesFrom(derivatives as CustomDerivatives<readonly unknown[], unknown>, shape);
    return unflatten(outputs.structure, customNode(results, inputs, rules).map(asTensor)) as R;
  };
}

/** Gradients flow to the arguments only, so nothing else that is being differentiated may go into the results. */
function checkClosed(results: readonly Node[], args: readonly Node[]): void {
  const seen = new Set(args);
  const waiting = [...results];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    // A node of no trace depends on no variable.
    if (seen.has(node) || !node.trace) continue;
    seen.add(node);
    if (node.primitive === variable && node.trace.isOpen) {
      throw new ArgumentError(
        "customGradient: the function uses a tensor that is being differentiated and is not among its arguments; pass it as one.",
      );
    }
    waiting.push(...node.inputs);
  }
}

interface Shape {
  readonly args: TreeStructure;
  readonly result: TreeStructure;
}

const asTensor = (node: Node): Tensor => new Tensor(node);
const nodeOf = ({ node }: Tensor): Node => node;
const zerosFor = (node: Node): Node => g.zeros(node.shape, node);

function rulesFrom({ vjp, jvp }: CustomDerivatives<readonly unknown[], unknown>, shape: Shape): CustomRules {
  const argsOf = (nodes: readonly Node[]) => unflatten(shape.args, nodes.map(asTensor)) as readonly unknown[];
  const pushed: CustomRules["jvp"] = jvp
    ? (args, results, tangents) => {
        const whole = tangents.map((t, i) => t ?? zerosFor(args[i]));
        const moved = nodesLike(results, jvp(argsOf(whole), ...argsOf(args)), shape.result, "customGradient, jvp");
        checkStillThere("jvp", moved, [...whole, ...args]);
        return moved;
      }
    : null;
  const pulled: CustomRules["vjp"] = (args, results, cotangents) => {
    if (vjp) {
      const whole = cotangents.map((ct, i) => ct ?? zerosFor(results[i]));
      const [ct, result] = [whole, results].map((nodes) => unflatten(shape.result, nodes.map(asTensor)));
      const sent = nodesLike(args, vjp(ct, result, ...argsOf(args)), shape.args, "customGradient, vjp");
      checkStillThere("vjp", sent, [...whole, ...results, ...args]);
      return sent;
    }
    const seeds = args.map(makePlaceholder);
    return transposed(g, "jvp", seeds, pushed?.(args, results, seeds) ?? [], cotangents);
  };
  return {
    jvp: pushed,
    vjp: pulled,
    batch: (isBatched, _size) => batchedRules({ vjp, jvp }, shape, isBatched),
  };
}

/** A rule runs when derivatives are taken; by then the body of a loop or a branch around the function has been traced. */
function checkStillThere(rule: "vjp" | "jvp", made: readonly (Node | null)[], given: readonly Node[]): void {
  const nodes = made.filter((node) => node !== null);
  if (!isLeftBehind(nodes, given)) return;
  throw new ArgumentError(
    `customGradient, ${rule}: the rule uses a value of a loop, branch, checkpoint or vmap around the function (a carry, an ` +
      "element, a member) that is not there any more when the rule runs. Pass it as an argument of the custom function; the " +
      "rule then gets it as one.",
  );
}

/** The rules, which are written for one member of a batch, for all members at once. */
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
      leavesBeside(shape.args, tree, 2, "customGradient, vjp").map((leaf, i) =>
        leaf instanceof Tensor && !isBatched[i] ? leaf.sum({ axis: 0 }) : leaf,
      ),
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

/** The nodes of a tree that must be like others in structure and shapes; null and undefined stand for zero. */
function nodesLike(like: readonly Node[], tree: unknown, structure: TreeStructure, operation: string): (Node | null)[] {
  checkNotAsync(tree, operation);
  return leavesBeside(structure, tree, 2, operation).map((leaf, i) => {
    const { shape, dtype } = like[i];
    if (leaf === null || leaf === undefined || !g.isDifferentiable(dtype)) return null;
    const where = pathOf(structure, i) || "what was returned";
    if (!(leaf instanceof Tensor)) {
      throw new ArgumentError(`${operation}: ${where} is a ${typeof leaf}; return a tensor, or null for zero.`);
    }
    if (formatShape(leaf.shape) === formatShape(shape)) return leaf.cast(dtype).node;
    throw new ShapeError(
      `${operation}: ${where} has the shape ${formatShape(leaf.shape)}; what it goes with has ${formatShape(shape)}.`,
    );
  });
}

/**
 * The same function, whose inner values are not kept for the gradient but computed again on the way back: memory for
 * time.
 */
export function checkpoint<A extends readonly unknown[], R>(f: (...args: A) => R): (...args: A) => R {
  checkCount("checkpoint", 1, arguments);
  checkFunction("checkpoint", f);
  return (...args: A): R => {
    const given = flattenTensors(args, "checkpoint");
    const own = given.leaves.map(({ node }) => standInFor(node));
    const result = tracedOn("checkpoint", own, () => f(...(unflatten(given.structure, own.map(asTensor)) as A)));
    const outputs = flattenTensors(result, "checkpoint, results");
    const { body, captured } = closeOver(outputs.leaves.map(nodeOf), own);
    const parts = checkpointNode(body, [...captured, ...given.leaves.map(nodeOf)]);
    return unflatten(outputs.structure, parts.map(asTensor)) as R;
  };
}

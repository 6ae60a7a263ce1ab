/** A choice between two operands, element by element. */
import { checkCount } from "../../core/arity.js";
import type { Scalar } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { checkScalar } from "../../core/promotion.js";
import { broadcastShapes } from "../../core/shape.js";
import { Node } from "../../graph/node.js";
import * as E from "../../graph/primitives/elementwise.js";
import { backendOf, broadcastNode, castNode, checkOneDevice, makeNode, meet, scalarNode } from "../build.js";
import type { Choice } from "../result-dtypes.js";
import type { Operand, Tensor } from "../tensor.js";
import { isTensor, nodeOrScalar } from "../tensor-checks.js";

/** a where the condition holds, else b: `where(x.greater(0), x, 0)`. */
export function where<A extends Operand, B extends Operand>(
  condition: Tensor | boolean,
  a: A,
  b: B,
): Tensor<Choice<A, B>> {
  checkCount("where", 3, arguments);
  const like = [condition, a, b].find(isTensor);
  if (!like) throw new ArgumentError("where: none of its operands is a tensor; make one with tensor().");
  if (!isTensor(condition)) checkScalar(condition, "where");
  const given = isTensor(condition) ? condition.node : scalarNode(condition, "bool", backendOf(like.node));
  return like.tensorOf(chosenNode(given, nodeOrScalar(a), nodeOrScalar(b)));
}

function chosenNode(condition: Node, a: Node | Scalar, b: Node | Scalar): Node {
  const test = castNode(condition, "bool");
  const hasNode = a instanceof Node || b instanceof Node;
  // Two JavaScript values alone meet in f32.
  const typed = meet("where", hasNode ? [a, b] : [a, b, castNode(condition, "f32")]).slice(0, 2);
  checkOneDevice("where", [test, ...typed]);
  const shape = broadcastShapes("where", test.shape, typed[0].shape);
  const inputs = [test, ...typed].map((input) => broadcastNode(input, shape));
  return makeNode(E.where, inputs, {}, backendOf(test));
}

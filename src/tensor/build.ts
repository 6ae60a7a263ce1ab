/**
 * Making nodes: the one place where operands meet. JavaScript values become constants, dtypes are promoted, shapes are
 * broadcast, devices must agree, and a graph that has grown long is sent to work.
 */
import type { DType, Scalar } from "../core/dtype.js";
import { DeviceError } from "../core/errors.js";
import { resultType } from "../core/promotion.js";
import { broadcastShapes, type Shape, sameShape } from "../core/shape.js";
import { Node } from "../graph/node.js";
import type { Params, Primitive } from "../graph/primitive.js";
import { cast } from "../graph/primitives/elementwise.js";
import { buffer, constant } from "../graph/primitives/leaf.js";
import { expand, reshape } from "../graph/primitives/movement.js";
import type { Backend } from "./backend.js";

/** Chains longer than this are computed without waiting to be asked, so that kernels stay of a reasonable size. */
const MAX_DEPTH = 200;

export function makeNode(primitive: Primitive, inputs: readonly Node[], params: Params, backend: Backend): Node {
  const { shape, dtype } = primitive.infer(inputs, params);
  const node = new Node(primitive, params, inputs, shape, dtype, backend);
  if (node.depth > MAX_DEPTH) backend.realize([node]);
  return node;
}

export const backendOf = (node: Node): Backend => node.device as Backend;

/** An operation on one input. */
export function derive(primitive: Primitive, input: Node, params: Params): Node {
  return makeNode(primitive, [input], params, backendOf(input));
}

/** One value, repeated over a shape. */
export function scalarNode(value: Scalar, dtype: DType, backend: Backend, shape: Shape = []): Node {
  return makeNode(constant, [], { value, dtype, shape: [...shape] }, backend);
}

/** A node over bytes that are copied to the device. */
export function storedNode(backend: Backend, bytes: Uint8Array, shape: Shape, dtype: DType): Node {
  const node = new Node(buffer, { shape: [...shape], dtype }, [], [...shape], dtype, backend);
  node.realize(backend.upload(bytes));
  return node;
}

export function castNode(node: Node, dtype: DType): Node {
  return node.dtype === dtype ? node : derive(cast, node, { dtype });
}

export function reshapeNode(node: Node, shape: Shape): Node {
  return sameShape(node.shape, shape) ? node : derive(reshape, node, { shape: [...shape] });
}

/** Stretches a node to a shape it broadcasts to. */
export function broadcastNode(node: Node, shape: Shape): Node {
  if (sameShape(node.shape, shape)) return node;
  const aligned = reshapeNode(node, [...new Array(shape.length - node.shape.length).fill(1), ...node.shape]);
  return sameShape(aligned.shape, shape) ? aligned : derive(expand, aligned, { shape: [...shape] });
}

export function checkOneDevice(operation: string, nodes: readonly Node[]): void {
  const [first] = nodes;
  for (const { device } of nodes) {
    if (device === first.device) continue;
    throw new DeviceError(
      `${operation}: operands on ${first.device.id} and ${device.id}; move one with .to("${first.device.id}").`,
    );
  }
}

/** Nodes and JavaScript values brought to one device, dtype and shape. */
export function meet(operation: string, operands: readonly (Node | Scalar)[], dtype?: DType): Node[] {
  const nodes = operands.filter((operand): operand is Node => operand instanceof Node);
  const [first] = nodes;
  checkOneDevice(operation, nodes);
  const common =
    dtype ??
    resultType(
      operands.map((operand) => (operand instanceof Node ? operand.dtype : operand)),
      operation,
    );
  const shape = broadcastShapes(operation, ...nodes.map((node) => node.shape));
  return operands.map((operand) =>
    operand instanceof Node
      ? broadcastNode(castNode(operand, common), shape)
      : scalarNode(operand, common, backendOf(first), shape),
  );
}

/**
 * Makes nodes: JavaScript values become constants, dtypes are promoted, shapes are broadcast, devices are checked to agree,
 * and a chain that has grown long is computed.
 */
import { type DType, isFloat, type Scalar } from "../core/dtype.js";
import { DeviceError } from "../core/errors.js";
import { checkScalar, resultType } from "../core/promotion.js";
import { broadcastShapes, type Shape, sameShape, sizeOf } from "../core/shape.js";
import { type DeviceHandle, isUnderWay, measureDepth, Node, pendingInOrder } from "./node.js";
import type { Params, Primitive } from "./primitive.js";
import { cast } from "./primitives/elementwise.js";
import { constant } from "./primitives/leaf.js";
import { expand, permute, reshape } from "./primitives/movement.js";

/** Longer chains of pending operations are computed at once, so that kernels stay of a reasonable size. */
const MAX_DEPTH = 200;

/**
 * The same while a function is differentiated. The way back needs most values of the way there, and what was computed at
 * once is gone but for its end: it would be computed again, from the beginning. One program of both ways stores what it
 * needs again.
 */
const MAX_TRACED_DEPTH = 2000;

/** Of a chain that is longer still, values this many operations apart are kept for the way back. */
const BETWEEN_KEPT = 125;

export function makeNode(primitive: Primitive, inputs: readonly Node[], params: Params, device: DeviceHandle): Node {
  const { shape, dtype } = primitive.infer(inputs, params);
  const node = new Node(primitive, params, inputs, shape, dtype, device);
  if (inputs.length > 0 && inputs[0].isWeak) node.isWeak = isWeakResult(primitive, inputs, dtype);
  if (node.depth > MAX_DEPTH && !node.isAbstract) computeIfLong(node);
  return node;
}

/** Computes a node if the chain behind it has grown too long. */
function computeIfLong(node: Node): void {
  const isTraced = isUnderWay(node.trace);
  const limit = isTraced ? MAX_TRACED_DEPTH : MAX_DEPTH;
  // The recorded depth is an upper bound: inputs may have been computed since. Measure before acting.
  if (node.depth <= limit || measureDepth(node) <= limit) return;
  node.device.realize(isTraced ? withCheckpoints(node) : [node]);
}

/** The end of a long chain that is being differentiated, and its values at every so many operations. */
function withCheckpoints(end: Node): Node[] {
  const checkpoints = new Set<Node>();
  const segmentOf = ({ depth }: Node) => Math.floor(depth / BETWEEN_KEPT);
  for (const node of pendingInOrder([end])) {
    for (const input of node.inputs) {
      const source = sourceOf(input);
      const isPending = source.storage === null && source.primitive.kind !== "leaf";
      if (isPending && segmentOf(source) < segmentOf(node)) checkpoints.add(source);
    }
  }
  return [...checkpoints, end];
}

/** The node whose elements this one only rearranges or repeats: it is at most as large, and often smaller. */
export function sourceOf(node: Node): Node {
  let source = node;
  while (source.primitive.kind === "movement" && source.inputs.length === 1) {
    const [input] = source.inputs;
    if (sizeOf(input.shape) > sizeOf(source.shape)) break;
    source = input;
  }
  return source;
}

/** Other arrangements of the same values. */
const isArranging = (primitive: Primitive): boolean =>
  primitive === reshape || primitive === expand || primitive === permute;

/** A result of numbers alone counts as a number, until it is cast. */
function isWeakResult(primitive: Primitive, inputs: readonly Node[], dtype: DType): boolean {
  if (primitive.kind !== "elementwise") return isArranging(primitive);
  return primitive !== cast && isFloat(dtype) && inputs.every(({ isWeak }) => isWeak);
}

/** The same operation on other inputs. */
export function remakeNode({ primitive, params, device, attachment }: Node, inputs: readonly Node[]): Node {
  const node = makeNode(primitive, inputs, params, device);
  node.attachment = attachment;
  return node;
}

/** An operation on one input. */
export function derive(primitive: Primitive, input: Node, params: Params): Node {
  return makeNode(primitive, [input], params, input.device);
}

/** One value, repeated over a shape. */
export function scalarNode(value: Scalar, dtype: DType, device: DeviceHandle, shape: Shape = []): Node {
  return makeNode(constant, [], { value, dtype, shape: [...shape] }, device);
}

export function castNode(node: Node, dtype: DType): Node {
  if (node.dtype === dtype) return node;
  // Cast the number itself: it is then rounded only once.
  if (node.isWeak && node.storage === null && isArranging(node.primitive)) {
    return derive(node.primitive, castNode(node.inputs[0], dtype), node.params);
  }
  return derive(cast, node, { dtype });
}

export function reshapeNode(node: Node, shape: Shape): Node {
  return sameShape(node.shape, shape) ? node : derive(reshape, node, { shape: [...shape] });
}

/** Stretches a node to a shape it broadcasts to. */
export function broadcastNode(node: Node, shape: Shape): Node {
  if (sameShape(node.shape, shape)) return node;
  const missing = shape.length - node.shape.length;
  const aligned = missing === 0 ? node : reshapeNode(node, [...new Array(missing).fill(1), ...node.shape]);
  return sameShape(aligned.shape, shape) ? aligned : derive(expand, aligned, { shape: [...shape] });
}

export function permuteNode(node: Node, axes: readonly number[]): Node {
  return axes.every((axis, i) => axis === i) ? node : derive(permute, node, { axes: [...axes] });
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

/** A weak node promotes like this number: one that is not whole. */
const ANY_NUMBER = 0.5;

/** Whether they have one dtype that nothing changes. */
const isAlike = (a: Node, b: Node): boolean => a.dtype === b.dtype && !a.isWeak && !b.isWeak;

/** The common dtype of nodes and JavaScript values. */
export function commonDType(operation: string, operands: readonly (Node | Scalar)[]): DType {
  const [first] = operands;
  if (first instanceof Node && operands.every((each) => each instanceof Node && isAlike(each, first)))
    return first.dtype;
  const isStrong = (operand: Node | Scalar) => operand instanceof Node && !operand.isWeak;
  const hasStrong = operands.some(isStrong);
  // Among weak nodes only, dtypes stay.
  const typeOf = (node: Node) => (node.isWeak && hasStrong ? ANY_NUMBER : node.dtype);
  return resultType(
    operands.map((operand) => (operand instanceof Node ? typeOf(operand) : operand)),
    operation,
  );
}

/** Nodes and JavaScript values brought to one device, dtype and shape. */
export function meet(operation: string, operands: readonly (Node | Scalar)[], dtype?: DType): Node[] {
  if (dtype === undefined && operands.length === 2) {
    const alike = meetAlike(operation, operands[0], operands[1]);
    if (alike) return alike;
  }
  const nodes = operands.filter((operand): operand is Node => operand instanceof Node);
  const [first] = nodes;
  // A string would be taken for a dtype below.
  for (const operand of operands) if (!(operand instanceof Node)) checkScalar(operand, operation);
  checkOneDevice(operation, nodes);
  const isWeak = nodes.every((node) => node.isWeak);
  const common = dtype ?? commonDType(operation, operands);
  const shape = broadcastShapes(operation, ...nodes.map((node) => node.shape));
  return operands.map((operand) => {
    if (operand instanceof Node) return broadcastNode(castNode(operand, common), shape);
    const constant = scalarNode(operand, common, first.device, shape);
    constant.isWeak = isWeak;
    return constant;
  });
}

/** Fast path for two nodes of one dtype, or a node of floats and a number; null for anything else. */
function meetAlike(operation: string, a: Node | Scalar, b: Node | Scalar): Node[] | null {
  if (!(a instanceof Node) || a.isWeak) return null;
  const { dtype, shape, device } = a;
  if (typeof b === "number")
    return isFloat(dtype) ? [a, makeNode(constant, [], { value: b, dtype, shape }, device)] : null;
  if (!(b instanceof Node) || b.isWeak) return null;
  if (device !== b.device || dtype !== b.dtype) return null;
  if (sameShape(shape, b.shape)) return [a, b];
  const common = broadcastShapes(operation, shape, b.shape);
  return [broadcastNode(a, common), broadcastNode(b, common)];
}

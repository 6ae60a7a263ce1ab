/**
 * Combines updates into rows of a tensor, by atomic operations: in no particular order, so that sums and products of
 * floats may differ in their last bits from run to run. Inputs: x [n, inner], positions i32 [m] (those outside 0 … n - 1 are
 * skipped), updates [m, inner]. Params: op.
 */
import { DTypeError, ShapeError } from "../../core/errors.js";
import type { Node } from "../node.js";
import type { Params, RoutinePrimitive } from "../primitive.js";
import { type CombineOp, type ReductionEntry, reductionBy } from "../reduction.js";
import type { GraphOps } from "../vocabulary.js";

/** The operations that users may name: those that combine the partial results of reductions of numbers. */
export type ScatterOp = Extract<CombineOp, "add" | "mul" | "min" | "max">;

const ruleOf = ({ op }: Params): ReductionEntry => reductionBy(op as ScatterOp);

const atomicDTypes = ["i32", "u32", "i64", "u64", "f32", "f64"];
/** Operations that take the real and the imaginary part of complex numbers separately; the others mix them. */
const withComplexDTypes = [...atomicDTypes, "c64", "c128"];

export const scatter: RoutinePrimitive = {
  name: "scatter",
  kind: "routine",
  infer: ([x, positions, updates], params) => {
    const dtypes = ruleOf(params).complex === "parts" ? withComplexDTypes : atomicDTypes;
    if (!dtypes.includes(x.dtype) || updates.dtype !== x.dtype) {
      throw new DTypeError(`scatter, ${params.op}: ${updates.dtype} into ${x.dtype}; it takes ${dtypes.join(", ")}.`);
    }
    const [, inner] = x.shape;
    const [m] = positions.shape;
    const fits =
      x.shape.length === 2 &&
      positions.shape.length === 1 &&
      updates.shape.length === 2 &&
      updates.shape[0] === m &&
      updates.shape[1] === inner;
    if (!fits || positions.dtype !== "i32") {
      throw new ShapeError(`scatter: [${updates.shape}] at [${positions.shape}] into [${x.shape}].`);
    }
    return { shape: x.shape, dtype: x.dtype };
  },
  jvp: (g, node, [tx, , tu]) => {
    const [x, positions, updates] = node.inputs;
    const changeOfX = tx ?? g.zeros(x.shape, x);
    const changes = tu ?? g.zeros(updates.shape, updates);
    const share = sharesOf(g, node);
    if (!share) return g.scatterAdd(changeOfX, positions, changes);
    return g.scatterAdd(g.mul(changeOfX, share.ofX), positions, g.mul(changes, share.ofUpdates));
  },
  vjp: (g, node, ct) => {
    const [, positions, updates] = node.inputs;
    const spread = rowsAt(g, ct, positions, updates);
    const share = sharesOf(g, node);
    if (!share) return [ct, null, spread];
    return [g.mul(ct, share.ofX), null, g.mul(spread, share.ofUpdates)];
  },
  batch: (g, { params }, inputs, size) => {
    const [x, positions, updates] = inputs.map(({ node, isBatched }) =>
      isBatched ? node : g.broadcast(node, [size, ...node.shape]),
    );
    const [, rows, inner] = x.shape;
    const [, count] = positions.shape;
    // Members are concatenated; a position outside its own member must not land in a neighbour's part.
    const isInside = g.and(g.greaterEqual(positions, 0), g.less(positions, rows));
    const own = g.add(positions, g.mul(g.counting(positions.shape, 0, positions), rows));
    const places = g.reshape(g.where(isInside, own, -1), [size * count]);
    const flat = [g.reshape(x, [size * rows, inner]), places, g.reshape(updates, [size * count, inner])];
    return g.reshape(g.move(scatter, flat, params), [size, rows, inner]);
  },
};

/** The rows that updates went to; `otherwise` for updates that were skipped. */
function rowsAt(g: GraphOps, x: Node, positions: Node, updates: Node, otherwise = 0): Node {
  const [rows] = x.shape;
  if (rows === 0 || positions.shape[0] === 0) return g.zeros(updates.shape, x);
  const isInside = g.and(g.greaterEqual(positions, 0), g.less(positions, rows));
  const taken = g.take(x, g.where(isInside, positions, 0), 0);
  return g.where(g.broadcast(g.reshape(isInside, [positions.shape[0], 1]), updates.shape), taken, otherwise);
}

interface Shares {
  readonly ofX: Node;
  readonly ofUpdates: Node;
}

/** The derivative of each result by the elements that went into it; null where it is 1. */
function sharesOf(g: GraphOps, node: Node): Shares | null {
  const { derivative } = ruleOf(node.params);
  switch (derivative) {
    case "linear":
      return null;
    case "product":
      return sharesOfProduct(g, node);
    case "extreme":
      return sharesOfExtreme(g, node);
    case "none":
      throw new DTypeError(`scatter, ${node.params.op}: it has no derivative.`);
  }
}

/** The product of all other elements: the result divided by the element. If one element is zero, only its own share is not 0. */
function sharesOfProduct(g: GraphOps, node: Node): Shares {
  const [x, positions, updates] = node.inputs;
  const at = (value: Node) => rowsAt(g, value, positions, updates);
  const isZero = (value: Node) => g.equal(value, 0);
  const withoutZeros = (value: Node) => g.where(isZero(value), 1, value);
  const product = g.move(scatter, [withoutZeros(x), positions, withoutZeros(updates)], { op: "mul" });
  const count = (value: Node) => g.cast(isZero(value), value.dtype);
  const zeros = g.scatterAdd(count(x), positions, count(updates));
  const others = (value: Node, total: Node, zerosThere: Node) =>
    g.where(g.greater(g.sub(zerosThere, count(value)), 0), 0, g.div(total, withoutZeros(value)));
  return { ofX: others(x, product, zeros), ofUpdates: others(updates, at(product), at(zeros)) };
}

/** Elements equal to the extreme share it in equal parts. */
function sharesOfExtreme(g: GraphOps, node: Node): Shares {
  const [x, positions, updates] = node.inputs;
  const at = (value: Node) => rowsAt(g, value, positions, updates);
  const isReached = (value: Node, result: Node) => g.cast(g.equal(value, result), value.dtype);
  const fromX = isReached(x, node);
  // Skipped updates compare with NaN, which equals nothing.
  const fromUpdates = isReached(updates, rowsAt(g, node, positions, updates, Number.NaN));
  const ties = g.scatterAdd(fromX, positions, fromUpdates);
  return { ofX: g.div(fromX, ties), ofUpdates: g.where(g.equal(fromUpdates, 0), 0, g.div(fromUpdates, at(ties))) };
}

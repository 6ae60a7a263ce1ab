/** Movements that read at positions which are elements of another tensor. */
import { ShapeError } from "../../../core/errors.js";
import type { IndexExpr } from "../../../core/index-expr.js";
import { productOf } from "../../../core/shape.js";
import type { Node } from "../../node.js";
import type { ElementIndex, MovementPrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { always, withBatch } from "./rules.js";

/**
 * Elements along an axis at positions given by an integer tensor: the axis is replaced by the axes of the positions.
 * Inputs: data, positions. Params: axis. Positions outside the axis read its nearest end.
 */
export const take: MovementPrimitive = {
  name: "take",
  kind: "movement",
  infer: ([data, positions], params) => {
    const axis = params.axis as number;
    const shape = [...data.shape.slice(0, axis), ...positions.shape, ...data.shape.slice(axis + 1)];
    if (data.shape[axis] === 0 && productOf(positions.shape) > 0) {
      throw new ShapeError(`take: axis ${axis} of [${data.shape}] has no elements to take.`);
    }
    return { shape, dtype: data.dtype };
  },
  read: (_space, index, { params, inputs: [, positions] }) => {
    const axis = params.axis as number;
    const rank = positions.shape.length;
    const at = { input: 1, index: index.slice(axis, axis + rank) };
    return [always([...index.slice(0, axis), at, ...index.slice(axis + rank)])];
  },
  vjp: (g, { params, inputs: [data, positions] }, ct) => {
    const axis = params.axis as number;
    const rank = positions.shape.length;
    const rest = ct.shape.flatMap((_, i) => (i >= axis && i < axis + rank ? [] : [i]));
    const rows = g.permute(ct, [...positions.shape.map((_, i) => axis + i), ...rest]);
    const inner = data.shape.filter((_, i) => i !== axis);
    const total = g.scatterAdd(
      g.zeros([data.shape[axis], productOf(inner)], ct),
      g.reshape(heldInside(g, positions, data.shape[axis]), [productOf(positions.shape)]),
      g.reshape(rows, [productOf(positions.shape), productOf(inner)]),
    );
    return [g.firstToAxis(g.reshape(total, [data.shape[axis], ...inner]), axis), null];
  },
  batch: (g, { params }, [data, positions]) => {
    const axis = params.axis as number;
    if (!positions.isBatched) return g.take(data.node, positions.node, axis + 1);
    if (!data.isBatched) return g.axisFirst(g.take(data.node, positions.node, axis), axis);
    // Member b takes from member b: the batch becomes an index too.
    const shape = positions.node.shape;
    const member = g.cast(g.counting(shape, 0, data.node), positions.node.dtype);
    const taken = g.gather(data.node, [member, positions.node], [0, axis + 1], axis);
    return g.axisFirst(taken, axis);
  },
};

/** Positions as i32, clamped to the axis, as reading clamps them. */
const heldInside = (g: GraphOps, positions: Node, extent: number): Node => {
  const wide = g.cast(positions, "i32");
  const last = g.constantLike(extent - 1, wide);
  return g.where(g.less(wide, 0), 0, g.where(g.greater(wide, last), last, wide));
};

/**
 * For each position, the element of data at the same index in every other axis. Inputs: data, positions of the same rank
 * and, off the axis, the same shape. Params: axis.
 */
export const takeAlongAxis: MovementPrimitive = {
  name: "takeAlongAxis",
  kind: "movement",
  infer: ([data, positions], params) => {
    const axis = params.axis as number;
    const fits =
      data.shape.length === positions.shape.length &&
      data.shape.every((n, i) => i === axis || n === positions.shape[i]);
    if (!fits) {
      throw new ShapeError(`takeAlongAxis: positions of [${positions.shape}] for [${data.shape}] along axis ${axis}.`);
    }
    return { shape: positions.shape, dtype: data.dtype };
  },
  read: (_space, index, { params }) => {
    const axis = params.axis as number;
    return [always(index.map((at, i) => (i === axis ? { input: 1, index } : at)))];
  },
  vjp: (g, { params, inputs: [data, positions] }, ct) => {
    const axis = params.axis as number;
    const along = heldInside(g, positions, data.shape[axis]);
    if (positions.shape[axis] === 1) return [atOnePosition(g, ct, along, data.shape, axis), null];
    const flat = data.shape.reduce((sum: Node | null, extent, i) => {
      const at = i === axis ? along : g.counting(positions.shape, i, positions);
      return sum ? g.add(g.mul(sum, extent), at) : at;
    }, null);
    const count = productOf(positions.shape);
    const total = g.scatterAdd(
      g.zeros([productOf(data.shape), 1], ct),
      g.reshape(flat as Node, [count]),
      g.reshape(ct, [count, 1]),
    );
    return [g.reshape(total, data.shape), null];
  },
  batch: (g, { params }, [data, positions], size) =>
    g.takeAlongAxis(withBatch(g, data, size), withBatch(g, positions, size), (params.axis as number) + 1),
};

/**
 * Values of extent 1 along an axis, each at its position along it, and zeros elsewhere. Nothing is scattered: each element
 * compares its own position, so the loss of a classifier and its gradient become one kernel.
 */
function atOnePosition(g: GraphOps, values: Node, positions: Node, shape: readonly number[], axis: number): Node {
  const isThere = g.equal(g.counting(shape, axis, positions), g.broadcast(positions, shape));
  return g.where(isThere, g.broadcast(values, shape), 0);
}

/**
 * Elements at positions along several axes at once, as advanced indexing selects them. Inputs: data, then one integer tensor
 * of a common shape for each of `axes`. Params: axes (rising), at: the place of the positions' axes among the remaining
 * axes of the result. Positions outside an axis read its nearest end.
 */
export const gather: MovementPrimitive = {
  name: "gather",
  kind: "movement",
  infer: ([data, first], params) => {
    const axes = params.axes as readonly number[];
    const at = params.at as number;
    const rest = data.shape.filter((_, axis) => !axes.includes(axis));
    if (axes.some((axis) => data.shape[axis] === 0) && productOf(first.shape) > 0) {
      throw new ShapeError(`gather: [${data.shape}] has no elements along axes [${axes}] to take.`);
    }
    return { shape: [...rest.slice(0, at), ...first.shape, ...rest.slice(at)], dtype: data.dtype };
  },
  read: (_space, index, { params, inputs: [data, first] }) => {
    const axes = params.axes as readonly number[];
    const at = params.at as number;
    const rank = first.shape.length;
    const rest = [...index.slice(0, at), ...index.slice(at + rank)];
    const position = index.slice(at, at + rank);
    let next = 0;
    const from = data.shape.map((_, axis): IndexExpr | ElementIndex => {
      const which = axes.indexOf(axis);
      return which < 0 ? (rest[next++] as IndexExpr) : { input: which + 1, index: position };
    });
    return [always(from)];
  },
  vjp: (g, { params, inputs: [data, ...positions] }, ct) => {
    const axes = params.axes as readonly number[];
    const at = params.at as number;
    const { shape } = positions[0];
    const others = data.shape.flatMap((_, axis) => (axes.includes(axis) ? [] : [axis]));
    const rest = ct.shape.flatMap((_, i) => (i >= at && i < at + shape.length ? [] : [i]));
    const rows = g.permute(ct, [...shape.map((_, i) => at + i), ...rest]);
    const chosen = axes.map((axis) => data.shape[axis]);
    const inner = others.map((axis) => data.shape[axis]);
    const flat = axes.reduce((sum: Node | null, axis, i) => {
      const inside = heldInside(g, positions[i], data.shape[axis]);
      return sum ? g.add(g.mul(sum, chosen[i]), inside) : inside;
    }, null);
    const total = g.scatterAdd(
      g.zeros([productOf(chosen), productOf(inner)], ct),
      g.reshape(flat as Node, [productOf(shape)]),
      g.reshape(rows, [productOf(shape), productOf(inner)]),
    );
    const order = [...axes, ...others];
    const back = data.shape.map((_, axis) => order.indexOf(axis));
    return [g.permute(g.reshape(total, [...chosen, ...inner]), back), ...positions.map(() => null)];
  },
  batch: (g, { params }, [data, ...positions], size) => {
    const axes = params.axes as readonly number[];
    const at = params.at as number;
    const isSame = positions.every(({ isBatched }) => !isBatched);
    const shifted = axes.map((axis) => axis + 1);
    if (isSame)
      return g.gather(
        data.node,
        positions.map(({ node }) => node),
        shifted,
        at + 1,
      );
    const own = positions.map((input) => withBatch(g, input, size));
    if (!data.isBatched) return g.axisFirst(g.gather(data.node, own, axes, at), at);
    const member = g.cast(g.counting(own[0].shape, 0, data.node), own[0].dtype);
    return g.axisFirst(g.gather(data.node, [member, ...own], [0, ...shifted], at), at);
  },
};

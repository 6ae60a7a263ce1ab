/**
 * The primitives that reduce a set of axes; the result does not have them. Params: axes, and for a minimum perhaps `endsBelow`:
 * elements below that limit rise along the axis, so that a loop may end with the first of them. The entry in
 * reduction.ts holds everything that differs between reductions.
 */
import { DTYPES, isComplex } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import { productOf } from "../../core/shape.js";
import type { Node } from "../node.js";
import type { Params, ReducePrimitive } from "../primitive.js";
import { REDUCE_OPS, type ReduceOp, type ReductionEntry, reductionOf } from "../reduction.js";
import type { GraphOps } from "../vocabulary.js";

const axesOf = (params: Params): readonly number[] => params.axes as readonly number[];

type Rules = Pick<ReducePrimitive, "jvp" | "vjp">;

const reduction = (op: ReduceOp): ReducePrimitive => {
  const entry = reductionOf(op);
  return {
    name: op,
    called: entry.called,
    kind: "reduce",
    op,
    ...derivatives[entry.derivative],
    batch: (g, { primitive, params }, [{ node: x }]) =>
      g.move(primitive, [x], { ...params, axes: axesOf(params).map((axis) => axis + 1) }),
    infer: ([x], params) => {
      const { shape, dtype } = x as Node;
      const axes = axesOf(params);
      if (!entry.kinds.includes(DTYPES[dtype].kind)) {
        const remedy = isComplex(dtype) ? "take its real(), imag() or abs()" : "cast it";
        throw new DTypeError(`${entry.called ?? op}: takes ${entry.kinds.join(", ")}, not ${dtype}; ${remedy} first.`);
      }
      return { shape: shape.filter((_, axis) => !axes.includes(axis)), dtype };
    },
  };
};

/** The share of each element in the extreme one. Equal elements share it, and the shares add up to one. */
function sharesOfExtreme(g: GraphOps, node: Node): Node {
  const [x] = node.inputs;
  const axes = axesOf(node.params);
  const isExtreme = g.cast(g.equal(x, g.unreduce(node, x.shape, axes)), x.dtype);
  return g.div(isExtreme, g.unreduce(g.sum(isExtreme, axes), x.shape, axes));
}

/** For each element the product of all others: the product before it times the product after it. Correct with zeros, too. */
function productOfOthers(g: GraphOps, { params, inputs: [x] }: Node): Node {
  const axes = axesOf(params);
  const otherAxes = x.shape.flatMap((_, axis) => (axes.includes(axis) ? [] : [axis]));
  const order = [...otherAxes, ...axes];
  const front = g.permute(x, order);
  const rows = g.reshape(front, [
    productOf(otherAxes.map((axis) => x.shape[axis])),
    productOf(axes.map((axis) => x.shape[axis])),
  ]);
  const before = g.cumulate(rows, { axis: 1, op: "product", isExclusive: true });
  const behind = g.cumulate(rows, { axis: 1, op: "product", isExclusive: true, isReverse: true });
  const back = x.shape.map((_, axis) => order.indexOf(axis));
  return g.permute(g.reshape(g.mul(before, behind), front.shape), back);
}

const derivatives: Readonly<Record<ReductionEntry["derivative"], Rules>> = {
  linear: {
    jvp: (g, { primitive, params }, [t]) => t && g.move(primitive, [t], params),
    vjp: (g, { params, inputs: [x] }, ct) => [g.unreduce(ct, x.shape, axesOf(params))],
  },
  extreme: {
    jvp: (g, node, [t]) => t && g.sum(g.mul(t, sharesOfExtreme(g, node)), axesOf(node.params)),
    vjp: (g, node, ct) => {
      const stretched = g.unreduce(ct, node.inputs[0].shape, axesOf(node.params));
      return [g.mul(stretched, sharesOfExtreme(g, node))];
    },
  },
  product: {
    jvp: (g, node, [t]) => t && g.sum(g.mul(t, productOfOthers(g, node)), axesOf(node.params)),
    vjp: (g, node, ct) => [g.mul(g.unreduce(ct, node.inputs[0].shape, axesOf(node.params)), productOfOthers(g, node))],
  },
  none: {},
};

/** The primitives by name. @internal for tests: all of them together are checked */
export const reducePrimitives = Object.fromEntries(REDUCE_OPS.map((op) => [op, reduction(op)])) as Readonly<
  Record<ReduceOp, ReducePrimitive>
>;

export const { sum, product, max, min, all, any } = reducePrimitives;

/** Reductions over a set of axes, which the result does not have. Params: axes. */
import { DTYPES, isComplex } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import type { Node } from "../node.js";
import type { Params, ReduceOp, ReducePrimitive } from "../primitive.js";
import type { GraphOps } from "../vocabulary.js";

const axesOf = (params: Params): readonly number[] => params.axes as readonly number[];

type Rules = Pick<ReducePrimitive, "jvp" | "vjp">;

const reduction = (op: ReduceOp, rules: Rules = {}): ReducePrimitive => ({
  name: op,
  kind: "reduce",
  op,
  ...rules,
  batch: (g, { primitive, params }, [{ node: x }]) =>
    g.move(primitive, [x], { axes: axesOf(params).map((axis) => axis + 1) }),
  infer: ([x], params) => {
    const { shape, dtype } = x as Node;
    const axes = params.axes as readonly number[];
    const isLogical = op === "all" || op === "any";
    if (isLogical !== (DTYPES[dtype].kind === "bool")) {
      throw new DTypeError(`${op}: takes ${isLogical ? "bool" : "numbers"}, not ${dtype}; cast it first.`);
    }
    if (isComplex(dtype) && op !== "sum" && op !== "product") {
      throw new DTypeError(`${op}: complex numbers have no order; take real(), imag() or abs() of ${dtype} first.`);
    }
    return { shape: shape.filter((_, axis) => !axes.includes(axis)), dtype };
  },
});

/** Which elements are the extreme one, as shares that add up to one: several may be equal. */
function sharesOfExtreme(g: GraphOps, node: Node): Node {
  const [x] = node.inputs;
  const axes = axesOf(node.params);
  const isExtreme = g.cast(g.equal(x, g.unreduce(node, x.shape, axes)), x.dtype);
  return g.div(isExtreme, g.unreduce(g.sum(isExtreme, axes), x.shape, axes));
}

const extremeRules: Rules = {
  jvp: (g, node, [t]) => t && g.sum(g.mul(t, sharesOfExtreme(g, node)), axesOf(node.params)),
  vjp: (g, node, ct) => {
    const stretched = g.unreduce(ct, node.inputs[0].shape, axesOf(node.params));
    return [g.mul(stretched, sharesOfExtreme(g, node))];
  },
};

/** For each element the product of all others: what stands before it times what stands behind. Right with zeros, too. */
function productOfOthers(g: GraphOps, { params, inputs: [x] }: Node): Node {
  const axes = axesOf(params);
  const kept = x.shape.flatMap((_, axis) => (axes.includes(axis) ? [] : [axis]));
  const order = [...kept, ...axes];
  const front = g.permute(x, order);
  const rows = g.reshape(front, [sizeOf(kept.map((axis) => x.shape[axis])), sizeOf(axes.map((axis) => x.shape[axis]))]);
  const before = g.cumulate(rows, { axis: 1, op: "product", isExclusive: true });
  const behind = g.cumulate(rows, { axis: 1, op: "product", isExclusive: true, isReverse: true });
  const back = x.shape.map((_, axis) => order.indexOf(axis));
  return g.permute(g.reshape(g.mul(before, behind), front.shape), back);
}

export const sum = reduction("sum", {
  jvp: (g, { params }, [t]) => t && g.sum(t, axesOf(params)),
  vjp: (g, { params, inputs: [x] }, ct) => [g.unreduce(ct, x.shape, axesOf(params))],
});
export const product = reduction("product", {
  jvp: (g, node, [t]) => t && g.sum(g.mul(t, productOfOthers(g, node)), axesOf(node.params)),
  vjp: (g, node, ct) => [g.mul(g.unreduce(ct, node.inputs[0].shape, axesOf(node.params)), productOfOthers(g, node))],
});
export const max = reduction("max", extremeRules);
export const min = reduction("min", extremeRules);
export const all = reduction("all");
export const any = reduction("any");

/** Ordering by unsigned keys along the last axis: sorting positions, and finding where a key belongs. */
import { DTypeError, ShapeError } from "../../core/errors.js";
import { productOf } from "../../core/shape.js";
import type { RoutinePrimitive } from "../primitive.js";

/** Positions (i32) that bring keys of u32 or u64 into rising order along the last axis; equal ones keep their order. */
export const argsort: RoutinePrimitive = {
  name: "argsort",
  kind: "routine",
  infer: ([keys]) => {
    if (keys.dtype !== "u32" && keys.dtype !== "u64") throw new DTypeError(`argsort: keys of ${keys.dtype}.`);
    if (keys.shape.length === 0) throw new ShapeError("argsort: a scalar has no axis to sort along.");
    return { shape: keys.shape, dtype: "i32" };
  },
  batch: (g, { primitive, params }, [{ node: keys }]) => g.move(primitive, [keys], params),
};

/**
 * The positions that `argsort` would have at some ranks: [..., n] gives [..., ranks]. Params: ranks, rising. For few ranks
 * nothing is sorted.
 */
export const argsortAt: RoutinePrimitive = {
  name: "argsortAt",
  kind: "routine",
  infer: ([keys], params) => {
    const { shape, dtype } = argsort.infer([keys], {});
    const ranks = params.ranks as readonly number[];
    const extent = shape[shape.length - 1];
    const isRising = ranks.every((rank, i) => rank >= (i === 0 ? 0 : ranks[i - 1] + 1) && rank < extent);
    if (!isRising) throw new ShapeError(`argsortAt: ranks [${ranks}] of rows of ${extent} must rise, from 0.`);
    return { shape: [...shape.slice(0, -1), ranks.length], dtype };
  },
  batch: (g, { primitive, params }, [{ node: keys }]) => g.move(primitive, [keys], params),
};

/**
 * How many of the sorted keys come before each wanted one. Inputs: sorted [..., n], wanted [..., m], with equal leading
 * axes, or sorted [n] and wanted of any shape. Params: side: "left" counts smaller keys, "right" equal ones too.
 */
export const searchSorted: RoutinePrimitive = {
  name: "searchSorted",
  kind: "routine",
  infer: ([sorted, wanted]) => {
    if (sorted.dtype !== wanted.dtype) throw new DTypeError(`searchSorted: ${sorted.dtype} and ${wanted.dtype}.`);
    const lead = sorted.shape.slice(0, -1);
    const fits =
      lead.length === 0 || (lead.length === wanted.shape.length - 1 && lead.every((n, i) => n === wanted.shape[i]));
    if (sorted.shape.length === 0 || !fits) {
      throw new ShapeError(`searchSorted: values of [${wanted.shape}] in sorted rows of [${sorted.shape}].`);
    }
    return { shape: wanted.shape, dtype: "i32" };
  },
  batch: (g, { primitive, params }, [sorted, wanted], size) => {
    if (!sorted.isBatched && sorted.node.shape.length === 1)
      return g.move(primitive, [sorted.node, wanted.node], params);
    const both = [sorted, wanted].map(({ node, isBatched }) =>
      isBatched ? node : g.broadcast(node, [size, ...node.shape]),
    );
    const [rows, values] = both;
    if (rows.shape.length !== 2) return g.move(primitive, both, params);
    // One row per member: values of any shape are flattened.
    const line = g.reshape(values, [size, productOf(values.shape.slice(1))]);
    return g.reshape(g.move(primitive, [rows, line], params), values.shape);
  },
};

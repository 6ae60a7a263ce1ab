/** Ordering by unsigned keys along the last axis: the keys, sorting positions, and finding where a key belongs. */
import { DTYPES } from "../../core/dtype.js";
import { DTypeError, ShapeError } from "../../core/errors.js";
import { productOf } from "../../core/shape.js";
import type { ElementwisePrimitive, RoutinePrimitive } from "../primitive.js";

/**
 * An unsigned key, of u32 or u64, with the order of the values; with `descending`, with the opposite order. NaN has the
 * largest key in either case, and -0 the same as 0.
 */
export const orderKey: ElementwisePrimitive = {
  name: "orderKey",
  kind: "elementwise",
  cost: 8,
  isExact: true,
  infer: ([{ shape, dtype }]) => ({ shape, dtype: DTYPES[dtype].bits === 64 ? "u64" : "u32" }),
  lower: (k, [x], { descending }, dtype) => {
    const { kind } = DTYPES[k.dtypeOf(x)];
    const isWide = dtype === "u64";
    const inverted = (key: typeof x) => (descending ? k.not(key) : key);
    if (kind === "bool" || kind === "uint") return inverted(k.cast(x, dtype));
    const signBit = k.constant(dtype, isWide ? 1n << 63n : 2 ** 31);
    if (kind === "int") return inverted(k.xor(k.cast(k.cast(x, isWide ? "i64" : "i32"), dtype), signBit));
    const value = k.cast(x, isWide ? "f64" : "f32");
    const pattern = k.bitcast(value, dtype);
    // Negative numbers fall as their bits rise; -0 alone has the bits of the sign and nothing else.
    const isNegative = k.compare("gt", pattern, signBit);
    const rising = k.select(isNegative, k.not(pattern), k.or(pattern, signBit));
    const last = k.constant(dtype, isWide ? 2n ** 64n - 1n : 2 ** 32 - 1);
    return k.select(k.compare("ne", value, value), last, inverted(rising));
  },
};

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
 * The positions that `argsort` would have at some ranks: [..., n] gives [..., ranks]. Params: ranks, rising; and `keyed`, the
 * params of `orderKey`, where the input are values whose keys the kernel makes itself (the compiler merges the two). For few
 * ranks nothing is sorted.
 *
 * Ranks "around" are those about a rank that is data, of [1] and i32: itself, the next one, which is the same at the end, and
 * the last.
 */
export const argsortAt: RoutinePrimitive = {
  name: "argsortAt",
  kind: "routine",
  infer: ([keys, rank], params) => {
    const { shape, dtype } = params.keyed ? { shape: keys.shape, dtype: "i32" as const } : argsort.infer([keys], {});
    const ranks = params.ranks as readonly number[] | "around";
    if (ranks === "around") {
      if (rank.dtype === "i32" && rank.shape.length === 1 && rank.shape[0] === 1) {
        return { shape: [...shape.slice(0, -1), RANKS_AROUND], dtype };
      }
      throw new ShapeError(`argsortAt: a rank of ${rank.dtype}[${rank.shape}].`);
    }
    const extent = shape[shape.length - 1];
    const isRising = ranks.every((rank, i) => rank >= (i === 0 ? 0 : ranks[i - 1] + 1) && rank < extent);
    if (!isRising) throw new ShapeError(`argsortAt: ranks [${ranks}] of rows of ${extent} must rise, from 0.`);
    return { shape: [...shape.slice(0, -1), ranks.length], dtype };
  },
  // The rank comes from a number, which is the same for every member.
  batch: (g, { primitive, params }, inputs) =>
    g.move(
      primitive,
      inputs.map(({ node }) => node),
      params,
    ),
};

/** The ranks that `argsortAt` finds around one. */
export const RANKS_AROUND = 3;

/**
 * The number of sorted keys before each wanted one. Inputs: sorted [..., n], wanted [..., m], with equal leading
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

/**
 * Running totals along an axis. Inputs: x, and perhaps segments: rising whole numbers from 0 on (i32), one for each place
 * on the axis; the total restarts where they change. Params: axis, op, isReverse (from the end), isExclusive (without the
 * element itself).
 */
import { DTYPES, type DType, type DTypeKind, isComplex, lowestOf } from "../../core/dtype.js";
import { DTypeError, ShapeError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import type { ElementOps } from "../element-ops.js";
import type { Node } from "../node.js";
import type { ElementwisePrimitive, Params, RoutinePrimitive } from "../primitive.js";
import { type CombineOp, type PlainScalar, type ReduceOp, type ReductionEntry, reductionOf } from "../reduction.js";
import type { GraphOps } from "../vocabulary.js";
import { logaddexp } from "./elementwise.js";
import { takeAlongAxis } from "./movement.js";

/** Every reduction of numbers, and log Σ exp. */
export type CumulateOp = ReduceOp | "logsumexp";

/** The rules of a running total. */
interface RunningTotal {
  readonly kinds: readonly DTypeKind[];
  /** Adds a later total to an earlier one. */
  combine<V>(k: ElementOps<V>, earlier: V, later: V): V;
  /** The operation of the loop-nest language that combines totals in any order; null where there is none. */
  readonly combineOp: CombineOp | null;
  readonly elementwise: ElementwisePrimitive;
  /** The total before the first element: `identity` if the result shows it, `neutral` if it is only combined with elements. */
  identity(dtype: DType): PlainScalar;
  neutral(dtype: DType): PlainScalar;
  readonly complex: ReductionEntry["complex"];
  readonly derivative: ReductionEntry["derivative"] | "doubling";
}

const logSumExp: RunningTotal = {
  kinds: ["float"],
  combine: (k, a, b) => {
    const spread = k.math("log1p", k.math("exp", k.neg(k.abs(k.sub(a, b)))));
    const twice = k.add(a, k.constant(k.dtypeOf(a), Math.LN2));
    // Equal infinities: their difference would be NaN.
    return k.select(k.compare("eq", a, b), twice, k.add(k.max(a, b), spread));
  },
  combineOp: null,
  elementwise: logaddexp,
  identity: lowestOf,
  neutral: lowestOf,
  complex: "refused",
  derivative: "doubling",
};

export function runningTotal(op: CumulateOp): RunningTotal {
  if (op === "logsumexp") return logSumExp;
  const entry = reductionOf(op);
  return { ...entry, combineOp: entry.combine, combine: (k, a, b) => k[entry.combine](a, b) };
}

export const cumulate: RoutinePrimitive = {
  name: "cumulate",
  kind: "routine",
  infer: ([x, segments], params) => {
    const { shape, dtype } = x as Node;
    const { kinds } = runningTotal(params.op as CumulateOp);
    if (dtype === "bool" || !kinds.includes(DTYPES[dtype].kind)) {
      const remedy = isComplex(dtype) ? "take its real(), imag() or abs()" : "cast it";
      throw new DTypeError(`cumulate, ${params.op}: takes ${kinds.join(", ")}, not ${dtype}; ${remedy} first.`);
    }
    const extent = shape[params.axis as number];
    if (segments && (segments.dtype !== "i32" || segments.shape.length !== 1 || segments.shape[0] !== extent)) {
      throw new ShapeError(`cumulate: segments of ${segments.dtype} [${segments.shape}] for an axis of ${extent}.`);
    }
    return { shape, dtype };
  },
  jvp: (g, node, [t]) => {
    if (!t) return null;
    const { op, axis } = node.params as unknown as CumulateParams;
    switch (runningTotal(op).derivative) {
      case "linear":
        return makeLike(g, node, t);
      case "extreme":
        return g.takeAlongAxis(t, reachedAt(g, node), axis);
      case "product":
      case "doubling":
        return g.pushForward([byDoubling(g, node)], [node.inputs[0]], [t])[0];
      case "none":
        return null;
    }
  },
  vjp: (g, node, ct) => {
    const { op, axis, isReverse } = node.params as unknown as CumulateParams;
    const [x, ...segments] = node.inputs;
    const others = segments.map(() => null);
    switch (runningTotal(op).derivative) {
      case "linear":
        return [makeLike(g, node, ct, { isReverse: !isReverse }), ...others];
      case "extreme": {
        // The cotangent of each total goes to the element where the extreme was reached: the transpose of taking it.
        const taken = g.takeAlongAxis(x, reachedAt(g, node), axis);
        return [(takeAlongAxis.vjp as Vjp)(g, taken, ct)[0], ...others];
      }
      case "product":
      case "doubling":
        return [g.pullBack([byDoubling(g, node)], [ct], [x])[0], ...others];
      case "none":
        return [null, ...others];
    }
  },
  batch: (g, { primitive, params }, [x, segments], size) => {
    const whole = x.isBatched ? x.node : g.broadcast(x.node, [size, ...x.node.shape]);
    const axis = (params.axis as number) + 1;
    if (!segments?.isBatched)
      return g.move(primitive, segments ? [whole, segments.node] : [whole], { ...params, axis });
    if (sizeOf(whole.shape) === 0) return whole;
    // Members with their own segments are concatenated along one long axis in front.
    const others = whole.shape.flatMap((_, i) => (i === 0 || i === axis ? [] : [i]));
    const order = [0, axis, ...others];
    const front = g.permute(whole, order);
    const long = g.reshape(front, [size * whole.shape[axis], ...front.shape.slice(2)]);
    const totals = g.move(primitive, [long, numbered(g, segments.node)], { ...params, axis: 0 });
    return g.permute(
      g.reshape(totals, front.shape),
      order.map((_, i) => order.indexOf(i)),
    );
  },
};

/** Rows of segments [size, n] concatenated, renumbered so that they rise. */
function numbered(g: GraphOps, segments: Node): Node {
  const before = g.pad(segments, [0, 1], [0, -1]);
  const hasBefore = g.greater(g.counting(segments.shape, 1, segments), 0);
  const isNew = g.where(g.and(hasBefore, g.equal(segments, before)), g.constantLike(0, segments), 1);
  return g.cumulate(g.reshape(isNew, [sizeOf(segments.shape)]), { axis: 0, op: "sum" });
}

interface CumulateParams {
  readonly axis: number;
  readonly op: CumulateOp;
  readonly isReverse: boolean;
  readonly isExclusive: boolean;
}
type Vjp = NonNullable<typeof takeAlongAxis.vjp>;

/** The same running totals of other values. */
const makeLike = (g: GraphOps, { primitive, inputs: [, ...segments], params }: Node, x: Node, change: Params = {}) =>
  g.move(primitive, [x, ...segments], { ...params, ...change });

/** The position along the axis where the extreme up to each place was last reached. */
function reachedAt(g: GraphOps, node: Node): Node {
  const { axis, isReverse } = node.params as unknown as CumulateParams;
  const [x] = node.inputs;
  const place = g.counting(x.shape, axis, x);
  const nowhere = isReverse ? x.shape[axis] : -1;
  const reached = g.where(g.equal(x, node), place, g.constantLike(nowhere, place));
  return g.cumulate(reached, { axis, op: isReverse ? "min" : "max", isReverse });
}

/**
 * Running totals in elementwise steps: each step combines an element with the one 1, 2, 4 … places before it, in its segment.
 * These operations have derivatives and take complex numbers.
 */
export function byDoubling(g: GraphOps, { params, inputs: [x, segments] }: Pick<Node, "params" | "inputs">): Node {
  const { axis, op, isReverse, isExclusive } = params as unknown as CumulateParams;
  const { elementwise, identity } = runningTotal(op);
  const neutral = Number(identity(x.dtype));
  const extent = x.shape[axis];
  const along = x.shape.map((_, i) => (i === axis ? extent : 1));
  const segmentOf = segments && g.broadcast(g.reshape(segments, along), x.shape);
  const moved = (value: Node, distance: number, outside: number): Node => {
    const amount = x.shape.map((_, i) => (i === axis ? distance : 0));
    const back = amount.map((n) => -n);
    return isReverse ? g.padWith(value, back, amount, outside) : g.padWith(value, amount, back, outside);
  };
  const shifted = (value: Node, distance: number): Node => {
    const there = moved(value, distance, neutral);
    if (!segmentOf) return there;
    return g.where(g.equal(segmentOf, moved(segmentOf, distance, -1)), there, neutral);
  };
  let total = isExclusive && extent > 0 ? shifted(x, 1) : x;
  for (let distance = 1; distance < extent; distance *= 2) {
    const before = shifted(total, distance);
    total = g.move(elementwise, [total, before], {});
  }
  return total;
}

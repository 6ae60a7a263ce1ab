/**
 * Operations on four f64, which are two vectors: arithmetic, comparisons, selections, conversions, and the words that
 * functions of the math library take numbers apart with. lane-values.ts asks here; vector-plan.ts asks what there is.
 */
import type { FunctionBuilder } from "../../../wasm/function-builder.js";
import type { Value } from "../../../wasm/value.js";
import type { IRType, Value as IRValue } from "../../ir/ir.js";
import { multiplyAdd } from "./multiply-add.js";
import { isUnsigned } from "./scalars.js";

type Pair = readonly [Value<"v128">, Value<"v128">];

/** Operands as the operations take them. */
interface PairOperands {
  /** An f64 of each lane. */
  pair(i: number): Pair;
  /** 32 bits of each lane; of bools all or none. */
  lanes(i: number): Value<"v128">;
  /** The same bool in all lanes; null where they may differ. */
  uniform(i: number): Value<"i32"> | null;
}

/** Operations that each of the two vectors has an instruction for. */
const HALVES: ReadonlySet<IRValue["op"]> = new Set<IRValue["op"]>([
  "add",
  "sub",
  "mul",
  "div",
  "neg",
  "abs",
  "sqrt",
  "floor",
  "ceil",
  "trunc",
  "mulAdd",
  "roundEven",
  "min",
  "max",
  "select",
]);
const COMPARISONS: ReadonlySet<IRValue["op"]> = new Set<IRValue["op"]>(["eq", "ne", "lt", "le", "gt", "ge"]);
const CONVERTED: ReadonlySet<IRType> = new Set<IRType>(["i32", "u32", "f32"]);

/** Whether `inPairs` has the operation. */
export function isForPairs({ op, type, args }: IRValue): boolean {
  const from = args[0]?.type;
  if (op === "convert") {
    return (type === "f64" && CONVERTED.has(from as IRType)) || (from === "f64" && CONVERTED.has(type));
  }
  if (op === "highWord" || op === "lowWord" || op === "fromWords") return true;
  return (type === "f64" && HALVES.has(op)) || (from === "f64" && COMPARISONS.has(op));
}

/** Bytes of 32-bit words, the second vector's from 4 on. */
export const words = (...of: readonly number[]): number[] =>
  of.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte));
const LOW = words(0, 2, 4, 6);
const HIGH = words(1, 3, 5, 7);
const FIRST = words(0, 0, 1, 1);
const SECOND = words(2, 2, 3, 3);
const FIRST_OF_BOTH = words(0, 4, 1, 5);
const SECOND_OF_BOTH = words(2, 6, 3, 7);
const LOWER_HALVES = words(0, 1, 4, 5);
const UPPER_HALF = words(2, 3, 2, 3);

/** Four values: f64 as a pair, others as a vector of 32 bits each, bools as masks. */
export function pairedValue(f: FunctionBuilder, value: IRValue, operands: PairOperands): Pair | Value<"v128"> {
  const { op, type, args } = value;
  const shuffled = (a: Value<"v128">, b: Value<"v128">, bytes: readonly number[]) => f.i8x16.shuffle(a, b, bytes);
  if (COMPARISONS.has(op)) {
    const [a, b] = [operands.pair(0), operands.pair(1)];
    const half = (i: 0 | 1) => f.opOf("f64x2", op, "", [a[i], b[i]]) as Value<"v128">;
    return shuffled(half(0), half(1), LOW);
  }
  switch (op) {
    case "lowWord":
    case "highWord":
      return shuffled(...operands.pair(0), op === "lowWord" ? LOW : HIGH);
    case "fromWords": {
      const [high, low] = [operands.lanes(0), operands.lanes(1)];
      return [shuffled(low, high, FIRST_OF_BOTH), shuffled(low, high, SECOND_OF_BOTH)];
    }
    case "convert":
      return type === "f64" ? widened(f, args[0].type, operands.lanes(0)) : narrowed(f, type, operands.pair(0));
    case "select":
      return selected(f, operands);
    default: {
      const halves = args.map((_, i) => operands.pair(i));
      const half = (i: 0 | 1) =>
        arithmetic(
          f,
          op,
          halves.map((each) => each[i]),
        );
      return [half(0), half(1)];
    }
  }
}

function widened(f: FunctionBuilder, from: IRType, lanes: Value<"v128">): Pair {
  const half = (x: Value<"v128">): Value<"v128"> => {
    if (from === "f32") return f.f64x2.promote_low_f32x4(x);
    return isUnsigned(from) ? f.f64x2.convert_low_i32x4_u(x) : f.f64x2.convert_low_i32x4_s(x);
  };
  return [half(lanes), half(f.i8x16.shuffle(lanes, lanes, UPPER_HALF))];
}

function narrowed(f: FunctionBuilder, to: IRType, pair: Pair): Value<"v128"> {
  const half = (x: Value<"v128">): Value<"v128"> => {
    if (to === "f32") return f.f32x4.demote_f64x2_zero(x);
    return isUnsigned(to) ? f.i32x4.trunc_sat_f64x2_u_zero(x) : f.i32x4.trunc_sat_f64x2_s_zero(x);
  };
  return f.i8x16.shuffle(half(pair[0]), half(pair[1]), LOWER_HALVES);
}

function selected(f: FunctionBuilder, operands: PairOperands): Pair {
  const [a, b] = [operands.pair(1), operands.pair(2)];
  const all = operands.uniform(0);
  if (all) return [f.select(all, a[0], b[0]), f.select(all, a[1], b[1])];
  const mask = operands.lanes(0);
  const half = (i: 0 | 1) => f.v128.bitselect(a[i], b[i], f.i8x16.shuffle(mask, mask, i === 0 ? FIRST : SECOND));
  return [half(0), half(1)];
}

function arithmetic(f: FunctionBuilder, op: IRValue["op"], [a, b, c]: readonly Value<"v128">[]): Value<"v128"> {
  switch (op) {
    case "mulAdd":
      return multiplyAdd(f, "f64x2", a, b, c);
    case "roundEven":
      return f.f64x2.nearest(a);
    case "min":
    case "max":
      // The pseudo-minimum of b and a is b where a is NaN; with all bits set that is NaN, too.
      return f.v128.or(f.opOf("f64x2", "p", op, [b, a]) as Value<"v128">, f.f64x2.ne(a, a));
    default:
      return f.opOf("f64x2", op, "", b ? [a, b] : [a]) as Value<"v128">;
  }
}

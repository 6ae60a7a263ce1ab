/** Values of four lanes: the kinds of them, conversions between the kinds, and operations on four lanes at once. */
import { UnsupportedError } from "../../../core/errors.js";
import type { FunctionBuilder } from "../../../wasm/function-builder.js";
import { areMadeAlike, type Value } from "../../../wasm/value.js";
import type { IRType, Value as IRValue } from "../../ir/ir.js";
import { multiplyAdd } from "./multiply-add.js";
import { isForPairs, pairedValue, words } from "./pairs.js";
import type { Rising } from "./rising.js";
import { isUnsigned, scalar } from "./scalars.js";
import { NARROW, VECTOR_LANES } from "./vector-plan.js";

/**
 * A value of four lanes: the same in all lanes, differing from lane to lane by constants, four values in a vector, four f64
 * in two vectors, or four separate values for other 64-bit types.
 */
export type LaneValue =
  | { readonly kind: "uniform"; readonly value: Value }
  | Rising
  | { readonly kind: "lanes"; readonly value: Value<"v128"> }
  | { readonly kind: "pair"; readonly values: readonly [Value<"v128">, Value<"v128">] }
  | { readonly kind: "each"; readonly values: readonly Value[] };

/** The WebAssembly values that a lane value consists of. */
export const wasmValuesOf = (x: LaneValue): readonly Value[] => ("values" in x ? x.values : [x.value]);

export function joined(kinds: readonly LaneValue["kind"][], values: readonly Value[]): LaneValue[] {
  let at = 0;
  return kinds.map((kind) => {
    const count = kind === "each" ? VECTOR_LANES : kind === "pair" ? 2 : 1;
    at += count;
    if (count === 1) return { kind, value: values[at - 1] } as LaneValue;
    return { kind, values: values.slice(at - count, at) } as unknown as LaneValue;
  });
}

/** A lane value by the number of an equal one that is there already, where both have one number for all lanes. */
export function united(before: LaneValue, made: LaneValue): LaneValue {
  const isOne = (x: LaneValue) => x.kind === "uniform" || x.kind === "rising";
  if (!isOne(before) || !isOne(made) || "values" in before || "values" in made) return made;
  return areMadeAlike(before.value, made.value) ? ({ ...made, value: before.value } as LaneValue) : made;
}

const shapeOf = (type: IRType): "f32x4" | "i32x4" => (type === "f32" ? "f32x4" : "i32x4");

export function single(x: LaneValue): Value {
  if (x.kind === "uniform" || (x.kind === "rising" && x.steps[0] === 0)) return x.value;
  throw new Error("emitWasm: four values where one is needed");
}

/** A lane value as a vector. Bools are masks: all bits or none. */
export function vectorOf(f: FunctionBuilder, x: LaneValue, type: IRType): Value<"v128"> {
  if (x.kind === "lanes") return x.value;
  if ("values" in x || !NARROW.has(type)) {
    throw new UnsupportedError(`emitWasm: ${type} in vectors of four on the CPU`);
  }
  if (x.kind === "rising") {
    return f.i32x4.add(f.i32x4.splat(x.value), f.i32x4.const([...x.steps]));
  }
  if (type === "f32") return f.f32x4.splat(x.value as Value<"f32">);
  const word = x.value as Value<"i32">;
  return f.i32x4.splat(type === "bool" ? f.i32.sub(0, word) : word);
}

/** Four f64 as two vectors. */
export function pairOf(f: FunctionBuilder, x: LaneValue): [Value<"v128">, Value<"v128">] {
  if (x.kind === "pair") return [...x.values];
  const one = (lane: number) => laneOf(f, x, "f64", lane) as Value<"f64">;
  const first = f.f64x2.splat(one(0));
  if (x.kind === "uniform") return [first, first];
  return [f.f64x2.replace_lane(first, one(1), 1), f.f64x2.replace_lane(f.f64x2.splat(one(2)), one(3), 1)];
}

function extract(f: FunctionBuilder, vector: Value<"v128">, type: IRType, lane: number): Value {
  if (type === "f32") return f.f32x4.extract_lane(vector, lane);
  const word = f.i32x4.extract_lane(vector, lane);
  return type === "bool" ? f.i32.and(word, 1) : word;
}

export function laneOf(f: FunctionBuilder, x: LaneValue, type: IRType, lane: number): Value {
  if (x.kind === "uniform") return x.value;
  if (x.kind === "each") return x.values[lane];
  if (x.kind === "pair") return f.f64x2.extract_lane(x.values[lane >> 1], lane % 2);
  if (x.kind === "rising") return f.i32.add(x.value, x.steps[lane]);
  return extract(f, x.value, type, lane);
}

/** The words of both vectors, those of the other half first, or those of each half in the other order. */
const OTHER_HALF = words(2, 3, 0, 1);
const OTHER_IN_HALF = words(1, 0, 3, 2);

/** In each lane what the lane two, or one, beside it has. */
export function exchanged(f: FunctionBuilder, x: LaneValue, type: IRType, distance: 1 | 2): LaneValue {
  const swapped = (v: Value<"v128">, bytes: readonly number[]) => f.i8x16.shuffle(v, v, bytes);
  if (x.kind === "lanes")
    return { kind: "lanes", value: swapped(x.value, distance === 2 ? OTHER_HALF : OTHER_IN_HALF) };
  if (x.kind !== "pair") return gathered(f, type, (lane) => laneOf(f, x, type, lane ^ distance));
  const [low, high] = x.values;
  return { kind: "pair", values: distance === 2 ? [high, low] : [swapped(low, OTHER_HALF), swapped(high, OTHER_HALF)] };
}

export function gathered(f: FunctionBuilder, type: IRType, part: (lane: number) => Value): LaneValue {
  if (!NARROW.has(type)) return { kind: "each", values: [0, 1, 2, 3].map(part) };
  let vector: Value<"v128"> =
    type === "f32" ? f.f32x4.splat(part(0) as Value<"f32">) : f.i32x4.splat(asMask(f, part(0), type));
  for (let lane = 1; lane < VECTOR_LANES; lane++) {
    vector =
      type === "f32"
        ? f.f32x4.replace_lane(vector, part(lane) as Value<"f32">, lane)
        : f.i32x4.replace_lane(vector, asMask(f, part(lane), type), lane);
  }
  return { kind: "lanes", value: vector };
}

function asMask(f: FunctionBuilder, value: Value, type: IRType): Value<"i32"> {
  const word = value as Value<"i32">;
  return type === "bool" ? f.i32.sub(0, word) : word;
}

/** Instructions of the operands' shape, as f32x4.add, and of whole vectors, as v128.and. */
const SHAPED: ReadonlySet<IRValue["op"]> = new Set<IRValue["op"]>([
  "add",
  "sub",
  "mul",
  "div",
  "neg",
  "abs",
  "floor",
  "ceil",
  "trunc",
  "sqrt",
]);
const BITWISE: ReadonlySet<IRValue["op"]> = new Set<IRValue["op"]>(["and", "or", "xor", "not"]);
const COMPARISONS: ReadonlySet<IRValue["op"]> = new Set<IRValue["op"]>(["eq", "ne", "lt", "le", "gt", "ge"]);

/** Computes a value in all lanes: as vectors where WebAssembly has the instruction, else one lane after the other. */
export function vector(f: FunctionBuilder, value: IRValue, operands: readonly LaneValue[]): LaneValue {
  const { type, args } = value;
  if (isForPairs(value)) {
    const made = pairedValue(f, value, {
      pair: (i) => pairOf(f, operands[i]),
      lanes: (i) => vectorOf(f, operands[i], args[i].type),
      uniform: (i) => (operands[i].kind === "uniform" ? (single(operands[i]) as Value<"i32">) : null),
    });
    return "length" in made ? { kind: "pair", values: made } : { kind: "lanes", value: made };
  }
  const isNarrow = NARROW.has(type) && args.every((arg) => NARROW.has(arg.type));
  const made = isNarrow ? inVectors(f, value, operands) : null;
  if (made) return { kind: "lanes", value: made as Value<"v128"> };
  const operandsAt = (lane: number) => operands.map((x, k) => laneOf(f, x, args[k].type, lane));
  return gathered(f, type, (lane) => scalar(f, value, operandsAt(lane)));
}

/** The vector of a value of 32 bits; null for an operation that vectors do not have. */
function inVectors(f: FunctionBuilder, value: IRValue, operands: readonly LaneValue[]): Value | null {
  const { op, type, args } = value;
  const from = args[0].type;
  const lane = (i: number) => vectorOf(f, operands[i], args[i].type);
  const lanes = () => (args.length === 1 ? [lane(0)] : [lane(0), lane(1)]);
  const shape = shapeOf(from);
  if (SHAPED.has(op)) return f.opOf(shape, op, "", lanes());
  if (BITWISE.has(op)) return f.opOf("v128", op, "", lanes());
  if (COMPARISONS.has(op)) {
    const sign = shape === "f32x4" || op === "eq" || op === "ne" ? "" : isUnsigned(from) ? "_u" : "_s";
    return f.opOf(shape, op, sign, lanes());
  }
  switch (op) {
    case "select": {
      const extreme = extremeOf(value);
      if (extreme) return f.opOf("f32x4", extreme, "", [lane(2), lane(1)]);
      if (operands[0].kind === "uniform") return f.select(single(operands[0]) as Value<"i32">, lane(1), lane(2));
      if (isZero(args[1])) return f.v128.andnot(lane(2), lane(0));
      return f.v128.bitselect(lane(1), lane(2), lane(0));
    }
    case "min":
    case "max": {
      const [a, b] = [lane(0), lane(1)];
      if (shape === "i32x4") return f.opOf("i32x4", op, isUnsigned(from) ? "_u" : "_s", [a, b]);
      // The pseudo-minimum of b and a is b where a is NaN; with all bits set that is NaN, too.
      return f.v128.or(f.opOf("f32x4", "p", op, [b, a]) as Value<"v128">, f.f32x4.ne(a, a));
    }
    case "mulAdd":
      return multiplyAdd(f, shape, lane(0), lane(1), lane(2));
    case "roundEven":
      return f.f32x4.nearest(lane(0));
    case "shl":
    case "shr": {
      // Only a shift by the same distance in all lanes has an instruction.
      if (operands[1].kind !== "uniform") return null;
      const ending = op === "shl" ? "" : isUnsigned(type) ? "_u" : "_s";
      return f.opOf("i32x4", op, ending, [lane(0), operands[1].value]);
    }
    case "signExtend": {
      const distance = 32 - (value.attribute as number);
      return f.i32x4.shr_s(f.i32x4.shl(lane(0), distance), distance);
    }
    case "bitcast":
      return lane(0);
    case "convert": {
      if (shapeOf(type) === shape) return lane(0);
      if (type === "f32") return f.opOf("f32x4", "convert_i32x4", isUnsigned(from) ? "_u" : "_s", [lane(0)]);
      return f.opOf("i32x4", "trunc_sat_f32x4", isUnsigned(type) ? "_u" : "_s", [lane(0)]);
    }
    default:
      return null;
  }
}

const isZero = ({ op, attribute }: IRValue): boolean => op === "constant" && Object.is(Number(attribute), 0);

/**
 * The instruction for a select of the smaller or larger of two f32: `pmin(a, b)` is b where b < a, else a, and `pmax(a, b)` is
 * b where a < b, else a.
 */
function extremeOf({ type, args: [test, whenTrue, whenFalse] }: IRValue): "pmin" | "pmax" | null {
  if (type !== "f32" || (test.op !== "lt" && test.op !== "gt")) return null;
  const [a, b] = test.args;
  const isOrdered = a === whenTrue && b === whenFalse;
  if (!isOrdered && !(a === whenFalse && b === whenTrue)) return null;
  return (test.op === "lt") === isOrdered ? "pmin" : "pmax";
}

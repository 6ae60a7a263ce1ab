/** Loads and stores elements of buffers and arrays, four at once where they are neighbours. */
import { DTYPES, type DType, isNarrowFloat, type NarrowFloat } from "../../../core/dtype.js";
import type { FunctionBuilder } from "../../../wasm/function-builder.js";
import type { Value } from "../../../wasm/value.js";
import type { CombineOp, IRType } from "../../ir/ir.js";
import { decodeBrain, decodeByte, decodeHalf, encodeBrain, encodeByte, encodeHalf, fourWords } from "./half.js";
import { gathered, type LaneValue, laneOf, pairOf, single, vectorOf } from "./lane-values.js";
import { isNarrowInteger, loadNarrowIntegers, storeNarrowIntegers } from "./narrow-integers.js";
import { areAhead, areNeighbours } from "./rising.js";
import { binary, loadElement, storeElement, wasmType } from "./scalars.js";
import { VECTOR_LANES } from "./vector-plan.js";

interface Offset {
  readonly offset: number;
}

/** Elements side by side in memory: a buffer, or an array. */
export interface ElementMemory {
  readonly start: Value<"i32">;
  readonly dtype: DType;
  /** Four rows have one each, interleaved: the same elements of all four are neighbours. */
  readonly isOfRows: boolean;
}

const bytesPerElement = ({ dtype, isOfRows }: ElementMemory): number =>
  DTYPES[dtype].bytes * (isOfRows ? VECTOR_LANES : 1);

/** Whether four neighbours are loaded and stored as vectors. */
const hasVectors = (dtype: DType): boolean =>
  DTYPES[dtype].bytes === 4 || dtype === "f64" || isNarrowFloat(dtype) || isNarrowInteger(dtype);

/** Whether four elements are one vector. */
const isWord = ({ dtype }: ElementMemory): boolean => DTYPES[dtype].bytes === 4;

/** Addresses have 32 bits, so the upper half of an i64 index is dropped. */
export function addressOf(f: FunctionBuilder, memory: ElementMemory, index: Value): Value<"i32"> {
  const { start } = memory;
  const shift = Math.log2(bytesPerElement(memory));
  const at = index.type === "i64" ? f.i32.wrap_i64(index as Value<"i64">) : (index as Value<"i32">);
  return f.i32.add(start, shift === 0 ? at : f.i32.shl(at, shift));
}

export function offsetOf(memory: ElementMemory, elements: number): Offset {
  return { offset: elements * bytesPerElement(memory) };
}

/** The elements at an index, `by` elements on. */
export function loadLanes(
  f: FunctionBuilder,
  memory: ElementMemory,
  type: IRType,
  index: LaneValue,
  by: number,
): LaneValue {
  if (memory.isOfRows) {
    const start = addressOf(f, memory, single(index));
    return { kind: "lanes", value: f.v128.load(start, offsetOf(memory, by)) };
  }
  const at = (i: Value<"i32">) => loadElement(f, memory.dtype, addressOf(f, memory, i), offsetOf(memory, by));
  if (index.kind === "uniform") return { kind: "uniform", value: at(index.value as Value<"i32">) };
  if (areNeighbours(index)) {
    const start = addressOf(f, memory, index.value);
    const first = by + index.steps[0];
    if (isWord(memory)) return { kind: "lanes", value: f.v128.load(start, offsetOf(memory, first)) };
    if (isNarrowFloat(memory.dtype)) {
      return { kind: "lanes", value: loadNarrow(f, memory.dtype, start, offsetOf(memory, first)) };
    }
    if (isNarrowInteger(memory.dtype)) {
      return { kind: "lanes", value: loadNarrowIntegers(f, memory.dtype, start, offsetOf(memory, first)) };
    }
    if (memory.dtype === "f64") {
      const half = (part: number) => f.v128.load(start, offsetOf(memory, first + part));
      return { kind: "pair", values: [half(0), half(2)] };
    }
  }
  const indexIn = (lane: number) => laneOf(f, index, "i32", lane) as Value<"i32">;
  if (!isWord(memory) && memory.dtype !== "f64") return gathered(f, type, (lane) => at(indexIn(lane)));
  const start = areAhead(index) ? addressOf(f, memory, index.value) : null;
  const addressIn = (lane: number) => start ?? addressOf(f, memory, indexIn(lane));
  const offsetIn = (lane: number) => offsetOf(memory, by + (areAhead(index) ? index.steps[lane] : 0));
  if (memory.dtype === "f64") {
    const half = (first: number) => {
      const low = f.v128.load64_zero(addressIn(first), offsetIn(first));
      return f.v128.load64_lane(addressIn(first + 1), low, 1, offsetIn(first + 1));
    };
    return { kind: "pair", values: [half(0), half(2)] };
  }
  let value = f.v128.load32_zero(addressIn(0), offsetIn(0));
  for (let lane = 1; lane < VECTOR_LANES; lane++)
    value = f.v128.load32_lane(addressIn(lane), value, lane, offsetIn(lane));
  return { kind: "lanes", value };
}

/** Writes elements at an index, `by` elements on: those of all lanes, or that of one. */
export function storeLanes(
  f: FunctionBuilder,
  memory: ElementMemory,
  index: LaneValue,
  by: number,
  value: LaneValue,
  type: IRType,
  lane: number | null,
): void {
  if (memory.isOfRows) {
    f.v128.store(addressOf(f, memory, single(index)), vectorOf(f, value, type), offsetOf(memory, by));
    return;
  }
  const isAll = lane === null && isWord(memory);
  if (lane === null && hasVectors(memory.dtype) && areNeighbours(index)) {
    const start = addressOf(f, memory, index.value);
    const first = by + index.steps[0];
    if (isNarrowFloat(memory.dtype)) {
      storeNarrow(f, memory.dtype, start, vectorOf(f, value, type), offsetOf(memory, first));
    } else if (isNarrowInteger(memory.dtype)) {
      storeNarrowIntegers(f, memory.dtype, start, vectorOf(f, value, type), offsetOf(memory, first));
    } else if (memory.dtype === "f64") {
      for (const [half, vector] of pairOf(f, value).entries()) {
        f.v128.store(start, vector, offsetOf(memory, first + 2 * half));
      }
    } else f.v128.store(start, vectorOf(f, value, type), offsetOf(memory, first));
  } else if (isAll && areAhead(index) && value.kind === "lanes" && type !== "bool") {
    const start = addressOf(f, memory, index.value);
    for (const each of [0, 1, 2, 3]) {
      f.v128.store32_lane(start, value.value, each, offsetOf(memory, by + index.steps[each]));
    }
  } else if (lane === null && memory.dtype === "f64" && areAhead(index) && value.kind === "pair") {
    const start = addressOf(f, memory, index.value);
    for (const each of [0, 1, 2, 3]) {
      f.v128.store64_lane(start, value.values[each >> 1], each % 2, offsetOf(memory, by + index.steps[each]));
    }
  } else {
    for (const each of writers(index, lane)) {
      const to = addressOf(f, memory, laneOf(f, index, "i32", each) as Value<"i32">);
      storeElement(f, memory.dtype, to, laneOf(f, value, type, each), offsetOf(memory, by));
    }
  }
}

/** Four neighbours of narrow floats, as f32. */
function loadNarrow(f: FunctionBuilder, dtype: NarrowFloat, at: Value<"i32">, offset: Offset): Value<"v128"> {
  switch (dtype) {
    case "f16":
      return decodeHalf(fourWords(f), f.v128.load16x4_u(at, offset));
    case "bf16":
      return decodeBrain(fourWords(f), f.v128.load16x4_u(at, offset));
    default: {
      const pairs = f.i16x8.extend_low_i8x16_u(f.v128.load32_zero(at, offset));
      return decodeByte(fourWords(f), f.i32x4.extend_low_i16x8_u(pairs), dtype);
    }
  }
}

function storeNarrow(
  f: FunctionBuilder,
  dtype: NarrowFloat,
  at: Value<"i32">,
  bits: Value<"v128">,
  offset: Offset,
): void {
  const halves = (words: Value<"v128">) => f.i16x8.narrow_i32x4_u(words, words);
  switch (dtype) {
    case "f16":
      f.v128.store64_lane(at, halves(encodeHalf(fourWords(f), bits)), 0, offset);
      break;
    case "bf16":
      f.v128.store64_lane(at, halves(encodeBrain(fourWords(f), bits)), 0, offset);
      break;
    default: {
      const pairs = halves(encodeByte(fourWords(f), bits, dtype));
      f.v128.store32_lane(at, f.i8x16.narrow_i16x8_u(pairs, pairs), 0, offset);
    }
  }
}

/** The lanes that write one by one: a certain one, one where all write to the same place, or all. */
function writers(index: LaneValue, lane: number | null): readonly number[] {
  if (lane !== null) return [lane];
  return index.kind === "uniform" ? [0] : [0, 1, 2, 3];
}

/** Compare-and-exchange loop: several threads may update an element at once. */
export function updateAtomically(
  f: FunctionBuilder,
  op: CombineOp,
  type: IRType,
  at: Value<"i32">,
  operand: Value,
): void {
  const wide = wasmType[type] === "i64" || wasmType[type] === "f64";
  const word = wide ? "i64" : "i32";
  const isFloat = type === "f32" || type === "f64";
  const asBits = (x: Value) => (isFloat ? f.op(`${word}.reinterpret_${wasmType[type]}`, x) : x);
  const fromBits = (x: Value) => (isFloat ? f.op(`${wasmType[type]}.reinterpret_${word}`, x) : x);
  const load = () => (wide ? f.i64.atomic.load(at) : f.i32.atomic.load(at)) as Value;
  const seen = f.variable(word, load() as Value<"i32">);
  f.loop(() => {
    const before = seen.get() as Value;
    const wanted = asBits(binary(f, op, type, fromBits(before), operand));
    const found = wide
      ? f.i64.atomic.rmw.cmpxchg(at, before as Value<"i64">, wanted as Value<"i64">)
      : f.i32.atomic.rmw.cmpxchg(at, before as Value<"i32">, wanted as Value<"i32">);
    f.breakIf(
      wide
        ? f.i64.eq(found as Value<"i64">, before as Value<"i64">)
        : f.i32.eq(found as Value<"i32">, before as Value<"i32">),
    );
    seen.set(found as Value<"i32">);
  });
}

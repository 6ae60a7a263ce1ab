/** Four neighbouring bools or integers of 8 or 16 bits, from memory to the words of a vector and back. element-access.ts calls it. */
import type { DType } from "../../../core/dtype.js";
import type { FunctionBuilder } from "../../../wasm/function-builder.js";
import type { Value } from "../../../wasm/value.js";

const NARROW_INTEGERS = ["bool", "i8", "u8", "i16", "u16"] as const;
type NarrowInteger = (typeof NARROW_INTEGERS)[number];

export const isNarrowInteger = (dtype: DType): dtype is NarrowInteger =>
  (NARROW_INTEGERS as readonly DType[]).includes(dtype);

interface Offset {
  readonly offset: number;
}

/** Four numbers as words; bools as masks, all bits or none. */
export function loadNarrowIntegers(
  f: FunctionBuilder,
  dtype: NarrowInteger,
  at: Value<"i32">,
  offset: Offset,
): Value<"v128"> {
  const bytes = () => f.v128.load32_zero(at, offset);
  switch (dtype) {
    case "bool":
      return f.i32x4.ne(f.i32x4.extend_low_i16x8_u(f.i16x8.extend_low_i8x16_u(bytes())), f.i32x4.const([0, 0, 0, 0]));
    case "i8":
      return f.i32x4.extend_low_i16x8_s(f.i16x8.extend_low_i8x16_s(bytes()));
    case "u8":
      return f.i32x4.extend_low_i16x8_u(f.i16x8.extend_low_i8x16_u(bytes()));
    case "i16":
      return f.v128.load16x4_s(at, offset);
    default:
      return f.v128.load16x4_u(at, offset);
  }
}

/** The low byte of each of four words, four times over, and its two low bytes twice. */
const LOW_BYTES = Array.from({ length: 16 }, (_, i) => 4 * (i % 4));
const LOW_PAIRS = Array.from({ length: 16 }, (_, i) => 4 * ((i >> 1) % 4) + (i % 2));

/** The low bits of four words; of a mask 1 where it is set. */
export function storeNarrowIntegers(
  f: FunctionBuilder,
  dtype: NarrowInteger,
  at: Value<"i32">,
  words: Value<"v128">,
  offset: Offset,
): void {
  if (dtype === "i16" || dtype === "u16") {
    f.v128.store64_lane(at, f.i8x16.shuffle(words, words, LOW_PAIRS), 0, offset);
    return;
  }
  const values = dtype === "bool" ? f.v128.and(words, f.i32x4.const([1, 1, 1, 1])) : words;
  f.v128.store32_lane(at, f.i8x16.shuffle(values, values, LOW_BYTES), 0, offset);
}

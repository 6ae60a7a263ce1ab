/**
 * The types of WebAssembly values, and the ways a 128-bit vector is cut into lanes.
 *
 * A vector's type is `v128` whatever its lanes hold: the instruction decides how it reads the bits, as in the
 * specification, so `f.f32x4.add(f.i32x4.add(a, b), c)` is meaningful and nothing needs a cast.
 */
export type ValueType = "i32" | "i64" | "f32" | "f64" | "v128";

export type LaneShape = "i8x16" | "i16x8" | "i32x4" | "i64x2" | "f32x4" | "f64x2";

/** A JavaScript number that takes the type of the place it stands in; in a lane-wise instruction, every lane's value. */
export type Literal = number | bigint | boolean;

/** The byte that stands for each type in the binary format. */
export const TYPE_CODE: { readonly [type in ValueType]: number } = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
};

interface Lanes {
  readonly count: number;
  readonly bytes: number;
  readonly scalar: "i32" | "i64" | "f32" | "f64";
  /** The range of an integer lane; a float lane has none. */
  readonly isFloat: boolean;
}

export const LANES: { readonly [shape in LaneShape]: Lanes } = {
  i8x16: { count: 16, bytes: 1, scalar: "i32", isFloat: false },
  i16x8: { count: 8, bytes: 2, scalar: "i32", isFloat: false },
  i32x4: { count: 4, bytes: 4, scalar: "i32", isFloat: false },
  i64x2: { count: 2, bytes: 8, scalar: "i64", isFloat: false },
  f32x4: { count: 4, bytes: 4, scalar: "f32", isFloat: true },
  f64x2: { count: 2, bytes: 8, scalar: "f64", isFloat: true },
};

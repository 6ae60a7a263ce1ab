/**
 * What the scalar instructions mean, in JavaScript: an i32 is a number as `| 0` leaves it, an i64 a bigint as
 * BigInt.asIntN(64) leaves it, an f32 a number as Math.fround leaves it.
 */
export type Lane = number | bigint;
export type Oracle = (...operands: never[]) => Lane;

const view = new DataView(new ArrayBuffer(8));

export const roundEven = (x: number): number => {
  if (!Number.isFinite(x) || Math.abs(x) >= 2 ** 52) return x;
  const below = Math.floor(x);
  const rest = x - below;
  const rounded = rest < 0.5 || (rest === 0.5 && below % 2 === 0) ? below : below + 1;
  return rounded === 0 ? (x < 0 || Object.is(x, -0) ? -0 : 0) : rounded;
};

export const minimum = (a: number, b: number): number => Math.min(a, b);
export const maximum = (a: number, b: number): number => Math.max(a, b);

export const copySign = (a: number, b: number): number => {
  view.setFloat64(0, b);
  const isNegative = view.getUint8(0) >> 7 === 1;
  return isNegative ? -Math.abs(a) : Math.abs(a);
};

/** Float to integer with saturation; NaN gives 0. */
export const saturate = (x: number, bits: 32 | 64, isSigned: boolean): bigint => {
  if (Number.isNaN(x)) return 0n;
  const [low, high] = isSigned
    ? [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n]
    : [0n, (1n << BigInt(bits)) - 1n];
  if (x === Infinity) return high;
  if (x === -Infinity) return low;
  const whole = BigInt(Math.trunc(x));
  return whole < low ? low : whole > high ? high : whole;
};

/** As above, but a trap where there is nothing to return. */
const truncate = (x: number, bits: 32 | 64, isSigned: boolean): bigint => {
  const result = saturate(x, bits, isSigned);
  if (!Number.isFinite(x) || result !== BigInt(Math.trunc(x))) throw new RangeError("trap");
  return result;
};

/** The nearest f32 to an integer, ties to even: not Math.fround(Number(x)), which would round twice. */
export const f32FromInteger = (x: bigint): number => {
  const magnitude = x < 0n ? -x : x;
  const extra = magnitude.toString(2).length - 24;
  if (extra <= 0) return Number(x);
  const unit = 1n << BigInt(extra);
  let quotient = magnitude / unit;
  const rest = magnitude % unit;
  const half = unit / 2n;
  if (rest > half || (rest === half && quotient % 2n === 1n)) quotient += 1n;
  return Number(x < 0n ? -quotient : quotient) * 2 ** extra;
};

const s32 = (x: bigint): number => Number(BigInt.asIntN(32, x));
const s64 = (x: bigint): bigint => BigInt.asIntN(64, x);
const u64 = (x: bigint): bigint => BigInt.asUintN(64, x);
const trap = (): never => {
  throw new RangeError("trap");
};
const bits64 = (x: bigint): string => u64(x).toString(2).padStart(64, "0");

const i32: Record<string, (a: number, b: number) => number> = {
  eqz: (a) => Number(a === 0),
  clz: (a) => Math.clz32(a),
  ctz: (a) => (a === 0 ? 32 : 31 - Math.clz32(a & -a)),
  popcnt: (a) => [...(a >>> 0).toString(2)].filter((bit) => bit === "1").length,
  extend8_s: (a) => (a << 24) >> 24,
  extend16_s: (a) => (a << 16) >> 16,
  eq: (a, b) => Number(a === b),
  ne: (a, b) => Number(a !== b),
  lt_s: (a, b) => Number(a < b),
  lt_u: (a, b) => Number(a >>> 0 < b >>> 0),
  gt_s: (a, b) => Number(a > b),
  gt_u: (a, b) => Number(a >>> 0 > b >>> 0),
  le_s: (a, b) => Number(a <= b),
  le_u: (a, b) => Number(a >>> 0 <= b >>> 0),
  ge_s: (a, b) => Number(a >= b),
  ge_u: (a, b) => Number(a >>> 0 >= b >>> 0),
  add: (a, b) => (a + b) | 0,
  sub: (a, b) => (a - b) | 0,
  mul: Math.imul,
  div_s: (a, b) => (b === 0 || (a === -(2 ** 31) && b === -1) ? trap() : (a / b) | 0),
  div_u: (a, b) => (b === 0 ? trap() : ((a >>> 0) / (b >>> 0)) | 0),
  rem_s: (a, b) => (b === 0 ? trap() : (a % b) | 0),
  rem_u: (a, b) => (b === 0 ? trap() : ((a >>> 0) % (b >>> 0)) | 0),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  shl: (a, b) => a << b,
  shr_s: (a, b) => a >> b,
  shr_u: (a, b) => (a >>> b) | 0,
  rotl: (a, b) => (a << (b & 31)) | ((b & 31) === 0 ? 0 : a >>> (32 - (b & 31))),
  rotr: (a, b) => ((b & 31) === 0 ? a : (a >>> (b & 31)) | (a << (32 - (b & 31)))),
};

const i64: Record<string, (a: bigint, b: bigint) => Lane> = {
  eqz: (a) => Number(a === 0n),
  clz: (a) => (a === 0n ? 64n : BigInt(bits64(a).indexOf("1"))),
  ctz: (a) => (a === 0n ? 64n : BigInt(63 - bits64(a).lastIndexOf("1"))),
  popcnt: (a) => BigInt([...bits64(a)].filter((bit) => bit === "1").length),
  extend8_s: (a) => BigInt.asIntN(8, a),
  extend16_s: (a) => BigInt.asIntN(16, a),
  extend32_s: (a) => BigInt.asIntN(32, a),
  eq: (a, b) => Number(a === b),
  ne: (a, b) => Number(a !== b),
  lt_s: (a, b) => Number(a < b),
  lt_u: (a, b) => Number(u64(a) < u64(b)),
  gt_s: (a, b) => Number(a > b),
  gt_u: (a, b) => Number(u64(a) > u64(b)),
  le_s: (a, b) => Number(a <= b),
  le_u: (a, b) => Number(u64(a) <= u64(b)),
  ge_s: (a, b) => Number(a >= b),
  ge_u: (a, b) => Number(u64(a) >= u64(b)),
  add: (a, b) => s64(a + b),
  sub: (a, b) => s64(a - b),
  mul: (a, b) => s64(a * b),
  div_s: (a, b) => (b === 0n || (a === -(1n << 63n) && b === -1n) ? trap() : a / b),
  div_u: (a, b) => (b === 0n ? trap() : s64(u64(a) / u64(b))),
  rem_s: (a, b) => (b === 0n ? trap() : a % b),
  rem_u: (a, b) => (b === 0n ? trap() : s64(u64(a) % u64(b))),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  shl: (a, b) => s64(a << (b & 63n)),
  shr_s: (a, b) => a >> (b & 63n),
  shr_u: (a, b) => s64(u64(a) >> (b & 63n)),
  rotl: (a, b) => s64((u64(a) << (b & 63n)) | (u64(a) >> ((64n - (b & 63n)) & 63n))),
  rotr: (a, b) => s64((u64(a) >> (b & 63n)) | (u64(a) << ((64n - (b & 63n)) & 63n))),
};

/** Float arithmetic before it is rounded to its type; also what the vector instructions do in each lane. */
export const floatOperations: Record<string, (a: number, b: number) => number> = {
  abs: (a) => Math.abs(a),
  neg: (a) => -a,
  ceil: (a) => Math.ceil(a),
  floor: (a) => Math.floor(a),
  trunc: (a) => Math.trunc(a),
  nearest: (a) => roundEven(a),
  sqrt: (a) => Math.sqrt(a),
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  min: minimum,
  max: maximum,
};

export const floatComparisons: Record<string, (a: number, b: number) => boolean> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  gt: (a, b) => a > b,
  le: (a, b) => a <= b,
  ge: (a, b) => a >= b,
};

export const integerOracles = { i32, i64 };

const table = new Map<string, Oracle>();
const add = (name: string, oracle: (...operands: never[]) => Lane) => table.set(name, oracle);

for (const [name, oracle] of Object.entries(i32)) add(`i32.${name}`, oracle);
for (const [name, oracle] of Object.entries(i64)) add(`i64.${name}`, oracle);
for (const type of ["f32", "f64"] as const) {
  const round = type === "f32" ? Math.fround : (x: number) => x;
  for (const [name, f] of Object.entries(floatOperations))
    add(`${type}.${name}`, (a: number, b: number) => round(f(a, b)));
  for (const [name, f] of Object.entries(floatComparisons))
    add(`${type}.${name}`, (a: number, b: number) => Number(f(a, b)));
  add(`${type}.copysign`, copySign);
  for (const isSigned of [true, false]) {
    const suffix = `${type}_${isSigned ? "s" : "u"}`;
    add(`i32.trunc_${suffix}`, (x: number) => s32(truncate(x, 32, isSigned)));
    add(`i64.trunc_${suffix}`, (x: number) => s64(truncate(x, 64, isSigned)));
    add(`i32.trunc_sat_${suffix}`, (x: number) => s32(saturate(x, 32, isSigned)));
    add(`i64.trunc_sat_${suffix}`, (x: number) => s64(saturate(x, 64, isSigned)));
  }
}
for (const isSigned of [true, false]) {
  const suffix = isSigned ? "s" : "u";
  const of32 = (x: number) => (isSigned ? x : x >>> 0);
  const of64 = (x: bigint) => (isSigned ? x : u64(x));
  add(`i64.extend_i32_${suffix}`, (x: number) => BigInt(of32(x)));
  add(`f32.convert_i32_${suffix}`, (x: number) => Math.fround(of32(x)));
  add(`f64.convert_i32_${suffix}`, (x: number) => of32(x));
  add(`f32.convert_i64_${suffix}`, (x: bigint) => f32FromInteger(of64(x)));
  add(`f64.convert_i64_${suffix}`, (x: bigint) => Number(of64(x)));
}
add("i32.wrap_i64", s32);
add("f32.demote_f64", Math.fround);
add("f64.promote_f32", (x: number) => x);

/** Reinterpretations are exact in bits, NaN included, so the test compares them by bytes; there is no number to return. */
export const REINTERPRETS = [
  "i32.reinterpret_f32",
  "i64.reinterpret_f64",
  "f32.reinterpret_i32",
  "f64.reinterpret_i64",
];

export const scalarOracles: ReadonlyMap<string, Oracle> = table;

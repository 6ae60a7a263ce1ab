/** Literals as constants: range checks, and the sixteen bytes of a vector. */
import { ArgumentError } from "../core/errors.js";
import { LANES, type LaneShape, type Literal, type ValueType } from "./types.js";

/** The value a literal has as a constant of `type`; integers wrap to signed, as the encoding wants them. */
export function encodeLiteral(type: Exclude<ValueType, "v128">, literal: Literal, what: string): number | bigint {
  switch (type) {
    case "i32":
      return integer(literal, 32, what);
    case "i64":
      return BigInt.asIntN(64, bigInteger(literal, 64, what));
    case "f32":
      return Math.fround(float(literal, what));
    case "f64":
      return float(literal, what);
  }
}

/** The bytes of a vector: one literal for all lanes, or one for each. */
export function encodeLanes(shape: LaneShape, lanes: Literal | readonly Literal[], what: string): Uint8Array {
  const { count, bytes, isFloat } = LANES[shape];
  const list = typeof lanes === "object" ? lanes : new Array<Literal>(count).fill(lanes);
  if (list.length !== count) throw new ArgumentError(`${what}: ${list.length} lanes for ${shape}, which has ${count}`);
  const view = new DataView(new ArrayBuffer(16));
  list.forEach((lane, i) => {
    const at = i * bytes;
    if (isFloat) setFloat(view, at, bytes, float(lane, what));
    else if (bytes === 8) view.setBigInt64(at, bigInteger(lane, 64, what), true);
    else if (bytes === 4) view.setInt32(at, integer(lane, 32, what), true);
    else if (bytes === 2) view.setInt16(at, integer(lane, 16, what), true);
    else view.setInt8(at, integer(lane, 8, what));
  });
  return new Uint8Array(view.buffer);
}

function setFloat(view: DataView, at: number, bytes: number, value: number): void {
  // One NaN, so that equal modules have equal bytes.
  if (bytes === 4 && Number.isNaN(value)) view.setUint32(at, 0x7fc00000, true);
  else if (bytes === 4) view.setFloat32(at, value, true);
  else if (Number.isNaN(value)) view.setBigUint64(at, 0x7ff8000000000000n, true);
  else view.setFloat64(at, value, true);
}

function float(literal: Literal, what: string): number {
  if (typeof literal === "number") return literal;
  throw new ArgumentError(`${what}: a float constant is a number, got the ${typeof literal} ${literal}`);
}

/** Signed or unsigned, as long as the bits fit. */
function integer(literal: Literal, width: number, what: string): number {
  const value = Number(literal);
  if (Number.isInteger(value) && value >= -(2 ** (width - 1)) && value < 2 ** width) return value | 0;
  throw new ArgumentError(`${what}: ${literal} is not an integer of ${width} bits`);
}

function bigInteger(literal: Literal, width: number, what: string): bigint {
  if (typeof literal === "number" && !Number.isSafeInteger(literal)) {
    throw new ArgumentError(`${what}: ${literal} is not a safe integer; write a bigint`);
  }
  const value = BigInt(literal);
  if (value >= -(1n << BigInt(width - 1)) && value < 1n << BigInt(width)) return value;
  throw new ArgumentError(`${what}: ${literal} is not an integer of ${width} bits`);
}

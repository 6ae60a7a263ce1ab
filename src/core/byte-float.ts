/**
 * The 8-bit floats f8e4m3 and f8e5m2: numbers to bit patterns and back, by the rules of ml_dtypes and ONNX. f8e5m2 is laid
 * out as IEEE floats are, with infinities. f8e4m3 (e4m3fn there) gives the room of infinities to numbers, up to 448: what
 * rounds beyond becomes NaN, of which it has one of either sign. Encoding rounds once, to nearest and ties to even, straight
 * from the double, and every NaN becomes the same one. Reading and writing tensors, files and printing call this.
 */

export type ByteFloat = "f8e4m3" | "f8e5m2";

interface ByteFormat {
  readonly fractionBits: number;
  /** The exponent of the smallest normal number. */
  readonly minExponent: number;
  /** The code of the largest number. */
  readonly maxCode: number;
  /** The code of numbers that are larger: infinity, or NaN. */
  readonly overflow: number;
  readonly nan: number;
}

/** Codes without the sign, which is bit 7. */
export const BYTE_FORMATS: { readonly [F in ByteFloat]: ByteFormat } = {
  f8e4m3: { fractionBits: 3, minExponent: -6, maxCode: 0x7e, overflow: 0x7f, nan: 0x7f },
  f8e5m2: { fractionBits: 2, minExponent: -14, maxCode: 0x7b, overflow: 0x7c, nan: 0x7e },
};

const double = new DataView(new ArrayBuffer(8));

/** The exponent of the power of two below a positive number; that of denormal doubles is too small for any format here. */
function exponentOf(magnitude: number): number {
  double.setFloat64(0, magnitude);
  return (double.getUint16(0) >> 4) - 1023;
}

function roundEven(x: number): number {
  const below = Math.floor(x);
  const rest = x - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}

/** The bit pattern of the 8-bit float nearest to x. */
export function encodeF8(x: number, format: ByteFloat): number {
  const { fractionBits, minExponent, maxCode, overflow, nan } = BYTE_FORMATS[format];
  if (Number.isNaN(x)) return nan;
  const sign = x < 0 || Object.is(x, -0) ? 0x80 : 0;
  const magnitude = Math.abs(x);
  const beyond = overflow === nan ? nan : sign | overflow;
  if (magnitude >= 2 ** 17) return beyond;
  const exponent = Math.max(exponentOf(magnitude), minExponent);
  // The leading one of a normal number carries into the exponent, where it belongs.
  const code = ((exponent - minExponent) << fractionBits) + roundEven(magnitude * 2 ** (fractionBits - exponent));
  return code > maxCode ? beyond : sign | code;
}

function valueOfCode(code: number, format: ByteFloat): number {
  const { fractionBits, minExponent, maxCode, overflow, nan } = BYTE_FORMATS[format];
  const magnitude = code & 0x7f;
  if (magnitude > maxCode)
    return magnitude === overflow && overflow !== nan ? (code > 0x7f ? -Infinity : Infinity) : NaN;
  const field = magnitude >> fractionBits;
  const fraction = magnitude & ((1 << fractionBits) - 1);
  const steps = field === 0 ? fraction : fraction | (1 << fractionBits);
  const value = steps * 2 ** (Math.max(field - 1, 0) + minExponent - fractionBits);
  return code > 0x7f ? -value : value;
}

const VALUES: { readonly [F in ByteFloat]: Float32Array } = {
  f8e4m3: Float32Array.from({ length: 256 }, (_, code) => valueOfCode(code, "f8e4m3")),
  f8e5m2: Float32Array.from({ length: 256 }, (_, code) => valueOfCode(code, "f8e5m2")),
};

/** The number a bit pattern stands for. */
export const decodeF8 = (bits: number, format: ByteFloat): number => VALUES[format][bits];

/** Bit patterns to numbers. */
export function decodeF8Array(bits: Uint8Array, format: ByteFloat): Float32Array {
  const values = VALUES[format];
  return Float32Array.from(bits, (code) => values[code]);
}

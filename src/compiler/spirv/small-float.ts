/**
 * Floats JavaScript has no typed array for (IEEE half precision, bfloat16): a double to bits, rounded once and to even,
 * and bits back to a double. The assembler writes constants with it, the disassembler reads them.
 */
export interface FloatFormat {
  readonly exponentBits: number;
  readonly mantissaBits: number;
}

export const HALF: FloatFormat = { exponentBits: 5, mantissaBits: 10 };
export const BFLOAT16: FloatFormat = { exponentBits: 8, mantissaBits: 7 };

const doubles = new Float64Array(1);
const halves = new Uint32Array(doubles.buffer);

export function floatToBits(x: number, format: FloatFormat): number {
  const { exponentBits, mantissaBits } = format;
  const bias = 2 ** (exponentBits - 1) - 1;
  const infinity = (2 ** exponentBits - 1) << mantissaBits;
  const sign = (x < 0 || Object.is(x, -0) ? 1 : 0) << (exponentBits + mantissaBits);
  if (Number.isNaN(x)) return infinity | (1 << (mantissaBits - 1));
  const magnitude = Math.abs(x);
  if (magnitude === 0 || magnitude === Infinity) return sign | (magnitude === 0 ? 0 : infinity);

  doubles[0] = magnitude;
  // Below the smallest normal exponent the spacing stays that of the subnormals.
  const exponent = Math.max(((halves[1] >>> 20) & 0x7ff) - 1023, 1 - bias);
  const steps = roundHalfEven(magnitude / 2 ** (exponent - mantissaBits));
  // A subnormal has no implicit leading one; rounding up carries into the exponent field by plain addition.
  const bits = (exponent + bias - 1) * 2 ** mantissaBits + steps;
  return sign | Math.min(bits, infinity);
}

export function bitsToFloat(bits: number, format: FloatFormat): number {
  const { exponentBits, mantissaBits } = format;
  const bias = 2 ** (exponentBits - 1) - 1;
  const sign = (bits >>> (exponentBits + mantissaBits)) & 1 ? -1 : 1;
  const exponent = (bits >>> mantissaBits) & (2 ** exponentBits - 1);
  const mantissa = bits & (2 ** mantissaBits - 1);
  if (exponent === 2 ** exponentBits - 1) return mantissa === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * mantissa * 2 ** (1 - bias - mantissaBits);
  return sign * (mantissa + 2 ** mantissaBits) * 2 ** (exponent - bias - mantissaBits);
}

function roundHalfEven(x: number): number {
  const below = Math.floor(x);
  const rest = x - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}

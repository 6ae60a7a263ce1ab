/**
 * f16 (IEEE half precision) and bf16 (the upper half of an f32), for which JavaScript has no arrays: numbers to bit
 * patterns and back. Encoding rounds once, to nearest and ties to even, straight from the double. Every NaN becomes the
 * same quiet NaN, so that encoded bytes do not depend on the machine. Reading and writing tensors, files and printing
 * call this.
 */
const f32 = new Float32Array(1);
const u32 = new Uint32Array(f32.buffer);

const F16_NAN = 0x7e00;
const BF16_NAN = 0x7fc0;

/**
 * The bits of x as an f32 rounded to odd: when x is no f32, the neighbour with an odd last bit. Rounding that once more
 * to a format two or more bits shorter gives what rounding x itself gives (Boldo and Melquiond, 2008); rounding to
 * nearest twice does not.
 */
function roundToOddBits(x: number): number {
  const nearest = Math.fround(x);
  f32[0] = nearest;
  const bits = u32[0];
  if (nearest === x) return bits;
  const towardsZero = Math.abs(nearest) > Math.abs(x) ? bits - 1 : bits;
  return towardsZero | 1;
}

/** The bit pattern of the f16 nearest to x. */
export function encodeF16(x: number): number {
  if (Number.isNaN(x)) return F16_NAN;
  return f16FromF32Bits(roundToOddBits(x));
}

/** The bit pattern of the bf16 nearest to x. */
export function encodeBf16(x: number): number {
  if (Number.isNaN(x)) return BF16_NAN;
  return bf16FromF32Bits(roundToOddBits(x));
}

/** Not for NaN. */
function f16FromF32Bits(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x47800000) return sign | 0x7c00; // 65536 and beyond
  if (magnitude >= 0x38800000) {
    // Normal. A carry out of the fraction lands in the exponent, where it belongs; past 65504 it makes infinity.
    return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
  }
  const shift = 126 - (magnitude >>> 23);
  if (shift > 24) return sign; // below half of the smallest subnormal
  const fraction = (magnitude & 0x7fffff) | 0x800000;
  const kept = fraction >>> shift;
  const rest = fraction & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return sign | (rest > half || (rest === half && (kept & 1) === 1) ? kept + 1 : kept);
}

/** Not for NaN. */
function bf16FromF32Bits(bits: number): number {
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** The number an f16 bit pattern stands for. */
export function decodeF16(bits: number): number {
  u32[0] = f16ToF32Bits(bits);
  return f32[0];
}

/** The number a bf16 bit pattern stands for. */
export function decodeBf16(bits: number): number {
  u32[0] = bits << 16;
  return f32[0];
}

function f16ToF32Bits(bits: number): number {
  const sign = (bits & 0x8000) << 16;
  const magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) return sign | 0x7f800000 | (magnitude << 13);
  if (magnitude >= 0x0400) return sign | ((magnitude << 13) + 0x38000000);
  if (magnitude === 0) return sign;
  // Subnormal in f16, normal in f32: shift the leading one into the implicit place.
  const shift = Math.clz32(magnitude) - 21;
  return sign | ((113 - shift) << 23) | ((magnitude << (shift + 13)) & 0x7fffff);
}

/** f16 bit patterns to numbers. NaN payloads survive: the bits are moved, not the values. */
export function decodeF16Array(bits: Uint16Array, out = new Float32Array(bits.length)): Float32Array {
  const words = new Uint32Array(out.buffer, out.byteOffset, out.length);
  for (let i = 0; i < bits.length; i++) words[i] = f16ToF32Bits(bits[i]);
  return out;
}

/** bf16 bit patterns to numbers. */
export function decodeBf16Array(bits: Uint16Array, out = new Float32Array(bits.length)): Float32Array {
  const words = new Uint32Array(out.buffer, out.byteOffset, out.length);
  for (let i = 0; i < bits.length; i++) words[i] = bits[i] << 16;
  return out;
}

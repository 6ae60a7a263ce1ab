/**
 * The 8-bit floats by the text of the OCP specification, which ml_dtypes and ONNX follow: what each code stands for, and the
 * code nearest to a number, found by looking through all of them.
 */
import type { ByteFloat } from "../../src/core/byte-float.js";

export const byteFloats = ["f8e4m3", "f8e5m2"] as const;
export const allCodes: readonly number[] = Array.from({ length: 256 }, (_, code) => code);

export function codeValue(code: number, format: ByteFloat): number {
  const bits = code.toString(2).padStart(8, "0");
  const [exponentBits, bias] = format === "f8e4m3" ? [4, 7] : [5, 15];
  const sign = bits[0] === "1" ? -1 : 1;
  const exponent = Number.parseInt(bits.slice(1, 1 + exponentBits), 2);
  const fraction = bits.slice(1 + exponentBits);
  const isTop = exponent === 2 ** exponentBits - 1;
  if (format === "f8e4m3" && isTop && fraction === "111") return Number.NaN;
  if (format === "f8e5m2" && isTop) return fraction === "00" ? sign * Infinity : Number.NaN;
  const part = Number.parseInt(fraction, 2) / 2 ** fraction.length;
  return sign * (exponent === 0 ? part * 2 ** (1 - bias) : (1 + part) * 2 ** (exponent - bias));
}

/** The finite numbers that are not negative, in order: code by code. */
export const ladderOf = (format: ByteFloat): readonly number[] =>
  allCodes
    .slice(0, 128)
    .map((code) => codeValue(code, format))
    .filter(Number.isFinite);

const ladders = { f8e4m3: ladderOf("f8e4m3"), f8e5m2: ladderOf("f8e5m2") };

/** The number of the format nearest to x, of two the one with an even code. */
export function nearestOf(x: number, format: ByteFloat): number {
  if (Number.isNaN(x) || x === 0) return x;
  const ladder = ladders[format];
  const size = Math.abs(x);
  const largest = ladder.at(-1)!;
  // Where the next number would be if there were one.
  const beyond = 2 * largest - ladder.at(-2)!;
  const isEven = (ladder.length - 1) % 2 === 0;
  if (size > largest && (size > (largest + beyond) / 2 || (size === (largest + beyond) / 2 && !isEven))) {
    return format === "f8e4m3" ? Number.NaN : Math.sign(x) * Infinity;
  }
  const above = ladder.findIndex((value) => value >= size);
  if (above < 0) return Math.sign(x) * largest;
  if (ladder[above] === size || above === 0) return x < 0 ? -ladder[above]! : ladder[above]!;
  const [low, high] = [ladder[above - 1]!, ladder[above]!];
  const middle = (low + high) / 2;
  const takesLow = size < middle || (size === middle && (above - 1) % 2 === 0);
  const chosen = takesLow ? low : high;
  return x < 0 ? -chosen : chosen;
}

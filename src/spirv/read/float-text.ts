/**
 * Floats as the text of a disassembly: the shortest decimal that reads back to the same bits, and hexadecimal (as C's
 * %a) for values that decimal cannot express or parsers disagree on: infinities, NaNs with their payload, subnormals.
 */
import { decodeBf16, decodeF16 } from "../../core/half.js";

interface FloatFormat {
  readonly exponentBits: number;
  readonly mantissaBits: number;
}

const HALF: FloatFormat = { exponentBits: 5, mantissaBits: 10 };
const BFLOAT16: FloatFormat = { exponentBits: 8, mantissaBits: 7 };
const SINGLE: FloatFormat = { exponentBits: 8, mantissaBits: 23 };
const DOUBLE: FloatFormat = { exponentBits: 11, mantissaBits: 52 };

const words = new Uint32Array(2);
const singles = new Float32Array(words.buffer, 0, 1);
const doubles = new Float64Array(words.buffer);

export function floatText(low: number, high: number, width: 16 | 32 | 64, encoding: "ieee" | "bf16" = "ieee"): string {
  if (width === 16) {
    const [format, decode] = encoding === "bf16" ? ([BFLOAT16, decodeBf16] as const) : ([HALF, decodeF16] as const);
    const bits = low & 0xffff;
    // A half is printed as the double it equals, because spirv-as truncates where it would have to round.
    return hexText(BigInt(bits), format) ?? decimalText(decode(bits));
  }
  words[0] = low;
  words[1] = high;
  if (width === 64) return hexText((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0), DOUBLE) ?? decimalText(doubles[0]);
  return hexText(BigInt(low >>> 0), SINGLE) ?? shortestSingle(singles[0]);
}

function shortestSingle(x: number): string {
  // toPrecision loses the sign of -0.
  if (x === 0) return decimalText(x);
  for (let digits = 1; digits <= 9; digits++) {
    const candidate = Number(x.toPrecision(digits));
    if (Math.fround(candidate) === x) return decimalText(candidate);
  }
  return decimalText(x);
}

function decimalText(x: number): string {
  return Object.is(x, -0) ? "-0" : String(x);
}

/** Hexadecimal text for infinities, NaNs and subnormals; undefined for zeros and normal numbers. */
function hexText(bits: bigint, { exponentBits, mantissaBits }: FloatFormat): string | undefined {
  const bias = 2 ** (exponentBits - 1) - 1;
  const allOnes = 2 ** exponentBits - 1;
  const sign = (bits >> BigInt(exponentBits + mantissaBits)) & 1n ? "-" : "";
  const biased = Number((bits >> BigInt(mantissaBits)) & BigInt(allOnes));
  let mantissa = bits & ((1n << BigInt(mantissaBits)) - 1n);
  let exponent: number;
  if (biased === allOnes) {
    exponent = bias + 1;
  } else if (biased === 0 && mantissa !== 0n) {
    // Shift the leading one up to where a normal number has it implicitly.
    const length = mantissa.toString(2).length;
    exponent = 1 - bias - (mantissaBits - length + 1);
    mantissa = (mantissa << BigInt(mantissaBits - length + 1)) & ((1n << BigInt(mantissaBits)) - 1n);
  } else {
    return undefined;
  }
  // Left-align the mantissa on whole hexadecimal digits.
  const digits = Math.ceil(mantissaBits / 4);
  const aligned = mantissa << BigInt(digits * 4 - mantissaBits);
  const fraction = aligned.toString(16).padStart(digits, "0").replace(/0+$/, "");
  return `${sign}0x1${fraction && `.${fraction}`}p${exponent < 0 ? "" : "+"}${exponent}`;
}

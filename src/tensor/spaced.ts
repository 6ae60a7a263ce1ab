/**
 * Numbers at equal distances, start + i·step, as near as their dtype holds them: for `arange` and `linspace`.
 *
 * NumPy computes them in f64 and rounds once. Not every device has f64, and f32 alone loses bits where the sum passes
 * zero, so f32 is computed from exact parts: i is cut into digits of 12 bits and the step into parts of 12 bits, whose
 * products f32 holds exactly, and the rounding errors of their sum are added at the end. The bits are the same everywhere.
 */
import { positionDType } from "../core/dtype.js";
import type { Tensor } from "./tensor.js";

const DIGIT_BITS = 12;

/** start + i·step in f32 or f64, for the whole numbers i that are counted: 0, 1 … */
export function spaced(counted: Tensor, start: number, step: number, dtype: "f32" | "f64"): Tensor {
  if (dtype === "f64") return counted.cast("f64").mul(step).add(start);
  const reach = Math.abs(start) + Math.abs(step) * counted.size;
  // Near the end of its range f32 holds the sum, but not all of its parts.
  return reach < 2 ** 126 ? summed(counted, start, step) : summed(counted, start / 4, step / 4).mul(4);
}

/** start + ⌊i·(stop - start) / gaps⌋, exactly, in i32 or i64. */
export function wholeSpaced(counted: Tensor, start: number, stop: number, gaps: number): Tensor {
  // The distance may be larger than the largest number that JavaScript counts exactly.
  const distance = BigInt(stop) - BigInt(start);
  const rest = ((distance % BigInt(gaps)) + BigInt(gaps)) % BigInt(gaps);
  const step = (distance - rest) / BigInt(gaps);
  const largest = Math.max(Math.abs(start), Math.abs(stop), Number(rest) * counted.size, Math.abs(Number(step)));
  const i = counted.cast(positionDType(largest));
  return i.mul(step).add(i.mul(rest).quotient(gaps)).add(start);
}

function summed(counted: Tensor, start: number, step: number): Tensor {
  const high = leading(step);
  const middle = leading(step - high);
  const low = Math.fround(step - high - middle);
  const digits = digitsOf(counted);
  const products = (part: number) => digits.map((digit, i) => digit.mul(part * 2 ** (DIGIT_BITS * i)));
  const [first, ...others] = [...products(high), ...(middle === 0 ? [] : products(middle))];
  const begin = Math.fround(start);
  const errors = low === 0 ? [] : products(low);
  // Adding 0 turns the -0 at which a falling step begins into 0.
  let sum = first.add(begin);
  if (begin !== 0) errors.push(roundingError(first, begin, sum));
  for (const product of others) {
    const next = sum.add(product);
    errors.push(roundingError(sum, product, next));
    sum = next;
  }
  const rest = Math.fround(start - begin);
  return errors.length === 0 ? sum : sum.add(errors.reduce((total, error) => total.add(error)).add(rest));
}

/** The rounding error of a sum, exactly (Knuth 1969). */
function roundingError(a: Tensor, b: Tensor | number, sum: Tensor): Tensor {
  const shared = sum.sub(a);
  return a.sub(sum.sub(shared)).add(shared.neg().add(b));
}

/** The digits of the counted numbers to the base 2^12, the lowest first, as f32. */
function digitsOf(counted: Tensor): Tensor[] {
  const count = Math.max(1, Math.ceil(Math.log2(counted.size) / DIGIT_BITS));
  return Array.from({ length: count }, (_, i) => {
    const above = i === 0 ? counted : counted.rightShift(DIGIT_BITS * i);
    return (i === count - 1 ? above : above.bitwiseAnd(2 ** DIGIT_BITS - 1)).cast("f32");
  });
}

/** The first 12 bits of a number. */
function leading(x: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, x);
  view.setUint32(0, (view.getUint32(0) >>> DIGIT_BITS) << DIGIT_BITS);
  return view.getFloat32(0);
}

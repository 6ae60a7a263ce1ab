/** Elements the op sweep tries: the values where rules change, any bits, and the stretch an operation is made for. */

import { decodeF8 } from "../../src/core/byte-float.js";
import { roundTo } from "../../src/core/cast.js";
import { DTYPES, type DType, highestOf, isFloat } from "../../src/core/dtype.js";
import { decodeBf16, decodeF16 } from "../../src/core/half.js";
import { type Value, wrapped } from "./element-oracle.js";
import type { Random } from "./random.js";

/** Zeros, denormals, the ends of the range, infinities, NaN; for integers the extremes and distances around the width. */
export function specialValues(dtype: DType): Value[] {
  const { kind, min, max, bits, epsilon, tiny } = DTYPES[dtype];
  if (kind === "bool") return [0, 1];
  if (kind === "float") {
    const positive = [
      0,
      tiny * epsilon,
      tiny - tiny * epsilon,
      tiny,
      0.5,
      1 - epsilon / 2,
      1,
      1 + epsilon,
      1.5,
      2,
      2.5,
    ];
    positive.push(3, 1 / epsilon + 1, max as number, highestOf(dtype) as number);
    return [...positive, ...positive.map((x) => -x), Number.NaN];
  }
  const near = [-33, -2, -1, 0, 1, 2, 3, 7, bits - 1, bits, bits + 1].map((x) => wrapped(BigInt(x), dtype));
  const one = wrapped(1n, dtype);
  const ends = [min, max, (min as never) + (one as never), (max as never) - (one as never)] as Value[];
  return [...new Set([...near, ...ends])];
}

/** The smallest normal float: below it a device may flush to zero. */
export const isDenormal = (value: Value, dtype: DType): boolean =>
  isFloat(dtype) && value !== 0 && Math.abs(Number(value)) < DTYPES[dtype].tiny;

const view = new DataView(new ArrayBuffer(8));

/** Any bits the dtype can have. */
export function anyValue(dtype: DType, random: Random): Value {
  view.setUint32(0, random.below(2 ** 32));
  view.setUint32(4, random.below(2 ** 32));
  switch (dtype) {
    case "f8e4m3":
    case "f8e5m2":
      return decodeF8(view.getUint8(0), dtype);
    case "f16":
      return decodeF16(view.getUint16(0));
    case "bf16":
      return decodeBf16(view.getUint16(0));
    case "f32":
      return view.getFloat32(0);
    case "f64":
      return view.getFloat64(0);
    default:
      return wrapped(view.getBigUint64(0), dtype);
  }
}

/** Between two ends, evenly; integers between -20 and 20. */
export function tameValue(dtype: DType, random: Random, [low, high]: readonly [number, number] = [-10, 10]): Value {
  if (dtype === "bool") return random.below(2);
  if (!isFloat(dtype)) return wrapped(BigInt(random.below(41) - 20), dtype);
  return roundTo(dtype, low + ((high - low) * (random.below(2 ** 30) + 0.5)) / 2 ** 30);
}

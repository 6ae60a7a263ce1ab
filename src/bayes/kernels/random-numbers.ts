/** Random numbers inside kernels, by counter: words of Threefry, and uniform and normal numbers made of them. */
import type { Element, KernelBuilder, Value } from "../../compiler/inline/kernel-language.js";
import { threefry2x32 } from "../../graph/primitives/threefry.js";
import type { FloatDType } from "../target/target.js";
import type { Numbers } from "./arithmetic.js";

/** Coefficients of Taylor's series of sine or cosine, by the square of an angle up to π/4. */
const taylor = (first: 0 | 1, terms: number): readonly number[] =>
  Array.from({ length: terms }, (_, n) => {
    let factorial = 1;
    for (let i = 2; i <= 2 * n + first; i++) factorial *= i;
    return (n % 2 ? -1 : 1) / factorial;
  });

/** As many terms as change the last digit of a dtype. */
const SERIES = {
  f32: { sine: taylor(1, 5), cosine: taylor(0, 6) },
  f64: { sine: taylor(1, 9), cosine: taylor(0, 10) },
} as const;

export function randomNumbersOf(k: KernelBuilder, { elements, u, float, add, sub, mul, sqrt, log }: Numbers) {
  /** A uniform number: in (0, 1) for f64, in (0, 1] for f32, where the largest words round to 1. */
  const unit = (type: FloatDType, word: Value) =>
    mul(add(k.convert(type, word), float(type, 0.5)), float(type, 2 ** -32));
  /** Σ c_n z^n. */
  const polynomial = (type: FloatDType, z: Value, coefficients: readonly number[]) =>
    coefficients
      .slice(0, -1)
      .reduceRight((sum, c) => add(mul(sum, z), float(type, c)), float(type, coefficients.at(-1) as number));
  return {
    /** Two words from a key and a counter of two words each. */
    threefry(key: readonly [Value, Value], counter: readonly [Value, Value]): [Value, Value] {
      const inputs = [...key, ...counter].map((value): Element => ({ dtype: "u32", value }));
      const word = (which: "first" | "second") => threefry2x32.lower(elements, inputs, { word: which }, "u32").value;
      return [word("first"), word("second")];
    },
    unit,
    /**
     * Two standard normal numbers from two words (Box and Muller 1958). Two bits of the second word choose a quarter of the
     * circle and the rest an angle within π/4 of its middle, where few terms of Taylor's series do.
     */
    normals(type: FloatDType, [a, b]: readonly [Value, Value]): [Value, Value] {
      const radius = sqrt(mul(float(type, -2), log(unit(type, a))));
      const low = k.convert(type, k.binary("and", b, u(2 ** 30 - 1)));
      const part = mul(add(low, float(type, 0.5)), float(type, 2 ** -30));
      const angle = mul(sub(part, float(type, 0.5)), float(type, Math.PI / 2));
      const square = mul(angle, angle);
      const { sine, cosine } = SERIES[type];
      const [x, y] = [polynomial(type, square, cosine), mul(angle, polynomial(type, square, sine))];
      const isSet = (bit: number) => k.compare("ne", k.binary("and", b, u(bit)), u(0));
      const signed = k.select(isSet(2 ** 31), k.unary("neg", radius), radius);
      const isTurned = isSet(2 ** 30);
      return [mul(signed, k.select(isTurned, y, x)), mul(signed, k.select(isTurned, x, y))];
    },
  };
}

/**
 * The decimal digits of floats, for printing: as few as still name the number in its own dtype (0.1 in f32 is "0.1",
 * not 0.10000000149…), and not more than a precision allows. The rules are those of NumPy's Dragon4, so the digits are
 * too: of the two decimals around the number take the one that reads back as it; if both or neither do, the nearer; in
 * the middle, the even one. format.ts lays the digits out.
 */
import { roundTo } from "./cast.js";
import type { DType } from "./dtype.js";

/** The most digits after the point that JavaScript prints; enough to decide every rounding. */
const ALL_PLACES = 100;

/** The parts of a number before and after the decimal point. */
interface DecimalParts {
  readonly whole: string;
  readonly fraction: string;
}

/** A number from 0 to 1e21, with at most `precision` digits after the point. */
export function positionalDigits(x: number, dtype: DType, precision: number): DecimalParts {
  const readsBack = (text: string) => roundTo(dtype, Number(text)) === x;
  return trimmed(cut(x.toFixed(ALL_PLACES), readsBack, 0, precision));
}

/** The digits after the point that a number needs in the form d.ddd · 10^e, at most `precision`. */
export function scientificPlaces(x: number, dtype: DType, precision: number): number {
  return trimmed(scientific(x, dtype, 0, precision).digits).fraction.length;
}

/** A number as whole.fraction · 10^exponent, with one digit before the point and `places` after it. */
export function scientificDigits(x: number, dtype: DType, places: number): DecimalParts & { exponent: number } {
  const { digits, exponent } = scientific(x, dtype, places, places);
  const [whole, fraction = ""] = digits.split(".");
  return { whole, fraction, exponent };
}

function scientific(x: number, dtype: DType, min: number, max: number): { digits: string; exponent: number } {
  const [exact, power] = x.toExponential(ALL_PLACES).split("e");
  const digits = cut(exact, (text) => roundTo(dtype, Number(`${text}e${power}`)) === x, min, max);
  // 9.99 rounded up is 10.0, which is 1.00 of the next power.
  if (digits.startsWith("10")) {
    return {
      digits: digits.replace("10.", "1.0").slice(0, Math.max(1, digits.length - 1)),
      exponent: Number(power) + 1,
    };
  }
  return { digits, exponent: Number(power) };
}

/** `exact` with between `min` and `max` digits after the point: the first that reads back, else rounded at `max`. */
function cut(exact: string, readsBack: (text: string) => boolean, min: number, max: number): string {
  const point = exact.indexOf(".");
  for (let places = min; ; places++) {
    const below = exact.slice(0, places === 0 ? point : point + 1 + places);
    const above = increment(below);
    const [low, high] = [readsBack(below), readsBack(above)];
    if (!low && !high && places < max) continue;
    if (low !== high) return low ? below : above;
    return isAboveMiddle(exact.slice(below.length).replace(".", ""), below) ? above : below;
  }
}

/** Whether the digits cut off round up; in the middle, when that makes the last digit even. */
function isAboveMiddle(rest: string, kept: string): boolean {
  if (/^50*$/.test(rest)) return Number(kept.at(-1)) % 2 === 1;
  return rest[0] >= "5";
}

/** One more in the last place. */
function increment(text: string): string {
  const places = text.includes(".") ? text.length - 1 - text.indexOf(".") : 0;
  const digits = (BigInt(text.replace(".", "")) + 1n).toString().padStart(places + 1, "0");
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** Without trailing zeros. */
function trimmed(text: string): DecimalParts {
  const [whole, fraction = ""] = text.split(".");
  return { whole, fraction: fraction.replace(/0+$/, "") };
}

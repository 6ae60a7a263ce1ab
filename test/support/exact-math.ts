/**
 * exp, log, pow, tanh, sigmoid and sums to about 150 bits, in whole numbers: an oracle for f64 that is not itself a
 * rounding away from the truth, as JavaScript's Math is. For f32 Math is exact enough.
 *
 * A fixed-point number is a bigint in units of 2^-BITS.
 */
import type { Real } from "./floats.js";

const BITS = 320;
const SCALE = BigInt(BITS);
const ONE = 1n << SCALE;

const view = new DataView(new ArrayBuffer(8));

/** A finite double as significand × 2^exponent. */
export function parts(x: number): { significand: bigint; exponent: number } {
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const field = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const magnitude = field === 0 ? fraction : fraction | 0x10000000000000n;
  return { significand: x < 0 ? -magnitude : magnitude, exponent: (field || 1) - 1075 };
}

const shifted = (m: bigint, by: number): bigint => (by >= 0 ? m << BigInt(by) : m >> BigInt(-by));

function fixed(x: number): bigint {
  const { significand, exponent } = parts(x);
  return shifted(significand, exponent + BITS);
}

const lengthOf = (m: bigint): number => (m < 0n ? -m : m).toString(2).length;

/** m × 2^exponent as a pair of doubles. */
export function real(m: bigint, exponent: number): Real {
  if (m === 0n) return { high: 0, low: 0 };
  const excess = lengthOf(m) - 160;
  const short = shifted(m, -excess);
  const high = Number(short);
  const low = Number(short - BigInt(high));
  const by = exponent + excess;
  // In two steps, because 2^by itself may be out of range.
  const scale = (x: number) => x * 2 ** Math.trunc(by / 2) * 2 ** (by - Math.trunc(by / 2));
  return { high: scale(high), low: Number.isFinite(scale(high)) ? scale(low) : 0 };
}

const product = (a: bigint, b: bigint): bigint => (a * b) >> SCALE;

/** exp by Taylor's series of a small part, squared back up. */
function smallExp(r: bigint): bigint {
  const halvings = 8n;
  const s = r >> halvings;
  let [term, sum] = [ONE, ONE];
  for (let i = 1n; term !== 0n && term !== -1n; i++) {
    term = product(term, s) / i;
    sum += term;
  }
  for (let i = 0n; i < halvings; i++) sum = product(sum, sum);
  return sum;
}

/** ln 2 = 18 atanh(1/26) - 2 atanh(1/4801) + 8 atanh(1/8749) (Gourdon and Sebah). */
const LN2 = ((): bigint => {
  const atanh = (n: bigint) => {
    let [power, sum] = [ONE / n, 0n];
    for (let i = 1n; power !== 0n; i += 2n, power /= n * n) sum += power / i;
    return sum;
  };
  return 18n * atanh(26n) - 2n * atanh(4801n) + 8n * atanh(8749n);
})();

/** exp of a fixed-point number as fixed point × 2^n. */
function expOf(x: bigint): { m: bigint; n: number } {
  const n = (2n * x + LN2) / (2n * LN2);
  return { m: smallExp(x - n * LN2), n: Number(n) };
}

/** log by one cubic step from Math.log: 53 bits become 150. */
function logOf(x: number): bigint {
  const { significand, exponent } = parts(x);
  const length = lengthOf(significand);
  const m = shifted(significand, BITS - length); // in [1/2, 1)
  const centred = m * m * 2n > ONE * ONE ? m : m * 2n;
  const n = length + exponent - (centred === m ? 0 : 1);
  const guess = fixed(Math.log(Number(shifted(centred, 60 - BITS)) / 2 ** 60));
  const e = smallExp(guess);
  return guess + (2n * (centred - e) * ONE) / (centred + e) + BigInt(n) * LN2;
}

const special = (high: number): Real => ({ high, low: 0 });

export function exp(x: number): Real {
  if (!(Math.abs(x) < 800)) return special(Math.exp(x));
  const { m, n } = expOf(fixed(x));
  return real(m, n - BITS);
}

export function log(x: number): Real {
  return x > 0 && x < Infinity ? real(logOf(x), -BITS) : special(Math.log(x));
}

export function pow(x: number, y: number): Real {
  const plain = x === 1 ? 1 : x ** y; // JavaScript says 1 ** NaN is NaN; C and NumPy say 1
  const rough = y * Math.log(Math.abs(x));
  if (x === -1 && Math.abs(y) === Infinity) return special(1);
  if (Number.isNaN(plain) || x === 0 || y === 0 || !Number.isFinite(x) || !Number.isFinite(y)) return special(plain);
  if (!(Math.abs(rough) < 800)) return special(plain);
  const { m, n } = expOf(product(logOf(Math.abs(x)), fixed(y)));
  const { high, low } = real(m, n - BITS);
  return plain < 0 || Object.is(plain, -0) ? { high: -high, low: -low } : { high, low };
}

/** exp(x) as fixed point, however large. */
const wideExp = (x: number): bigint => {
  const { m, n } = expOf(fixed(x));
  return shifted(m, n);
};

const quotient = (a: bigint, b: bigint): Real => {
  const room = 400 + lengthOf(b);
  return real((a << BigInt(room)) / b, -room);
};

export function tanh(x: number): Real {
  if (!(Math.abs(x) < 50)) return special(Math.tanh(x));
  if (Math.abs(x) < 2 ** -30) return { high: x, low: (-x * x * x) / 3 };
  const e = wideExp(2 * x);
  return quotient(e - ONE, e + ONE);
}

export function sigmoid(x: number): Real {
  if (!(Math.abs(x) < 800)) return special(x < 0 ? 0 : x > 0 ? 1 : NaN);
  return quotient(ONE, ONE + wideExp(-x));
}

/** The sum of any number of floats, to twice the precision of a double (Neumaier 1974). */
export function sum(values: Iterable<number>): Real {
  let [high, low] = [0, 0];
  for (const x of values) {
    const next = high + x;
    low += Math.abs(high) >= Math.abs(x) ? high - next + x : x - next + high;
    high = next;
  }
  return { high, low };
}

/**
 * Between which numbers a float of a kernel lies, as far as its arithmetic shows it; NaN aside. Rounding to bf16 by arithmetic
 * asks: where the range excludes huge numbers, it need not test for them. Numbers of bf16 from memory are assumed to be of a
 * moderate size; the range says of which it assumes that, so that one test of each serves all that is computed from it.
 */
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";

interface Interval {
  readonly low: number;
  readonly high: number;
}

interface FloatRange extends Interval {
  /** Loads of bf16 that are no larger than MODERATE if the range holds. */
  readonly assumed: ReadonlySet<Value>;
}

/** Products of three such numbers are not huge. */
export const MODERATE = 2 ** 36;

const NONE: ReadonlySet<Value> = new Set();
const ANYTHING: Interval = { low: -Infinity, high: Infinity };

/** Most operations that one question goes back. Earlier values have been asked about, and are remembered. */
const MAX_DEPTH = 64;

/** The values of a kernel whose range was asked for, of each kernel that is being written. */
const remembered = new WeakMap<KernelBuilder, Map<Value, FloatRange>>();

/** The range of an f32. Each operation may leave it by its rounding error, and a bf16 by 2^-8 of itself. */
export function rangeOf(k: KernelBuilder, value: Value, depth = 0): FloatRange {
  const known = remembered.get(k) ?? new Map<Value, FloatRange>();
  remembered.set(k, known);
  const found = known.get(value);
  if (found) return found;
  if (depth > MAX_DEPTH) return { ...ANYTHING, assumed: NONE };
  const range = k.isBrainLoad(value)
    ? { low: -MODERATE, high: MODERATE, assumed: new Set([value]) }
    : computed(k, value, depth);
  known.set(value, range);
  return range;
}

function computed(k: KernelBuilder, value: Value, depth: number): FloatRange {
  const assumed = new Set<Value>();
  const of = (x: Value): Interval => {
    const range = rangeOf(k, x, depth + 1);
    for (const load of range.assumed) assumed.add(load);
    return range;
  };
  const rounding = k.roundingOf(value);
  const { low, high } = rounding ? scaled(of(rounding.from), 1 + 2 ** -8) : computedRange(value, of);
  // No number at all: infinities of both signs, or an infinity times zero.
  const isNothing = Number.isNaN(low) || Number.isNaN(high);
  if (isNothing || (low === -Infinity && high === Infinity)) return { ...ANYTHING, assumed: NONE };
  return { low, high, assumed };
}

function computedRange({ op, args, attribute }: Value, of: (value: Value) => Interval): Interval {
  const [a, b, c] = args;
  switch (op) {
    case "constant":
      return { low: Number(attribute), high: Number(attribute) };
    case "neg":
      return { low: -of(a).high, high: -of(a).low };
    case "abs":
      return { low: 0, high: Math.max(of(a).high, -of(a).low) };
    case "add":
      return sum(of(a), of(b));
    case "sub":
      return sum(of(a), { low: -of(b).high, high: -of(b).low });
    case "mul":
      return product(of(a), of(b));
    case "mulAdd":
      return sum(product(of(a), of(b)), of(c));
    case "min":
    case "max":
      return both(of(a), of(b));
    case "select":
      return limited(a, b, c, of) ?? both(of(b), of(c));
    case "bitcast":
      return signed(a, of) ?? ANYTHING;
    default:
      return ANYTHING;
  }
}

/** A number with the sign of another, as the math library writes it: its bits, or the sign bit of the other. */
function signed({ op, args: [bits, sign] }: Value, of: (value: Value) => Interval): Interval | null {
  const isMagnitude = op === "or" && bits.op === "bitcast" && bits.args[0].type === "f32";
  if (!isMagnitude || sign.op !== "and" || sign.args[1].attribute !== 0x80000000) return null;
  const { low, high } = of(bits.args[0]);
  const size = Math.max(-low, high);
  return { low: -size, high: size };
}

/** x limited by a constant, as the math library writes it: x > limit ? limit : x, or with <. */
function limited(condition: Value, limit: Value, x: Value, of: (value: Value) => Interval): Interval | null {
  const [tested, against] = condition.args;
  if (limit.op !== "constant" || tested !== x || against !== limit) return null;
  const [{ low, high }, at] = [of(x), Number(limit.attribute)];
  if (condition.op === "gt") return { low: Math.min(low, at), high: Math.min(high, at) };
  if (condition.op === "lt") return { low: Math.max(low, at), high: Math.max(high, at) };
  return null;
}

const sum = (a: Interval, b: Interval): Interval => ({ low: a.low + b.low, high: a.high + b.high });

function product(a: Interval, b: Interval): Interval {
  const corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
  return { low: Math.min(...corners), high: Math.max(...corners) };
}

const both = (a: Interval, b: Interval): Interval => ({
  low: Math.min(a.low, b.low),
  high: Math.max(a.high, b.high),
});

/** Wider by a factor of its ends' sizes. */
const scaled = ({ low, high }: Interval, factor: number): Interval => ({
  low: low < 0 ? low * factor : low / factor,
  high: high > 0 ? high * factor : high / factor,
});

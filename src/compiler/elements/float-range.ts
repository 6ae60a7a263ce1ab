/**
 * Between which numbers a float of a kernel lies, as far as its arithmetic shows it; NaN aside. Rounding to bf16 by arithmetic
 * asks: where the range excludes huge numbers, it need not test for them.
 */
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";

interface FloatRange {
  readonly low: number;
  readonly high: number;
}

const ANYTHING: FloatRange = { low: -Infinity, high: Infinity };

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
  if (depth > MAX_DEPTH) return ANYTHING;
  const of = (x: Value) => rangeOf(k, x, depth + 1);
  const rounding = k.roundingOf(value);
  const { low, high } = rounding ? scaled(of(rounding.from), 1 + 2 ** -8) : computedRange(value, of);
  // No number at all: infinities of both signs, or an infinity times zero.
  const range = Number.isNaN(low) || Number.isNaN(high) ? ANYTHING : { low, high };
  known.set(value, range);
  return range;
}

function computedRange({ op, args, attribute }: Value, of: (value: Value) => FloatRange): FloatRange {
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
    default:
      return ANYTHING;
  }
}

/** x limited by a constant, as the math library writes it: x > limit ? limit : x, or with <. */
function limited(condition: Value, limit: Value, x: Value, of: (value: Value) => FloatRange): FloatRange | null {
  const [tested, against] = condition.args;
  if (limit.op !== "constant" || tested !== x || against !== limit) return null;
  const [{ low, high }, at] = [of(x), Number(limit.attribute)];
  if (condition.op === "gt") return { low: Math.min(low, at), high: Math.min(high, at) };
  if (condition.op === "lt") return { low: Math.max(low, at), high: Math.max(high, at) };
  return null;
}

const sum = (a: FloatRange, b: FloatRange): FloatRange => ({ low: a.low + b.low, high: a.high + b.high });

function product(a: FloatRange, b: FloatRange): FloatRange {
  const corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
  return { low: Math.min(...corners), high: Math.max(...corners) };
}

const both = (a: FloatRange, b: FloatRange): FloatRange => ({
  low: Math.min(a.low, b.low),
  high: Math.max(a.high, b.high),
});

/** Wider by a factor of its ends' sizes. */
const scaled = ({ low, high }: FloatRange, factor: number): FloatRange => ({
  low: low < 0 ? low * factor : low / factor,
  high: high > 0 ? high * factor : high / factor,
});

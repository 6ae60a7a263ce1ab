/**
 * Sums that run in the same loop as the number of the row they depend on: a row too long for registers is read once for both.
 *
 * A softmax needs Σ exp(x - m) with m the maximum of the row, a variance Σ (x - m)² with m the mean. Computed as written, each
 * goes over its row twice. But any shift will do while a sum is running, and is mended afterwards.
 *
 * Exponentials: Σ exp(x - m) = exp(s - m) Σ exp(x - s) (Milakov and Gimelshein 2018). Each lane keeps a shift of its own,
 * raises it when an exponent is far above it, and scales its sum then. The shift is finite, whatever the exponents are: it
 * begins at the lowest float and ends at the largest, so that exponents of -infinity add nothing, +infinity makes the sum
 * infinite, and NaN makes it NaN, as in two loops.
 *
 * Squares: a lane keeps the count, the mean and the sum of squared deviations from that mean of the elements so far, and adds
 * the same three numbers of the next batch (Chan, Golub and LeVeque 1979). Elements are measured from the lane's first one, so
 * that a mean far from zero costs no digits. At last Σ (x - m)² = Σ (x - mean)² + count (mean - m)², for any m. Where
 * this overflows, the second loop is taken after all: infinities and NaN come out as in two loops.
 *
 * `Lowering` does this for the reductions that `runningSums` finds.
 */
import { atomsOf, type IndexExpr, type IndexSpace } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import { exp, mul, square, sub } from "../../graph/primitives/elementwise.js";
import { forEachRead, indexKey, type Reduction } from "../../graph/reads.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import { formats } from "../math/float-parts.js";
import type { FloatType } from "../math/scalar-ops.js";
import type { Walk } from "./lane-walk.js";

/** A sum of f(element - shift), where the shift is a number of the row. */
export interface RunningSum {
  readonly reduction: Reduction;
  readonly element: Node;
  readonly shift: Node;
  readonly kind: RunningKind;
}

/** The part of a running sum that a lane keeps: a state of several numbers. */
interface RunningKind {
  /** The state without elements. */
  empty(k: KernelBuilder, type: FloatType): readonly Value[];
  /** The state with more elements. */
  added(arithmetic: Arithmetic, state: readonly Value[], elements: readonly Value[]): readonly Value[];
  /** Two states as one; null: loops in blocks stay two loops. */
  readonly joined: ((k: KernelBuilder, a: readonly Value[], b: readonly Value[]) => readonly Value[]) | null;
  /** The sum for the shift that was asked for. */
  shifted(arithmetic: Arithmetic, state: readonly Value[], shift: Value): Value;
  /** A sum that is NaN may be so for want of range: the elements are added up once more, with the shift. */
  readonly mayOverflow: boolean;
}

/** The numbers that states are computed from. */
export interface Arithmetic {
  readonly k: KernelBuilder;
  exponential(x: Value): Value;
  inPairs(values: readonly Value[], merge: (a: Value, b: Value) => Value): Value;
}

/** The most by which a lane's exponents may exceed its shift: e^16 times the length of a row is no large number. */
const HEADROOM = 16;

/** Whether a row is read again for each loop over it: lanes do not hold it. */
const isReadAgain = ({ loops }: Walk, { joined }: RunningKind): boolean =>
  loops.length > 0 && (joined !== null || loops.every(({ blocks }) => blocks === 1));

/**
 * The reductions of a turn as sums that can run together with those of the turn before, over the same extent; null if any
 * cannot, for then the second loop is there anyway. `isLoaded`: nodes that are not computed here.
 */
export function runningSums(
  space: IndexSpace,
  walk: Walk,
  before: readonly Reduction[],
  sums: readonly Reduction[],
  isLoaded: (node: Node) => boolean,
): readonly RunningSum[] | null {
  const found = sums.flatMap((reduction): RunningSum[] => {
    const sum = asRunning(reduction, isLoaded);
    if (!sum || !isReadAgain(walk, sum.kind)) return [];
    const position = space.variable("position", reduction.extent);
    const at = reduction.at(position);
    const isBefore = ({ op, node, at: earlierAt }: Reduction) =>
      op === sum.after && node.inputs[0] === sum.element && indexKey(earlierAt(position)) === indexKey(at);
    if (!before.some(isBefore) || !isSameFor(space, sum.shift, at, position, isLoaded)) return [];
    return [{ reduction, ...sum }];
  });
  return found.length === sums.length ? found : null;
}

/** A sum of f(element - shift), and the reduction of the same elements that the shift comes from. */
function asRunning({ op, node }: Reduction, isLoaded: (node: Node) => boolean) {
  const [term] = node.inputs;
  if (op !== "sum" || isLoaded(term) || formatOf(term) === null) return null;
  const isSquare = term.primitive === square || (term.primitive === mul && term.inputs[0] === term.inputs[1]);
  if (!isSquare && term.primitive !== exp) return null;
  const [difference] = term.inputs;
  if (difference.primitive !== sub || isLoaded(difference)) return null;
  const [element, shift] = difference.inputs;
  return isSquare
    ? ({ element, shift, kind: squares, after: "sum" } as const)
    : ({ element, shift, kind: exponentials, after: "max" } as const);
}

const formatOf = ({ dtype }: Node): FloatType | null => (dtype === "f32" || dtype === "f64" ? dtype : null);

/** Whether an element is the same at all positions. */
function isSameFor(
  space: IndexSpace,
  node: Node,
  index: readonly IndexExpr[],
  position: IndexExpr,
  isLoaded: (node: Node) => boolean,
): boolean {
  const moving = atomsOf(position);
  const visit = (each: Node, at: readonly IndexExpr[]): boolean => {
    if (at.every((part) => [...atomsOf(part)].every((atom) => atom.kind !== "computed" && !moving.has(atom))))
      return true;
    const { kind } = each.primitive;
    if (isLoaded(each) || (kind !== "elementwise" && kind !== "movement")) return false;
    let isSame = true;
    forEachRead(space, each, at, (input, inner) => {
      isSame &&= visit(input, inner);
    });
    return isSame;
  };
  return visit(node, index);
}

/** The states of several running sums, one after another. */
export class RunningStates {
  readonly empty: readonly Value[];
  private readonly starts: readonly number[];

  constructor(
    private readonly arithmetic: Arithmetic,
    private readonly sums: readonly RunningSum[],
  ) {
    const states = sums.map(({ element, kind }) => kind.empty(arithmetic.k, element.dtype as FloatType));
    this.empty = states.flat();
    this.starts = states.map((_, i) => states.slice(0, i).flat().length);
  }

  private each(
    f: (kind: RunningKind, part: (states: readonly Value[]) => readonly Value[], i: number) => readonly Value[],
  ) {
    const { starts } = this;
    return this.sums.flatMap(({ kind }, i) => f(kind, (states) => states.slice(starts[i], starts[i + 1]), i));
  }

  /** With more elements of each sum; as they were where a bound does not hold. */
  added(states: readonly Value[], elements: readonly (readonly Value[])[], bound: Value | null): readonly Value[] {
    const added = this.each((kind, part, i) => kind.added(this.arithmetic, part(states), elements[i]));
    return bound ? added.map((value, i) => this.arithmetic.k.select(bound, value, states[i])) : added;
  }

  /** Those of two parts of the elements as those of both. */
  joined(a: readonly Value[], b: readonly Value[]): readonly Value[] {
    return this.each(({ joined }, part) => {
      if (!joined) throw new Error("running sums: this kind runs in one block");
      return joined(this.arithmetic.k, part(a), part(b));
    });
  }

  /** The sums for the shifts that were asked for. */
  shifted(states: readonly Value[], shifts: readonly Value[]): readonly Value[] {
    return this.each((kind, part, i) => [kind.shifted(this.arithmetic, part(states), shifts[i])]);
  }
}

/** Its state: the lane's shift, and the sum of exp(exponent - shift). */
const exponentials: RunningKind = {
  empty: (k, type) => [k.constant(type, -formats[type].largest), k.constant(type, 0)],
  added({ k, exponential, inPairs }, [shift, sum], exponents) {
    const type = shift.type as FloatType;
    // If it misses one because of a NaN, the sum is NaN anyway.
    const largest = inPairs(exponents, (a, b) => k.select(k.compare("gt", b, a), b, a));
    const isFarAbove = k.compare("gt", largest, k.binary("add", shift, k.constant(type, HEADROOM)));
    const [raised, scaled] = k.when(
      isFarAbove,
      () => {
        const next = k.binary("min", largest, k.constant(type, formats[type].largest));
        return [next, k.binary("mul", sum, exponential(k.binary("sub", shift, next)))];
      },
      () => [shift, sum],
    );
    const powers = exponents.map((exponent) => exponential(k.binary("sub", exponent, raised)));
    const total = inPairs(powers, (a, b) => k.binary("add", a, b));
    return [raised, k.binary("add", scaled, total)];
  },
  joined: null,
  shifted: ({ k, exponential }, [own, sum], shift) => k.binary("mul", sum, exponential(k.binary("sub", own, shift))),
  mayOverflow: false,
};

/** A count of elements, their mean measured from an origin, and the sum of their squared deviations from the mean. */
interface Spread {
  readonly count: Value;
  readonly mean: Value;
  readonly total: Value;
}

/** Two spreads as one, measured from the origin of the first. `apart`: from its mean to the other's. */
function pooled(
  k: KernelBuilder,
  a: Spread,
  b: Spread,
  apart: Value,
): readonly [count: Value, mean: Value, total: Value] {
  const [add, mul] = (["add", "mul"] as const).map((op) => (x: Value, y: Value) => k.binary(op, x, y));
  const count = add(a.count, b.count);
  const moved = mul(apart, k.binary("div", b.count, count));
  // In this order a first batch far from its origin adds nothing, and not 0 times infinity.
  const between = mul(mul(moved, a.count), apart);
  return [count, add(a.mean, moved), add(a.total, add(b.total, between))];
}

/** Its state: a spread, and the origin: the lane's first element. */
const squares: RunningKind = {
  empty: (k, type) => Array.from({ length: 4 }, () => k.constant(type, 0)),
  added({ k, inPairs }, [count, mean, total, first], elements) {
    const number = (value: number) => k.constant(count.type, value);
    const sumOf = (values: readonly Value[]) => inPairs(values, (a, b) => k.binary("add", a, b));
    const origin = k.select(k.compare("eq", count, number(0)), elements[0], first);
    const from = elements.map((element) => k.binary("sub", element, origin));
    const isOne = from.length === 1;
    const center = isOne ? from[0] : k.binary("mul", sumOf(from), number(1 / from.length));
    const deviations = from.map((each) => k.binary("sub", each, center));
    const batch: Spread = {
      count: number(from.length),
      mean: center,
      total: isOne ? number(0) : sumOf(deviations.map((each) => k.binary("mul", each, each))),
    };
    return [...pooled(k, { count, mean, total }, batch, k.binary("sub", center, mean)), origin];
  },
  joined(k, [count, mean, total, first], [countB, meanB, totalB, firstB]) {
    const origin = k.select(k.compare("eq", count, k.constant(count.type, 0)), firstB, first);
    const apart = k.binary("add", k.binary("sub", firstB, origin), k.binary("sub", meanB, mean));
    const other: Spread = { count: countB, mean: meanB, total: totalB };
    return [...pooled(k, { count, mean, total }, other, apart), origin];
  },
  shifted({ k }, [count, mean, total, origin], shift) {
    const apart = k.binary("add", k.binary("sub", origin, shift), mean);
    return k.binary("add", total, k.binary("mul", k.binary("mul", count, apart), apart));
  },
  mayOverflow: true,
};

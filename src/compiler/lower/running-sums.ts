/**
 * Sums of exponentials that run in the same loop as the maximum their exponents are measured from.
 *
 * A softmax needs Σ exp(x - m) with m the maximum of the row, and so goes over its row twice before it can write anything. A
 * row that is too long for registers is read from memory each time. But any shift will do while the sum is running, and a
 * factor mends it afterwards: Σ exp(x - m) = exp(s - m) Σ exp(x - s) (Milakov and Gimelshein 2018). Each lane keeps a shift
 * of its own, raises it when an exponent is far above it, and scales its sum then. `Lowering` does this for the
 * reductions that `runningSums` finds.
 *
 * The shift is finite, whatever the exponents are: it begins at the lowest float and ends at the largest, so that exponents
 * of -infinity add nothing, +infinity makes the sum infinite, and NaN makes it NaN, as in two loops.
 */
import { atomsOf, type IndexExpr, type IndexSpace } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import { exp, sub } from "../../graph/primitives/elementwise.js";
import { forEachRead, indexKey, type Reduction } from "../../graph/reads.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import { formats } from "../math/float-parts.js";
import type { FloatType } from "../math/scalar-ops.js";
import type { Walk } from "./lane-walk.js";

/** A sum of exp(exponent - shift), where the shift is a number of the row. */
export interface RunningSum {
  readonly reduction: Reduction;
  readonly exponent: Node;
  readonly shift: Node;
}

/** How far above its shift a lane's exponents may lie: e^16 times the length of a row is no large number. */
const HEADROOM = 16;

/** Whether a row is read again for each loop over it: lanes share it and do not hold it. Long sums in blocks stay in two loops. */
const isReadAgain = ({ loops }: Walk): boolean => loops.length > 0 && loops.every(({ blocks }) => blocks === 1);

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
  if (!isReadAgain(walk)) return null;
  const found = sums.flatMap((reduction): RunningSum[] => {
    const [term] = reduction.node.inputs;
    if (reduction.op !== "sum" || term.primitive !== exp || isLoaded(term)) return [];
    const [difference] = term.inputs;
    if (difference.primitive !== sub || isLoaded(difference) || formatOf(term) === null) return [];
    const [exponent, shift] = difference.inputs;
    const position = space.variable("position", reduction.extent);
    const at = reduction.at(position);
    const isLargest = ({ op, node, at: maximumAt }: Reduction) =>
      op === "max" && node.inputs[0] === exponent && indexKey(maximumAt(position)) === indexKey(at);
    if (!before.some(isLargest) || !isSameFor(space, shift, at, position, isLoaded)) return [];
    return [{ reduction, exponent, shift }];
  });
  return found.length === sums.length ? found : null;
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

/** A lane's part of a running sum: its shift, and the sum of exp(exponent - shift). */
type State = readonly [shift: Value, sum: Value];

export function emptySum(k: KernelBuilder, type: FloatType): State {
  return [k.constant(type, -formats[type].largest), k.constant(type, 0)];
}

/** Adds exponentials to a running sum. */
export function addedTo(
  k: KernelBuilder,
  exponential: (x: Value) => Value,
  [shift, sum]: State,
  exponents: readonly Value[],
  inPairs: (values: readonly Value[], merge: (a: Value, b: Value) => Value) => Value,
): State {
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
  return [
    raised,
    k.binary(
      "add",
      scaled,
      inPairs(powers, (a, b) => k.binary("add", a, b)),
    ),
  ];
}

/** A lane's sum of exp(exponent - shift) for the shift that was asked for. */
export const shiftedTo = (k: KernelBuilder, exponential: (x: Value) => Value, [own, sum]: State, shift: Value): Value =>
  k.binary("mul", sum, exponential(k.binary("sub", own, shift)));

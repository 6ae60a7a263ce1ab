/**
 * The score of splits by absolute errors: those around the weighted median of each part. Rows of a node stand in the order of their targets, so a
 * place in the node is a rank. A tree of partial sums over the places (Fenwick 1994) takes a row, and finds the median of those it has,
 * in as many steps as the number of rows has bits. The right part is what the node has and the left part has not.
 */
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import { indices } from "./codes.js";
import { counted } from "./exact-parts.js";
import type { ChannelSums } from "./split-criteria.js";

/** Numbers that each place needs: sums of weights and of weighted targets, of the left part and of the node. */
export const MEDIAN_SUMS = 4;

/** How rows of a node are read, by their places in it. */
interface MedianSource {
  /** Rows of a node at most, and the rows of this one. */
  readonly rows: number;
  readonly own: Value;
  /** Memory of this thread: where each of the four lists begins. */
  readonly memory: number;
  begin(list: number): Value;
  weightOf(place: Value): Value;
  targetOf(place: Value): Value;
  /** The weight of the node, and that which each part needs. */
  readonly weight: Value;
  readonly leastWeight: Value | null;
}

const [LEFT, LEFT_SUM, ALL, ALL_SUM] = [0, 1, 2, 3];

export function medianSums(k: KernelBuilder, type: "f32" | "f64", source: MedianSource): ChannelSums {
  const { rows, own, memory, begin, weightOf, targetOf, weight } = source;
  const { i, add } = indices(k);
  const zero = k.constant(type, 0);
  const bits = Math.max(1, Math.ceil(Math.log2(rows + 1)));
  const total = k.array(type, 1, true);
  const plus = (a: Value, b: Value) => k.binary("add", a, b);
  const minus = (a: Value, b: Value) => k.binary("sub", a, b);
  const times = (a: Value, b: Value) => k.binary("mul", a, b);
  /** The place of a node of the tree, which are counted from 1, in a list. */
  const at = (list: number, node: Value) => add(begin(list), minus(node, i(1)));
  const read = (list: number, node: Value) => k.read(memory, at(list, node), type);
  const grow = (list: number, node: Value, by: Value) => k.store(memory, at(list, node), plus(read(list, node), by));
  const lowBit = (node: Value) => k.binary("and", node, minus(i(0), node));

  return {
    initial: [zero, zero],
    clear() {
      const [sum] = counted(k, rows, own, [zero], (place, [held]) => {
        const node = add(place, i(1));
        const share = weightOf(place);
        const product = times(share, targetOf(place));
        [zero, zero, share, product].forEach((value, list) => {
          k.store(memory, at(list, node), value);
        });
        return [plus(held as Value, product)];
      });
      k.set(total, i(0), sum as Value);
      // Each node gives what it has to the next one that covers it.
      counted(k, rows, own, [], (place) => {
        const node = add(place, i(1));
        const next = add(node, lowBit(node));
        k.when(k.compare("le", next, own), () => {
          for (const list of [ALL, ALL_SUM]) grow(list, next, read(list, node));
          return [];
        });
        return [];
      });
    },
    added(place, [held, sum], gate) {
      const full = weightOf(place);
      const share = gate ? k.select(gate, full, zero) : full;
      const product = times(share, targetOf(place));
      k.loop(
        bits,
        [add(place, i(1))],
        (_, [node]) => {
          grow(LEFT, node as Value, share);
          grow(LEFT_SUM, node as Value, product);
          return [add(node as Value, lowBit(node as Value))];
        },
        { exitWhen: ([node]) => k.compare("gt", node as Value, own) },
      );
      return [plus(held as Value, share), plus(sum as Value, product)];
    },
    score([left, sum]) {
      const right = minus(weight, left as Value);
      const rest = minus(k.get(total, i(0)), sum as Value);
      const ofLeft = errorOf(left as Value, sum as Value, (list, node) => read(list, node));
      const ofRight = errorOf(right, rest, (list, node) => minus(read(list + 2, node), read(list, node)));
      const isSome = k.binary("and", k.compare("gt", left as Value, zero), k.compare("gt", right, zero));
      const { leastWeight: least } = source;
      const isHeavy = least
        ? k.binary("and", k.compare("ge", left as Value, least), k.compare("ge", right, least))
        : k.constant("bool", true);
      return { score: k.unary("neg", plus(ofLeft, ofRight)), isValid: k.binary("and", isSome, isHeavy) };
    },
  };

  /** The weighted absolute errors of a part around its median; `sumAt` reads its tree. */
  function errorOf(share: Value, sum: Value, sumAt: (list: number, node: Value) => Value): Value {
    const half = times(share, k.constant(type, 0.5));
    const [below, weightBelow, sumBelow] = k.loop(
      bits,
      [i(0), zero, zero, i(2 ** (bits - 1))],
      (_, [node, held, heldSum, step]) => {
        const next = add(node as Value, step as Value);
        const isThere = k.compare("le", next, own);
        const known = k.select(isThere, next, i(1));
        const reached = plus(held as Value, sumAt(LEFT, known));
        const moves = k.binary("and", isThere, k.compare("lt", reached, half));
        return [
          k.select(moves, next, node as Value),
          k.select(moves, reached, held as Value),
          k.select(moves, plus(heldSum as Value, sumAt(LEFT_SUM, known)), heldSum as Value),
          k.binary("shr", step as Value, i(1)),
        ];
      },
    ) as [Value, Value, Value];
    const median = targetOf(k.binary("min", below, minus(own, i(1))));
    // Σ w |y - m| = (m W< - S<) + (S≥ - m W≥)
    const under = minus(times(median, weightBelow), sumBelow);
    const over = minus(minus(sum, sumBelow), times(median, minus(share, weightBelow)));
    return plus(under, over);
  }
}

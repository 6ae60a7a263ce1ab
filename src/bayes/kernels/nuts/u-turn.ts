/**
 * Whether a trajectory turns: the generalised criterion on every subtree and across the halves of each.
 *
 * The tree is built step by step with a record per level in place of recursion (Phan, Pradhan, Jankowiak 2019; Lao and
 * Dillon 2019). Leaf i of a subtree is the first of a subtree of each size 2^l that divides i, and the last one of each size
 * that divides i + 1; records of first leaves lie in a stack that grows with the ones in the binary form of i.
 */
import type { Value } from "../../../compiler/inline/kernel-language.js";
import type { Cell } from "../arithmetic.js";
import { denseVelocities } from "./momentum.js";
import type { NutsState } from "./state.js";

/** Adds the leaf's momentum to the records, and looks at the subtrees that end with it. */
export function noteLeaf(chain: NutsState, turned: Cell): void {
  const { k, ops, hot, dim, ints } = chain;
  const { i } = ops;
  const leaf = ints.leaf.get();
  ops.each(dim, (d) => hot.sum.store(d, ops.add(hot.sum.load(d), hot.p.load(d))));
  k.barrier();
  const isEven = k.compare("eq", k.binary("and", leaf, i(1)), i(0));
  const top = onesAbove(chain, leaf);
  ops.when(
    isEven,
    () => chain.copy(hot.p, chain.record(top, "p")),
    () => {
      checkSubtrees(chain, leaf, top, turned);
      const next = onesAbove(chain, ops.add(leaf, i(1)));
      chain.copy(hot.p, chain.record(next, "before"));
      chain.copy(hot.sum, chain.record(next, "sum"));
    },
  );
}

/** The number of ones of a number in binary form, without the last digit: the level of its record. */
function onesAbove(chain: NutsState, leaf: Value): Value {
  const { k, ops, options } = chain;
  const { i } = ops;
  let count = i(0);
  for (let bit = 1; bit < options.maxTreeDepth; bit++) {
    const digit = k.binary("and", k.binary("shr", leaf, ops.u(bit)), i(1));
    count = ops.add(count, digit);
  }
  return count;
}

/** Subtrees of 2, 4, 8 … leaves that this odd leaf is the last of. */
function checkSubtrees(chain: NutsState, leaf: Value, top: Value, turned: Cell): void {
  const { k, ops, hot, options } = chain;
  const { i } = ops;
  const last = ops.add(leaf, i(1));
  k.loop(
    options.maxTreeDepth,
    [i(0)],
    (level) => {
      const slot = ops.sub(top, level);
      const isPair = k.compare("eq", level, i(0));
      // The right half begins where the subtree of the level below does. Of a pair it is the leaf itself.
      const inner = k.select(isPair, slot, ops.add(slot, i(1)));
      const [first, sumBefore] = [chain.record(slot, "p"), chain.record(slot, "sum")];
      const [middle, before, middleSum] = [
        chain.record(inner, "p"),
        chain.record(inner, "before"),
        chain.record(inner, "sum"),
      ];
      const isTurning = turns(chain, (d) => {
        const [p, start, from] = [hot.p.load(d), first.load(d), sumBefore.load(d)];
        const total = ops.sub(hot.sum.load(d), from);
        const left = k.select(isPair, start, ops.sub(middleSum.load(d), from));
        const right = k.select(isPair, p, ops.sub(hot.sum.load(d), middleSum.load(d)));
        return {
          rhos: [
            total,
            ops.add(left, k.select(isPair, p, middle.load(d))),
            ops.add(right, k.select(isPair, start, before.load(d))),
          ],
          leftStart: start,
          leftEnd: k.select(isPair, start, before.load(d)),
          rightStart: k.select(isPair, p, middle.load(d)),
          rightEnd: p,
        };
      });
      ops.when(isTurning, () => turned.set(i(1)));
      // Whether the next larger subtree ends here, too.
      const size = k.binary("shl", i(2), k.convert("u32", level));
      const isMore = k.compare("eq", k.binary("and", last, ops.sub(k.binary("shl", size, ops.u(1)), i(1))), i(0));
      return [k.select(ops.and(isMore, ops.not(chain.isSet(turned))), i(1), i(0))];
    },
    { exitWhen: ([isMore]) => k.compare("eq", isMore, i(0)) },
  );
}

/** An element of two halves: sums of momenta over the whole and into either half, and momenta at the ends. */
interface Halves {
  readonly rhos: readonly [Value, Value, Value];
  readonly leftStart: Value;
  readonly leftEnd: Value;
  readonly rightStart: Value;
  readonly rightEnd: Value;
}

/** The criterion for two halves: over the whole, and from each half to the first step into the other. */
export function turns(chain: NutsState, at: (d: Value) => Halves): Value {
  const { k, ops, dim, type, diagonal } = chain;
  if (!diagonal) {
    ops.each(dim, (d) => {
      const { rhos } = at(d);
      rhos.forEach((rho, r) => {
        chain.rhos[r].store(d, rho);
      });
    });
    k.barrier();
  }
  const dots = ops.sums(dim, type, 6, (d) => {
    const { rhos, leftStart, leftEnd, rightStart, rightEnd } = at(d);
    const velocities = diagonal
      ? rhos.map((rho) => ops.mul(diagonal.load(d), rho))
      : denseVelocities(chain, d, chain.rhos);
    const pairs = [
      [leftStart, velocities[0]],
      [rightEnd, velocities[0]],
      [leftStart, velocities[1]],
      [rightStart, velocities[1]],
      [leftEnd, velocities[2]],
      [rightEnd, velocities[2]],
    ] as const;
    return pairs.map(([p, rho]) => ops.mul(p, rho));
  });
  const goesOn = dots.map((dot) => k.compare("gt", dot, ops.float(type, 0))).reduce((a, b) => ops.and(a, b));
  return ops.not(goesOn);
}

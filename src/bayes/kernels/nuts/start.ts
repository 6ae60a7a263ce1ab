/** The start of a chain: a point at which the density and its gradient are numbers. */
import type { Value } from "../../../compiler/inline/kernel-language.js";
import { ADAPTATION, PHASE } from "../layout.js";
import { newKey, randomWords } from "./random-words.js";
import type { NutsState } from "./state.js";

/** Initial points that are tried before a chain gives up. */
export const MAX_ATTEMPTS = 100;

/**
 * A point to start from: the one that was given, or else uniform within the radius, drawn again until the density is finite.
 */
export function chooseStart(chain: NutsState): void {
  const { k, ops, hot, dim, type, ints } = chain;
  const { i } = ops;
  // Chains of a superchain take the same numbers, those of the first of them, and so start at the same point.
  newKey(chain, i(-1), ops.sub(k.row, k.binary("irem", k.row, chain.dispatchInt("together"))));
  const isGiven = k.compare("ne", chain.dispatchInt("givenInits"), i(0));
  const given = chain.vector("qSample");
  const radius = k.convert(type, chain.runReal("initRadius"));
  ops.each(dim, (d) => {
    const [word] = randomWords(chain, "init", ops.add(ops.mul(ints.attempts.get(), i(dim)), d));
    const drawn = ops.mul(radius, ops.sub(ops.mul(ops.unit(type, word), ops.float(type, 2)), ops.float(type, 1)));
    hot.q.store(d, k.select(isGiven, given.load(d), drawn));
    hot.p.store(d, ops.float(type, 0));
    hot.g.store(d, ops.float(type, 0));
  });
  k.barrier();
  ints.phase.set(i(PHASE.init));
}

export function judgeStart(chain: NutsState, logp: Value): void {
  const { k, ops, hot, dim, ints, reals } = chain;
  const { i } = ops;
  const one = ops.float(chain.type, 1);
  const none = ops.float(chain.type, 0);
  const [bad] = ops.sums(dim, chain.type, 1, (d) => [k.select(ops.isBounded(hot.g.load(d)), none, one)]);
  const isGood = ops.and(ops.isBounded(logp), k.compare("eq", bad, none));
  ops.when(
    isGood,
    () => {
      chain.copy(hot.q, chain.vector("qSample"));
      chain.copy(hot.g, chain.vector("gSample"));
      reals.logp.set(logp);
      ints.phase.set(i(PHASE.begin));
      ints.isSearching.set(k.select(k.compare("ne", chain.dispatchInt("adaptation"), i(ADAPTATION.none)), i(1), i(0)));
      ints.searchSide.set(i(0));
    },
    () => {
      const attempts = ops.add(ints.attempts.get(), i(1));
      ints.attempts.set(attempts);
      const isOver = k.compare("ge", attempts, i(MAX_ATTEMPTS));
      ints.phase.set(k.select(isOver, i(PHASE.failed), i(PHASE.new)));
    },
  );
}

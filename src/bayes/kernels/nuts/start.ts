/** Where a chain begins: a point at which the density and its gradient are numbers. */
import type { Value } from "../../../compiler/ir/ir.js";
import { ADAPTATION, PHASE } from "../layout.js";
import { newKey, randomWords } from "./random-words.js";
import type { NutsState } from "./state.js";

/** Initial points that are tried before a chain gives up. */
const MAX_ATTEMPTS = 100;

/** A point to start from: the one that was given, or else uniform within the radius, drawn anew until the density is finite. */
export function chooseStart(chain: NutsState): void {
  const { k, w, hot, dim, type, ints } = chain;
  const { i } = w;
  // Chains of a superchain take the same numbers, those of the first of them, and so start at the same point.
  newKey(chain, i(-1), w.sub(k.row, k.binary("irem", k.row, chain.order("together"))));
  const isGiven = k.compare("ne", chain.order("givenInits"), i(0));
  const given = chain.vector("qSample");
  const radius = k.convert(type, chain.wish("initRadius"));
  w.each(dim, (d) => {
    const [word] = randomWords(chain, "init", w.add(w.mul(ints.attempts.get(), i(dim)), d));
    const drawn = w.mul(radius, w.sub(w.mul(w.unit(type, word), w.float(type, 2)), w.float(type, 1)));
    hot.q.store(d, k.select(isGiven, given.load(d), drawn));
    hot.p.store(d, w.float(type, 0));
    hot.g.store(d, w.float(type, 0));
  });
  k.barrier();
  ints.phase.set(i(PHASE.init));
}

export function judgeStart(chain: NutsState, logp: Value): void {
  const { k, w, hot, dim, ints, reals } = chain;
  const { i } = w;
  const one = w.float(chain.type, 1);
  const none = w.float(chain.type, 0);
  const [bad] = w.sums(dim, chain.type, 1, (d) => [k.select(w.isBounded(hot.g.load(d)), none, one)]);
  const isGood = w.and(w.isBounded(logp), k.compare("eq", bad, none));
  w.when(
    isGood,
    () => {
      chain.copy(hot.q, chain.vector("qSample"));
      chain.copy(hot.g, chain.vector("gSample"));
      reals.logp.set(logp);
      ints.phase.set(i(PHASE.begin));
      ints.isSearching.set(k.select(k.compare("ne", chain.order("adaptation"), i(ADAPTATION.none)), i(1), i(0)));
      ints.searchSide.set(i(0));
    },
    () => {
      const attempts = w.add(ints.attempts.get(), i(1));
      ints.attempts.set(attempts);
      const isOver = k.compare("ge", attempts, i(MAX_ATTEMPTS));
      ints.phase.set(k.select(isOver, i(PHASE.failed), i(PHASE.new)));
    },
  );
}

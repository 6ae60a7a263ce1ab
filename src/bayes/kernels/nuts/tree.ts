/**
 * The trajectory of the No-U-Turn sampler: a subtree grows on a side that is drawn, leaf by leaf, and joins the trajectory
 * when it is as large. Samples are multinomial, with a bias towards the new half (Betancourt 2017).
 */
import type { Value } from "../../../compiler/ir/ir.js";
import type { Cell } from "../arithmetic.js";
import { chanceOf, countStep } from "./energy-error.js";
import { randomWords } from "./random-words.js";
import type { NutsState } from "./state.js";
import { noteLeaf, turns } from "./u-turn.js";

/** A side is chosen, and the trajectory is to grow there by as many steps as it has. */
export function beginSubtree(chain: NutsState): void {
  const { k, w, hot, dim, type, energy, ints, reals } = chain;
  const { i } = w;
  const [word] = randomWords(chain, "direction", ints.depth.get());
  const isRight = w.or(chain.isSet(ints.isSearching), k.compare("eq", k.binary("and", word, w.u(1)), w.u(1)));
  ints.direction.set(k.select(isRight, i(1), i(-1)));
  const [before, sumBefore] = [chain.record(i(0), "before"), chain.record(i(0), "sum")];
  const ends = (letter: "q" | "p" | "g") => [chain.vector(`${letter}Left`), chain.vector(`${letter}Right`)] as const;
  w.each(dim, (d) => {
    for (const letter of ["q", "p", "g"] as const) {
      const [left, right] = ends(letter);
      hot[letter].store(d, k.select(isRight, right.load(d), left.load(d)));
    }
    before.store(d, hot.p.load(d));
    sumBefore.store(d, w.float(type, 0));
    hot.sum.store(d, w.float(type, 0));
  });
  ints.leaf.set(i(0));
  reals.subLogWeight.set(w.float(energy, Number.NEGATIVE_INFINITY));
  k.barrier();
}

/** A leaf of the growing subtree: the point the step led to. */
export function addLeaf(chain: NutsState, delta: Value, logp: Value, hamiltonian: Value, ended: Cell): void {
  const { k, w, hot, type, ints, reals } = chain;
  const { i } = w;
  const isValid = countStep(chain, delta);
  reals.acceptance.set(w.add(reals.acceptance.get(), chanceOf(chain, delta, isValid)));

  const turned = w.cell("i32");
  turned.set(i(0));
  w.when(isValid, () => {
    const own = k.convert(type, delta);
    const weight = w.logAddExp(k.convert(type, reals.subLogWeight.get()), own);
    const [word] = randomWords(chain, "leaf", ints.leapfrogs.get());
    const isChosen = k.compare("le", w.log(w.unit(type, word)), w.sub(own, weight));
    reals.subLogWeight.set(chain.toEnergy(weight));
    w.when(isChosen, () => {
      chain.copy(hot.q, chain.vector("qSub"));
      chain.copy(hot.g, chain.vector("gSub"));
      reals.subLogp.set(logp);
      reals.subEnergy.set(hamiltonian);
    });
    noteLeaf(chain, turned);
  });
  const size = k.binary("shl", i(1), k.convert("u32", ints.depth.get()));
  const leaf = w.add(ints.leaf.get(), i(1));
  ints.leaf.set(leaf);
  const isWhole = k.compare("ge", leaf, size);
  const hasTurned = chain.isSet(turned);
  const isForgiven = chain.options.mistake === "invalid doubling";
  w.when(
    isForgiven ? w.not(isValid) : w.or(w.not(isValid), hasTurned),
    () => ended.set(i(1)),
    () => w.when(isWhole, () => merge(chain, ended)),
  );
  if (isForgiven) w.when(hasTurned, () => ended.set(i(1)));
}

/** The subtree joins the trajectory, and perhaps its sample becomes the trajectory's. */
function merge(chain: NutsState, ended: Cell): void {
  const { k, w, hot, type, ints, reals } = chain;
  const { i } = w;
  const [own, other] = [reals.logWeight, reals.subLogWeight].map((cell) => k.convert(type, cell.get()));
  const [word] = randomWords(chain, "merge", ints.depth.get());
  w.when(k.compare("lt", w.log(w.unit(type, word)), w.sub(other, own)), () => {
    chain.copy(chain.vector("qSub"), chain.vector("qSample"));
    chain.copy(chain.vector("gSub"), chain.vector("gSample"));
    reals.logp.set(reals.subLogp.get());
    reals.energy.set(reals.subEnergy.get());
  });
  reals.logWeight.set(chain.toEnergy(w.logAddExp(own, other)));

  const isRight = k.compare("gt", ints.direction.get(), i(0));
  const [pLeft, pRight, rho] = [chain.vector("pLeft"), chain.vector("pRight"), chain.vector("rho")];
  const firstOfNew = chain.record(i(0), "p");
  const isTurning = turns(chain, (d) => {
    const [left, right, old, sum] = [pLeft.load(d), pRight.load(d), rho.load(d), hot.sum.load(d)];
    const [far, near] = [k.select(isRight, left, right), k.select(isRight, right, left)];
    const first = firstOfNew.load(d);
    return {
      rhos: [w.add(old, sum), w.add(old, first), w.add(sum, near)],
      leftStart: far,
      leftEnd: near,
      rightStart: first,
      rightEnd: hot.p.load(d),
    };
  });
  w.each(chain.dim, (d) => rho.store(d, w.add(rho.load(d), hot.sum.load(d))));
  w.when(
    isRight,
    () => chain.keepEnd("Right"),
    () => chain.keepEnd("Left"),
  );
  const depth = w.add(ints.depth.get(), i(1));
  ints.depth.set(depth);
  const isDeep = k.compare("ge", depth, i(chain.options.maxTreeDepth));
  w.when(
    w.or(isTurning, isDeep),
    () => ended.set(i(1)),
    () => ints.leaf.set(i(-1)),
  );
}

/**
 * The trajectory of the No-U-Turn sampler: a subtree grows on a side that is drawn, leaf by leaf, and joins the trajectory
 * when it is as large. Samples are multinomial, with a bias towards the new half (Betancourt 2017).
 */
import type { Value } from "../../../compiler/inline/kernel-language.js";
import type { Cell } from "../arithmetic.js";
import { chanceOf, countStep } from "./energy-error.js";
import { randomWords } from "./random-words.js";
import type { NutsState } from "./state.js";
import type { StepEnergies } from "./trajectories.js";
import { noteLeaf, turns } from "./u-turn.js";

/** A side is chosen, and the trajectory is to grow there by as many steps as it has. */
export function beginSubtree(chain: NutsState): void {
  const { k, ops, hot, dim, type, energy, ints, reals } = chain;
  const { i } = ops;
  const [word] = randomWords(chain, "direction", ints.depth.get());
  const isRight = ops.or(chain.isSet(ints.isSearching), k.compare("eq", k.binary("and", word, ops.u(1)), ops.u(1)));
  ints.direction.set(k.select(isRight, i(1), i(-1)));
  const [before, sumBefore] = [chain.record(i(0), "before"), chain.record(i(0), "sum")];
  const ends = (letter: "q" | "p" | "g") => [chain.vector(`${letter}Left`), chain.vector(`${letter}Right`)] as const;
  ops.each(dim, (d) => {
    for (const letter of ["q", "p", "g"] as const) {
      const [left, right] = ends(letter);
      hot[letter].store(d, k.select(isRight, right.load(d), left.load(d)));
    }
    before.store(d, hot.p.load(d));
    sumBefore.store(d, ops.float(type, 0));
    hot.sum.store(d, ops.float(type, 0));
  });
  ints.leaf.set(i(0));
  reals.subLogWeight.set(ops.float(energy, Number.NEGATIVE_INFINITY));
  k.barrier();
}

/** Adds the point a step led to. A subtree that turned or diverged ends the transition and does not join the trajectory. */
export function addLeaf(chain: NutsState, energies: StepEnergies, ended: Cell): void {
  const { ops } = chain;
  const { isValid, hasTurned, isWhole } = growSubtree(chain, energies);
  ops.when(
    ops.or(ops.not(isValid), hasTurned),
    () => ended.set(ops.i(1)),
    () => ops.when(isWhole, () => joinSubtree(chain, ended)),
  );
}

/** The growing subtree, with its last leaf. */
interface Subtree {
  /** Whether the leaf is no divergence. */
  readonly isValid: Value;
  readonly hasTurned: Value;
  /** Whether it has as many leaves as the trajectory. */
  readonly isWhole: Value;
}

/** The point is a leaf of the growing subtree, and perhaps its sample. @internal for tests: samplers with one broken part */
export function growSubtree(chain: NutsState, { delta, logp, hamiltonian }: StepEnergies): Subtree {
  const { k, ops, hot, type, ints, reals } = chain;
  const { i } = ops;
  const isValid = countStep(chain, delta);
  reals.acceptance.set(ops.add(reals.acceptance.get(), chanceOf(chain, delta, isValid)));

  const turned = ops.cell("i32");
  turned.set(i(0));
  ops.when(isValid, () => {
    const own = k.convert(type, delta);
    const weight = ops.logAddExp(k.convert(type, reals.subLogWeight.get()), own);
    const [word] = randomWords(chain, "leaf", ints.leapfrogs.get());
    const isChosen = k.compare("le", ops.log(ops.unit(type, word)), ops.sub(own, weight));
    reals.subLogWeight.set(chain.toEnergy(weight));
    ops.when(isChosen, () => {
      chain.copy(hot.q, chain.vector("qSub"));
      chain.copy(hot.g, chain.vector("gSub"));
      reals.subLogp.set(logp);
      reals.subEnergy.set(hamiltonian);
    });
    noteLeaf(chain, turned);
  });
  const size = k.binary("shl", i(1), k.convert("u32", ints.depth.get()));
  const leaf = ops.add(ints.leaf.get(), i(1));
  ints.leaf.set(leaf);
  const isWhole = k.compare("ge", leaf, size);
  return { isValid, hasTurned: chain.isSet(turned), isWhole };
}

/** The subtree joins the trajectory, and perhaps its sample becomes the trajectory's. @internal for tests: samplers with one broken part */
export function joinSubtree(chain: NutsState, ended: Cell): void {
  const { k, ops, hot, type, ints, reals } = chain;
  const { i } = ops;
  const [own, other] = [reals.logWeight, reals.subLogWeight].map((cell) => k.convert(type, cell.get()));
  const [word] = randomWords(chain, "merge", ints.depth.get());
  ops.when(k.compare("lt", ops.log(ops.unit(type, word)), ops.sub(other, own)), () => {
    chain.copy(chain.vector("qSub"), chain.vector("qSample"));
    chain.copy(chain.vector("gSub"), chain.vector("gSample"));
    reals.logp.set(reals.subLogp.get());
    reals.energy.set(reals.subEnergy.get());
  });
  reals.logWeight.set(chain.toEnergy(ops.logAddExp(own, other)));

  const isRight = k.compare("gt", ints.direction.get(), i(0));
  const [pLeft, pRight, rho] = [chain.vector("pLeft"), chain.vector("pRight"), chain.vector("rho")];
  const firstOfNew = chain.record(i(0), "p");
  const isTurning = turns(chain, (d) => {
    const [left, right, old, sum] = [pLeft.load(d), pRight.load(d), rho.load(d), hot.sum.load(d)];
    const [far, near] = [k.select(isRight, left, right), k.select(isRight, right, left)];
    const first = firstOfNew.load(d);
    return {
      rhos: [ops.add(old, sum), ops.add(old, first), ops.add(sum, near)],
      leftStart: far,
      leftEnd: near,
      rightStart: first,
      rightEnd: hot.p.load(d),
    };
  });
  ops.each(chain.dim, (d) => rho.store(d, ops.add(rho.load(d), hot.sum.load(d))));
  ops.when(
    isRight,
    () => chain.keepEnd("Right"),
    () => chain.keepEnd("Left"),
  );
  const depth = ops.add(ints.depth.get(), i(1));
  ints.depth.set(depth);
  const isDeep = k.compare("ge", depth, i(chain.options.maxTreeDepth));
  ops.when(
    ops.or(isTurning, isDeep),
    () => ended.set(i(1)),
    () => ints.leaf.set(i(-1)),
  );
}

/**
 * The two kinds of trajectories that a transition can take: NUTS, which ends where it turns, and HMC, whose length is known
 * before it begins. The kernel around them is the same: it is handed one of these, and calls it before and after each step.
 */
import type { Value } from "../../../compiler/inline/kernel-language.js";
import type { Cell } from "../arithmetic.js";
import { beginTrajectory, trajectoryStep } from "./known-length.js";
import type { NutsState } from "./state.js";
import { addLeaf, beginSubtree } from "./tree.js";

/** Energies at the point that a leapfrog step led to. */
export interface StepEnergies {
  readonly logp: Value;
  readonly hamiltonian: Value;
  /** The energy at the start of the transition, less that of this point. */
  readonly delta: Value;
}

export interface Trajectories {
  /** Part of the kernel's name, and of the key under which a compiled kernel is found again. */
  readonly name: string;
  /** Whether the length is known before a trajectory begins, from `steps` or a time. */
  readonly isOfKnownLength: boolean;
  /** Vectors that a chain keeps besides those of `VECTORS`. */
  moreVectors(maxTreeDepth: number): number;
  /** Called when the momentum has been drawn. */
  begin(chain: NutsState): void;
  /** Called before each step. */
  beforeStep?(chain: NutsState): void;
  /** Takes in the point a step led to, where the chain is now; sets `ended` where the transition is over. */
  addPoint(chain: NutsState, energies: StepEnergies, ended: Cell): void;
}

export const NUTS: Trajectories = {
  name: "nuts",
  isOfKnownLength: false,
  // The records of the tree.
  moreVectors: (maxTreeDepth) => 3 * maxTreeDepth,
  // A subtree begins where there is no leaf yet.
  begin: ({ ops, ints }) => ints.leaf.set(ops.i(-1)),
  beforeStep(chain) {
    const { k, ops, ints } = chain;
    ops.when(ops.and(chain.isPhase("tree"), k.compare("lt", ints.leaf.get(), ops.i(0))), () => beginSubtree(chain));
  },
  addPoint: addLeaf,
};

export const HMC: Trajectories = {
  name: "hmc",
  isOfKnownLength: true,
  moreVectors: () => 0,
  begin: beginTrajectory,
  addPoint: trajectoryStep,
};

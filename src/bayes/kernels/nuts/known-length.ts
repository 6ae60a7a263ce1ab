/** Trajectories of a known length, as Hamiltonian Monte Carlo has them: the end is the proposal. */
import type { Value } from "../../../compiler/inline/kernel-language.js";
import type { Cell } from "../arithmetic.js";
import { chanceOf, countStep } from "./energy-error.js";
import { randomWords, runKey } from "./random-words.js";
import type { NutsState } from "./state.js";
import type { StepEnergies } from "./trajectories.js";

/** Steps of a trajectory of a given time, at most: a small step size in the warmup would make it endless. */
export const MAX_STEPS = 1024;

/** Bits that change places with those as far to their left: each one, then pairs, and so on to halves of a word. */
const SWAPS = [
  [1, 0x55555555],
  [2, 0x33333333],
  [4, 0x0f0f0f0f],
  [8, 0x00ff00ff],
  [16, 0x0000ffff],
] as const;

/**
 * A random share of the whole for each draw, the same for all chains. Those of successive draws are spread evenly, as van der
 * Corput spreads them (the draw's number in binary, mirrored), from a random start: what ChEES adapts to is then not mostly by
 * how much the shares differ (Hoffman, Radul, Sountsov 2021).
 */
function shareOf(chain: NutsState): Value {
  const { k, ops, energy, ints } = chain;
  const [start] = ops.threefry(runKey(chain), [ops.u(2 ** 32 - 1), ops.u(0)]);
  const mirrored = SWAPS.reduce(
    (word, [distance, mask]) => {
      const right = k.binary("and", k.binary("shr", word, ops.u(distance)), ops.u(mask));
      return k.binary("or", k.binary("shl", k.binary("and", word, ops.u(mask)), ops.u(distance)), right);
    },
    k.bitcast("u32", ints.draw.get()),
  );
  return ops.unit(energy, k.binary("xor", mirrored, start));
}

/**
 * Forward, for as many steps as were ordered on average or as many as make a random share of the time; the same for all
 * chains. Lengths that are always the same would bring some targets back to where they started, draw after draw.
 */
export function beginTrajectory(chain: NutsState): void {
  const { k, ops, energy, ints, reals } = chain;
  const { i } = ops;
  const share = shareOf(chain);
  const time = ops.mul(chain.runReal("trajectory"), share);
  const wanted = ops.div(time, reals.stepSize.get());
  const steps = k.convert("i32", k.unary("ceil", k.binary("min", wanted, ops.float(energy, MAX_STEPS))));
  const ordered = chain.dispatchInt("steps");
  const most = k.convert(energy, ops.sub(ops.mul(ordered, i(2)), i(1)));
  const around = ops.add(k.convert("i32", ops.mul(most, share)), i(1));
  ints.length.set(k.select(k.compare("gt", ordered, i(0)), around, k.binary("max", steps, i(1))));
  ints.direction.set(i(1));
}

/** A step of a trajectory of known length; its end is accepted or not (Metropolis). */
export function trajectoryStep(chain: NutsState, { delta, logp, hamiltonian }: StepEnergies, ended: Cell): void {
  const { k, ops, hot, energy, ints, reals } = chain;
  const { i } = ops;
  const isValid = countStep(chain, delta);
  const isLast = k.compare("ge", ints.leapfrogs.get(), ints.length.get());
  ops.when(ops.or(isLast, ops.not(isValid)), () => {
    const chance = chanceOf(chain, delta, isValid);
    // Adaptation looks at the end of the trajectory only.
    reals.acceptance.set(ops.mul(chance, k.convert(energy, ints.leapfrogs.get())));
    const [word] = randomWords(chain, "merge", i(0));
    const isAccepted = ops.and(isValid, k.compare("lt", ops.log(ops.unit(energy, word)), delta));
    ops.when(isAccepted, () => {
      chain.copy(hot.q, chain.vector("qSample"));
      chain.copy(hot.g, chain.vector("gSample"));
      reals.logp.set(logp);
      reals.energy.set(hamiltonian);
    });
    ended.set(i(1));
  });
}

/** What the change of energy says of a step: whether it is a divergence, and its chance to be accepted. */
import type { Value } from "../../../compiler/ir/ir.js";
import type { NutsState } from "./state.js";

/** Counts a step and whether it is a divergence; returns whether it is none. */
export function countStep(chain: NutsState, delta: Value): Value {
  const { k, w, energy, ints } = chain;
  const { i } = w;
  ints.leapfrogs.set(w.add(ints.leapfrogs.get(), i(1)));
  ints.totalLeapfrogs.set(w.add(ints.totalLeapfrogs.get(), i(1)));
  // NaN is no energy at all: the comparison does not hold.
  const isValid = k.compare("ge", delta, w.sub(w.float(energy, 0), chain.wish("maxEnergyError")));
  w.when(w.not(isValid), () => ints.isDivergent.set(i(1)));
  return isValid;
}

export function chanceOf(chain: NutsState, delta: Value, isValid: Value): Value {
  const { k, w, type } = chain;
  const chance = w.exp(k.binary("min", k.convert(type, delta), w.float(type, 0)));
  return chain.toEnergy(k.select(isValid, chance, w.float(type, 0)));
}

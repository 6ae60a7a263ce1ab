/** A step judged by its change of energy: whether it is a divergence, and its chance to be accepted. */
import type { Value } from "../../../compiler/inline/kernel-language.js";
import type { NutsState } from "./state.js";

/** Counts a step and whether it is a divergence; returns whether it is none. */
export function countStep(chain: NutsState, delta: Value): Value {
  const { k, ops, energy, ints } = chain;
  const { i } = ops;
  ints.leapfrogs.set(ops.add(ints.leapfrogs.get(), i(1)));
  ints.totalLeapfrogs.set(ops.add(ints.totalLeapfrogs.get(), i(1)));
  // NaN is no energy at all: the comparison does not hold.
  const isValid = k.compare("ge", delta, ops.sub(ops.float(energy, 0), chain.runReal("maxEnergyError")));
  ops.when(ops.not(isValid), () => ints.isDivergent.set(i(1)));
  return isValid;
}

export function chanceOf(chain: NutsState, delta: Value, isValid: Value): Value {
  const { k, ops, type } = chain;
  const chance = ops.exp(k.binary("min", k.convert(type, delta), ops.float(type, 0)));
  return chain.toEnergy(k.select(isValid, chance, ops.float(type, 0)));
}

/**
 * E-BFMI, the energy Bayesian fraction of missing information (Betancourt 2016): how much of the spread of energies
 * one fresh momentum can cross. Low values mean that the sampler moves slowly between energies, as with heavy tails.
 */
import type { Chains } from "../draws/draws.js";
import { checkChains } from "./chains.js";

/** Of every chain: Σ (E_i - E_{i-1})² / Σ (E_i - mean)². Below 0.3 is a concern. NaN where the energy is constant. */
export function eBfmi(x: Chains): Float64Array {
  checkChains("eBfmi", x);
  const { values, chains, draws } = x;
  const result = new Float64Array(chains);
  for (let c = 0; c < chains; c++) {
    const energy = values.subarray(c * draws, (c + 1) * draws);
    let mean = 0;
    for (let i = 0; i < draws; i++) mean += energy[i] / draws;
    let [steps, spread] = [0, 0];
    for (let i = 0; i < draws; i++) {
      spread += (energy[i] - mean) ** 2;
      if (i > 0) steps += (energy[i] - energy[i - 1]) ** 2;
    }
    result[c] = steps > 0 ? steps / spread : Number.NaN;
  }
  return result;
}

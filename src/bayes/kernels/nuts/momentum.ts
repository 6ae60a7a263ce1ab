/** Momenta under the metric: how they move a position, their energy, and how they are drawn. */

import type { Place } from "../../../compiler/inline/place.js";
import type { Value } from "../../../compiler/ir/ir.js";
import { randomWords } from "./random-words.js";
import type { NutsState } from "./state.js";

/** An element of M⁻¹p. */
export function velocity(chain: NutsState, d: Value, p: Place): Value {
  const { w, diagonal } = chain;
  return diagonal ? w.mul(diagonal.load(d), p.load(d)) : denseVelocities(chain, d, [p])[0];
}

/** Of several momenta under a dense metric, whose row is read once. */
export function denseVelocities(chain: NutsState, d: Value, momenta: readonly Place[]): Value[] {
  const { k, w, dim, type } = chain;
  const row = chain.column("metric", w.mul(d, w.i(dim)));
  const zeros = momenta.map(() => w.float(type, 0));
  return k.loop(dim, zeros, (j, totals) => {
    const element = row.load(j);
    return totals.map((total, n) => w.add(total, w.mul(element, momenta[n].load(j))));
  });
}

/** p·M⁻¹p / 2 */
export function kinetic(chain: NutsState): Value {
  const { w, hot, dim, energy } = chain;
  chain.k.barrier();
  const [sum] = w.sums(dim, energy, 1, (d) => [chain.toEnergy(w.mul(hot.p.load(d), velocity(chain, d, hot.p)))]);
  return w.mul(sum, w.float(energy, 0.5));
}

/** Of the inverse metric. Two words make two of them, which lanes, who work on one each, have no use for. */
export function drawMomenta(chain: NutsState): void {
  const { k, w, hot, dim, type, diagonal } = chain;
  const { i } = w;
  const store = (d: Value, z: Value) => hot.p.store(d, diagonal ? w.div(z, w.sqrt(diagonal.load(d))) : z);
  const pair = (number: Value) => w.normals(type, randomWords(chain, "momentum", number));
  if (k.lanes > 1) {
    w.each(dim, (d) => {
      const [first, second] = pair(k.binary("shr", d, w.u(1)));
      store(d, k.select(k.compare("eq", k.binary("and", d, i(1)), i(0)), first, second));
    });
  } else {
    k.loop(Math.ceil(dim / 2), [], (number) => {
      const [first, second] = pair(number);
      const d = w.mul(number, i(2));
      store(d, first);
      w.when(k.compare("lt", w.add(d, i(1)), i(dim)), () => store(w.add(d, i(1)), second));
      return [];
    });
  }
  if (!diagonal) solveFactor(chain);
}

/** p with Lᵀp = z, for the covariance LLᵀ: momenta of the inverse covariance. Z is where p goes. */
function solveFactor(chain: NutsState): void {
  const { k, w, hot, dim, type } = chain;
  const { i } = w;
  k.loop(dim, [], (step) => {
    const d = w.sub(i(dim - 1), step);
    const factor = (row: Value, column: Value) => chain.column("factor", w.mul(row, i(dim))).load(column);
    const [sum] = k.loop(dim, [w.float(type, 0)], (j, [total]) => {
      const term = w.mul(factor(j, d), hot.p.load(j));
      return [w.add(total, k.select(k.compare("gt", j, d), term, w.float(type, 0)))];
    });
    hot.p.store(d, w.div(w.sub(hot.p.load(d), sum), factor(d, d)));
    return [];
  });
}

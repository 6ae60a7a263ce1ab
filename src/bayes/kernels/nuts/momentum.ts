/** Momenta under the metric: how they move a position, their energy, and how they are drawn. */

import type { Place, Value } from "../../../compiler/inline/kernel-language.js";
import { randomWords } from "./random-words.js";
import type { NutsState } from "./state.js";

/** An element of M⁻¹p. */
export function velocity(chain: NutsState, d: Value, p: Place): Value {
  const { ops, diagonal } = chain;
  return diagonal ? ops.mul(diagonal.load(d), p.load(d)) : denseVelocities(chain, d, [p])[0];
}

/** Of several momenta under a dense metric, whose row is read once. */
export function denseVelocities(chain: NutsState, d: Value, momenta: readonly Place[]): Value[] {
  const { k, ops, dim, type } = chain;
  const row = chain.column("metric", ops.mul(d, ops.i(dim)));
  const zeros = momenta.map(() => ops.float(type, 0));
  return k.loop(dim, zeros, (j, totals) => {
    const element = row.load(j);
    return totals.map((total, n) => ops.add(total, ops.mul(element, momenta[n].load(j))));
  });
}

/** p·M⁻¹p / 2 */
export function kinetic(chain: NutsState): Value {
  const { ops, hot, dim, energy } = chain;
  chain.k.barrier();
  const [sum] = ops.sums(dim, energy, 1, (d) => [chain.toEnergy(ops.mul(hot.p.load(d), velocity(chain, d, hot.p)))]);
  return ops.mul(sum, ops.float(energy, 0.5));
}

/** Of the inverse metric. Two words make two of them, which lanes, who work on one each, have no use for. */
export function drawMomenta(chain: NutsState): void {
  const { k, ops, hot, dim, type, diagonal } = chain;
  const { i } = ops;
  const store = (d: Value, z: Value) => hot.p.store(d, diagonal ? ops.div(z, ops.sqrt(diagonal.load(d))) : z);
  const pair = (number: Value) => ops.normals(type, randomWords(chain, "momentum", number));
  if (k.lanes > 1) {
    ops.each(dim, (d) => {
      const [first, second] = pair(k.binary("shr", d, ops.u(1)));
      store(d, k.select(k.compare("eq", k.binary("and", d, i(1)), i(0)), first, second));
    });
  } else {
    k.loop(Math.ceil(dim / 2), [], (number) => {
      const [first, second] = pair(number);
      const d = ops.mul(number, i(2));
      store(d, first);
      ops.when(k.compare("lt", ops.add(d, i(1)), i(dim)), () => store(ops.add(d, i(1)), second));
      return [];
    });
  }
  if (!diagonal) solveFactor(chain);
}

/** p with Lᵀp = z, for the covariance LLᵀ: momenta of the inverse covariance. Z is where p goes. */
function solveFactor(chain: NutsState): void {
  const { k, ops, hot, dim, type } = chain;
  const { i } = ops;
  k.loop(dim, [], (step) => {
    const d = ops.sub(i(dim - 1), step);
    const factor = (row: Value, column: Value) => chain.column("factor", ops.mul(row, i(dim))).load(column);
    const [sum] = k.loop(dim, [ops.float(type, 0)], (j, [total]) => {
      const term = ops.mul(factor(j, d), hot.p.load(j));
      return [ops.add(total, k.select(k.compare("gt", j, d), term, ops.float(type, 0)))];
    });
    hot.p.store(d, ops.div(ops.sub(hot.p.load(d), sum), factor(d, d)));
    return [];
  });
}

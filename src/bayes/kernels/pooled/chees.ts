/**
 * The gradient of ChEES, the expected change in squared distance, by the length of trajectories (Hoffman, Radul, Sountsov 2021):
 * two kernels, for the chains' centres and for the contribution of each chain. The kernel of the step size sums them up. Distances are in the metric's units, so that no variable counts for more because of its own.
 */
import type { Value } from "../../../compiler/inline/kernel-language.js";
import { LEAST_CHANCE } from "./step-size.js";
import type { PooledWriter } from "./writer.js";

/** A row per dimension: the mean of the trajectories' ends by their chances to be accepted, then that of their starts. */
export function writeCentres(p: PooledWriter): void {
  const { k, ops, options } = p;
  const d = k.row;
  const [chances, ends, starts] = p.sums(3, (c) => {
    const chance = p.acceptance(c);
    return [chance, ops.mul(chance, known(p, chance, p.vector("q", d, c))), p.vector("qLeft", d, c)];
  });
  p.storeOnce("centres", d, ops.div(ends, k.binary("max", chances, p.f(LEAST_CHANCE))));
  p.storeOnce("centres", ops.add(d, ops.i(options.dim)), ops.div(starts, p.f(options.chains)));
}

/** A row per chain: its part of the gradient by the trajectories' time, times the sum of all chances. */
export function writeChanges(p: PooledWriter): void {
  const { k, ops, options } = p;
  const c = k.row;
  const chance = p.acceptance(c);
  const [change, along] = ops.sums(options.dim, p.energy, 2, (d) => {
    const after = known(p, chance, ops.sub(p.vector("q", d, c), p.load("centres", d)));
    const before = ops.sub(p.vector("qLeft", d, c), p.load("centres", ops.add(d, ops.i(options.dim))));
    const velocity = known(p, chance, velocityOf(p, d, c));
    const variance = p.load("metric", p.at(options.isDense ? ops.mul(d, ops.i(options.dim + 1)) : d, c));
    const terms = [ops.sub(ops.mul(after, after), ops.mul(before, before)), ops.mul(after, velocity)];
    return terms.map((term) => ops.div(term, variance));
  });
  p.store("changes", c, ops.mul(ops.mul(change, along), chance));
}

/** A divergent end may be anything, and weighs nothing. */
function known(p: PooledWriter, chance: Value, x: Value): Value {
  return p.k.select(p.k.compare("gt", chance, p.f(0)), x, p.f(0));
}

/** An element of M⁻¹p at the end. */
function velocityOf(p: PooledWriter, d: Value, c: Value): Value {
  const { k, ops, options } = p;
  const { dim } = options;
  if (!options.isDense) return ops.mul(p.load("metric", p.at(d, c)), p.vector("p", d, c));
  const element = (j: Value) => p.load("metric", p.at(ops.add(ops.mul(d, ops.i(dim)), j), c));
  const [sum] = k.loop(dim, [p.f(0)], (j, [total]) => [ops.add(total, ops.mul(element(j), p.vector("p", j, c)))]);
  return sum;
}

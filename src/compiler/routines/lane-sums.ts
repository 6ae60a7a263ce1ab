/**
 * Sums and other totals over the lanes of a workgroup up to each of them, through shared memory alone: nothing depends on the
 * size of subgroups. Sorting and selection (radix-tile-sort.ts, select-kernel.ts) place elements by sums; running totals
 * (cumulate-kernel.ts) are made of totals.
 */
import type { IRType, Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";

/** Lanes whose values are added up first, and then their sums. */
const GROUP = 16;

/** The least lanes: groups of them are read four at a time. */
export const LEAST_LANES = 4 * GROUP;

/** Shared words that the sums of so many lanes take. */
export const laneSumsWords = (lanes: number): number => lanes + lanes / GROUP;

/** The total of a value over the lanes before this one, and over all. */
export type LaneSums = (value: Value) => { readonly before: Value; readonly all: Value };

/** Adds up whole numbers over lanes, as `laneTotals`. */
export const laneSums = (k: KernelBuilder, lanes: number): LaneSums =>
  laneTotals(k, lanes, {
    type: "i32",
    nothing: k.constant("i32", 0),
    combine: (a, b) => k.binary("add", a, b),
  });

/** How values are combined, and the total of none. */
export interface LaneTotalsOf {
  readonly type: IRType;
  readonly nothing: Value;
  combine(earlier: Value, later: Value): Value;
}

/**
 * Combines values over lanes, in the order of the lanes. A few lanes combine groups of lanes; then each lane combines the
 * groups before its own and the lanes of its group before it. That takes two barriers, and a third must stand between two
 * calls.
 */
export function laneTotals(k: KernelBuilder, lanes: number, { type, nothing, combine }: LaneTotalsOf): LaneSums {
  const i = (value: number) => k.constant("i32", value);
  const add = (a: Value, b: Value) => k.binary("add", a, b);
  const groups = lanes / GROUP;
  const values = k.array(type, lanes);
  const totals = k.array(type, groups);
  const group = k.binary("shr", k.lane, i(Math.log2(GROUP)));
  const within = k.binary("and", k.lane, i(GROUP - 1));
  // Four words are one access.
  const width = type === "f64" || type === "i64" || type === "u64" ? 2 : 4;
  const many = (array: number, first: Value, count: number) =>
    Array.from({ length: count / width }, (_, m) => k.getMany(array, add(first, i(width * m)), width)).flat();
  const ofGroup = (which: Value) => many(values, k.binary("mul", which, i(GROUP)), GROUP);
  return (value) => {
    k.set(values, k.lane, value);
    k.barrier();
    k.when(k.compare("lt", k.lane, i(groups)), () => {
      k.set(totals, k.lane, ofGroup(k.lane).reduce(combine));
      return [];
    });
    k.barrier();
    const found = many(totals, i(0), groups);
    const earlier = found.map((total, g) => k.select(k.compare("gt", group, i(g)), total, nothing));
    const fellows = ofGroup(group).map((x, j) => k.select(k.compare("gt", within, i(j)), x, nothing));
    return { before: [...earlier, ...fellows].reduce(combine), all: found.reduce(combine) };
  };
}

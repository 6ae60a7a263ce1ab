/**
 * Sums over the lanes of a workgroup up to each of them, through shared memory alone: nothing depends on the size of
 * subgroups. Sorting and selection (radix-tile-sort.ts, select-kernel.ts) place elements by them.
 */
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";

/** Lanes whose values are added up first, and then their sums. */
const GROUP = 16;

/** The least lanes: groups of them are read four at a time. */
export const LEAST_LANES = 4 * GROUP;

/** Shared words that the sums of so many lanes take. */
export const laneSumsWords = (lanes: number): number => lanes + lanes / GROUP;

/** The total of a value over the lanes before this one, and over all. */
export type LaneSums = (value: Value) => { readonly before: Value; readonly all: Value };

/**
 * Adds up values over lanes. A few lanes add up groups of lanes; then each lane adds the groups before its own and the lanes
 * of its group before it. That takes two barriers, and a third must stand between two calls.
 */
export function laneSums(k: KernelBuilder, lanes: number): LaneSums {
  const i = (value: number) => k.constant("i32", value);
  const add = (a: Value, b: Value) => k.binary("add", a, b);
  const groups = lanes / GROUP;
  const values = k.array("i32", lanes);
  const sums = k.array("i32", groups);
  const group = k.binary("shr", k.lane, i(Math.log2(GROUP)));
  const within = k.binary("and", k.lane, i(GROUP - 1));
  const many = (array: number, first: Value, count: number) =>
    Array.from({ length: count / 4 }, (_, m) => k.getMany(array, add(first, i(4 * m)), 4)).flat();
  const ofGroup = (which: Value) => many(values, k.binary("mul", which, i(GROUP)), GROUP);
  return (value) => {
    k.set(values, k.lane, value);
    k.barrier();
    k.when(k.compare("lt", k.lane, i(groups)), () => {
      k.set(sums, k.lane, ofGroup(k.lane).reduce(add));
      return [];
    });
    k.barrier();
    const found = many(sums, i(0), groups);
    const earlier = found.map((sum, g) => k.select(k.compare("gt", group, i(g)), sum, i(0)));
    const fellows = ofGroup(group).map((x, j) => k.select(k.compare("gt", within, i(j)), x, i(0)));
    return { before: [...earlier, ...fellows].reduce(add), all: found.reduce(add) };
  };
}

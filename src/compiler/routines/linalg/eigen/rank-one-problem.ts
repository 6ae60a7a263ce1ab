/** Shared by the kernels of diag(d) + ρ z zᵀ (rank-one.ts): the problem, and loops over its elements. */
import type { Value } from "../../../ir/ir.js";
import type { KernelBuilder } from "../../../ir/kernel-builder.js";

/** Shape and dtype of the problem, and the lanes of a kernel that has a row for each eigenvalue. */
export interface RankOne {
  readonly batch: number;
  readonly m: number;
  readonly type: "f32" | "f64";
  readonly lanes: number;
}

/** The number of what is live in this member, and the member's first position. */
export function memberOf(k: KernelBuilder, { m }: RankOne, counts: number) {
  const i = (value: number) => k.constant("i32", value);
  const member = k.binary("idiv", k.row, i(m));
  const live = k.load(counts, k.binary("mul", member, i(2)), "i32");
  const start = k.binary("mul", member, i(m));
  return {
    member,
    live,
    start,
    own: k.binary("irem", k.row, i(m)),
    at: (index: Value) => k.binary("add", start, index),
  };
}

/** Positions 0 … m - 1, shared out among the lanes, with an accumulator for each initial value. */
export function overAll(
  k: KernelBuilder,
  m: number,
  initial: readonly Value[],
  body: (index: Value, isInside: Value | null, carried: readonly Value[]) => readonly Value[],
): Value[] {
  const i = (value: number) => k.constant("i32", value);
  if (k.lanes === 1) return k.loop(m, initial, (index, carried) => body(index, null, carried));
  const isWhole = m % k.lanes === 0;
  return k.loop(Math.ceil(m / k.lanes), initial, (round, carried) => {
    const index = k.binary("add", k.lane, k.binary("mul", round, i(k.lanes)));
    if (isWhole) return body(index, null, carried);
    const isInside = k.compare("lt", index, i(m));
    return body(k.select(isInside, index, i(0)), isInside, carried);
  });
}

/** Both, where there are two. */
export const both = (k: KernelBuilder, a: Value, b: Value | null): Value => (b ? k.binary("and", a, b) : a);

/** The results that the kernels of attention store for the rows of a lane: sums, and logarithms of sums of exponentials. */
import { type Element, type ElementSettings, elementOps } from "../../elements/elements.js";
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import type { Sums } from "./tiles.js";

/** The lane's rows in the result, and whether each is there. */
export interface LaneRows {
  readonly index: readonly Value[];
  readonly isThere: readonly Value[];
}

/** Rows at these places among the `count` of a head, whose first row has the number `start`. */
export function laneRows(k: KernelBuilder, places: readonly Value[], start: Value, count: number): LaneRows {
  return {
    index: places.map((at) => k.binary("add", start, at)),
    isThere: places.map((at) => k.compare("lt", at, k.constant("i32", count))),
  };
}

/** Stores sums times a factor for each row. */
export function storeSums<O extends { load(start: Value, first: Value): void }>(
  k: KernelBuilder,
  sums: Sums<O>,
  state: readonly Value[],
  { index: rowIndex, isThere }: LaneRows,
  { buffer, width, factors }: { readonly buffer: number; readonly width: number; readonly factors: readonly Value[] },
): void {
  const i = (value: number) => k.constant("i32", value);
  sums.each(state, (r, column, values) => {
    const start = k.binary("add", k.binary("mul", rowIndex[r], i(width)), column);
    const isVector = width % values.length === 0;
    const isWhole = k.binary("and", isThere[r], k.compare("lt", column, i(width)));
    const stored = values.map((sum, part) => {
      const place = k.binary("add", column, i(part));
      const gate = isVector ? isWhole : k.binary("and", isThere[r], k.compare("lt", place, i(width)));
      return { index: k.binary("add", start, i(part)), value: k.binary("mul", sum, factors[r]), gate };
    });
    // One after another, they may be written at once.
    for (const { index, value, gate } of stored) k.store(buffer, index, value, false, gate);
  });
}

/** 1 / total for each row; `empty` where that is 0. */
export function inverses(
  k: KernelBuilder,
  settings: ElementSettings,
  totals: readonly Value[],
  empty: number,
): Value[] {
  const ops = elementOps(k, settings);
  return totals.map((total) => {
    const type = total.type as "f32" | "f64";
    const element = (value: Value): Element => ({ dtype: type, value });
    const one = k.constant(type, 1);
    const isEmpty = k.compare("eq", total, k.constant(type, 0));
    const divisor = k.select(isEmpty, one, total);
    return k.select(isEmpty, k.constant(type, empty), ops.div(element(one), element(divisor)).value);
  });
}

/** Stores logarithms of sums of exponentials: the largest score plus the logarithm of the total. `isOne`: one lane of each row. */
export function storeLogs(
  k: KernelBuilder,
  settings: ElementSettings,
  buffer: number,
  { index, isThere }: LaneRows,
  { largest, totals, isOne }: { largest: readonly Value[]; totals: readonly Value[]; isOne: Value },
): void {
  const ops = elementOps(k, settings);
  totals.forEach((total, r) => {
    const log = ops.math("log", { dtype: total.type as "f32" | "f64", value: total }).value;
    // -inf plus the logarithm of 0, where no key is seen, is -inf.
    k.store(buffer, index[r], k.binary("add", largest[r], log), false, k.binary("and", isThere[r], isOne));
  });
}

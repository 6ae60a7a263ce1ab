/**
 * Elements while they are sorted: as words that go from pass to pass, whose keys say their order. The radix sorts
 * (radix-sweep.ts, radix-tile-sort.ts) use it.
 *
 * `sort` moves the values themselves and makes their keys again in every pass, so that nothing else moves with them; -0 and NaN
 * come out with the bits they had, although equal keys hide them. `argsort` moves keys, with positions beside them.
 */
import { DTYPES, type DType } from "../../core/dtype.js";
import type { Params } from "../../graph/primitive.js";
import { orderKey } from "../../graph/primitives/order.js";
import { computeType, type ElementSettings, elementOps } from "../elements/elements.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import type { KeyType } from "./radix-tile.js";

/** The sorted elements, and the result: the values in order, or their positions. */
export interface Sorted {
  readonly shape: readonly number[];
  readonly dtype: DType;
  /** The params of `orderKey`. */
  readonly keyed: Params;
  readonly result: "values" | "positions";
}

export interface ElementWords {
  readonly type: KeyType;
  /** Of the elements that are given. */
  readonly dtype: DType;
  /** Only words are moved, no positions. */
  readonly isAlone: boolean;
  /** A word that no element comes behind: for places beyond the row. */
  readonly last: number | bigint;
  /** The word of an element, and back. */
  wordOf(k: KernelBuilder, value: Value): Value;
  valueOf(k: KernelBuilder, word: Value): Value;
  keyOf(k: KernelBuilder, word: Value): Value;
}

/** The type of the keys of a dtype. */
export const keyTypeOf = (dtype: DType): KeyType => (DTYPES[dtype].bits === 64 ? "u64" : "u32");

export function elementWords({ dtype, keyed, result }: Sorted, settings: ElementSettings): ElementWords {
  const type = keyTypeOf(dtype);
  const isAlone = result === "values";
  const held = computeType(dtype);
  const keyOf = (k: KernelBuilder, value: Value) =>
    orderKey.lower(elementOps(k, settings), [{ dtype, value }], keyed, type).value;
  if (!isAlone) return { ...keyWords(type), dtype, wordOf: keyOf };
  return {
    type,
    dtype,
    isAlone,
    last: lastWord(dtype, type, keyed.descending === true),
    wordOf: (k, value) => k.bitcast(type, value),
    valueOf: (k, word) => k.bitcast(held, word),
    keyOf: (k, word) => keyOf(k, k.bitcast(held, word)),
  };
}

/** Keys as they are given, moved with their positions. */
export function keyWords(type: KeyType): ElementWords {
  const same = (_: KernelBuilder, value: Value) => value;
  const last = type === "u64" ? 2n ** 64n - 1n : 2 ** 32 - 1;
  return { type, dtype: type, isAlone: false, last, wordOf: same, valueOf: same, keyOf: same };
}

/** The bits of a value with the largest key: NaN, the largest integer, or the smallest where the order falls. */
function lastWord(dtype: DType, type: KeyType, isDescending: boolean): number | bigint {
  const bits = BigInt(DTYPES[type].bits);
  const { kind } = DTYPES[dtype];
  const ones = 2n ** bits - 1n;
  const rising = kind === "int" ? ones >> 1n : ones;
  // A float of ones is NaN, which is last in either order.
  const word = isDescending && kind !== "float" ? ones - rising : rising;
  return type === "u64" ? word : Number(word);
}

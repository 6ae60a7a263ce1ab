/**
 * Constants that are data of a program. A constant is normally part of the program, where it folds. One that changes in
 * every step of a loop (a learning rate) would need a program for every step. Such a constant is listed among the `given`
 * nodes of `compile`, after the leaves: the program then reads it from memory. Numbers of one dtype lie side by side, so
 * they take one buffer however many there are. runtime/program-table.ts decides which constants are data.
 */
import { castScalar } from "../../core/cast.js";
import type { DType, Scalar } from "../../core/dtype.js";
import { encodeValues } from "../../core/storage.js";
import type { Node } from "../../graph/node.js";
import { constant } from "../../graph/primitives/leaf.js";
import { g } from "../../graph/vocabulary.js";

/** True for a constant; one that was computed is memory like any other. */
export const isNumber = ({ primitive, storage }: Node): boolean => primitive === constant && storage === null;

/** Numbers that share memory, in their order there. */
interface Pack {
  readonly dtype: DType;
  readonly numbers: readonly Node[];
}

/** The packs in the order in which a program takes them, after its leaves. */
export function packsOf(numbers: readonly Node[]): Pack[] {
  const packs = new Map<DType, Node[]>();
  for (const number of numbers) {
    const pack = packs.get(number.dtype);
    if (pack) pack.push(number);
    else packs.set(number.dtype, [number]);
  }
  return [...packs].map(([dtype, own]) => ({ dtype, numbers: own }));
}

/** The bytes of a pack: each number rounded to its dtype, as it is when it is part of a program. */
export function bytesOfPack({ dtype, numbers }: Pack): Uint8Array {
  const values = numbers.map(({ params }) => castScalar(params.value as Scalar, dtype, dtype));
  return encodeValues(values, dtype, "constant");
}

/** A number as it is read from its pack, repeated over its shape. */
export function numberIn(memory: Node, index: number, shape: readonly number[]): Node {
  return g.broadcast(g.reshape(g.slice(memory, [index], [1]), []), shape);
}

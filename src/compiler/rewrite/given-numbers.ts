/**
 * Numbers that a program is given each time it runs. A constant of the graph is part of the program, where it folds; but one
 * that is another in every step of a loop (a learning rate) would make a program of every step. Such a constant is listed
 * among what `compile` is given, beside the leaves: it is then read from memory, and its value is no part of the program.
 * Numbers of one dtype lie side by side, so that a program takes one more buffer for them however many there are. Which
 * constants are opened like this is decided in form.ts.
 */
import { castScalar } from "../../core/cast.js";
import type { DType, Scalar } from "../../core/dtype.js";
import { encodeValues } from "../../core/storage.js";
import type { Node } from "../../graph/node.js";
import { constant } from "../../graph/primitives/leaf.js";
import { g } from "../../graph/vocabulary.js";

/** Whether a node is a number: a constant that was computed is memory like any other. */
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

/** What a pack's memory holds: each number as its dtype has it, rounded as it is where it is part of a program. */
export function bytesOfPack({ dtype, numbers }: Pack): Uint8Array {
  const values = numbers.map(({ params }) => castScalar(params.value as Scalar, dtype, dtype));
  return encodeValues(values, dtype, "constant");
}

/** A number as it is read from its pack, repeated over its shape. */
export function numberIn(memory: Node, index: number, shape: readonly number[]): Node {
  return g.broadcast(g.reshape(g.slice(memory, [index], [1]), []), shape);
}

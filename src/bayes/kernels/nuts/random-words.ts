/**
 * Random numbers of a chain: by counter, so that a chain that goes on in another dispatch, or is read from disk, draws what
 * it would have drawn.
 */
import type { Value } from "../../../compiler/inline/kernel-language.js";
import type { NutsState } from "./state.js";

/** Purposes of random numbers within a transition. */
const PURPOSE = { momentum: 0, direction: 1, leaf: 2, merge: 3, init: 4 } as const;

/** Two words for a purpose within the present transition. */
export function randomWords(chain: NutsState, purpose: keyof typeof PURPOSE, number: Value): [Value, Value] {
  const { k, ops, ints } = chain;
  const key = [k.bitcast("u32", ints.keyHigh.get()), k.bitcast("u32", ints.keyLow.get())] as const;
  return ops.threefry(key, [ops.u(PURPOSE[purpose]), k.bitcast("u32", number)]);
}

/** The key of the run. */
export function runKey({ k, ops, buffers }: NutsState): readonly [Value, Value] {
  return [k.load(buffers.key, ops.i(0), "u32"), k.load(buffers.key, ops.i(1), "u32")];
}

/** The key of a transition is made of the run's, the chain and a number of its own. */
export function newKey(chain: NutsState, number: Value, row: Value = chain.k.row): void {
  const { k, ops, ints } = chain;
  const [high, low] = ops.threefry(runKey(chain), [k.bitcast("u32", row), k.bitcast("u32", number)]);
  ints.keyHigh.set(k.bitcast("i32", high));
  ints.keyLow.set(k.bitcast("i32", low));
}

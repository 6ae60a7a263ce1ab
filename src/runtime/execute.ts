/** Runs a program step by step on an engine, with memory as it comes: intermediate values are freed after their last use. */
import type { KernelStep, Program, Slot } from "../compiler/program/program.js";
import { type LoopCounters, resolveSlot, runStep } from "../compiler/program/run-steps.js";
import type { Engine, EngineMemory, LoadedKernel } from "../engines/engine.js";

/**
 * `leaves`: memory of the program's arguments. `starts`: the byte each of the first ones begins at, where they are parts of
 * memory. Returns memory for each root. Calls back for every kernel.
 */
export function execute<M extends EngineMemory, K extends LoadedKernel>(
  engine: Engine<M, K>,
  program: Program<K>,
  leaves: readonly M[],
  starts: readonly number[] | null,
  counters: { kernels: number },
): M[] {
  const made = new Array<M | null>(program.made.length).fill(null);
  const memoryAt = (from: Slot["from"], index: number): M => {
    if (from === "leaf") return leaves[index];
    made[index] ??= engine.allocUninitialized(program.made[index].byteLength);
    return made[index] as M;
  };
  const kernel = ({ slots, code }: KernelStep<K>, loops: LoopCounters) => {
    const memory = new Array<M>(slots.length);
    const offsets = new Array<number>(slots.length);
    for (let i = 0; i < slots.length; i++) {
      const { index, offset } = resolveSlot(slots[i], loops);
      const { from } = slots[i];
      memory[i] = memoryAt(from, index);
      offsets[i] = starts && from === "leaf" && index < starts.length ? offset + starts[index] : offset;
    }
    engine.dispatch(code, memory, offsets);
    counters.kernels++;
  };
  // The flag of a loop is always a made value.
  const flag = ({ from, index }: Slot) => engine.flagIn(memoryAt(from, index));
  const results: M[] = [];
  try {
    for (let position = 0; position < program.steps.length; position++) {
      runStep(program.steps[position], { kernel, flag });
      for (const index of program.frees[position]) made[index]?.dispose();
    }
    // A result of no elements, or whose kernel had nothing to do, needs memory all the same.
    for (let index = 0; index < made.length; index++) {
      const { root } = program.made[index];
      if (root >= 0) results[root] = memoryAt("made", index);
    }
  } catch (error) {
    // Free everything: after an out-of-memory error the caller may try again.
    for (const memory of made) memory?.dispose();
    throw error;
  }
  return results;
}

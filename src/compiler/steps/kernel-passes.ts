/** The last passes over a kernel before it is emitted: they depend on where it stands in the program, not on what it computes. */
import type { KernelOutline } from "../ir/ir.js";
import type { Slot } from "../program/program.js";

/** A flag in memory and the value at which kernels behind it run. */
export interface Gate {
  readonly flag: Slot;
  readonly value: number;
}

/** The kernel with one more buffer, the flag: it does nothing unless that holds the value. */
export function behindGate<K extends KernelOutline>(kernel: K, value: number): K {
  const buffers = [...kernel.buffers, { dtype: "i32", isWritten: false, isLarge: false } as const];
  return { ...kernel, buffers, gate: { buffer: kernel.buffers.length, value } };
}

/** Marks buffers that may begin between vectors of 16 bytes, so that the emitters read no vectors there. */
export function markUnaligned<K extends KernelOutline>(kernel: K, slots: readonly Slot[]): K {
  const isUnaligned = slots.map(
    ({ offset = 0, moves = [], isUnaligned: is = false }) =>
      is || offset % 16 !== 0 || moves.some(({ bytes }) => bytes % 16 !== 0),
  );
  if (!isUnaligned.includes(true)) return kernel;
  return { ...kernel, buffers: kernel.buffers.map((buffer, i) => ({ ...buffer, isUnaligned: isUnaligned[i] })) };
}

/** Steps of programs made by hand, whose kernels compute nothing. */
import type { KernelStep, Made, Slot } from "../../src/compiler/program/program.js";

export const made = (index: number): Slot => ({ from: "made", index });
export const leaf = (index: number): Slot => ({ from: "leaf", index });

/** A kernel step that reads some slots and writes others; its code is its name. */
export function kernelStep(
  name: string,
  reads: readonly Slot[],
  writes: readonly Slot[],
  rows = 1,
): KernelStep<string> {
  const isWritten = [...reads.map(() => false), ...writes.map(() => true)];
  const buffers = isWritten.map((each) => ({ dtype: "f32", isWritten: each, isLarge: false }) as const);
  const kernel = { name, rows, lanes: 1, buffers, arrays: [], body: [], size: 1, isRepeating: false };
  return { kind: "kernel", kernel, formula: { text: name }, code: name, slots: [...reads, ...writes] };
}

/** A value of so many bytes; `root`: which result it is. */
export const value = (byteLength: number, root = -1): Made => ({
  shape: [byteLength / 4],
  dtype: "f32",
  byteLength,
  root,
});

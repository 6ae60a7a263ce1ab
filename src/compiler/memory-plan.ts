/**
 * Where the intermediate values of a program lie when it is prepared to run many times: all in one arena, at offsets that
 * are reused as soon as the value there is needed no more. Roots are not in it; they outlive the run.
 */
import { bytesOf } from "../core/bytes.js";
import { type Program, slotsIn } from "./program.js";

export interface MemoryPlan {
  /** Offset in the arena of each value the program makes; -1 for roots. */
  readonly offsets: readonly number[];
  readonly arenaBytes: number;
  /** What the values would take without sharing. */
  readonly sumOfBytes: number;
}

/** Vectors are read from the start of a value, and devices want large alignments. */
const ALIGNMENT = 256;

/**
 * Large values are placed first, each at the lowest offset where nothing alive at the same time lies. `times` says when
 * each step runs, where that is not one after another.
 */
export function planMemory({ steps, made, lastUse: last }: Program<unknown>, times?: readonly number[]): MemoryPlan {
  const lastUse = times ? last.map((position) => times[position]) : last;
  const firstUse = made.map(() => -1);
  const use = (index: number, position: number) => {
    if (firstUse[index] < 0) firstUse[index] = position;
  };
  steps.forEach((step, position) => {
    for (const { from, index, swap } of slotsIn(step)) {
      if (from === "made") use(index, times?.[position] ?? position);
      if (swap) use(swap.index, times?.[position] ?? position);
    }
  });
  const inArena = made.flatMap(({ root }, index) => (root < 0 && firstUse[index] >= 0 ? [index] : []));
  const sizes = made.map((value) => Math.max(ALIGNMENT, Math.ceil(bytesOf(value) / ALIGNMENT) * ALIGNMENT));
  const offsets = made.map(() => -1);
  const placed: number[] = [];
  let arenaBytes = 0;
  for (const index of [...inArena].sort((a, b) => sizes[b] - sizes[a] || a - b)) {
    const neighbours = placed
      .filter((other) => firstUse[other] <= lastUse[index] && firstUse[index] <= lastUse[other])
      .sort((a, b) => offsets[a] - offsets[b]);
    let offset = 0;
    for (const other of neighbours) {
      if (offset + sizes[index] <= offsets[other]) break;
      offset = Math.max(offset, offsets[other] + sizes[other]);
    }
    offsets[index] = offset;
    placed.push(index);
    arenaBytes = Math.max(arenaBytes, offset + sizes[index]);
  }
  return { offsets, arenaBytes, sumOfBytes: inArena.reduce((sum, index) => sum + bytesOf(made[index]), 0) };
}

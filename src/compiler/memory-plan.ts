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
  const busiest = busiestTime(inArena, firstUse, lastUse, sizes);
  /** Up to here nothing is free at the busiest time: who is alive then need not look below. */
  let packed = 0;
  let arenaBytes = 0;
  /** By offset. */
  const placed: number[] = [];
  const order = [...inArena].sort((a, b) => sizes[b] - sizes[a] || a - b);
  for (const index of order) {
    const [from, to, size] = [firstUse[index], lastUse[index], sizes[index]];
    const isBusy = from <= busiest && busiest <= to;
    let offset = isBusy ? packed : 0;
    // None is larger than the first, so none that begins farther below reaches up to here.
    for (let i = firstFrom(placed, offsets, offset - sizes[order[0]]); i < placed.length; i++) {
      const other = placed[i];
      if (offsets[other] >= offset + size) break;
      if (firstUse[other] <= to && from <= lastUse[other]) offset = Math.max(offset, offsets[other] + sizes[other]);
    }
    if (isBusy && offset === packed) packed += size;
    offsets[index] = offset;
    placed.splice(firstFrom(placed, offsets, offset), 0, index);
    arenaBytes = Math.max(arenaBytes, offset + size);
  }
  return { offsets, arenaBytes, sumOfBytes: inArena.reduce((sum, index) => sum + bytesOf(made[index]), 0) };
}

/** The position of the first value placed at an offset or behind it. */
function firstFrom(placed: readonly number[], offsets: readonly number[], offset: number): number {
  let [low, high] = [0, placed.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offsets[placed[middle]] >= offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** When most bytes are alive. */
function busiestTime(
  values: readonly number[],
  firstUse: readonly number[],
  lastUse: readonly number[],
  sizes: readonly number[],
): number {
  const changes: number[] = [];
  for (const index of values) {
    const [from, to] = [firstUse[index], lastUse[index] + 1];
    changes[from] = (changes[from] ?? 0) + sizes[index];
    changes[to] = (changes[to] ?? 0) - sizes[index];
  }
  let [time, alive, most] = [0, 0, 0];
  changes.forEach((change, at) => {
    alive += change;
    if (alive > most) [time, most] = [at, alive];
  });
  return time;
}

/**
 * Plans the memory of a prepared program. Its intermediate values share one arena; an offset is reused as soon as the value
 * there is no longer needed. Roots are not in the arena, because they outlive the run.
 */
import { bytesOf } from "../../core/bytes.js";
import { type Program, type Slot, type Step, slotsIn } from "./program.js";

export interface MemoryPlan {
  /** Offset in the arena of each value the program makes; -1 for roots. */
  readonly offsets: readonly number[];
  readonly arenaBytes: number;
  /** Bytes the values would take without sharing. */
  readonly sumOfBytes: number;
}

/** Vectors are read from the start of a value, and devices want large alignments. */
const ALIGNMENT = 256;

/**
 * Large values are placed first, each at the lowest offset where nothing alive at the same time lies. `levels` says which
 * steps run at the same time, where they do not run one after another; they are in the order of their levels.
 */
export function planMemory({ steps, made }: Program<unknown>, levels?: readonly number[]): MemoryPlan {
  const { firstUse, lastUse } = livesOf(steps, made.length, levels ?? steps.map((_, position) => position));
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

interface Lives {
  /** By value, in ticks of a clock that every kernel takes one of; -1 where nothing touches it. */
  readonly firstUse: number[];
  readonly lastUse: number[];
}

/** When each value is alive. */
function livesOf(steps: readonly Step<unknown>[], count: number, levels: readonly number[]): Lives {
  const touches = touchesOf(steps);
  const lives: Lives = { firstUse: Array(count).fill(-1), lastUse: Array(count).fill(-1) };
  let now = 0;
  for (let position = 0; position < steps.length; ) {
    let end = position + 1;
    while (end < steps.length && levels[end] === levels[position]) end++;
    // Steps that run side by side need what they touch for as long as all of them run.
    if (end > position + 1) {
      for (const step of steps.slice(position, end)) for (const index of valuesIn(step)) note(lives, index, now, now);
      now++;
    } else now = run(steps[position], touches, lives, now);
    position = end;
  }
  return lives;
}

/** Notes when a step that runs alone needs its values. Returns when it is over. */
function run(step: Step<unknown>, touches: ReadonlyMap<number, number>, lives: Lives, start: number): number {
  if (step.kind === "kernel") {
    for (const index of valuesIn(step)) note(lives, index, start, start);
    return start + 1;
  }
  // A value that several parts of a while loop touch lives through all rounds.
  const parts = step.kind === "loop" ? [step.steps] : [step.test, step.steps, step.finish];
  let now = start;
  for (const part of parts) for (const inner of part) now = run(inner, touches, lives, now);
  const own = parts.map(touchesOf);
  for (const index of valuesIn(step)) {
    const isOfOneRound = own.some((part) => part.get(index) === touches.get(index));
    if (!isOfOneRound) note(lives, index, start, now - 1);
  }
  // Even a value that nothing else touches: it is elsewhere in the next round, or read in it.
  for (const { from, index, moves, swap } of slotsIn(step)) {
    const isMoved = moves?.some(({ loop }) => loop === step.loop || (step.kind === "while" && loop === step.ahead));
    if (from === "made" && (isMoved || swap?.loop === step.loop)) note(lives, index, start, now - 1);
    if (swap?.loop === step.loop) note(lives, swap.index, start, now - 1);
  }
  return Math.max(now, start + 1);
}

function note({ firstUse, lastUse }: Lives, index: number, from: number, to: number): void {
  firstUse[index] = firstUse[index] < 0 ? from : Math.min(firstUse[index], from);
  lastUse[index] = Math.max(lastUse[index], to);
}

const valuesOf = ({ from, index, swap }: Slot): number[] => [
  ...(from === "made" ? [index] : []),
  ...(swap ? [swap.index] : []),
];

const valuesIn = (step: Step<unknown>): number[] => slotsIn(step).flatMap(valuesOf);

/** Counts accesses of each value. A loop owns a value if all accesses are inside it. */
function touchesOf(steps: readonly Step<unknown>[]): Map<number, number> {
  const touches = new Map<number, number>();
  for (const index of steps.flatMap(valuesIn)) touches.set(index, (touches.get(index) ?? 0) + 1);
  return touches;
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

/**
 * Orders the steps of a program for a device that runs several at once. Level 0 holds the steps that need no other, level 1
 * those that need only level 0, and so on. Barriers are needed between levels only; in the scheduler's order (one branch
 * after another) every branch would have its own. The values of a level are alive together, so this takes more memory.
 */
import { bytesOf } from "../../core/bytes.js";
import { type MemoryPlan, planMemory } from "./memory-plan.js";
import { kernelsOf, type Program, type Slot, type Step, withSteps } from "./program.js";

/** Arenas up to this size are always accepted. */
const SMALL_ARENA = 1 << 26;

interface Arranged<Code> {
  readonly program: Program<Code>;
  readonly plan: MemoryPlan;
}

/** Larger arenas may grow by this factor at most: checkpointing trades time for memory, and must not lose it again. */
const GROWTH = 1.25;

/** The program ordered by levels, with its memory planned; unchanged where that would take much more memory. */
export function overlapped<Code>(program: Program<Code>): Arranged<Code> {
  const plan = planMemory(program);
  const levels = levelsOf(program);
  const order = levels.map((_, position) => position).sort((a, b) => levels[a] - levels[b] || a - b);
  const arranged = withSteps(
    program,
    order.map((position) => program.steps[position]),
  );
  const planned = planMemory(
    arranged,
    order.map((position) => levels[position]),
  );
  const isWorthIt = planned.arenaBytes <= Math.max(SMALL_ARENA, GROWTH * plan.arenaBytes);
  return isWorthIt ? { program: arranged, plan: planned } : { program, plan };
}

/** A read or write of a value. Leaves are numbered first, then the values the program makes. */
interface Touch {
  readonly value: number;
  readonly isWritten: boolean;
}

function touchesOf(step: Step<unknown>, leafCount: number): Touch[] {
  const touch = ({ from, index, swap }: Slot, isWritten: boolean): Touch[] => {
    const first = from === "leaf" ? 0 : leafCount;
    return (swap ? [index, swap.index] : [index]).map((each) => ({ value: first + each, isWritten }));
  };
  const touches = kernelsOf([step]).flatMap(({ kernel, slots }) =>
    slots.flatMap((slot, i) => touch(slot, kernel.buffers[i].isWritten)),
  );
  return step.kind === "while" ? [...touches, ...touch(step.flag, false)] : touches;
}

/** The level of each step: above that of all it must come after. */
function levelsOf({ steps, made, leaves }: Program<unknown>): number[] {
  const touched = steps.map((step) => touchesOf(step, leaves.length));
  const written = new Map<number, number>();
  const read = new Map<number, number>();
  const levels = touched.map((touches) => {
    let level = 0;
    for (const { value, isWritten } of touches) {
      level = Math.max(level, (written.get(value) ?? -1) + 1, isWritten ? (read.get(value) ?? -1) + 1 : 0);
    }
    for (const { value, isWritten } of touches) {
      const latest = isWritten ? written : read;
      latest.set(value, Math.max(level, latest.get(value) ?? 0));
    }
    return level;
  });
  const users = new Map<number, Set<number>>();
  touched.forEach((touches, position) => {
    for (const { value } of touches) users.set(value, (users.get(value) ?? new Set()).add(position));
  });
  // A result that may go where an argument was waits until the others have read that, if nothing waits for the step itself.
  return levels.map((level, position) => {
    const results = touched[position].filter(({ isWritten }) => isWritten).map(({ value }) => value - leaves.length);
    if (results.some((index) => made[index].root < 0 || users.get(leaves.length + index)?.size !== 1)) return level;
    const sizes = results.map((index) => bytesOf(made[index]));
    const places = touched[position].filter(({ value }) => leaves[value] && sizes.includes(bytesOf(leaves[value])));
    const others = places.flatMap(({ value }) => [...(users.get(value) ?? [])]).filter((other) => other !== position);
    return Math.max(level, ...others.map((other) => levels[other] + 1));
  });
}

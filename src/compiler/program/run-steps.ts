/**
 * Walks through the steps of a program in order, loops round by round. Who walks says how to run a kernel and how to wait for
 * the flag of a loop that may end, and may rest between two kernels; everything else about steps is decided here.
 */

import { ArgumentError } from "../../core/errors.js";
import { FLAG_BYTES, type KernelStep, MAX_ROUNDS_AHEAD, type Slot, type Step, type WhileStep } from "./program.js";

/** Which round each loop is in. */
export type LoopCounters = Map<number, number>;

/** The memory a slot stands for in the present rounds: a value and an offset into it. */
export function resolveSlot(slot: Slot, counters: LoopCounters): { readonly index: number; readonly offset: number } {
  const { index, offset = 0, moves, swap } = slot;
  if (!moves && !swap) return { index, offset };
  const now = swap && (counters.get(swap.loop) ?? 0) % 2 === 1 ? swap.index : index;
  let at = offset;
  for (const { loop, bytes } of moves ?? []) at += (counters.get(loop) ?? 0) * bytes;
  return { index: now, offset: at };
}

interface StepRunner<Code> {
  kernel(step: KernelStep<Code>, counters: LoopCounters): void;
  /** The bytes of a flag, once the steps before have run. Null where the walk is to stop until they are there. */
  flag(slot: Slot): Uint8Array | null;
  /** Whether the walk is to stop for a while. */
  isRestDue?(): boolean;
}

/** For programs without loops that may end. */
export const runKernels = <Code>(kernel: StepRunner<Code>["kernel"]): StepRunner<Code> => ({
  kernel,
  flag: () => {
    throw new Error("runSteps: a loop that may end, and no way to read whether it does");
  },
});

/** Runs steps to the end, for a runner that never stops. */
export function runSteps<Code>(
  steps: readonly Step<Code>[],
  runner: StepRunner<Code>,
  counters: LoopCounters = new Map(),
): void {
  if (isStraight(steps)) runStraight(steps, runner, counters);
  else walkSteps(steps, runner, counters).next();
}

/** Steps on their way: stops where the runner says so, and asks for the bytes of a flag, or for nothing. */
type Walk = Generator<Slot | null, void, Uint8Array | null>;

export function* walkSteps<Code>(
  steps: readonly Step<Code>[],
  runner: StepRunner<Code>,
  counters: LoopCounters = new Map(),
): Walk {
  for (const step of steps) {
    if (step.kind === "kernel") {
      if (step.kernel.rows > 0) runner.kernel(step, counters);
    } else if (step.kind === "while") yield* (step.ahead === null ? walkWhile : walkAhead)(step, runner, counters);
    else {
      const body = isStraight(step.steps) ? step.steps : null;
      for (let round = 0; round < step.count; round++) {
        counters.set(step.loop, round);
        if (body) runStraight(body, runner, counters);
        else yield* walkSteps(step.steps, runner, counters);
        if (runner.isRestDue?.()) yield null;
      }
    }
    if (runner.isRestDue?.()) yield null;
  }
}

/** Kernels alone need no walk, and loops of them are fast. */
const isStraight = <Code>(steps: readonly Step<Code>[]): steps is readonly KernelStep<Code>[] =>
  steps.every(({ kind }) => kind === "kernel");

function runStraight<Code>(steps: readonly KernelStep<Code>[], runner: StepRunner<Code>, counters: LoopCounters): void {
  for (const step of steps) if (step.kernel.rows > 0) runner.kernel(step, counters);
}

function* walkWhile<Code>(step: WhileStep<Code>, runner: StepRunner<Code>, counters: LoopCounters): Walk {
  const [test, body] = [step.test, step.steps].map((steps) => (isStraight(steps) ? steps : null));
  for (let round = 0; ; round++) {
    counters.set(step.loop, round);
    if (test) runStraight(test, runner, counters);
    else yield* walkSteps(step.test, runner, counters);
    const flag = runner.flag(step.flag) ?? ((yield step.flag) as Uint8Array);
    if (flag[0] === 0) break;
    if (round >= step.maxRounds) throw endless(step);
    if (body) runStraight(body, runner, counters);
    else yield* walkSteps(step.steps, runner, counters);
  }
  yield* walkSteps(step.finish, runner, counters);
}

/** Rounds sent off together at first. */
const FIRST_ROUNDS_AHEAD = 4;

function* walkAhead<Code>(step: WhileStep<Code>, runner: StepRunner<Code>, counters: LoopCounters): Walk {
  let done = 0;
  for (let count = FIRST_ROUNDS_AHEAD; ; count = Math.min(2 * count, MAX_ROUNDS_AHEAD)) {
    const together = Math.min(count, step.maxRounds - done + 1);
    for (let i = 0; i < together; i++) {
      counters.set(step.loop, done + i);
      counters.set(step.ahead as number, i);
      yield* walkSteps(step.test, runner, counters);
      yield* walkSteps(step.steps, runner, counters);
    }
    const flags = runner.flag(step.flag) ?? ((yield step.flag) as Uint8Array);
    let wanted = 0;
    while (wanted < together && flags[FLAG_BYTES * (wanted + 1)] !== 0) wanted++;
    done += wanted;
    if (done > step.maxRounds) throw endless(step);
    if (wanted < together) break;
  }
  counters.set(step.loop, done);
  yield* walkSteps(step.finish, runner, counters);
}

const endless = ({ maxRounds }: WhileStep<unknown>): ArgumentError =>
  new ArgumentError(
    `whileLoop: its condition still held after ${maxRounds} rounds; raise { maxRounds } if that is meant.`,
  );

/**
 * Runs the steps of a program in order, loops round by round. Who runs them says how to run a kernel and how to wait for
 * the flag of a loop that may end; everything else about steps is decided here.
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
  /** The bytes of a flag, once the steps before have run. How to wait for them is the engine's business. */
  flag(slot: Slot): Uint8Array;
}

/** For programs without loops that may end. */
export const runKernels = <Code>(kernel: StepRunner<Code>["kernel"]): StepRunner<Code> => ({
  kernel,
  flag: () => {
    throw new Error("runSteps: a loop that may end, and no way to read whether it does");
  },
});

export function runSteps<Code>(
  steps: readonly Step<Code>[],
  runner: StepRunner<Code>,
  counters: LoopCounters = new Map(),
): void {
  for (const step of steps) runStep(step, runner, counters);
}

const NO_LOOPS: LoopCounters = new Map();

export function runStep<Code>(step: Step<Code>, runner: StepRunner<Code>, known?: LoopCounters): void {
  if (step.kind === "kernel") {
    if (step.kernel.rows > 0) runner.kernel(step, known ?? NO_LOOPS);
    return;
  }
  const counters = known ?? new Map<number, number>();
  if (step.kind === "while") (step.ahead === null ? runWhile : runAhead)(step, runner, counters);
  else {
    for (let round = 0; round < step.count; round++) {
      counters.set(step.loop, round);
      runSteps(step.steps, runner, counters);
    }
  }
}

function runWhile<Code>(step: WhileStep<Code>, runner: StepRunner<Code>, counters: LoopCounters): void {
  for (let round = 0; ; round++) {
    counters.set(step.loop, round);
    runSteps(step.test, runner, counters);
    if (runner.flag(step.flag)[0] === 0) break;
    if (round >= step.maxRounds) throw endless(step);
    runSteps(step.steps, runner, counters);
  }
  runSteps(step.finish, runner, counters);
}

/** Rounds sent off together at first. */
const FIRST_ROUNDS_AHEAD = 4;

function runAhead<Code>(step: WhileStep<Code>, runner: StepRunner<Code>, counters: LoopCounters): void {
  let done = 0;
  for (let count = FIRST_ROUNDS_AHEAD; ; count = Math.min(2 * count, MAX_ROUNDS_AHEAD)) {
    const together = Math.min(count, step.maxRounds - done + 1);
    for (let i = 0; i < together; i++) {
      counters.set(step.loop, done + i);
      counters.set(step.ahead as number, i);
      runSteps(step.test, runner, counters);
      runSteps(step.steps, runner, counters);
    }
    const flags = runner.flag(step.flag);
    let wanted = 0;
    while (wanted < together && flags[FLAG_BYTES * (wanted + 1)] !== 0) wanted++;
    done += wanted;
    if (done > step.maxRounds) throw endless(step);
    if (wanted < together) break;
  }
  counters.set(step.loop, done);
  runSteps(step.finish, runner, counters);
}

const endless = ({ maxRounds }: WhileStep<unknown>): ArgumentError =>
  new ArgumentError(
    `whileLoop: its condition still held after ${maxRounds} rounds; raise { maxRounds } if that is meant.`,
  );

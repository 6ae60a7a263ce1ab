/** Runs a program step by step on an engine, with memory as it comes: intermediate values are freed after their last use. */
import type { KernelStep, Program, Slot } from "../compiler/program/program.js";
import { type LoopCounters, resolveSlot, runSteps, walkSteps } from "../compiler/program/run-steps.js";
import type { Engine, EngineMemory, LoadedKernel } from "../engines/engine.js";

/** A program, and what it runs on. */
interface Execution<M extends EngineMemory, K extends LoadedKernel> {
  readonly engine: Engine<M, K>;
  readonly program: Program<K>;
  /** Memory of the program's arguments. */
  readonly leaves: readonly M[];
  /** The byte each of the first ones begins at, where they are parts of memory. */
  readonly starts: readonly number[] | null;
  readonly counters: { kernels: number };
}

const NO_LOOPS: LoopCounters = new Map();

/** Returns memory for each root. A loop that may end blocks until its flag is there. */
export function execute<M extends EngineMemory, K extends LoadedKernel>(execution: Execution<M, K>): M[] {
  const { engine, program } = execution;
  const values = new Values(execution);
  const runner = {
    kernel: (step: KernelStep<K>, loops: LoopCounters) => values.dispatch(step, loops),
    flag: (slot: Slot) => engine.flagIn(values.flag(slot)),
  };
  try {
    for (let position = 0; position < program.steps.length; position++) {
      const step = program.steps[position];
      if (step.kind !== "kernel") runSteps([step], runner);
      else if (step.kernel.rows > 0) values.dispatch(step, NO_LOOPS);
      values.free(position);
    }
    return values.results();
  } catch (error) {
    values.freeAll();
    throw error;
  }
}

/** The same for a caller that awaits the results: the event loop turns on the way. */
export async function executeGivingWay<M extends EngineMemory, K extends LoadedKernel>(
  execution: Execution<M, K>,
): Promise<M[]> {
  const { engine, program } = execution;
  const values = new Values(execution);
  let pause: Promise<void> | null = null;
  const runner = {
    kernel: (step: KernelStep<K>, loops: LoopCounters) => values.dispatch(step, loops),
    flag: (slot: Slot) => engine.flagNow(values.flag(slot)),
    isRestDue: () => {
      pause = engine.giveWay();
      return pause !== null;
    },
  };
  try {
    for (let position = 0; position < program.steps.length; position++) {
      const walk = walkSteps([program.steps[position]], runner);
      for (let next = walk.next(); !next.done; ) {
        const slot = next.value;
        if (!slot) await pause;
        next = walk.next(slot ? await values.flag(slot).read() : null);
      }
      values.free(position);
    }
    return values.results();
  } catch (error) {
    values.freeAll();
    throw error;
  }
}

/** The values a program makes, while it runs. */
class Values<M extends EngineMemory, K extends LoadedKernel> {
  private readonly made: (M | null)[];

  constructor(private readonly execution: Execution<M, K>) {
    this.made = new Array<M | null>(execution.program.made.length).fill(null);
  }

  dispatch({ slots, code }: KernelStep<K>, loops: LoopCounters): void {
    const { engine, starts, counters } = this.execution;
    const memory = new Array<M>(slots.length);
    const offsets = new Array<number>(slots.length);
    for (let i = 0; i < slots.length; i++) {
      const { index, offset } = resolveSlot(slots[i], loops);
      const { from } = slots[i];
      memory[i] = this.memoryAt(from, index);
      offsets[i] = starts && from === "leaf" && index < starts.length ? offset + starts[index] : offset;
    }
    engine.dispatch(code, memory, offsets);
    counters.kernels++;
  }

  /** The memory of a loop's flag, which is always a made value. */
  flag({ from, index }: Slot): M {
    return this.memoryAt(from, index);
  }

  /** Frees what is needed no more after a step. */
  free(position: number): void {
    for (const index of this.execution.program.frees[position]) this.made[index]?.dispose();
  }

  /** Frees everything: after an out-of-memory error the caller may try again. */
  freeAll(): void {
    for (const memory of this.made) memory?.dispose();
  }

  /** Memory for each root. A result of no elements, or whose kernel had nothing to do, needs memory all the same. */
  results(): M[] {
    const results: M[] = [];
    this.execution.program.made.forEach(({ root }, index) => {
      if (root >= 0) results[root] = this.memoryAt("made", index);
    });
    return results;
  }

  private memoryAt(from: Slot["from"], index: number): M {
    const { engine, program, leaves } = this.execution;
    if (from === "leaf") return leaves[index];
    this.made[index] ??= engine.allocUninitialized(program.made[index].byteLength);
    return this.made[index] as M;
  }
}

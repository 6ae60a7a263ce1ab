/**
 * Programs that a loop runs again and again without `jit`. Run step by step, a program takes memory for every value between
 * its kernels; for tiny tensors that takes longer than the kernels. So a program that has run a number of times is recorded,
 * as those of `jit` are: its inner values get memory that stays, and only arguments and results are found anew. `Backend` asks
 * here first. An engine whose recordings are not cheaper than steps says so.
 */
import { planProgram } from "../compiler/compile.js";
import type { Program } from "../compiler/program/program.js";
import type { Target } from "../compiler/target/target.js";
import type { Engine, EngineMemory, LoadedKernel, RecordedProgram } from "../engines/engine.js";
import { recordable } from "./prepared.js";

/** Runs after which a program is recorded. */
const MANY_RUNS = 32;

/** Programs with more memory between their kernels are not recorded: it would stay with them. */
const MAX_ARENA_BYTES = 64 * 1024;

/** The runs of a program so far, or its recording; null if it is not to be recorded. */
interface Heat<M extends EngineMemory> {
  runs: number;
  recorded: RecordedProgram<M> | null;
  /** Kernels of a run. */
  kernels: number;
}

const NO_SCALARS: readonly number[] = [];
const NONE_DONATED: readonly boolean[] = [];

export class HotPrograms<M extends EngineMemory, K extends LoadedKernel> {
  private readonly heat = new WeakMap<Program<K>, Heat<M>>();

  constructor(
    private readonly engine: Engine<M, K>,
    private readonly target: Target,
    private readonly counters: { kernels: number },
  ) {}

  /** Runs a program that has run often, on the memory of its arguments. Null: it is to be run step by step. */
  run(program: Program<K>, memory: readonly M[]): M[] | null {
    if (!this.engine.replaysFaster) return null;
    const heat = this.heatOf(program);
    if (heat.recorded === null) {
      if (++heat.runs !== MANY_RUNS) return null;
      heat.recorded = this.record(program);
      if (heat.recorded === null) return null;
    }
    this.counters.kernels += heat.kernels;
    return heat.recorded.run(memory, NO_SCALARS, NONE_DONATED);
  }

  private heatOf(program: Program<K>): Heat<M> {
    let heat = this.heat.get(program);
    if (!heat) {
      const kernels = program.steps.filter((step) => step.kind === "kernel" && step.kernel.rows > 0).length;
      heat = { runs: 0, recorded: null, kernels };
      this.heat.set(program, heat);
    }
    return heat;
  }

  /** Null for a program with loops, or with much memory of its own. */
  private record(program: Program<K>): RecordedProgram<M> | null {
    if (program.steps.some(({ kind }) => kind !== "kernel")) return null;
    const planned = planProgram(
      program,
      this.target,
      program.leaves.map(() => -1),
    );
    if (planned.plan.arenaBytes > MAX_ARENA_BYTES) return null;
    const args = program.leaves.map(() => ({ kind: "memory", isDonated: false }) as const);
    return this.engine.record(recordable({ ...planned, isFromDisk: false }, args));
  }
}

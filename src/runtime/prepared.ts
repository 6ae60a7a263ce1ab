/** Programs that are run again and again (jit): the engine records them, because their steps are known beforehand. */
import { type KernelStep, type Program, rootsOf, type Slot } from "../compiler/program/program.js";
import { type LoopCounters, resolveSlot, runKernels, walkSteps } from "../compiler/program/run-steps.js";
import { bytesOf } from "../core/bytes.js";
import type {
  BufferPlace,
  EngineMemory,
  LoadedKernel,
  ProgramArgument,
  ProgramDispatch,
  RecordableProgram,
  RecordedProgram,
} from "../engines/engine.js";
import type { PlannedProgram } from "./program-file.js";

/** A program with its memory planned, ready to run many times. */
export interface Prepared<M extends EngineMemory = EngineMemory> extends PlannedProgram<LoadedKernel> {
  readonly run: RecordedProgram<M>["run"];
}

/** A planned program as the engine records it. */
export function recordable<M extends EngineMemory, K extends LoadedKernel>(
  { program, plan, inPlace }: PlannedProgram<K>,
  args: readonly ProgramArgument<M>[],
): RecordableProgram<M, K> {
  const placeOf = (slot: Slot, counters: LoopCounters): BufferPlace => {
    const { index, offset } = resolveSlot(slot, counters);
    if (slot.from === "leaf") return { from: "argument", index, offset };
    const value = program.made[index];
    if (value.root >= 0) return { from: "result", index: value.root, offset };
    return { from: "arena", start: plan.offsets[index], byteLength: value.byteLength, offset };
  };
  const fixed = fixedPlaces(program, (slot) => placeOf(slot, new Map()));
  return {
    arguments: args,
    results: rootsOf(program).map((index, root) => ({
      byteLength: bytesOf(program.made[index]),
      inPlace: inPlace[root],
    })),
    arenaBytes: plan.arenaBytes,
    dispatches: function* () {
      const ready: ProgramDispatch<K>[] = [];
      const runner = runKernels<K>((step, counters) => {
        const buffers = fixed.get(step) ?? step.slots.map((slot) => placeOf(slot, counters));
        ready.push({ kernel: step.code, shape: step.kernel, buffers });
      });
      const walk = walkSteps(program.steps, { ...runner, isRestDue: () => ready.length > 0 });
      for (let next = walk.next(); ; next = walk.next(null)) {
        yield* ready;
        ready.length = 0;
        if (next.done) return;
      }
    },
  };
}

/** The buffers of kernels outside of loops, which are the same in every run. */
function fixedPlaces<K>(
  { steps }: Program<K>,
  placeOf: (slot: Slot) => BufferPlace,
): ReadonlyMap<KernelStep<K>, readonly BufferPlace[]> {
  return new Map(steps.flatMap((step) => (step.kind === "kernel" ? [[step, step.slots.map(placeOf)]] : [])));
}

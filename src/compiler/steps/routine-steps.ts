/** The steps of a routine: its kernels, on memory for its inputs, its result and what it needs in between. */
import { UnsupportedError } from "../../core/errors.js";
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { paramsKey } from "../../graph/params-key.js";
import { outputsOf } from "../../graph/primitives/bundle.js";
import { MAX_I32 } from "../ir/ir.js";
import { bufferNames } from "../print/formula.js";
import { type Slot, type Step, writtenLater } from "../program/program.js";
import { routines } from "../routines/index.js";
import type { NativeRoutine, RoutineBuffer } from "../target/routine.js";
import type { Assembly, SlotOf } from "./assembly.js";

export function routineSteps<Code>(
  assembly: Assembly<Code>,
  node: Node,
  parts: readonly Node[],
  slotOf: SlotOf,
  inputOf: SlotOf,
): Step<Code>[] {
  const { profile, settings, routines: own } = assembly.target;
  const { name } = node.primitive;
  const routine: NativeRoutine | undefined = own?.[name] ?? routines[name];
  if (!routine) throw new UnsupportedError(`There is no routine for ${name}.`);
  checkCountable(node);
  const key = keyOf(node);
  const plan = assembly.shared.plans.get(key) ?? routine(node, profile, settings);
  assembly.shared.plans.set(key, plan);
  const temporaries = plan.temporaries.map((value) => assembly.make(value));
  const wanted = new Map(parts.map((part) => [part.params.index as number, part]));
  const unwanted = new Map<number, Slot>();
  const slotOfPart = (index: number): Slot => {
    const part = wanted.get(index);
    const slot = part ? slotOf(part) : (unwanted.get(index) ?? assembly.make(outputsOf(node)[index]));
    if (!part) unwanted.set(index, slot);
    return slot;
  };
  const slotFor = (buffer: RoutineBuffer): Slot => {
    if (buffer.kind === "input") return inputOf(node.inputs[buffer.index]);
    if (buffer.kind === "temporary") return temporaries[buffer.index];
    if (buffer.part !== undefined) return slotOfPart(buffer.part);
    const slot = slotOf(node);
    return buffer.offset ? { ...slot, offset: (slot.offset ?? 0) + buffer.offset } : slot;
  };
  // A step that computes only parts that nobody asked for is left out.
  const isUnwanted = (buffer: RoutineBuffer) =>
    buffer.kind === "result" && buffer.part !== undefined && !wanted.has(buffer.part);
  const computing = plan.steps.filter(({ buffers }) => {
    const results = buffers.filter(({ kind }) => kind !== "input");
    return results.length === 0 || !results.every(isUnwanted);
  });
  const steps = computing.map((step) => ({ ...step, slots: step.buffers.map(slotFor) }));
  const needed = steps.filter(({ isCopy, slots: [from, to] }) => !isCopy || from !== to);
  return needed.map(({ kernel, slots, formula }) =>
    assembly.kernel(
      kernel,
      slots,
      writtenLater(() => formula(bufferNames(kernel.buffers))),
    ),
  );
}

/** The key of a routine: its parameters, shapes and dtypes. Nodes with one key share kernels. */
function keyOf(node: Node): string {
  const inputs = node.inputs.map(({ dtype, shape }) => `${dtype}[${shape}]`);
  return `${node.primitive.name}(${inputs.join(" ")}) ${paramsKey(node)} ${node.dtype}[${node.shape}]`;
}

/** Routines count in 32 bits. */
function checkCountable(node: Node): void {
  const long = [node, ...node.inputs].find(({ shape }) => productOf(shape) > MAX_I32);
  if (!long) return;
  throw new UnsupportedError(
    `${node.primitive.name}: a tensor of [${long.shape}] has more than ${MAX_I32} elements; do it in parts.`,
  );
}

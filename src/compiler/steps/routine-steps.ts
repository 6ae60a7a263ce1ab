/** The steps of a routine: its kernels, on memory for its inputs, its result and what it needs in between. */
import { UnsupportedError } from "../../core/errors.js";
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { paramsKey } from "../../graph/params-key.js";
import { MAX_I32 } from "../ir/ir.js";
import { bufferNames } from "../print/formula.js";
import { type Slot, type Step, writtenLater } from "../program/program.js";
import { routines } from "../routines/index.js";
import type { NativeRoutine, RoutineBuffer } from "../target/routine.js";
import type { Assembly, SlotOf } from "./assembly.js";

export function routineSteps<Code>(
  assembly: Assembly<Code>,
  node: Node,
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
  const slotFor = (buffer: RoutineBuffer): Slot => {
    if (buffer.kind === "input") return inputOf(node.inputs[buffer.index]);
    if (buffer.kind === "temporary") return temporaries[buffer.index];
    const slot = slotOf(node);
    return buffer.offset ? { ...slot, offset: (slot.offset ?? 0) + buffer.offset } : slot;
  };
  const steps = plan.steps.map((step) => ({ ...step, slots: step.buffers.map(slotFor) }));
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

/**
 * A compiled piece of the graph: kernels to run in order, and which memory each of them gets. It holds no node and no
 * buffer, so it serves every graph of the same form: a loop that builds the same expression again compiles it once.
 */
import type { DType } from "../core/dtype.js";
import { UnsupportedError } from "../core/errors.js";
import type { Node } from "../graph/node.js";
import { pendingInOrder } from "../graph/node.js";
import type { ElementSettings } from "./elements.js";
import { expandGraph } from "./expand.js";
import { type Kernel, MAX_I32 } from "./ir.js";
import { type Group, lowerGroup } from "./lower.js";
import { paramsKey } from "./params-key.js";
import type { RoutineBuffer } from "./routine.js";
import { routines } from "./routines/index.js";
import { schedule, type TargetProfile } from "./schedule.js";
import { lowerProduct } from "./tiles/product.js";
import { productRewriter } from "./tiles/rewrite.js";
import { lowerTransposed } from "./tiles/transpose.js";

/** Memory by role: the i-th leaf of the graph, or the i-th value the program makes. */
export type Slot = { readonly from: "leaf" | "made"; readonly index: number };

export interface Step<Code> {
  readonly kernel: Kernel;
  /** Null where the kernel has no rows: it is not run. */
  readonly code: Code;
  readonly slots: readonly Slot[];
}

export interface Program<Code> {
  readonly steps: readonly Step<Code>[];
  /** The values the program makes: their size, and which root each is, if any. */
  readonly made: readonly { readonly shape: readonly number[]; readonly dtype: DType; readonly root: number }[];
  /** After which step a made value is needed no more; roots live on. */
  readonly lastUse: readonly number[];
}

/** A graph in canonical form: its key, and the leaves that the key numbers. */
export interface Canonical {
  readonly key: string;
  readonly leaves: readonly Node[];
}

/** Two graphs with the same key compute the same thing of their leaves. */
export function canonicalize(roots: readonly Node[]): Canonical {
  const order = pendingInOrder(roots);
  const numbers = new Map<Node, number>();
  const leaves: Node[] = [];
  const parts: string[] = [];
  for (const node of order) {
    const number = numbers.size;
    numbers.set(node, number);
    if (node.storage) {
      leaves.push(node);
      parts.push(`${node.dtype}[${node.shape}]`);
    } else {
      const inputs = node.inputs.map((input) => numbers.get(input)).join();
      parts.push(`${node.primitive.name}(${inputs})${paramsKey(node)}`);
    }
  }
  return { key: `${parts.join("|")}→${roots.map((root) => numbers.get(root)).join()}`, leaves };
}

export interface Target<Code> {
  readonly profile: TargetProfile;
  readonly settings: ElementSettings;
  emit(kernel: Kernel): Code;
}

export function compile<Code>(pending: readonly Node[], given: readonly Node[], target: Target<Code>): Program<Code> {
  const products = productRewriter(target.profile.tiles);
  const { roots, leaves } = expandGraph(pending, given, products.rewrite);
  const slots = new Map<Node, Slot>(leaves.map((leaf, index) => [leaf, { from: "leaf", index }]));
  const made: { shape: readonly number[]; dtype: DType; root: number }[] = [];
  const make = (shape: readonly number[], dtype: DType, root: number): Slot => {
    made.push({ shape, dtype, root });
    return { from: "made", index: made.length - 1 };
  };
  const slotOf = (node: Node): Slot => {
    const known = slots.get(node);
    if (known) return known;
    const slot = make(node.shape, node.dtype, roots.indexOf(node));
    slots.set(node, slot);
    return slot;
  };
  const steps: Step<Code>[] = [];
  const lastUse: number[] = [];
  const codes = new Map<Kernel, Code>();
  const run = (kernel: Kernel, memory: readonly Slot[]) => {
    for (const { from, index } of memory) if (from === "made") lastUse[index] = steps.length;
    // Routines may run one kernel many times. One without rows is never run, and its strides may not fit a word.
    const code = codes.get(kernel) ?? (kernel.rows > 0 ? target.emit(kernel) : (null as Code));
    codes.set(kernel, code);
    steps.push({ kernel, code, slots: memory });
  };
  for (const task of schedule(roots, target.profile, products.stored)) {
    if (task.kind === "group") {
      const { product, transposed } = task.group;
      const lower = product ? lowerProduct : transposed ? lowerTransposed : lowerGroup;
      const { kernel, buffers } = lower(task.group, describeGroup(task.group), target.settings);
      run(kernel, buffers.map(slotOf));
    } else {
      const { node } = task;
      const routine = routines[node.primitive.name];
      if (!routine) throw new UnsupportedError(`There is no routine for ${node.primitive.name}.`);
      checkCountable(node);
      const plan = routine(node, target.profile, target.settings);
      const temporaries = plan.temporaries.map(({ dtype, size }) => make([size], dtype, -1));
      const place = (buffer: RoutineBuffer): Slot => {
        if (buffer.kind === "input") return slotOf(node.inputs[buffer.index]);
        return buffer.kind === "result" ? slotOf(node) : temporaries[buffer.index];
      };
      for (const { kernel, buffers } of plan.steps) run(kernel, buffers.map(place));
    }
  }
  return { steps, made, lastUse };
}

/** Routines count in 32 bits. */
function checkCountable(node: Node): void {
  const long = [node, ...node.inputs].find(({ shape }) => shape.reduce((size, extent) => size * extent, 1) > MAX_I32);
  if (!long) return;
  throw new UnsupportedError(
    `${node.primitive.name}: a tensor of [${long.shape}] has more than ${MAX_I32} elements; do it in parts.`,
  );
}

/** The results of a group; of many the first. */
function describeGroup({ results }: Group): string {
  const names = results.map(({ node: { primitive, shape } }) => `${primitive.name}[${shape.join("×")}]`);
  return names.length <= 3 ? names.join(" + ") : `${names.slice(0, 2).join(" + ")} + ${names.length - 2} more`;
}

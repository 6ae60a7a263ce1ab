/**
 * A program while it is put together: the values it makes and the loops it has numbered. The functions of this folder
 * add steps to it; compile.ts calls them.
 */
import { bytesOf } from "../../core/bytes.js";
import { realDType } from "../../core/dtype.js";
import type { EncodedKernel } from "../../core/encoded-kernel.js";
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { computeType } from "../elements/elements.js";
import type { Kernel, NativeKernel } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import type { Formula, KernelStep, Made, Slot, Step } from "../program/program.js";
import type { LoadKernel, Recordable, Target } from "../target/target.js";
import type { Gate } from "./kernel-passes.js";
import type { SharedKernels } from "./shared-kernels.js";

/** The slot of a node: where it is computed to, or where it is read. */
export type SlotOf = (node: Node) => Slot;

/** The nodes of a graph inside a loop or branch, with slots for its parameters; compile.ts makes steps of it. */
export type CompileBody = <Code>(
  assembly: Assembly<Code>,
  parameters: readonly Node[],
  results: readonly Node[],
  parameterSlots: readonly Slot[],
  rootSlot: (root: number) => Slot,
) => Step<Code>[];

/** The passes that the steps of a program call; compile.ts lists them. */
export interface StepPasses {
  readonly compileBody: CompileBody;
  /** Fits a kernel to its place in the program: the memory it gets, and the gate before it. */
  place(kernel: Kernel | NativeKernel, slots: readonly Slot[], gate: Gate | null): Kernel | NativeKernel;
  emit(kernel: Kernel | NativeKernel, isIndirect: readonly boolean[] | null, target: Target): EncodedKernel;
}

export class Assembly<Code> {
  readonly made: Made[] = [];
  /** Inside a branch: the flag that every kernel checks before it does anything. */
  gate: Gate | null = null;
  private loops = 0;

  constructor(
    readonly target: Target,
    private readonly load: LoadKernel<Code>,
    private readonly recordable: Recordable | null,
    readonly shared: SharedKernels<Code>,
    private readonly passes: StepPasses,
  ) {}

  get compileBody(): CompileBody {
    return this.passes.compileBody;
  }

  /** Whether the program is recorded once and run many times. */
  get isRecorded(): boolean {
    return this.recordable !== null;
  }

  /** Memory for a value of the program. */
  make({ shape, dtype }: Pick<Node, "shape" | "dtype">, root = -1): Slot {
    this.made.push({ shape, dtype, byteLength: bytesOf({ shape, dtype }), root });
    return { from: "made", index: this.made.length - 1 };
  }

  /** The number of a new loop. */
  loop(): number {
    return this.loops++;
  }

  /** A kernel as a step: placed, emitted and loaded. A routine may run one kernel many times: it is emitted once. */
  kernel(kernel: Kernel | NativeKernel, own: readonly Slot[], formula: Formula): KernelStep<Code> {
    const { gate } = this;
    const slots = gate ? [...own, gate.flag] : own;
    const placed = this.passes.place(kernel, slots, gate);
    const isIndirect = this.recordable && slots.map((slot) => this.isMoving(slot));
    const known = this.shared.codesOf(kernel);
    const key = `${gate?.value}|${isIndirect}|${placed.buffers.map(({ isUnaligned = false }) => isUnaligned)}`;
    // A kernel without rows is never run, and its strides may not fit a word.
    const code = known.get(key) ?? (kernel.rows > 0 ? this.codeOf(placed, isIndirect) : (null as Code));
    known.set(key, code);
    return { kind: "kernel", kernel: placed, code, slots, formula };
  }

  /** The same outside of the gate. */
  ungated(kernel: Kernel, slots: readonly Slot[], formula: Formula): KernelStep<Code> {
    return this.within(null, () => this.kernel(kernel, slots, formula));
  }

  /** Does work whose kernels stand behind another gate. */
  within<T>(gate: Gate | null, work: () => T): T {
    const outer = this.gate;
    this.gate = gate;
    try {
      return work();
    } finally {
      this.gate = outer;
    }
  }

  copy(from: Slot, to: Slot, { shape, dtype }: Pick<Node, "shape" | "dtype">): KernelStep<Code> {
    const part = realDType(dtype);
    const k = new KernelBuilder(`copy[${shape.join("×")}]`, productOf(shape) * (part === dtype ? 1 : 2));
    const [source, target] = [k.buffer(part, false), k.buffer(part, true)];
    k.store(target, k.row, k.load(source, k.row, computeType(part)));
    return this.kernel(k.finish(), [from, to], { text: "out[i] = a[i]" });
  }

  private codeOf(kernel: Kernel | NativeKernel, isIndirect: readonly boolean[] | null): Code {
    return this.load(this.passes.emit(kernel, isIndirect, this.target), kernel);
  }

  /** Whether its memory is another one in every run. */
  private isMoving({ from, index }: Slot): boolean {
    return from === "leaf" ? !this.recordable?.isFixedLeaf[index] : this.made[index].root >= 0;
  }
}

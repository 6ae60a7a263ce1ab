/**
 * Kernels that programs share. A loop compiles a few programs that are nearly the same before it is steady, one that stores
 * what another recomputes, for instance, and most of their kernels are equal. Lowering and emitting a kernel takes far
 * longer than writing its key. One per device; compile.ts asks before it lowers a group, routine-steps.ts before it plans a
 * routine, `Assembly` before it emits.
 */
import type { Kernel, NativeKernel } from "../ir/ir.js";
import type { Formula } from "../program/program.js";
import type { RoutinePlan } from "../target/routine.js";

/** A group that was lowered. */
interface LoweredGroup {
  readonly kernel: Kernel;
  readonly formula: Formula;
  /** The kernel's buffers, as positions among the nodes of the group's key. */
  readonly buffers: readonly number[];
}

/** Groups and routines that are remembered between programs; the least recently used go first. A kernel takes some 20 KB. */
const MOST = 64;

export class SharedKernels<Code> {
  /** The kernels of groups, by the key of the group (schedule/group-key.ts). */
  readonly lowered = new RecentlyUsed<LoweredGroup>();
  /** The plans of routines, by what they follow from. */
  readonly plans = new RecentlyUsed<RoutinePlan<Kernel | NativeKernel>>();
  private readonly codes = new WeakMap<Kernel | NativeKernel, Map<string, Code>>();

  /** The codes of a kernel, by its place in a program (`Assembly.kernel`). They live as long as the kernel. */
  codesOf(kernel: Kernel | NativeKernel): Map<string, Code> {
    const known = this.codes.get(kernel) ?? new Map<string, Code>();
    this.codes.set(kernel, known);
    return known;
  }

  /** Forgets the oldest. Between programs: one program makes each of its kernels once, however many they are. */
  trim(): void {
    this.lowered.trim(MOST);
    this.plans.trim(MOST);
  }
}

/** Values by key, in the order of their last use. */
class RecentlyUsed<Value> {
  private readonly values = new Map<string, Value>();

  get size(): number {
    return this.values.size;
  }

  get(key: string): Value | undefined {
    const value = this.values.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.values.delete(key);
    this.values.set(key, value);
  }

  /** Forgets the oldest beyond so many. */
  trim(most: number): void {
    for (const key of this.values.keys()) {
      if (this.values.size <= most) return;
      this.values.delete(key);
    }
  }
}

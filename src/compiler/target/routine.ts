/**
 * Routines: kernels written by hand in the loop-nest language, for operations that are not one loop over their result:
 * scans, sorting, scattering. A routine gets memory for its inputs and its result, declares temporaries, and lists its kernels
 * in order. Both targets run it, because both emitters read the language.
 */
import type { DType } from "../../core/dtype.js";
import type { Node } from "../../graph/node.js";
import type { ElementSettings } from "../elements/elements.js";
import type { Kernel, NativeKernel } from "../ir/ir.js";
import type { TargetProfile } from "./profile.js";

/** Memory a kernel of a routine is given. */
export type RoutineBuffer =
  | { readonly kind: "input"; readonly index: number }
  | {
      readonly kind: "result";
      /** The offset of the kernel's buffer in it, in bytes. */
      readonly offset?: number;
      /** Which of several results (graph/primitives/bundle.ts). */
      readonly part?: number;
    }
  | { readonly kind: "temporary"; readonly index: number };

/** `K`: kernels for every target, or also native kernels of one target. */
export interface RoutinePlan<K extends Kernel | NativeKernel = Kernel> {
  readonly temporaries: readonly { readonly dtype: DType; readonly shape: readonly number[] }[];
  readonly steps: readonly RoutineStep<K>[];
}

export interface RoutineStep<K extends Kernel | NativeKernel = Kernel> {
  readonly kernel: K;
  readonly buffers: readonly RoutineBuffer[];
  /** A formula of the kernel as text, given the names of its buffers (print/formula.ts). */
  readonly formula: (names: readonly string[]) => string;
  /** It copies its first buffer to its second, and is left out where they are the same memory. */
  readonly isCopy?: boolean;
}

export type Routine<K extends Kernel | NativeKernel = Kernel> = (
  node: Node,
  profile: TargetProfile,
  settings: ElementSettings,
) => RoutinePlan<K>;

/** A routine of one target. */
export type NativeRoutine = Routine<Kernel | NativeKernel>;

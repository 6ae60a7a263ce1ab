/** A target of the compiler: its tuning parameters and an emitter. */
import type { EncodedKernel, KernelLanguage } from "../../core/encoded-kernel.js";
import type { ElementSettings } from "../elements/elements.js";
import type { Kernel, KernelOutline } from "../ir/ir.js";
import type { TargetProfile } from "./profile.js";
import type { NativeRoutine } from "./routine.js";

export interface Target {
  readonly language: KernelLanguage;
  /** Everything that `encode` depends on besides the kernel, as text. */
  readonly identity: string;
  readonly profile: TargetProfile;
  readonly settings: ElementSettings;
  /** Most loop rounds of a thread, all loops together: see ir/loop-rounds.ts. */
  readonly maxLoopRounds: number;
  /** `isIndirect`: buffers whose addresses the kernel loads from memory, because they change from run to run. */
  encode(kernel: Kernel, isIndirect: readonly boolean[] | null): EncodedKernel;
  /** The mapping of a kernel's rows to the device, as text. `numbers` are those of the encoded kernel. */
  mappingOf(kernel: KernelOutline, numbers: readonly number[]): string;
  /**
   * Routines of this target alone, by the name of their primitive; they replace those of routines/: those whose kernels the loop-nest
   * language cannot say.
   */
  readonly routines?: Readonly<Record<string, NativeRoutine>>;
  /** Emitted code as text. */
  disassemble(bytes: Uint8Array): string;
}

/** Loads an encoded kernel for running. */
export type LoadKernel<Code> = (encoded: EncodedKernel, kernel: KernelOutline) => Code;

/** A program to be recorded once and run many times. */
export interface Recordable {
  /** Leaves whose memory stays where it is. */
  readonly isFixedLeaf: readonly boolean[];
}

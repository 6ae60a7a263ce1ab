/** The machine that programs are compiled for, as the compiler sees it: what is good there, and an emitter. */
import type { EncodedKernel } from "../../core/encoded-kernel.js";
import type { ElementSettings } from "../elements/elements.js";
import type { Kernel, KernelOutline } from "../ir/ir.js";
import type { TargetProfile } from "./profile.js";
import type { NativeRoutine } from "./routine.js";

export interface Target {
  /** "wasm" or "spirv". */
  readonly language: "wasm" | "spirv";
  /** All that `encode` depends on besides the kernel, in words. */
  readonly identity: string;
  readonly profile: TargetProfile;
  readonly settings: ElementSettings;
  /** Rounds that the loops of a thread may go, all together: see ir/loop-rounds.ts. */
  readonly maxRounds: number;
  /** `isIndirect`: which buffers' addresses the kernel finds in memory, because they change from run to run. */
  encode(kernel: Kernel, isIndirect: readonly boolean[] | null): EncodedKernel;
  /** How the rows of a kernel are spread over the device, in words. `numbers` are those of the encoded kernel. */
  mappingOf(kernel: KernelOutline, numbers: readonly number[]): string;
  /** Ways to compute routines that only this target has, by the name of their primitive: in place of routines/. */
  readonly routines?: Readonly<Record<string, NativeRoutine>>;
  /** Emitted code as text. */
  disassemble(bytes: Uint8Array): string;
}

/** Makes code of an encoded kernel ready to run. */
export type LoadKernel<Code> = (encoded: EncodedKernel, kernel: KernelOutline) => Code;

/** A program to be recorded once and run many times. */
export interface Recordable {
  /** Leaves whose memory stays where it is. */
  readonly isFixedLeaf: readonly boolean[];
}

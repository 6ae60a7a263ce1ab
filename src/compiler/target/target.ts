/** The machine that code is written for, as the compiler sees it: what is good there, and an emitter. */
import type { ElementSettings } from "../elements/elements.js";
import type { Kernel } from "../ir/ir.js";
import type { TargetProfile } from "./profile.js";

export interface Target<Code> {
  readonly profile: TargetProfile;
  readonly settings: ElementSettings;
  /** `isIndirect`: which buffers' addresses the kernel finds in memory, because they change from run to run. */
  emit(kernel: Kernel, isIndirect: readonly boolean[] | null): Code;
}

/** A program to be recorded once and run many times. */
export interface Recordable {
  /** Leaves whose memory stays where it is. */
  readonly isFixedLeaf: readonly boolean[];
}

/** A kernel between the emitter that wrote it and the engine that runs it. The disk cache keeps these. */

/**
 * The languages that kernels are emitted in. Each has an assembler in the folder of src/ with its name, an emitter in that of
 * compiler/emit/, and devices that run it (runtime/device-kinds.ts).
 */
export const KERNEL_LANGUAGES = ["spirv", "wasm"] as const;

export type KernelLanguage = (typeof KERNEL_LANGUAGES)[number];

export interface EncodedKernel {
  /** A module in one of the languages. */
  readonly bytes: Uint8Array;
  /** Numbers for the engine; each emitter and its engine agree on their meaning: emit/wasm/target.ts, emit/spirv/target.ts. */
  readonly numbers: readonly number[];
}

/** The facts an engine needs to dispatch a kernel: a name for errors and profiles, and which buffers it writes. */
export interface KernelInterface {
  readonly name: string;
  readonly buffers: readonly { readonly isWritten: boolean }[];
}

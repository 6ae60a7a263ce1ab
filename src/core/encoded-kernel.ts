/** A kernel between the emitter that wrote it and the engine that runs it. The disk cache keeps these. */
export interface EncodedKernel {
  /** WebAssembly or SPIR-V. */
  readonly bytes: Uint8Array;
  /** How the engine runs it, agreed between each emitter and its engine: see emit/wasm/target.ts and emit/spirv/target.ts. */
  readonly numbers: readonly number[];
}

/** A kernel to an engine that dispatches it: its name for errors and profiles, and which of its buffers it writes. */
export interface KernelInterface {
  readonly name: string;
  readonly buffers: readonly { readonly isWritten: boolean }[];
}

/** A kernel between the emitter that wrote it and the engine that runs it. The disk cache keeps these. */
export interface EncodedKernel {
  /** WebAssembly or SPIR-V. */
  readonly bytes: Uint8Array;
  /** Numbers for the engine; each emitter and its engine agree on their meaning: emit/wasm/target.ts, emit/spirv/target.ts. */
  readonly numbers: readonly number[];
}

/** The facts an engine needs to dispatch a kernel: a name for errors and profiles, and which buffers it writes. */
export interface KernelInterface {
  readonly name: string;
  readonly buffers: readonly { readonly isWritten: boolean }[];
}

/**
 * The interface between the runtime and an engine: memory, loaded kernels, and two ways to run them, kernel by kernel or as a
 * recorded program. engines/host and engines/vulkan implement it; nothing above the engines knows which one it drives.
 * A third target is one more emitter (compiler/emit), one more engine, and an entry in runtime/device-kinds.ts.
 */
import type { DType } from "../core/dtype.js";
import type { EncodedKernel, KernelInterface } from "../core/encoded-kernel.js";
import type { Profile } from "./profile.js";

/** Memory on a device. */
export interface EngineMemory {
  readonly byteLength: number;
  /** It is a whole allocation with no other holder, so it may be overwritten. */
  readonly isUnshared: boolean;
  /** Bytes that stay allocated as long as it lives. */
  readonly keptBytes: number;
  /** Some of its bytes, which share the memory. */
  part(offset: number, byteLength: number): EngineMemory;
  /** Takes over the contents of memory of the same size. */
  copyFrom(source: EngineMemory): void;
  /** Copies bytes from an offset on if they are here and the event loop need not turn. False: it did not. */
  readNow(offset: number, into: Uint8Array): boolean;
  /** The contents. Does not block the event loop. */
  read(): Promise<Uint8Array>;
  /** The contents, blocking until they are here. */
  readSync(): Uint8Array;
  dispose(): void;
}

/** A kernel that is ready to run. */
export interface LoadedKernel {
  readonly numbers: readonly number[];
}

export interface Engine<M extends EngineMemory = EngineMemory, K extends LoadedKernel = LoadedKernel> {
  /** It computes in f64. */
  readonly hasDoubles: boolean;
  /** The most memory it has for buffers, in bytes. */
  readonly memoryBytes: number;
  /** Memory of zeros. */
  alloc(byteLength: number): M;
  /** Uninitialised memory, for callers that overwrite all of it. */
  allocUninitialized(byteLength: number): M;
  upload(bytes: Uint8Array): M;
  /** Runs `work` with memory that holds a few bytes for the kernels that it dispatches, and for no others. */
  withBytes<T>(contents: readonly Uint8Array[], work: (memory: readonly M[]) => T): T;
  load(encoded: EncodedKernel, kernel: KernelInterface): K;
  /** Runs a kernel on memory, one for each of its buffers, each from an offset on. Returns when the work is under way. */
  dispatch(kernel: K, memory: readonly M[], offsets: readonly number[]): void;
  /** The flag of a loop, once the kernels before have run. How to wait for them is the engine's business. */
  flagIn(memory: M): Uint8Array;
  /** The same if it is there already, and the event loop need not turn; else null. */
  flagNow(memory: M): Uint8Array | null;
  /** A promise to await before more work is sent, so that the event loop turns; null if no turn is due. */
  giveWay(): Promise<void> | null;
  record(program: RecordableProgram<M, K>): RecordedProgram<M>;
  /** A recorded program of few small kernels runs faster than its kernels one by one, however rarely somebody waits. */
  readonly replaysFaster: boolean;
  /** Runs work and times its kernels. */
  profile(work: () => unknown): Promise<Profile>;
}

/** An argument of a recorded program: memory or a number given with each call, or memory that stays. */
export type ProgramArgument<M> =
  | {
      readonly kind: "memory";
      /** A result may be written there, in calls that say so. */
      readonly isDonated: boolean;
    }
  | { readonly kind: "fixed"; readonly memory: M }
  | { readonly kind: "scalar"; readonly dtype: DType };

/** The memory of a kernel's buffer in a recorded program. */
export type BufferPlace =
  | {
      readonly from: "argument" | "result";
      readonly index: number;
      /** The offset of the buffer in it, in bytes. */
      readonly offset: number;
    }
  | {
      /** A value between kernels: `start` and `byteLength` say where it lies, `offset` where in it the buffer begins. */
      readonly from: "arena";
      readonly start: number;
      readonly byteLength: number;
      readonly offset: number;
    };

/** A program to be recorded: its dispatches, and the memory they share. */
export interface RecordableProgram<M, K> {
  readonly arguments: readonly ProgramArgument<M>[];
  /** `inPlace`: the argument whose memory the result may take over, or -1. */
  readonly results: readonly { readonly byteLength: number; readonly inPlace: number }[];
  readonly arenaBytes: number;
  /** Every dispatch in order, loops round by round. */
  dispatches(): Iterable<ProgramDispatch<K>>;
}

export interface ProgramDispatch<K> {
  readonly kernel: K;
  readonly shape: KernelInterface;
  readonly buffers: readonly BufferPlace[];
}

export interface RecordedProgram<M> {
  /**
   * Runs it: memory and numbers in the order of the arguments that take them. Returns memory for each result, which is that
   * of a donated argument where the program has it so and `isDonated` says that nobody else needs it.
   */
  run(memory: readonly M[], scalars: readonly number[], isDonated: readonly boolean[]): M[];
}

/** Tensors on the CPU: kernels become WebAssembly and their rows are split over threads. */

import { emitWasm, rowsPerCount, slotBytes } from "../compiler/emit/wasm/emit-kernel.js";
import { planVectors } from "../compiler/emit/wasm/vector-plan.js";
import { innerLists, isWhole, type Kernel, type KernelOutline, type Statement } from "../compiler/ir/ir.js";
import { printKernel } from "../compiler/print/print-kernel.js";
import { planMemory } from "../compiler/program/memory-plan.js";
import type { KernelStep, Program } from "../compiler/program/program.js";
import { cpuProfile, type TargetProfile } from "../compiler/target/profile.js";
import { debugText } from "../engines/debug.js";
import type { HostAllocation } from "../engines/host/allocation.js";
import { type HostDevice, openHostDevice } from "../engines/host/device.js";
import { chunkOf, type HostKernel } from "../engines/host/kernel.js";
import type { Profile } from "../engines/profile.js";
import { disassemble } from "../wasm/disassemble.js";
import { type Argument, Backend, type Prepared } from "./backend.js";
import { HostProgram } from "./host-program.js";
import { programCache } from "./program-cache.js";
import type { PlannedProgram } from "./program-file.js";

export interface HostCode {
  readonly kernel: HostKernel;
  /** How far the kernel counts: its rows, or several of them at a time. */
  readonly length: number;
  /** Rows that are worth waking a thread for. */
  readonly grain: number;
  /** Bytes each thread needs for the kernel's arrays. */
  readonly slotBytes: number;
}

/** Values computed in about 20 µs. */
const WORTH_A_THREAD = 32768;

/** What is good on a CPU of so many threads. */
export function profileOf({ threads }: HostDevice): TargetProfile {
  return { ...cpuProfile, tiles: { ...cpuProfile.tiles, units: threads } };
}

export class HostBackend extends Backend<HostCode, HostAllocation> {
  readonly device: HostDevice;
  readonly hasDoubles = true;
  readonly isSoftware = false;
  /** Memory for the arrays of whichever kernel runs: one runs at a time. */
  private scratch: HostAllocation | null = null;
  /** Memory for the few bytes that one program at a time is given. */
  private readonly lent: HostAllocation[] = [];

  constructor(device: HostDevice = openHostDevice(), profile = profileOf(device), files = programCache()) {
    super(
      "cpu",
      {
        profile,
        settings: { isCorrectlyRounded: true },
        identity: "wasm",
        encode: (kernel) => {
          debugText("loops", kernel.name, () => printKernel(kernel));
          const bytes = emitWasm(kernel);
          debugText("wasm", kernel.name, () => disassemble(bytes));
          return { bytes, numbers: numbersOf(kernel) };
        },
        load: ({ bytes, numbers: [length, grain, slotBytes] }, name) => ({
          kernel: device.kernel(bytes, { name }),
          length,
          grain,
          slotBytes,
        }),
      },
      files,
    );
    this.device = device;
  }

  protected allocate(byteLength: number): HostAllocation {
    return this.device.allocUninitialized(byteLength);
  }

  zeros(byteLength: number): HostAllocation {
    return this.device.alloc(byteLength);
  }

  upload(bytes: Uint8Array): HostAllocation {
    return this.device.upload(bytes);
  }

  /** Kernels have run when they return, so the same memory serves the next program. */
  protected withBytes<T>(contents: readonly Uint8Array[], work: (memory: readonly HostAllocation[]) => T): T {
    contents.forEach((bytes, i) => {
      if (!this.lent[i] || this.lent[i].byteLength < bytes.byteLength) {
        this.lent[i]?.dispose();
        this.lent[i] = this.device.allocUninitialized(bytes.byteLength);
      }
      this.device.memory.view(this.lent[i].address, bytes.byteLength).set(bytes);
    });
    return work(this.lent);
  }

  read(storage: HostAllocation): Promise<Uint8Array> {
    return storage.read();
  }

  readSync(storage: HostAllocation): Uint8Array {
    return storage.readSync();
  }

  profile(work: () => unknown): Promise<Profile> {
    return this.device.profile(work);
  }

  mappingOf({ kernel, code: { length, grain } }: KernelStep<HostCode>): string {
    const { threads } = this.device;
    const chunk = chunkOf(length, grain, threads);
    const where =
      chunk === null ? "on one thread" : `over ${threads} threads, ${chunk * rowsPerCount(kernel)} rows at a time`;
    return `${where}; ${vectorsIn(kernel)}`;
  }

  protected arranged(program: Program<HostCode>) {
    return { program, plan: planMemory(program) };
  }

  protected prepared(
    planned: PlannedProgram<HostCode>,
    args: readonly Argument<HostAllocation>[],
  ): Prepared<HostAllocation> {
    return new HostProgram(this.device, planned, args, (code, addresses) => this.runAt(code, addresses));
  }

  protected dispatch(
    { code }: KernelStep<HostCode>,
    memory: readonly HostAllocation[],
    offsets: readonly number[],
  ): void {
    this.runAt(
      code,
      memory.map(({ address }, i) => address + offsets[i]),
    );
  }

  /** Runs a kernel on buffers given by address. */
  private runAt({ kernel, length, grain, slotBytes }: HostCode, addresses: readonly number[]): void {
    if (slotBytes === 0) {
      kernel.runAt(addresses, length, grain);
      return;
    }
    const { threads } = this.device;
    const scratch = this.scratchFor(threads * slotBytes);
    // The first word of a place says whether a thread is using it; one whose kernel failed did not give it back.
    for (let i = 0; i < threads; i++) this.device.memory.words(scratch.address + i * slotBytes, 1)[0] = 0;
    kernel.runAt([...addresses, scratch.address, threads], length, grain);
  }

  private scratchFor(byteLength: number): HostAllocation {
    if (this.scratch && this.scratch.byteLength >= byteLength) return this.scratch;
    this.scratch?.dispose();
    this.scratch = null;
    this.scratch = this.device.allocUninitialized(byteLength);
    return this.scratch;
  }
}

/** What a thread computes at once. */
function vectorsIn(kernel: KernelOutline): string {
  if (kernel.lanes > 1) return `vectors of ${kernel.lanes} lanes of a row`;
  if (!isWhole(kernel)) return "its code was read from disk";
  const { isRowVector, loops } = planVectors(kernel);
  if (isRowVector) return "vectors of 4 rows";
  return loops.size > 0 ? "vectors of 4 rounds of a loop" : "one number at a time";
}

/** What `HostCode` says besides the code: how far it counts, what is worth a thread, the bytes a thread needs. */
const numbersOf = (kernel: Kernel): number[] => [
  Math.ceil(kernel.rows / rowsPerCount(kernel)),
  Math.max(1, Math.ceil(WORTH_A_THREAD / workPerRow(kernel))),
  slotBytes(kernel),
];

/** Values a row computes, the rounds of its loops counted. */
function workPerRow({ body }: Kernel): number {
  const count = (statements: readonly Statement[]): number =>
    statements.reduce(
      (sum, statement) =>
        sum + (statement.kind === "loop" ? statement.extent : 1) * Math.max(1, count(innerLists(statement).flat())),
      0,
    );
  return Math.max(1, count(body));
}

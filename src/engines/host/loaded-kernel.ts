/**
 * A kernel of the compiler on the CPU. Its numbers: the count of its loop (rows, or groups of rows), the rows worth a thread,
 * and the bytes each thread needs for the kernel's arrays.
 */
import type { EncodedKernel } from "../../core/encoded-kernel.js";
import type { LoadedKernel } from "../engine.js";
import type { HostAllocation } from "./allocation.js";
import type { HostDevice } from "./device.js";
import type { HostKernel } from "./kernel.js";

export class LoadedHostKernel implements LoadedKernel {
  readonly numbers: readonly number[];
  private readonly kernel: HostKernel;

  constructor(
    private readonly device: HostDevice,
    private readonly scratch: Scratch,
    { bytes, numbers }: EncodedKernel,
    name: string,
  ) {
    this.kernel = device.kernel(bytes, { name });
    this.numbers = numbers;
  }

  /** Runs it on buffers given by address, to the end. */
  runAt(addresses: readonly number[]): void {
    const [length, grain, slotBytes] = this.numbers;
    if (slotBytes === 0) {
      this.kernel.runAt(addresses, length, grain);
      return;
    }
    const { threads, memory } = this.device;
    const { address } = this.scratch.of(threads * slotBytes);
    // The first word of each part marks it as in use; a thread whose kernel failed did not clear it.
    for (let i = 0; i < threads; i++) memory.words(address + i * slotBytes, 1)[0] = 0;
    this.kernel.runAt([...addresses, address, threads], length, grain);
  }
}

/** Memory for the arrays of the kernel that is running: one runs at a time. */
export class Scratch {
  private held: HostAllocation | null = null;

  constructor(private readonly device: HostDevice) {}

  of(byteLength: number): HostAllocation {
    if (this.held && this.held.byteLength >= byteLength) return this.held;
    this.held?.dispose();
    this.held = null;
    this.held = this.device.allocUninitialized(byteLength);
    return this.held;
  }
}

/**
 * Epochs whose commands could not be submitted. Memory last written in one of them has lost its contents, and using it throws:
 * a wrong value is never read. The stream adds to it and asks before each command.
 */
import { DeviceError, type PumiceError } from "../../../core/errors.js";

/** Memory as far as it matters here: the epoch of its last recorded write. */
interface Written {
  writeEpoch: number;
}

export class LostEpochs {
  private readonly ranges: { readonly first: number; readonly last: number; readonly why: PumiceError }[] = [];

  /** Commands of these epochs failed. */
  add(first: number, last: number, why: PumiceError): void {
    this.ranges.push({ first, last, why });
  }

  /** Throws where memory was last written by commands that failed. */
  check(memory: readonly Written[]): void {
    if (this.ranges.length === 0) return;
    for (const each of memory) {
      const why = this.lossOf(each);
      if (!why) continue;
      throw new DeviceError(
        `The contents of this buffer were lost: the commands that write it failed (${why.message}).`,
        { cause: why },
      );
    }
  }

  /** For reallocated memory: its old contents do not matter. */
  forget(memory: Written): void {
    if (this.lossOf(memory)) memory.writeEpoch = 0;
  }

  private lossOf({ writeEpoch }: Written): PumiceError | null {
    return this.ranges.find(({ first, last }) => writeEpoch >= first && writeEpoch <= last)?.why ?? null;
  }
}

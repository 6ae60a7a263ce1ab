/**
 * When recorded commands are submitted before anyone waits for them. A submission costs the processor as much as four
 * commands, so short commands go together. A command that touches much memory keeps the GPU busy for longer than a submission
 * takes, so it goes at once, and the GPU computes while the program records what follows. Every batch before someone
 * waits may be twice as long as the one before: a loop that never waits soon pays little for submissions. The stream asks.
 */

/** Commands in a full batch. */
const FULL = 128;
/** Commands, and bytes that they touch, in the first batch after a wait. A GPU of 4 TB/s moves these bytes in 8 µs. */
const [FIRST_LENGTH, FIRST_BYTES] = [16, 32 * 2 ** 20];
/** A batch of so many bytes is worth a submission at any time. */
const MAX_BYTES = 512 * 2 ** 20;
/** With so many unfinished batches the GPU has work until the next one is recorded. */
const ENOUGH_IN_FLIGHT = 2;

export class SubmissionPace {
  private limit = FIRST_LENGTH;
  private nextLength = FIRST_LENGTH;
  private bytes = FIRST_BYTES;

  /** A batch begins. On a busy GPU it may grow until it is full. */
  begin(isGpuIdle: boolean): void {
    this.limit = isGpuIdle ? this.nextLength : FULL;
    this.nextLength = Math.min(FULL, 2 * this.nextLength);
  }

  /** Whether to submit a batch of this length now. `unfinished` asks the driver how many batches the GPU still has. */
  isDue(length: number, bytes: number, unfinished: () => number): boolean {
    if (length >= this.limit) return true;
    if (bytes < this.bytes || unfinished() >= ENOUGH_IN_FLIGHT) return false;
    this.bytes = Math.min(MAX_BYTES, 2 * this.bytes);
    return true;
  }

  /** Someone waits: what is recorded next is urgent again. */
  reset(): void {
    this.nextLength = FIRST_LENGTH;
    this.bytes = FIRST_BYTES;
  }
}

/**
 * When recorded commands are submitted before anyone waits for them. A submission costs the processor as much as four
 * commands, so short commands go together. A command that touches much memory keeps the GPU busy for longer than a submission
 * takes, so it goes at once, and the GPU computes while the program records what follows. Every batch before someone
 * waits may be longer than the one before: a loop that never waits soon pays little for submissions. The stream asks.
 */

/** Commands in a full batch. */
const FULL = 128;
/** Commands, and bytes that they touch, in the first batch after a wait. A GPU of 4 TB/s moves these bytes in 8 µs. */
const [FIRST_LENGTH, FIRST_BYTES] = [16, 32 * 2 ** 20];
/** A batch of so many bytes is worth a submission whenever the GPU has nothing to do. */
const MAX_BYTES = 512 * 2 ** 20;
/**
 * While the GPU is busy the next batch may be so many times as long. Between batches it pauses for about 15 µs: eight transforms
 * of 10,000 rows of 1000 numbers took 0.0534 ms each in three batches, 0.0552 in four.
 */
const AHEAD = 16;
/** With so many unfinished batches the GPU has work until the next one is recorded. */
const ENOUGH_IN_FLIGHT = 2;

export class SubmissionPace {
  private limit = FIRST_LENGTH;
  private nextLength = FIRST_LENGTH;
  /** Bytes of a batch that is due on an idle GPU, and on a busy one. */
  private bytes = FIRST_BYTES;
  private bytesAhead = FIRST_BYTES;

  /** A batch begins. On a busy GPU it may grow until it is full. */
  begin(isGpuIdle: boolean): void {
    this.limit = isGpuIdle ? this.nextLength : FULL;
    this.nextLength = Math.min(FULL, 2 * this.nextLength);
  }

  /** Whether to submit a batch of this length now. `unfinished` asks the driver how many batches the GPU still has. */
  isDue(length: number, bytes: number, unfinished: () => number): boolean {
    if (length >= this.limit) return true;
    if (bytes < this.bytes) return false;
    const busy = unfinished();
    if (busy >= ENOUGH_IN_FLIGHT || (busy > 0 && bytes < this.bytesAhead)) return false;
    this.bytes = Math.min(MAX_BYTES, 2 * this.bytes);
    this.bytesAhead *= AHEAD;
    return true;
  }

  /** Someone waits: what is recorded next is urgent again. */
  reset(): void {
    this.nextLength = FIRST_LENGTH;
    this.bytes = FIRST_BYTES;
    this.bytesAhead = FIRST_BYTES;
  }
}

/** When a run is saved: every so many seconds, and what happens where that fails. */
import type { RunOptions } from "./options.js";

export class CheckpointTimes {
  private lastSaved = performance.now();
  private hasWarned = false;

  /** A run begins: its first checkpoint is due when the time between two has passed. */
  restart(): void {
    this.lastSaved = performance.now();
    this.hasWarned = false;
  }

  isDue({ checkpoint, checkpointSeconds = 60 }: RunOptions): boolean {
    return checkpoint !== undefined && performance.now() - this.lastSaved >= 1000 * checkpointSeconds;
  }

  /** Writes a checkpoint; whether that went well. Where it fails, the run goes on, with a warning. */
  async write(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      // A full disk may have room again by the next time; the work that was done is dearer than checkpoints.
      if (!this.hasWarned) {
        process.emitWarning(`${(error as Error).message} The run goes on without.`);
      }
      this.hasWarned = true;
      return false;
    } finally {
      this.lastSaved = performance.now();
    }
  }
}

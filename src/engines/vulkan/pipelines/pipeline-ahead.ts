/**
 * A pipeline that another thread compiles while this one goes on. A driver takes tens of milliseconds for a kernel, and a
 * program has dozens, so they are compiled in parallel; the first use waits.
 *
 * The wait is synchronous and cannot await a promise, so it watches the memory that the driver writes the handle to. A driver
 * that fails writes a null handle there, or nothing; then the pipeline is compiled again on this thread, for the error.
 */
import type { Handle } from "../driver/api.js";
import { handleAt } from "../driver/structs.js";

const NOT_YET = 0xffff_ffff_ffff_ffffn;
/** A null handle counts as failure only after this time: a driver may clear the memory before it begins. */
const GRACE_MS = 200;
/** After this time the driver's thread is given up. */
const PATIENCE_MS = 120_000;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

export class PipelineAhead {
  private handle: Handle | null = null;

  constructor(
    /** Eight bytes that the driver writes the handle to. */
    private readonly out: DataView,
    /** Starts making it on another thread; null where no call can be made there now. The first use then makes it. */
    private readonly start: (() => Promise<unknown>) | null,
    /** Makes it here and now. */
    private readonly makeNow: () => Handle,
    /** Frees the memory that compiling needed. */
    private readonly done: () => void,
  ) {
    out.setBigUint64(0, NOT_YET, true);
    start?.().catch(() => {});
  }

  get value(): Handle {
    if (this.handle !== null) return this.handle;
    this.handle = this.isMade() ? handleAt(this.out, 0) : this.makeNow();
    this.done();
    return this.handle;
  }

  /** The handle to destroy; null when the driver failed and nobody used the pipeline since. */
  giveUp(): Handle | null {
    if (this.handle !== null) return this.handle;
    const isMade = this.isMade();
    this.done();
    return isMade ? handleAt(this.out, 0) : null;
  }

  private isMade(): boolean {
    if (!this.start) return false;
    const began = performance.now();
    for (;;) {
      const seen = this.out.getBigUint64(0, true);
      const waited = performance.now() - began;
      if (seen !== NOT_YET && seen !== 0n) return true;
      if (waited > (seen === 0n ? GRACE_MS : PATIENCE_MS)) return false;
      Atomics.wait(sleeper, 0, 0, 0.05);
    }
  }
}

/**
 * A pipeline that another thread makes while this one goes on. A driver takes tens of milliseconds over a kernel, and a
 * program has dozens, so they are made side by side; whoever needs one first waits for it.
 *
 * The wait is synchronous and cannot hear a promise, so it watches the memory that the driver writes the handle to. A
 * driver that fails writes a null handle there, or nothing; then the pipeline is made once more in the plain way, which
 * tells why.
 */
import type { Handle } from "./api.js";
import { handleAt } from "./structs.js";

const NOT_YET = 0xffff_ffff_ffff_ffffn;
/** How long a null handle is given to become another: a driver may clear the memory before it begins. */
const GRACE_MS = 200;
/** After this a driver is taken to have forgotten. */
const PATIENCE_MS = 120_000;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

export class PipelineAhead {
  private handle: Handle | null = null;

  constructor(
    /** Eight bytes that the driver writes the handle to. */
    private readonly out: DataView,
    /** Starts making it on another thread. */
    start: () => Promise<unknown>,
    /** Makes it here and now. */
    private readonly makeNow: () => Handle,
    /** Frees what making it needed. */
    private readonly done: () => void,
  ) {
    out.setBigUint64(0, NOT_YET, true);
    start().catch(() => {});
  }

  get value(): Handle {
    if (this.handle !== null) return this.handle;
    this.handle = this.isMade() ? handleAt(this.out, 0) : this.makeNow();
    this.done();
    return this.handle;
  }

  /** Hands over what is to be destroyed: nothing, when the driver failed and nobody asked for it since. */
  giveUp(): Handle | null {
    if (this.handle !== null) return this.handle;
    const isMade = this.isMade();
    this.done();
    return isMade ? handleAt(this.out, 0) : null;
  }

  private isMade(): boolean {
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

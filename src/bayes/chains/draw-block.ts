/**
 * The block of draws that chains write on the device: its room, the rows that some chains have written ahead of others, and its
 * way to the host. Chains differ in speed, so a run that is ended or saved early keeps the rows of those that are ahead for the
 * next block.
 */
import type { Backend, DeviceStorage } from "../../runtime/backend.js";
import type { ChainDensity } from "../kernels/density.js";
import { NOTED } from "../kernels/layout.js";
import type { ChainMemory } from "./chain-memory.js";
import type { ChainSettings } from "./chain-settings.js";
import { bytesOfType } from "./starting-state.js";

/** A block of draws as the kernel leaves it: [draw][element][chain], and what was noted, [draw][noted][chain]. */
export interface DrawnBlock {
  readonly rows: number;
  readonly draws: DeviceStorage;
  readonly noted: DeviceStorage;
}

const NAMES = ["draws", "noted"] as const;

/** Rows of both buffers, as bytes. */
type DrawnRows = Readonly<Record<(typeof NAMES)[number], Uint8Array>>;

export class DrawBlock {
  private first = 0;
  private rows = 0;
  private mayBeAhead = false;
  /** Draws that some chains have made and others have not yet: the first rows of the block to come. */
  private rowsAhead: DrawnRows | null = null;
  private readonly rowBytes: Readonly<Record<(typeof NAMES)[number], number>>;
  private readonly backend: Backend;
  private readonly warmup: number;

  constructor(
    private readonly memory: ChainMemory,
    { backend, dim, dtype }: ChainDensity,
    { chains, energyDType, warmup }: ChainSettings,
  ) {
    this.backend = backend;
    this.warmup = warmup;
    this.rowBytes = {
      draws: dim * chains * bytesOfType(dtype),
      noted: NOTED.length * chains * bytesOfType(energyDType),
    };
  }

  /** Room for draws from `first` on. Those that were made already are in it from the start. */
  begin(first: number, draws: number): void {
    const { backend, memory, rowsAhead } = this;
    const rows = Math.max(1, draws, rowsAhead ? rowsAhead.noted.byteLength / this.rowBytes.noted : 0);
    for (const name of NAMES) {
      const byteLength = rows * this.rowBytes[name];
      memory.replace(name, () => {
        if (!rowsAhead) return backend.reserve(byteLength);
        const contents = new Uint8Array(byteLength);
        contents.set(rowsAhead[name]);
        return backend.upload(contents);
      });
    }
    this.first = first;
    this.rows = rows;
    this.mayBeAhead = rows > Math.max(1, draws);
    this.rowsAhead = null;
  }

  /** Whether there are draws beyond the end that was asked for. */
  get isAhead(): boolean {
    return this.mayBeAhead;
  }

  /** The rows from one on, as far as any chain has come; null where there are none. */
  private async rowsFrom(from: number): Promise<DrawnRows | null> {
    const { memory, rowBytes } = this;
    const [furthest, draws, noted] = await Promise.all([
      memory.furthestDraw(),
      memory.read("draws"),
      memory.read("noted"),
    ]);
    // Draws of the warmup are not written.
    const end = furthest - Math.max(this.first, this.warmup);
    if (end <= from) return null;
    return {
      draws: draws.slice(from * rowBytes.draws, end * rowBytes.draws),
      noted: noted.slice(from * rowBytes.noted, end * rowBytes.noted),
    };
  }

  /** Keeps for the next block what some chains have drawn beyond the first `count` draws of this one. */
  async keepFrom(count: number): Promise<void> {
    this.rowsAhead = await this.rowsFrom(count);
  }

  /** The memory of the block, which is the caller's from now on. */
  take(): DrawnBlock {
    const { draws, noted } = this.memory.buffers as Record<(typeof NAMES)[number], DeviceStorage>;
    this.memory.buffers.draws = null;
    this.memory.buffers.noted = null;
    return { draws, noted, rows: this.rows };
  }

  /** Draws not yet taken, to be saved with the chains. */
  async untaken(): Promise<DrawnRows | null> {
    return this.memory.buffers.draws ? this.rowsFrom(0) : this.rowsAhead;
  }

  restore(rows: DrawnRows | null): void {
    this.rowsAhead = rows;
  }
}

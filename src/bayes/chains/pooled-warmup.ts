/**
 * The pooled warmup of many chains: one step size from the mean acceptance of all, one metric from all their draws, and for
 * ChEES-HMC one trajectory length. With a thousand chains a short warmup is enough. It is done by small kernels between
 * transitions, so that the host waits for none of them: many draws are under way before it looks.
 */
import type { Backend, DeviceStorage, HandWritten, WritingContext } from "../../runtime/backend.js";
import { POOLED_INTS, POOLED_REALS, SCHEDULE } from "../kernels/layout.js";
import { writeCentres, writeChanges } from "../kernels/pooled/chees.js";
import { writeCovariance, writeRoot, writeSpread } from "../kernels/pooled/metric.js";
import { STEP_SIZE_WRITES, writeStepSize } from "../kernels/pooled/step-size.js";
import {
  OWN,
  type PooledBuffer,
  type PooledOptions,
  PooledWriter,
  type SHARED,
  type WrittenPooled,
} from "../kernels/pooled/writer.js";

/** Memory of the chains that the kernels read and write. */
type SharedMemory = Readonly<Record<(typeof SHARED)[number], DeviceStorage | null>>;

/** Buffers that are saved with the chains. */
const STATE = ["pooledInts", "pooledReals"] as const;

interface Piece {
  readonly name: string;
  readonly rows: number;
  readonly lanes: number;
  readonly writes: readonly PooledBuffer[];
  readonly write: (writer: PooledWriter) => void;
}

export class PooledWarmup {
  private readonly memory: Record<(typeof OWN)[number], DeviceStorage>;
  private readonly everyDraw: readonly HandWritten<WrittenPooled>[];
  private readonly closing: readonly HandWritten<WrittenPooled>[];
  /** Adaptations so far. */
  asked = 0;
  /** The draws adapted to, and how often that had been asked for, when the host last looked. */
  private seen = { draw: 0, asked: 0 };

  constructor(
    private readonly backend: Backend,
    private readonly schedule: Int32Array,
    options: PooledOptions,
  ) {
    const { chains, dim, energyDType, isDense, isTimed } = options;
    const elements = isDense ? dim * dim : dim;
    const counts = { pooledReals: POOLED_REALS.length, centres: 2 * dim, changes: chains };
    const lengths = { ...counts, covariance: elements, root: elements };
    const bytes = (name: (typeof OWN)[number]) =>
      name === "pooledInts" ? 4 * POOLED_INTS.length : (energyDType === "f64" ? 8 : 4) * lengths[name];
    this.memory = Object.fromEntries(OWN.map((name) => [name, backend.zeros(bytes(name))])) as PooledWarmup["memory"];

    const { overChains, root: rootLanes } = options.lanes;
    const chees: Piece[] = [
      { name: "centres", rows: dim, lanes: overChains, writes: ["centres"], write: writeCentres },
      { name: "changes", rows: chains, lanes: 1, writes: ["changes"], write: writeChanges },
    ];
    const stepSize = { name: "step size", rows: 1, lanes: overChains, writes: STEP_SIZE_WRITES, write: writeStepSize };
    const root: Piece = { name: "root", rows: 1, lanes: rootLanes, writes: ["covariance", "root"], write: writeRoot };
    const metric: Piece[] = [
      { name: "covariance", rows: elements, lanes: overChains, writes: ["covariance"], write: writeCovariance },
      ...(isDense ? [root] : []),
      { name: "spread", rows: chains, lanes: 1, writes: ["vectors", "ints", "metric", "factor"], write: writeSpread },
    ];
    const key = [chains, dim, options.dtype, energyDType, isDense, isTimed, overChains, rootLanes].join(" ");
    const compiled = (piece: Piece) =>
      backend.handWritten(`pooled ${piece.name} ${key}`, (context) => written(piece, options, context));
    this.everyDraw = [...(isTimed ? chees : []), stepSize].map(compiled);
    this.closing = metric.map(compiled);
  }

  /**
   * Adapts the chains to the draw they have made, if all have. Returns when that is under way. Kernels of the metric are left
   * out where no window can have come to its end.
   */
  adapt(shared: SharedMemory): void {
    const { draw, asked } = this.seen;
    this.asked++;
    this.run(this.everyDraw, shared);
    const within = this.schedule.subarray(draw, draw + this.asked - asked);
    if (within.some((flags) => flags & SCHEDULE.closes)) this.run(this.closing, shared);
  }

  /** The host has seen how many draws had been adapted to when it had asked so often. */
  look(draw: number, asked: number): void {
    this.seen = { draw, asked };
  }

  /** Draws to adapt to, at most. */
  get drawsLeft(): number {
    return Math.max(1, this.schedule.length - this.seen.draw);
  }

  private run(kernels: readonly HandWritten<WrittenPooled>[], shared: SharedMemory): void {
    const memory = { ...shared, ...this.memory } as Readonly<Record<PooledBuffer, DeviceStorage>>;
    for (const kernel of kernels) kernel.run(kernel.written.buffers.map((name) => memory[name]));
  }

  // ------------------------------------------------------------------------------------------------ saving

  /** Memory to be saved, by name. */
  get state(): Readonly<Record<string, DeviceStorage>> {
    return Object.fromEntries(STATE.map((name) => [name, this.memory[name]]));
  }

  restore(buffers: Readonly<Record<string, Uint8Array>>): void {
    for (const name of STATE) {
      this.memory[name].dispose();
      this.memory[name] = this.backend.upload(buffers[name]);
    }
    const { buffer, byteOffset } = buffers.pooledInts;
    const ints = new Int32Array(buffer, byteOffset, POOLED_INTS.length);
    this.look(ints[POOLED_INTS.indexOf("adapted")], this.asked);
  }

  dispose(): void {
    for (const memory of Object.values(this.memory)) memory.dispose();
  }
}

function written(piece: Piece, options: PooledOptions, context: WritingContext): WrittenPooled {
  const writer = new PooledWriter(`${piece.name} of ${options.chains} chains`, piece, options, context);
  piece.write(writer);
  return writer.finish();
}

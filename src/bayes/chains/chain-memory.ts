/**
 * The memory of chains on a device. Between dispatches the host reads there how far each chain has come, vectors, metrics, and
 * everything that a saved run goes on from.
 */
import { constants } from "node:buffer";
import { ArgumentError } from "../../core/errors.js";
import type { Backend, DeviceStorage } from "../../runtime/backend.js";
import type { ChainDensity } from "../kernels/density.js";
import { type BUFFERS, INTS, PHASE, REALS, VECTORS, vectorSlots } from "../kernels/layout.js";
import type { ChainSettings } from "./chain-settings.js";
import {
  bytesOfType,
  floatsIn,
  keyBytes,
  metricBytes,
  realBytes,
  runRealBytes,
  vectorBytes,
} from "./starting-state.js";

/** The state of each chain between dispatches. */
export interface ChainStatus {
  readonly draws: Int32Array;
  readonly leapfrogs: Int32Array;
  readonly divergences: Int32Array;
  readonly failed: readonly number[];
  readonly stepSizes: Float64Array;
}

/** Buffers that hold where the chains are, with their names in saved fits: files from before a renaming stay readable. */
const STATE = {
  runReals: "wishes",
  vectors: "vectors",
  reals: "reals",
  ints: "ints",
  metric: "metric",
  factor: "factor",
} as const;

const stateEntries = Object.entries(STATE) as [keyof typeof STATE, string][];

type BufferName = (typeof BUFFERS)[number];

export class ChainMemory {
  readonly buffers: Record<BufferName, DeviceStorage | null>;
  private readonly backend: Backend;

  constructor(
    private readonly density: ChainDensity,
    private readonly settings: ChainSettings,
    schedule: Int32Array,
  ) {
    const { backend, dim, dtype } = density;
    const { chains } = settings;
    this.backend = backend;
    const { metric, factor } = metricBytes(settings, dim, dtype);
    const vectors = vectorBytes(settings, dim, dtype);
    this.buffers = {
      dispatchInts: null,
      key: backend.upload(keyBytes(settings.seed)),
      schedule: backend.upload(new Uint8Array(schedule.buffer)),
      runReals: backend.upload(runRealBytes(settings)),
      vectors: vectors
        ? backend.upload(vectors)
        : backend.zeros(vectorSlots(settings) * dim * chains * bytesOfType(dtype)),
      reals: backend.upload(realBytes(settings)),
      ints: backend.zeros(INTS.length * chains * bytesOfType("i32")),
      metric: backend.upload(metric),
      factor: factor ? backend.upload(factor) : backend.zeros(chains * bytesOfType(dtype)),
      draws: null,
      noted: null,
    };
  }

  /** Frees a buffer, and makes another in its place. */
  replace(name: BufferName, make: () => DeviceStorage): void {
    this.buffers[name]?.dispose();
    this.buffers[name] = make();
  }

  read(name: BufferName): Promise<Uint8Array> {
    return this.backend.read(this.buffers[name] as DeviceStorage);
  }

  // ------------------------------------------------------------------------------------------------ between dispatches

  async status(): Promise<ChainStatus> {
    const { chains, energyDType } = this.settings;
    const [ints, realBuffer] = await Promise.all([this.ints(), this.read("reals")]);
    const phases = ints("phase");
    const reals = floatsIn(realBuffer, energyDType);
    const slot = REALS.indexOf("stepSize");
    return {
      draws: ints("draw").slice(),
      leapfrogs: ints("totalLeapfrogs").slice(),
      divergences: ints("totalDivergences").slice(),
      failed: Array.from(phases.keys()).filter((chain) => phases[chain] === PHASE.failed),
      stepSizes: Float64Array.from(reals.subarray(slot * chains, (slot + 1) * chains)),
    };
  }

  /** Whole numbers of every chain, by name: views of what was read. */
  private async ints(): Promise<(name: (typeof INTS)[number]) => Int32Array> {
    const { chains } = this.settings;
    const { buffer, byteOffset } = await this.read("ints");
    const all = new Int32Array(buffer, byteOffset, INTS.length * chains);
    return (name) => all.subarray(INTS.indexOf(name) * chains, (INTS.indexOf(name) + 1) * chains);
  }

  /** The draw that the chain furthest ahead is at. */
  async furthestDraw(): Promise<number> {
    return (await this.ints())("draw").reduce((most, draw) => Math.max(most, draw), 0);
  }

  /** Whether a chain was where the density is finite: it looks for a step size from then on, should it fail. */
  async hasStarted(chain: number): Promise<boolean> {
    return (await this.ints())("isSearching")[chain] === 1;
  }

  /** A vector of every chain, [chains, dim]. */
  async vector(name: (typeof VECTORS)[number]): Promise<Float64Array> {
    const { dim, dtype } = this.density;
    const { chains } = this.settings;
    const all = floatsIn(await this.read("vectors"), dtype);
    const first = VECTORS.indexOf(name) * dim;
    const found = new Float64Array(chains * dim);
    for (let d = 0; d < dim; d++) for (let c = 0; c < chains; c++) found[c * dim + d] = all[(first + d) * chains + c];
    return found;
  }

  /** By chain: variances, or the rows of a covariance. */
  async inverseMasses(): Promise<Float64Array[]> {
    const { dim, dtype } = this.density;
    const { chains, isDense } = this.settings;
    const all = floatsIn(await this.read("metric"), dtype);
    const size = isDense ? dim * dim : dim;
    return Array.from({ length: chains }, (_, c) => Float64Array.from({ length: size }, (_, e) => all[e * chains + c]));
  }

  // ------------------------------------------------------------------------------------------------ saving

  /** Memory that holds where the chains are, by its name in saved fits. */
  get state(): Readonly<Record<string, DeviceStorage>> {
    return Object.fromEntries(stateEntries.map(([name, saved]) => [saved, this.buffers[name] as DeviceStorage]));
  }

  restore(saved: Readonly<Record<string, Uint8Array>>): void {
    for (const [name, savedAs] of stateEntries) this.replace(name, () => this.backend.upload(saved[savedAs]));
  }

  dispose(): void {
    for (const memory of Object.values(this.buffers)) memory?.dispose();
  }
}

/** Throws where what the chains keep is larger than a buffer can be. */
export function checkRoom(settings: ChainSettings, { dim, dtype }: ChainDensity): void {
  const { chains, isDense } = settings;
  const largest = Math.max(vectorSlots(settings) * dim, isDense ? 2 * dim * dim : 0) * chains * bytesOfType(dtype);
  if (largest <= constants.MAX_LENGTH) return;
  const gibibytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  throw new ArgumentError(
    `sample: ${chains} chains of ${dim} free numbers take a buffer of ${gibibytes(largest)}, and one has ` +
      `${gibibytes(constants.MAX_LENGTH)} at most; run fewer chains${isDense ? ", or use a diagonal metric" : ""}.`,
  );
}

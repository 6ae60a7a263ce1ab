/**
 * Chains of the NUTS kernel on a device: their memory, and dispatches of bounded length until every chain has come as far
 * as it was asked to. `sample` drives it; everything statistical happens in the kernel.
 */
import { ArgumentError } from "../../core/errors.js";
import type { Backend, DeviceStorage, HandWritten } from "../../tensor/backend.js";
import { adopt } from "../../tensor/tensor.js";
import { cheesGradientOf } from "./chees.js";
import type { ChainDensity, FloatDType } from "./density.js";
import { type WrittenNuts, writeNuts } from "./nuts-kernel.js";
import {
  ADAPTATION,
  BUFFERS,
  INTS,
  NOTED,
  type NutsOptions,
  ORDERS,
  PHASE,
  REALS,
  SCHEDULE,
  VECTORS,
  vectorSlots,
  WISHES,
} from "./nuts-layout.js";
import {
  choleskyFactor,
  DualAveraging,
  type PooledState,
  pooledCovariance,
  pooledVariances,
  TrajectoryAdaptation,
} from "./pooled.js";
import { warmupSchedule } from "./warmup.js";

export interface ChainSettings extends NutsOptions {
  readonly warmup: number;
  readonly seed: number;
  readonly targetAcceptance: number;
  readonly initRadius: number;
  /** The step size to begin with; without adaptation, the one to keep. */
  readonly stepSize: number;
  readonly adaptation: keyof typeof ADAPTATION;
  /** Of an hmc kernel: leapfrog steps of a trajectory, or null where its time is adapted. */
  readonly steps: number | null;
  /** Consecutive chains that start at the same point. */
  readonly together: number;
  /** Points to start from, [chains, dim], in place of random ones. */
  readonly inits: ArrayLike<number> | null;
  /** Inverse masses to start with, [dim] or [dim, dim]. */
  readonly metric: ArrayLike<number> | null;
}

/** A block of draws as the kernel leaves it: [draw][element][chain], and what was noted, [draw][noted][chain]. */
export interface DrawnBlock {
  readonly rows: number;
  readonly draws: DeviceStorage;
  readonly noted: DeviceStorage;
}

/** Chains at rest. */
export interface SavedChains {
  readonly buffers: Readonly<Record<string, Uint8Array>>;
  readonly pooled: PooledState;
}

/** What is known of each chain between dispatches. */
export interface ChainStatus {
  readonly draws: Int32Array;
  readonly leapfrogs: Int32Array;
  readonly divergences: Int32Array;
  readonly failed: readonly number[];
  readonly stepSizes: Float64Array;
}

/** A dispatch should take about this long: often enough for progress, far below what watchdogs allow. */
const DISPATCH_MS = 60;
/** Steps to begin with, of a kernel that has run before and of one that has not. */
const budgets = new WeakMap<HandWritten<WrittenNuts>, number>();
const FIRST_BUDGET = 16;
const MAX_BUDGET = 1 << 20;
const MAX_ENERGY_ERROR = 1000;
/** Buffers that hold where the chains are. */
const STATE = ["wishes", "vectors", "reals", "ints", "metric", "factor"] as const;

const bytesOf = (dtype: string): number => (dtype === "f64" ? 8 : 4);
const arrayOf = (dtype: FloatDType, values: ArrayLike<number>): Uint8Array =>
  new Uint8Array((dtype === "f64" ? Float64Array.from(values) : Float32Array.from(values)).buffer);
const bytes = (values: Int32Array | Uint32Array): Uint8Array => new Uint8Array(values.buffer);

export class NutsChains {
  private readonly backend: Backend;
  private readonly compiled: HandWritten<WrittenNuts>;
  private readonly memory: Record<(typeof BUFFERS)[number], DeviceStorage | null>;
  private readonly scratch: readonly DeviceStorage[];
  private readonly maxBudget: number;
  /** The block that is being drawn: its first draw, the room it has, and whether chains may be beyond its end. */
  private block = { first: 0, rows: 0, isAhead: false };
  /** Draws that some chains have made and others have not yet: the first rows of the block to come. */
  private ahead: Readonly<Record<"draws" | "noted", Uint8Array>> | null = null;
  private pooled: PooledState = { draw: 0, dual: null, time: null };
  /** What was noted of the chains when they were last looked at. */
  private seen: { readonly reals: Float64Array | Float32Array; readonly ints: Int32Array } = {
    reals: new Float64Array(),
    ints: new Int32Array(),
  };

  constructor(
    private readonly density: ChainDensity,
    private readonly settings: ChainSettings,
  ) {
    const { backend, dtype } = density;
    const { kernel, chains, energyDType, isDense, lanes, maxTreeDepth, mistake } = settings;
    this.backend = backend;
    const key = [kernel, chains, lanes, maxTreeDepth, energyDType, isDense, mistake, density.fn.key].join(" ");
    this.compiled = backend.handWritten(key, (context) => writeNuts(density, settings, context));
    // The loop over steps is without an end: the rounds that are counted are those of a step.
    this.maxBudget = Math.min(MAX_BUDGET, Math.floor(backend.maxRounds / this.compiled.rounds));
    const metric = this.startingMetric();
    const factor = isDense ? choleskyFactor(metric, density.dim) : null;
    if (isDense && !factor) throw new ArgumentError("sample: the metric is not positive definite.");
    const zeros = (elements: number, type: string) => backend.upload(new Uint8Array(elements * chains * bytesOf(type)));
    this.memory = {
      orders: null,
      key: backend.upload(bytes(Uint32Array.of(settings.seed >>> 0, Math.floor(settings.seed / 2 ** 32) >>> 0))),
      schedule: backend.upload(bytes(warmupSchedule(settings.warmup))),
      wishes: backend.upload(this.wishes()),
      vectors: backend.upload(this.startingVectors()),
      reals: backend.upload(this.startingReals()),
      ints: zeros(INTS.length, "i32"),
      metric: backend.upload(this.metricOfAll(metric)),
      factor: backend.upload(factor ? this.factorOfAll(factor) : arrayOf(dtype, new Array<number>(chains).fill(0))),
      draws: null,
      noted: null,
    };
    this.scratch = this.compiled.written.scratch.map(({ elements, dtype: type }) =>
      backend.reserve(elements * chains * bytesOf(type)),
    );
  }

  /** The SHA-256 of the kernel's code. */
  get address(): string {
    return this.compiled.address;
  }

  // ------------------------------------------------------------------------------------------------ beginnings

  private wishes(trajectory = 1): Uint8Array {
    const { targetAcceptance, initRadius, energyDType } = this.settings;
    const values = { targetAcceptance, maxEnergyError: MAX_ENERGY_ERROR, initRadius, trajectory };
    return arrayOf(
      energyDType,
      WISHES.map((name) => values[name]),
    );
  }

  /** Values for every element and chain. */
  private filled(elements: number, dtype: FloatDType, value: (element: number, chain: number) => number): Uint8Array {
    const { chains } = this.settings;
    const numbers = new Float64Array(elements * chains);
    for (let e = 0; e < elements; e++) for (let c = 0; c < chains; c++) numbers[e * chains + c] = value(e, c);
    return arrayOf(dtype, numbers);
  }

  private startingVectors(): Uint8Array {
    const { dim, dtype } = this.density;
    const { chains, inits } = this.settings;
    const elements = vectorSlots(this.settings) * dim;
    if (!inits) return new Uint8Array(elements * chains * bytesOf(dtype));
    if (inits.length !== chains * dim) {
      throw new ArgumentError(`sample: inits are ${chains} chains × ${dim} free numbers, not ${inits.length} numbers.`);
    }
    const first = VECTORS.indexOf("qSample") * dim;
    return this.filled(elements, dtype, (e, c) => (e >= first && e < first + dim ? inits[c * dim + e - first] : 0));
  }

  private startingReals(): Uint8Array {
    const { energyDType, stepSize } = this.settings;
    const slot = REALS.indexOf("stepSize");
    return this.filled(REALS.length, energyDType, (e) => (e === slot ? stepSize : 0));
  }

  /** Inverse masses of every chain; behind a dense metric lies room for the scatter of a window. */
  private metricOfAll(metric: ArrayLike<number>): Uint8Array {
    const { dim, dtype } = this.density;
    const { isDense } = this.settings;
    return this.filled(isDense ? 2 * dim * dim : dim, dtype, (e) => metric[e] ?? 0);
  }

  private factorOfAll(factor: ArrayLike<number>): Uint8Array {
    const { dim, dtype } = this.density;
    return this.filled(dim * dim, dtype, (e) => factor[e]);
  }

  private startingMetric(): ArrayLike<number> {
    const { dim } = this.density;
    const { isDense, metric } = this.settings;
    if (metric) return metric;
    return isDense ? identity(dim) : new Float64Array(dim).fill(1);
  }

  // ------------------------------------------------------------------------------------------------ running

  /** The warmup of chains that are adapted together: all do one transition, then all get the same new settings. */
  async *warmUpPooled(): AsyncGenerator<ChainStatus> {
    const { chains, warmup, targetAcceptance, kernel, steps } = this.settings;
    const schedule = warmupSchedule(warmup);
    const { pooled } = this;
    // It may have been left in the middle: what it knows is in `pooled` and on the device.
    for (; pooled.draw < warmup; pooled.draw++) {
      const { draw } = pooled;
      for await (const status of this.advance(draw + 1, draw, 1)) yield status;
      // All chains stand still since they were looked at.
      const { reals, ints } = this.seen;
      const real = (name: (typeof REALS)[number]) => columnOf(reals, REALS.indexOf(name), chains);
      const int = (name: (typeof INTS)[number]) => columnOf(ints, INTS.indexOf(name), chains);
      const leapfrogs = int("leapfrogs");
      const acceptances = Float64Array.from(real("acceptance"), (sum, c) => sum / leapfrogs[c]);
      // The chains have looked for step sizes by themselves; from here on there is one.
      const found = Math.exp(meanOf(Float64Array.from(real("stepSize"), Math.log)));
      pooled.dual ??= DualAveraging.from(found);
      const dual = new DualAveraging(pooled.dual, targetAcceptance);
      const isLast = draw === warmup - 1;
      let stepSize = dual.update(meanOf(acceptances));
      if (isLast) stepSize = dual.average;
      if (kernel === "hmc" && steps === null) {
        // Chains that diverged stopped early.
        const took = leapfrogs.reduce((most, n) => Math.max(most, n), 0) * found;
        const gradient = took * (await this.cheesGradient());
        pooled.time ??= TrajectoryAdaptation.from(found);
        const time = new TrajectoryAdaptation(pooled.time, warmup);
        const next = time.update(gradient, stepSize);
        this.replace("wishes", this.wishes(isLast ? time.average : next));
      }
      if (schedule[draw] & SCHEDULE.closes) {
        await this.closePooledWindow(int("counted"), ints);
        stepSize = dual.average;
        dual.restart(stepSize);
      }
      real("stepSize").fill(stepSize);
      this.replace("reals", new Uint8Array(reals.buffer, reals.byteOffset, reals.byteLength));
    }
  }

  private async closePooledWindow(counted: Int32Array, ints: Int32Array): Promise<void> {
    const { dim, dtype } = this.density;
    const { chains, isDense } = this.settings;
    const vectors = numbersIn(await this.read("vectors"), dtype);
    const [mean, scatter] = [vectorOf(vectors, "mean", dim, chains), vectorOf(vectors, "scatter", dim, chains)];
    const all = { means: mean, counts: counted, dim };
    if (isDense) {
      const scatters = numbersIn(await this.read("metric"), dtype).subarray(dim * dim * chains);
      const { covariance, factor } = factorized(pooledCovariance(all, scatters), dim);
      this.replace("metric", this.metricOfAll(covariance));
      this.replace("factor", this.factorOfAll(factor));
    } else {
      this.replace("metric", this.metricOfAll(pooledVariances(all, scatter)));
    }
    mean.fill(0);
    scatter.fill(0);
    this.replace("vectors", new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength));
    counted.fill(0);
    this.replace("ints", new Uint8Array(ints.buffer, ints.byteOffset, ints.byteLength));
  }

  /** By the time that trajectories take. */
  private async cheesGradient(): Promise<number> {
    const { chains, energyDType } = this.settings;
    const { dtype } = this.density;
    const rows = (name: (typeof BUFFERS)[number], type: FloatDType | "i32") => {
      const memory = this.memory[name] as DeviceStorage;
      return adopt(memory, [memory.byteLength / (chains * bytesOf(type)), chains], type, this.backend);
    };
    const found = cheesGradientOf(
      rows("vectors", dtype),
      rows("metric", dtype),
      rows("reals", energyDType),
      rows("ints", "i32"),
    );
    const gradient = (await found.item()) as number;
    found.dispose();
    return gradient;
  }

  private replace(name: (typeof BUFFERS)[number], contents: Uint8Array): void {
    this.memory[name]?.dispose();
    this.memory[name] = this.backend.upload(contents);
  }

  /**
   * Lets every chain go on to its draw `until`, in dispatches; says where they stand after each. A device that works by
   * itself has the next dispatch before the host looks at what the last one did, unless there is nothing to do `ahead`. One
   * too many is soon over: chains that are there do nothing.
   */
  async *advance(until: number, first: number, ahead = this.backend.id === "cpu" ? 1 : 2): AsyncGenerator<ChainStatus> {
    const { backend, memory, settings } = this;
    const { chains, warmup, adaptation, steps, inits, together } = settings;
    this.beginBlock(first, until - first);
    let lastEnd = 0;
    let wanted = budgets.get(this.compiled) ?? FIRST_BUDGET;
    const dispatch = async () => {
      const began = performance.now();
      const budget = Math.min(this.maxBudget, wanted);
      const orders = {
        budget,
        until,
        first,
        warmup,
        givenInits: inits ? 1 : 0,
        adaptation: ADAPTATION[adaptation],
        steps: steps ?? 0,
        together,
      };
      memory.orders?.dispose();
      memory.orders = backend.upload(bytes(Int32Array.from(ORDERS.map((name) => orders[name]))));
      this.compiled.run([
        ...this.density.data,
        ...BUFFERS.map((name) => memory[name] as DeviceStorage),
        ...this.scratch,
      ]);
      const status = await this.status();
      const end = performance.now();
      const share = status.draws.reduce((count, draw) => count + (draw < until ? 1 : 0), 0) / chains;
      const isDone = status.failed.length > 0 || share === 0;
      wanted = nextBudget(budget, end - Math.max(began, lastEnd));
      // Later dispatches are short because most chains stand still: nothing for others to begin with.
      if (share > 0.5) budgets.set(this.compiled, wanted);
      lastEnd = end;
      return { status, isDone };
    };
    const queue: ReturnType<typeof dispatch>[] = [];
    for (;;) {
      while (queue.length < ahead) {
        const last = dispatch();
        // Should the one before fail, nobody waits for this one.
        last.catch(() => {});
        queue.push(last);
      }
      const { status, isDone } = await (queue.shift() as ReturnType<typeof dispatch>);
      yield status;
      if (isDone) return;
    }
  }

  async status(): Promise<ChainStatus> {
    const { chains, energyDType } = this.settings;
    const [intBytes, realBytes] = await Promise.all([this.read("ints"), this.read("reals")]);
    const ints = new Int32Array(intBytes.buffer, intBytes.byteOffset, INTS.length * chains);
    const of = (name: (typeof INTS)[number]) => {
      const slot = INTS.indexOf(name);
      return ints.slice(slot * chains, (slot + 1) * chains);
    };
    const phases = of("phase");
    const reals = numbersIn(realBytes, energyDType);
    this.seen = { reals, ints };
    const slot = REALS.indexOf("stepSize");
    return {
      draws: of("draw"),
      leapfrogs: of("totalLeapfrogs"),
      divergences: of("totalDivergences"),
      failed: Array.from(phases.keys()).filter((chain) => phases[chain] === PHASE.failed),
      stepSizes: Float64Array.from(reals.subarray(slot * chains, (slot + 1) * chains)),
    };
  }

  // ------------------------------------------------------------------------------------------------ blocks

  /** Room for draws from `first` on. Those that were made already are in it from the start. */
  beginBlock(first: number, draws: number): void {
    const { backend, memory, ahead } = this;
    const { noted: rowBytes } = this.rowBytes();
    const rows = Math.max(1, draws, ahead ? ahead.noted.byteLength / rowBytes : 0);
    for (const name of ["draws", "noted"] as const) {
      memory[name]?.dispose();
      const byteLength = rows * this.rowBytes()[name];
      if (!ahead) {
        memory[name] = backend.reserve(byteLength);
        continue;
      }
      const contents = new Uint8Array(byteLength);
      contents.set(ahead[name]);
      memory[name] = backend.upload(contents);
    }
    this.block = { first, rows, isAhead: rows > Math.max(1, draws) };
    this.ahead = null;
  }

  private rowBytes(): Readonly<Record<"draws" | "noted", number>> {
    const { dim, dtype } = this.density;
    const { chains, energyDType } = this.settings;
    return { draws: dim * chains * bytesOf(dtype), noted: NOTED.length * chains * bytesOf(energyDType) };
  }

  /** The rows of the block from one on, as far as any chain has come; null where there are none. */
  private async rowsFrom(from: number): Promise<typeof this.ahead> {
    const { chains, warmup } = this.settings;
    const { first } = this.block;
    const [intBytes, draws, noted] = await Promise.all([this.read("ints"), this.read("draws"), this.read("noted")]);
    const ints = new Int32Array(intBytes.buffer, intBytes.byteOffset, INTS.length * chains);
    const furthest = columnOf(ints, INTS.indexOf("draw"), chains).reduce((most, draw) => Math.max(most, draw), 0);
    // Draws of the warmup are not written.
    const end = furthest - Math.max(first, warmup);
    if (end <= from) return null;
    const bytesOfRow = this.rowBytes();
    return {
      draws: draws.slice(from * bytesOfRow.draws, end * bytesOfRow.draws),
      noted: noted.slice(from * bytesOfRow.noted, end * bytesOfRow.noted),
    };
  }

  /** Whether there are draws beyond the end of the block. */
  get isAhead(): boolean {
    return this.block.isAhead;
  }

  /** Keeps for the next block what some chains have drawn beyond the first `count` draws of this one. */
  async keepFrom(count: number): Promise<void> {
    this.ahead = await this.rowsFrom(count);
  }

  /** The draws from `first` on that `advance` wrote. The memory is the caller's from now on. */
  take(): DrawnBlock {
    const { draws, noted } = this.memory as Record<"draws" | "noted", DeviceStorage>;
    this.memory.draws = null;
    this.memory.noted = null;
    return { draws, noted, rows: this.block.rows };
  }

  get energyDType(): FloatDType {
    return this.settings.energyDType;
  }

  private read(name: (typeof BUFFERS)[number]): Promise<Uint8Array> {
    return this.backend.read(this.memory[name] as DeviceStorage);
  }

  /** A vector of every chain, [chains, dim]. */
  async vector(name: (typeof VECTORS)[number]): Promise<Float64Array> {
    const { dim, dtype } = this.density;
    const { chains } = this.settings;
    const all = numbersIn(await this.read("vectors"), dtype);
    const first = VECTORS.indexOf(name) * dim;
    const found = new Float64Array(chains * dim);
    for (let d = 0; d < dim; d++) for (let c = 0; c < chains; c++) found[c * dim + d] = all[(first + d) * chains + c];
    return found;
  }

  /** Whether a chain was where the density is finite: it looks for a step size from then on, should it fail. */
  async hasStarted(chain: number): Promise<boolean> {
    const found = await this.read("ints");
    const ints = new Int32Array(found.buffer, found.byteOffset, found.byteLength / 4);
    return ints[INTS.indexOf("isSearching") * this.settings.chains + chain] === 1;
  }

  /** Everything a run needs to go on later: the buffers as they are, the draws not yet taken, and the pooled warmup. */
  async saved(): Promise<SavedChains> {
    const reading = this.memory.draws ? this.rowsFrom(0) : this.ahead;
    // All are read in one go, so that no dispatch is between them.
    const [ahead, ...contents] = await Promise.all([reading, ...STATE.map((name) => this.read(name))]);
    const buffers = Object.fromEntries(STATE.map((name, n) => [name, contents[n]]));
    if (ahead) Object.assign(buffers, { draws: ahead.draws, noted: ahead.noted });
    return { buffers, pooled: structuredClone(this.pooled) };
  }

  restore({ buffers, pooled }: SavedChains): void {
    for (const name of STATE) {
      const now = this.memory[name] as DeviceStorage;
      if (buffers[name]?.byteLength !== now.byteLength) {
        throw new ArgumentError(
          `resume: ${name} has ${buffers[name]?.byteLength} bytes, not ${now.byteLength}: another model or number of chains.`,
        );
      }
      this.replace(name, buffers[name]);
    }
    this.ahead = buffers.draws ? { draws: buffers.draws, noted: buffers.noted } : null;
    this.pooled = pooled;
  }

  dispose(): void {
    for (const memory of [...Object.values(this.memory), ...this.scratch]) memory?.dispose();
  }
}

/** Steps for the next dispatch, after one that took so long. */
export function nextBudget(budget: number, milliseconds: number): number {
  return Math.max(1, Math.round(budget * Math.min(4, Math.max(0.25, DISPATCH_MS / Math.max(0.01, milliseconds)))));
}

function numbersIn(from: Uint8Array, dtype: FloatDType): Float64Array | Float32Array {
  return dtype === "f64"
    ? new Float64Array(from.buffer, from.byteOffset, from.byteLength / 8)
    : new Float32Array(from.buffer, from.byteOffset, from.byteLength / 4);
}

/** Numbers of a slot, by chain: a view. */
function columnOf<A extends Int32Array | Float64Array | Float32Array>(all: A, slot: number, chains: number): A {
  return all.subarray(slot * chains, (slot + 1) * chains) as A;
}

/** A vector of all chains, [dim][chain]: a view. */
function vectorOf(
  all: Float64Array | Float32Array,
  name: (typeof VECTORS)[number],
  dim: number,
  chains: number,
): Float64Array | Float32Array {
  const first = VECTORS.indexOf(name) * dim;
  return all.subarray(first * chains, (first + dim) * chains);
}

const identity = (dim: number): Float64Array =>
  Float64Array.from({ length: dim * dim }, (_, at) => Number(at % (dim + 1) === 0));

/** A covariance and its factor. Where rounding has left it none, that of variances only. */
function factorized(covariance: Float64Array, dim: number) {
  const factor = choleskyFactor(covariance, dim);
  if (factor) return { covariance, factor };
  const variances = covariance.map((value, at) => (at % (dim + 1) === 0 ? value : 0));
  return { covariance: variances, factor: variances.map(Math.sqrt) };
}

const meanOf = (values: Float64Array): number => values.reduce((sum, x) => sum + x, 0) / values.length;

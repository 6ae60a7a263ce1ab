/**
 * Chains of the NUTS kernel on a device: their memory, and dispatches of bounded length until every chain has come as far
 * as it was asked to. `sample` drives it; everything statistical happens in the kernel.
 */
import { constants } from "node:buffer";
import { ArgumentError } from "../../core/errors.js";
import type { Backend, DeviceStorage, HandWritten } from "../../runtime/backend.js";
import type { ChainDensity, FloatDType } from "../kernels/density.js";
import {
  ADAPTATION,
  BUFFERS,
  INTS,
  NOTED,
  type NutsOptions,
  ORDERS,
  PHASE,
  REALS,
  VECTORS,
  vectorSlots,
  WISHES,
} from "../kernels/layout.js";
import { type WrittenNuts, writeNuts } from "../kernels/nuts/kernel.js";
import { choleskyFactor } from "../numerics/cholesky.js";
import { PooledWarmup } from "./pooled-warmup.js";
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
  new Uint8Array((dtype === "f64" ? new Float64Array(values) : new Float32Array(values)).buffer);
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
  /** What adapts the chains together, where something does; and whether nothing is left for it to do. */
  private readonly pooled: PooledWarmup | null;
  private isWarm: boolean;

  constructor(
    private readonly density: ChainDensity,
    private readonly settings: ChainSettings,
  ) {
    const { backend, dtype } = density;
    const { kernel, chains, energyDType, isDense, lanes, maxTreeDepth, mistake } = settings;
    this.backend = backend;
    checkRoom(settings, density);
    const key = [kernel, chains, lanes, maxTreeDepth, energyDType, isDense, mistake, density.fn.key].join(" ");
    this.compiled = backend.handWritten(key, (context) => writeNuts(density, settings, context));
    // The loop over steps is without an end: the rounds that are counted are those of a step.
    this.maxBudget = Math.min(MAX_BUDGET, Math.floor(backend.maxRounds / this.compiled.rounds));
    const metric = this.startingMetric();
    const factor = isDense ? choleskyFactor(metric, density.dim) : null;
    if (isDense && !factor) throw new ArgumentError("sample: the metric is not positive definite.");
    const schedule = warmupSchedule(settings.warmup);
    this.memory = {
      orders: null,
      key: backend.upload(bytes(Uint32Array.of(settings.seed >>> 0, Math.floor(settings.seed / 2 ** 32) >>> 0))),
      schedule: backend.upload(bytes(schedule)),
      wishes: backend.upload(this.wishes()),
      vectors: this.startingVectors(),
      reals: backend.upload(this.startingReals()),
      ints: backend.zeros(INTS.length * chains * bytesOf("i32")),
      metric: backend.upload(this.metricOfAll(metric)),
      factor: factor ? backend.upload(this.factorOfAll(factor)) : backend.zeros(chains * bytesOf(dtype)),
      draws: null,
      noted: null,
    };
    this.scratch = this.compiled.written.scratch.map(({ elements, dtype: type }) =>
      backend.reserve(elements * chains * bytesOf(type)),
    );
    this.isWarm = settings.adaptation !== "pooled";
    const isTimed = kernel === "hmc" && settings.steps === null;
    const { dim } = density;
    this.pooled = this.isWarm
      ? null
      : new PooledWarmup(backend, schedule, { chains, dim, dtype, energyDType, isDense, isTimed });
  }

  /** The SHA-256 of the kernel's code. */
  get address(): string {
    return this.compiled.address;
  }

  // ------------------------------------------------------------------------------------------------ beginnings

  private wishes(): Uint8Array {
    const { targetAcceptance, initRadius, energyDType } = this.settings;
    const values = { targetAcceptance, maxEnergyError: MAX_ENERGY_ERROR, initRadius, trajectory: 1 };
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

  private startingVectors(): DeviceStorage {
    const { dim, dtype } = this.density;
    const { chains, inits } = this.settings;
    const elements = vectorSlots(this.settings) * dim;
    if (!inits) return this.backend.zeros(elements * chains * bytesOf(dtype));
    if (inits.length !== chains * dim) {
      throw new ArgumentError(`sample: inits are ${chains} chains × ${dim} free numbers, not ${inits.length} numbers.`);
    }
    const first = VECTORS.indexOf("qSample") * dim;
    const given = (e: number, c: number) => (e >= first && e < first + dim ? inits[c * dim + e - first] : 0);
    return this.backend.upload(this.filled(elements, dtype, given));
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

  /**
   * Lets every chain go on to its draw `until`, in dispatches; says where they stand now and then. A device that works by
   * itself has the next dispatch before the host looks at what the last one did. One too many is soon over: chains that are
   * there do nothing. In a warmup of chains together, several transitions with what adapts to them are under way at a time.
   */
  async *advance(until: number, first: number): AsyncGenerator<ChainStatus> {
    const ahead = this.backend.id === "cpu" ? 1 : 2;
    this.beginBlock(first, until - first);
    let lastEnd = 0;
    let lastSteps: number | null = null;
    let wanted = budgets.get(this.compiled) ?? FIRST_BUDGET;
    let pace: Pace = { transitions: 1, budget: FIRST_BUDGET };
    const dispatch = async () => {
      const began = performance.now();
      const warmup = this.isWarm ? null : this.pooled;
      const given = warmup ? pace : { transitions: 1, budget: wanted };
      const budget = Math.min(this.maxBudget, given.budget);
      this.run(until, first, budget, given.transitions, warmup);
      const asked = warmup?.asked ?? 0;
      const status = await this.status();
      const end = performance.now();
      const milliseconds = end - Math.max(began, lastEnd);
      const most = status.leapfrogs.reduce((a, b) => Math.max(a, b), 0);
      const steps = most - (lastSteps ?? most);
      if (warmup) {
        this.look(warmup, status, asked);
        pace = nextPace(given, steps, milliseconds);
      }
      // Of a warmup together, it is known how many steps were taken, not how many could have been.
      if (!warmup || steps > 0) wanted = nextBudget(warmup ? steps : budget, milliseconds);
      const { chains } = this.settings;
      const share = status.draws.reduce((count, draw) => count + (draw < until ? 1 : 0), 0) / chains;
      const isDone = status.failed.length > 0 || share === 0;
      // Later dispatches are short because most chains stand still: nothing for others to begin with.
      if (share > 0.5) budgets.set(this.compiled, wanted);
      lastEnd = end;
      lastSteps = most;
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

  /** Transitions of every chain, as far as the budget of each goes; in a warmup together, each with what adapts to it. */
  private run(until: number, first: number, budget: number, transitions: number, pooled: PooledWarmup | null): void {
    const { backend, memory } = this;
    const { warmup, adaptation, steps, inits, together } = this.settings;
    const orders = {
      budget,
      until,
      first,
      warmup,
      givenInits: inits ? 1 : 0,
      adaptation: ADAPTATION[adaptation],
      steps: steps ?? 0,
      together,
      asked: until,
    };
    memory.orders?.dispose();
    memory.orders = backend.upload(bytes(Int32Array.from(ORDERS.map((name) => orders[name]))));
    const buffers = BUFFERS.map((name) => memory[name] as DeviceStorage);
    const all = [...this.density.data, ...buffers, ...this.scratch];
    // The orders are new: which draw the chains may go to is known where they are.
    pooled?.adapt(memory);
    const left = pooled ? Math.min(transitions, pooled.drawsLeft) : 1;
    for (let n = 0; n < left; n++) {
      this.compiled.run(all);
      pooled?.adapt(memory);
    }
  }

  /** What the host has seen of a warmup together, which had been asked to adapt so often by then. */
  private look(pooled: PooledWarmup, { draws }: ChainStatus, asked: number): void {
    const least = draws.reduce((a, b) => Math.min(a, b));
    pooled.look(least, asked);
    this.isWarm = least >= this.settings.warmup;
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

  /** By chain: variances, or the rows of a covariance. */
  async inverseMasses(): Promise<Float64Array[]> {
    const { dim, dtype } = this.density;
    const { chains, isDense } = this.settings;
    const all = numbersIn(await this.read("metric"), dtype);
    const size = isDense ? dim * dim : dim;
    return Array.from({ length: chains }, (_, c) => Float64Array.from({ length: size }, (_, e) => all[e * chains + c]));
  }

  /** Whether a chain was where the density is finite: it looks for a step size from then on, should it fail. */
  async hasStarted(chain: number): Promise<boolean> {
    const found = await this.read("ints");
    const ints = new Int32Array(found.buffer, found.byteOffset, found.byteLength / 4);
    return ints[INTS.indexOf("isSearching") * this.settings.chains + chain] === 1;
  }

  /** Memory that holds where the chains are, by name. */
  private state(): readonly (readonly [string, DeviceStorage])[] {
    const own = STATE.map((name) => [name, this.memory[name] as DeviceStorage] as const);
    return [...own, ...Object.entries(this.pooled?.state ?? {})];
  }

  /** Everything a run needs to go on later: the buffers as they are, and the draws not yet taken. */
  async saved(): Promise<SavedChains> {
    const reading = this.memory.draws ? this.rowsFrom(0) : this.ahead;
    const state = this.state();
    // All are read in one go, so that no dispatch is between them.
    const [ahead, ...contents] = await Promise.all([reading, ...state.map(([, memory]) => this.backend.read(memory))]);
    const buffers = Object.fromEntries(state.map(([name], n) => [name, contents[n]]));
    if (ahead) Object.assign(buffers, { draws: ahead.draws, noted: ahead.noted });
    return { buffers };
  }

  restore({ buffers }: SavedChains): void {
    for (const [name, now] of this.state()) {
      if (buffers[name]?.byteLength !== now.byteLength) {
        throw new ArgumentError(
          `resume: ${name} has ${buffers[name]?.byteLength} bytes, not ${now.byteLength}: another model or number of chains.`,
        );
      }
    }
    for (const name of STATE) {
      this.memory[name]?.dispose();
      this.memory[name] = this.backend.upload(buffers[name]);
    }
    this.pooled?.restore(buffers);
    this.ahead = buffers.draws ? { draws: buffers.draws, noted: buffers.noted } : null;
  }

  dispose(): void {
    this.pooled?.dispose();
    for (const memory of [...Object.values(this.memory), ...this.scratch]) memory?.dispose();
  }
}

/** Throws where what the chains keep fills no buffer that there can be. */
function checkRoom(settings: ChainSettings, { dim, dtype }: ChainDensity): void {
  const { chains, isDense } = settings;
  const largest = Math.max(vectorSlots(settings) * dim, isDense ? 2 * dim * dim : 0) * chains * bytesOf(dtype);
  if (largest <= constants.MAX_LENGTH) return;
  const gibibytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  throw new ArgumentError(
    `sample: ${chains} chains of ${dim} free numbers take a buffer of ${gibibytes(largest)}, and one has ` +
      `${gibibytes(constants.MAX_LENGTH)} at most; run fewer chains${isDense ? ", or use a diagonal metric" : ""}.`,
  );
}

/** Steps for the next dispatch, after one that took so long. */
export function nextBudget(budget: number, milliseconds: number): number {
  return Math.max(1, Math.round(budget * Math.min(4, Math.max(0.25, DISPATCH_MS / Math.max(0.01, milliseconds)))));
}

/** Transitions of a warmup together that are under way before the host looks, and the steps that each may take. */
export interface Pace {
  readonly transitions: number;
  readonly budget: number;
}

/**
 * The next one, after one that took so long and so many steps of the chain that took the most. A transition may take four times
 * the steps that were usual, so that all together take four times as long at most: whoever needs more has the next one, too.
 */
export function nextPace({ transitions, budget }: Pace, steps: number, milliseconds: number): Pace {
  const usual = Math.ceil(steps / transitions);
  return {
    transitions: nextBudget(transitions, milliseconds),
    budget: Math.min(4 * budget, Math.max(FIRST_BUDGET, 4 * usual)),
  };
}

function numbersIn(from: Uint8Array, dtype: FloatDType): Float64Array | Float32Array {
  return dtype === "f64"
    ? new Float64Array(from.buffer, from.byteOffset, from.byteLength / 8)
    : new Float32Array(from.buffer, from.byteOffset, from.byteLength / 4);
}

/** Numbers of a slot, by chain: a view. */
function columnOf(all: Int32Array, slot: number, chains: number): Int32Array {
  return all.subarray(slot * chains, (slot + 1) * chains);
}

const identity = (dim: number): Float64Array =>
  Float64Array.from({ length: dim * dim }, (_, at) => Number(at % (dim + 1) === 0));

/**
 * Chains of a sampler's kernel on a device: dispatches of bounded length until every chain has come as far as it was asked to.
 * `Sampler` drives it; everything statistical happens in the kernel.
 */
import { ArgumentError, FormatError } from "../../core/errors.js";
import { nextBudget } from "../../runs/pace.js";
import type { Backend, DeviceStorage, HandWritten } from "../../runtime/backend.js";
import type { ChainDensity } from "../kernels/density.js";
import { ADAPTATION, BUFFERS, DISPATCH_INTS } from "../kernels/layout.js";
import { type WrittenNuts, writeNuts } from "../kernels/nuts/kernel.js";
import { lanesOfPooled } from "../kernels/pooled/lanes.js";
import type { FloatDType } from "../target/target.js";
import { ChainMemory, type ChainStatus, checkRoom } from "./chain-memory.js";
import type { ChainSettings } from "./chain-settings.js";
import { DrawBlock } from "./draw-block.js";
import { FIRST_BUDGET, MAX_BUDGET, nextPace, type Pace } from "./pace.js";
import { PooledWarmup } from "./pooled-warmup.js";
import { checkSavedState } from "./saved-state.js";
import { bytesOfType } from "./starting-state.js";
import { warmupSchedule } from "./warmup.js";

/** Chains at rest: the contents of their buffers by name, with draws not yet taken. */
export interface SavedChains {
  readonly buffers: Readonly<Record<string, Uint8Array>>;
}

/** Steps to begin with, of kernels that have run before. */
const budgets = new WeakMap<HandWritten<WrittenNuts>, number>();

export class NutsChains {
  readonly memory: ChainMemory;
  readonly block: DrawBlock;
  private readonly backend: Backend;
  private readonly compiled: HandWritten<WrittenNuts>;
  private readonly scratch: readonly DeviceStorage[];
  private readonly maxBudget: number;
  /** Adapts the chains together in a pooled warmup. */
  private readonly pooled: PooledWarmup | null;
  /** Whether a pooled warmup is over. */
  private isWarm: boolean;

  constructor(
    private readonly density: ChainDensity,
    private readonly settings: ChainSettings,
  ) {
    const { backend, dim, dtype } = density;
    const { trajectories, chains, energyDType, isDense, lanes, maxTreeDepth } = settings;
    this.backend = backend;
    checkRoom(settings, density);
    const key = [trajectories.name, chains, lanes, maxTreeDepth, energyDType, isDense, density.fn.key].join(" ");
    this.compiled = backend.handWritten(key, (context) => writeNuts(density, settings, context));
    // The loop over steps is without an end: the rounds that are counted are those of a step.
    this.maxBudget = Math.min(MAX_BUDGET, Math.floor(backend.maxLoopRounds / this.compiled.rounds));
    const schedule = warmupSchedule(settings.warmup);
    this.memory = new ChainMemory(density, settings, schedule);
    this.block = new DrawBlock(this.memory, density, settings);
    this.scratch = this.compiled.written.scratch.map(({ elements, dtype: type }) =>
      backend.reserve(elements * chains * bytesOfType(type)),
    );
    this.isWarm = settings.adaptation !== "pooled";
    const isTimed = trajectories.isOfKnownLength && settings.steps === null;
    const pooled = { chains, dim, dtype, energyDType, isDense, isTimed };
    this.pooled = this.isWarm
      ? null
      : new PooledWarmup(backend, schedule, { ...pooled, lanes: lanesOfPooled(backend, pooled) });
  }

  /** The SHA-256 of the kernel's code. */
  get address(): string {
    return this.compiled.address;
  }

  get energyDType(): FloatDType {
    return this.settings.energyDType;
  }

  // ------------------------------------------------------------------------------------------------ running

  /**
   * Lets every chain go on to its draw `until`, in dispatches; says where they stand now and then. A device that works by
   * itself has the next dispatch before the host looks at what the last one did. One too many is soon over: chains that are
   * there do nothing. In a pooled warmup, several transitions and their adaptation are under way at a time.
   */
  async *advance(until: number, first: number): AsyncGenerator<ChainStatus> {
    this.block.begin(first, until - first);
    const dispatch = this.dispatcher(until, first);
    const ahead = this.backend.abilities.runsAhead ? 2 : 1;
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

  /** A function that sends off a dispatch and waits for it. Each is as long as the last ones have shown to be good. */
  private dispatcher(until: number, first: number): () => Promise<{ status: ChainStatus; isDone: boolean }> {
    let lastEnd = 0;
    let lastSteps: number | null = null;
    let wanted = budgets.get(this.compiled) ?? FIRST_BUDGET;
    let pace: Pace = { transitions: 1, budget: FIRST_BUDGET };
    return async () => {
      const began = performance.now();
      const warmup = this.isWarm ? null : this.pooled;
      const given = warmup ? pace : { transitions: 1, budget: wanted };
      const budget = Math.min(this.maxBudget, given.budget);
      this.run(until, first, budget, given.transitions, warmup);
      const asked = warmup?.asked ?? 0;
      const status = await this.memory.status();
      const end = performance.now();
      const milliseconds = end - Math.max(began, lastEnd);
      const most = status.leapfrogs.reduce((a, b) => Math.max(a, b), 0);
      const steps = most - (lastSteps ?? most);
      if (warmup) {
        this.lookAt(warmup, status, asked);
        pace = nextPace(given, steps, milliseconds);
      }
      // Of a pooled warmup, it is known how many steps were taken, not how many could have been.
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
  }

  /** Transitions of every chain, as far as the budget of each goes; in a pooled warmup, with the adaptation after each. */
  private run(until: number, first: number, budget: number, transitions: number, pooled: PooledWarmup | null): void {
    const { memory } = this;
    const { warmup, adaptation, steps, inits, together } = this.settings;
    const dispatchInts = {
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
    const told = Int32Array.from(DISPATCH_INTS.map((name) => dispatchInts[name]));
    memory.replace("dispatchInts", () => this.backend.upload(new Uint8Array(told.buffer)));
    const buffers = BUFFERS.map((name) => memory.buffers[name] as DeviceStorage);
    const all = [...this.density.data, ...buffers, ...this.scratch];
    // The numbers of the dispatch are new: the kernel of the step size writes into them which draw the chains may go to.
    pooled?.adapt(memory.buffers);
    const left = pooled ? Math.min(transitions, pooled.drawsLeft) : 1;
    for (let n = 0; n < left; n++) {
      this.compiled.run(all);
      pooled?.adapt(memory.buffers);
    }
  }

  /** Tells a pooled warmup what the host has seen of it; it had been asked to adapt `asked` times by then. */
  private lookAt(pooled: PooledWarmup, { draws }: ChainStatus, asked: number): void {
    const least = draws.reduce((a, b) => Math.min(a, b));
    pooled.look(least, asked);
    this.isWarm = least >= this.settings.warmup;
  }

  // ------------------------------------------------------------------------------------------------ saving

  private get state(): readonly (readonly [string, DeviceStorage])[] {
    return Object.entries({ ...this.memory.state, ...this.pooled?.state });
  }

  /** Everything a run needs to go on later: the buffers as they are, and the draws not yet taken. */
  async saved(): Promise<SavedChains> {
    const reading = this.block.untaken();
    const { state } = this;
    // All are read in one go, so that no dispatch is between them.
    const [ahead, ...contents] = await Promise.all([reading, ...state.map(([, memory]) => this.backend.read(memory))]);
    const buffers = Object.fromEntries(state.map(([name], n) => [name, contents[n]]));
    if (ahead) Object.assign(buffers, { draws: ahead.draws, noted: ahead.noted });
    return { buffers };
  }

  /** `draws`: how many of every chain were saved with them. */
  restore({ buffers }: SavedChains, draws: number): void {
    const known = new Set([...this.state.map(([name]) => name), "draws", "noted"]);
    for (const name of Object.keys(buffers)) {
      if (!known.has(name)) throw new FormatError(`resume: chains have no "${name}"; the file was changed.`);
    }
    for (const [name, now] of this.state) {
      if (buffers[name]?.byteLength !== now.byteLength) {
        throw new ArgumentError(
          `resume: ${name} has ${buffers[name]?.byteLength} bytes, not ${now.byteLength}: another model or number of chains.`,
        );
      }
    }
    const { dim, dtype } = this.density;
    checkSavedState({ settings: this.settings, dim, dtype, buffers, draws });
    this.memory.restore(buffers);
    this.pooled?.restore(buffers);
    this.block.restore(buffers.draws ? { draws: buffers.draws, noted: buffers.noted } : null);
  }

  dispose(): void {
    this.pooled?.dispose();
    this.memory.dispose();
    for (const memory of this.scratch) memory.dispose();
  }
}

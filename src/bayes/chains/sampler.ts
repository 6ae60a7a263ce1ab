/**
 * A run of chains: blocks of draws, one after the other, until there are as many as were asked for, enough of them, or somebody
 * ends it. `posterior.sample`, `fit.extend` and `posterior.resume` drive it.
 */
import { type ProgressLine, progressLine } from "../../runs/progress-line.js";
import { leastEss, leastTailEss } from "../diagnostics/effective-sample-size.js";
import { Draws, type DrawsByScalar } from "../draws/draws.js";
import type { RunFacts } from "../export/stan-comments.js";
import { NOTED } from "../kernels/layout.js";
import { variablesOf } from "../target/values.js";
import type { ChainStatus } from "./chain-memory.js";
import { Checkpoints, checkSameRun } from "./checkpoints.js";
import { valuesIn } from "./drawn-values.js";
import { failureOf } from "./failure.js";
import { Fit } from "./fit.js";
import type { RunOptions } from "./options.js";
import { formatProgress } from "./progress.js";
import type { Progress } from "./run.js";
import type { Sampling } from "./sampling.js";
import type { SavedFit } from "./saved-fit.js";
import { checkSavedNumbers } from "./saved-numbers.js";
import { bytesOfType } from "./starting-state.js";

/** Bytes of draws that a block may take on the device. */
const BLOCK_BYTES = 1 << 26;
/** Blocks of a run that somebody watches. */
const WATCHED_BLOCKS = 10;
/** The part of a run's time that may go into saying how well it goes. */
const ESS_SHARE = 0.05;

export class Sampler {
  private began = performance.now();
  /** Draws of every chain that have been taken, with those of the warmup. */
  private drawn: number;
  /** A block on its way to the host while the next one is drawn. */
  private arriving: Promise<void> = Promise.resolve();
  /** Milliseconds in which the chains were under way. */
  private spent = { warmup: 0, sampling: 0 };
  private readonly checkpoints: Checkpoints;

  constructor(readonly sampling: Sampling) {
    this.drawn = sampling.options.warmup;
    this.checkpoints = new Checkpoints(sampling);
  }

  // ------------------------------------------------------------------------------------------------ runs

  /** Draws all that was asked for. */
  async *run<N extends string, O extends string>(isWatched: boolean): AsyncGenerator<Progress, Fit<N, O>> {
    const { posterior, options, density } = this.sampling;
    const { draws: wanted, chains, superchains, maxTreeDepth } = options;
    const { dtype, backend } = density;
    const variables = variablesOf(posterior);
    const draws = new Draws<N>({ chains, variables, maxTreeDepth, superchains, dtype, device: backend.id });
    yield* this.draw(draws, wanted, options, isWatched);
    return new Fit(draws, this);
  }

  /** More draws of chains that have some. */
  async *extend(draws: Draws, count: number, told: RunOptions, isWatched: boolean): AsyncGenerator<Progress, void> {
    this.began = performance.now();
    this.checkpoints.restart();
    yield* this.draw(draws, count, told, isWatched);
  }

  /** Goes on from a saved fit, whose draws are completed by those of a block that was being drawn. */
  async resume<N extends string, O extends string>(saved: SavedFit): Promise<Fit<N, O>> {
    const { chains, options } = this.sampling;
    const { draws } = saved;
    await checkSameRun(this.sampling, saved);
    chains.restore(saved.chains, draws.length);
    await checkSavedNumbers(this.sampling, saved);
    this.spent = { ...saved.spent };
    this.drawn = options.warmup + draws.length;
    chains.block.begin(this.drawn, 0);
    const taken = await this.takeBlock(Number.MAX_SAFE_INTEGER, true);
    if (taken) draws.appendByScalar(taken);
    return new Fit<N, O>(draws as Draws<N>, this);
  }

  save(draws: Draws, path: string): Promise<void> {
    return this.checkpoints.save(draws, this.spent, path);
  }

  /** Facts about the run for other programs. */
  async facts(): Promise<RunFacts> {
    const { warmup, sampling } = this.spent;
    return {
      options: this.sampling.options,
      inverseMasses: await this.sampling.chains.memory.inverseMasses(),
      seconds: { warmup: warmup / 1000, sampling: sampling / 1000 },
    };
  }

  // ------------------------------------------------------------------------------------------------ blocks

  /** So many more draws of every chain. `isWatched`: in blocks small enough to say something on the way. */
  private async *draw(
    draws: Draws,
    count: number,
    told: RunOptions,
    isWatched: boolean,
  ): AsyncGenerator<Progress, void> {
    const { warmup } = this.sampling.options;
    const wanted = { warmup, draws: draws.length + count };
    const show = told.progress ? progressLine((progress: Progress) => formatProgress(progress, wanted)) : null;
    try {
      yield* this.blocks(draws, count, told, isWatched, show);
    } finally {
      show?.done();
    }
  }

  private async *blocks(
    draws: Draws,
    wanted: number,
    told: RunOptions,
    isWatched: boolean,
    show: ProgressLine<Progress> | null,
  ): AsyncGenerator<Progress, void> {
    const { until, progress, signal } = told;
    const isInSteps = isWatched || progress || until !== undefined;
    const before = draws.length;
    let last: ChainStatus | null = null;
    let asked = 0;
    let ess = until ? leastEss(draws) : Number.NaN;
    const isEnough = () =>
      ess >= (until?.essBulk ?? 0) && (until?.essTail === undefined || leastTailEss(draws) >= until.essTail);
    let essMilliseconds = 0;
    for (let isEnded = signal?.aborted === true; asked < wanted && !isEnded; ) {
      if (until && isEnough()) break;
      const step = isInSteps ? stepOf(wanted, before + asked) : wanted;
      const count = Math.min(step, this.largestBlock(), wanted - asked);
      for await (const status of this.advance(count, draws, told)) {
        last = status;
        const now = { ...this.progressOf(status), ess };
        show?.update(now);
        yield now;
        isEnded = signal?.aborted === true;
        if (isEnded) break;
      }
      await this.beginArrival(draws, count, isEnded);
      asked += count;
      if (until || isEnded) await this.arriving;
      const began = performance.now();
      if (until || (isInSteps && essMilliseconds < ESS_SHARE * (began - this.began))) {
        ess = leastEss(draws);
        essMilliseconds += performance.now() - began;
      }
    }
    await this.arriving;
    if (!last || !isInSteps) return;
    // The last progress tells watchers how it ended.
    const end = { ...this.progressOf(last), ess: leastEss(draws) };
    show?.update(end);
    yield end;
  }

  /** Sends the block that was drawn on its way to the host, when the one before has arrived. */
  private async beginArrival(draws: Draws, count: number, isEnded: boolean): Promise<void> {
    await this.arriving;
    const taking = this.takeBlock(count, isEnded);
    this.arriving = taking.then((taken) => {
      if (taken) draws.appendByScalar(taken);
    });
    // Should the chains fail first, nobody waits for the block.
    this.arriving.catch(() => {});
  }

  /**
   * The block that was drawn, as values by name; of one that was ended early, as much as every chain has, null if that is
   * nothing. What some chains have beyond it is kept for the next block.
   */
  private async takeBlock(room: number, isEnded: boolean): Promise<DrawsByScalar | null> {
    const { block, memory } = this.sampling.chains;
    let count = room;
    if (isEnded) {
      const { draws } = await memory.status();
      const least = draws.reduce((a, b) => Math.min(a, b));
      count = Math.max(0, Math.min(room, least - this.drawn));
    }
    if (isEnded || block.isAhead) await block.keepFrom(count);
    const taken = block.take();
    this.drawn += count;
    if (count > 0) return valuesIn(this.sampling, taken, count);
    taken.draws.dispose();
    taken.noted.dispose();
    return null;
  }

  private largestBlock(): number {
    const { density, chains, options } = this.sampling;
    const bytes = density.dim * bytesOfType(options.dtype) + NOTED.length * bytesOfType(chains.energyDType);
    return Math.max(1, Math.floor(BLOCK_BYTES / (options.chains * bytes)));
  }

  // ------------------------------------------------------------------------------------------------ dispatches

  /** Lets every chain make `count` more draws than have been taken, when they are done with the warmup. */
  private async *advance(count: number, draws: Draws, told: RunOptions): AsyncGenerator<ChainStatus> {
    let since = performance.now();
    for await (const status of this.sampling.chains.advance(this.drawn + count, this.drawn)) {
      const now = performance.now();
      this.spent[this.phaseOf(status)] += now - since;
      since = now;
      if (status.failed.length > 0) throw await failureOf(this.sampling, status.failed[0], status);
      if (this.checkpoints.isDue(told)) {
        await this.arriving;
        await this.checkpoints.write(draws, this.spent, told.checkpoint as string);
      }
      yield status;
    }
  }

  private phaseOf({ draws }: ChainStatus): Progress["phase"] {
    return draws.some((draw) => draw < this.sampling.options.warmup) ? "warmup" : "sampling";
  }

  private progressOf(status: ChainStatus): Progress {
    const { draws, divergences, leapfrogs, stepSizes } = status;
    const { warmup } = this.sampling.options;
    return {
      phase: this.phaseOf(status),
      warmup: draws.map((draw) => Math.min(draw, warmup)),
      draws: draws.map((draw) => Math.max(0, draw - warmup)),
      divergences,
      leapfrogs,
      stepSizes,
      ess: Number.NaN,
      milliseconds: performance.now() - this.began,
    };
  }
}

/** Draws to ask for at once of a run that reports its progress: a share of all, but not many more than there are. */
function stepOf(wanted: number, drawn: number): number {
  const share = Math.ceil(wanted / WATCHED_BLOCKS);
  return Math.max(25, Math.min(share, Math.max(100, Math.ceil(drawn / 2))));
}

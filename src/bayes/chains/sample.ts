/**
 * Sampling as users see it: `posterior.sample(options)` returns a run, which can be awaited for the fit or iterated over to
 * watch it. Draws leave the device in blocks, as values by name, which a compiled `constrain` makes of free numbers there.
 */
import { ArgumentError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import type { DeviceStorage } from "../../tensor/backend.js";
import { tensor } from "../../tensor/creation.js";
import { adopt, type Tensor } from "../../tensor/tensor.js";
import { essBulk } from "../diagnostics/effective-sample-size.js";
import { Draws, type DrawsByScalar } from "../draws.js";
import { type ChainDensity, densityOf, type FloatDType, type Target } from "./density.js";
import { Fit, loadFit } from "./fit.js";
import { type ChainStatus, NutsChains } from "./nuts-chains.js";
import { NOTED, NOTED_ENERGIES, type NutsOptions } from "./nuts-kernel.js";
import { progressLine } from "./progress.js";
import { type Named, valuesOf, variablesOf } from "./values.js";

export interface SampleOptions {
  /** 4 unless told. */
  readonly chains?: number;
  /** Per chain, after the warmup: 1000 unless told. */
  readonly draws?: number;
  /** Draws of each chain that adapt step size and metric and are not kept: 1000 unless told. */
  readonly warmup?: number;
  /** The same seed gives the same draws on the same device, to the last bit. */
  readonly seed?: number;
  /** That of the data unless told. */
  readonly dtype?: FloatDType;
  /** Where the data are unless told. */
  readonly device?: string;
  /**
   * nuts: trajectories end where they turn; unless told. hmc: all have `steps` steps. chees: all take a random share of a time
   * that is adapted to the target, which suits many chains side by side; its adaptation is pooled.
   */
  readonly kernel?: "nuts" | "hmc" | "chees";
  /** Leapfrog steps of a trajectory of hmc: 16 unless told. */
  readonly steps?: number;
  /**
   * Whether chains share one step size and one metric, adapted to all of them together; otherwise each has its own. With
   * hundreds of chains a warmup of 100 draws is then enough. For the diagonal metric.
   */
  readonly pooled?: boolean;
  /** The mean acceptance that the step size is adapted to: 0.8 unless told. Higher takes smaller steps. */
  readonly targetAcceptance?: number;
  /** Doublings of a trajectory, at most: 10 unless told. */
  readonly maxTreeDepth?: number;
  /** Which covariances the metric adapts to: "diagonal" unless told. */
  readonly metric?: "diagonal" | "dense";
  /** The step size to begin with, or, without a warmup, to keep. */
  readonly stepSize?: number;
  /** Starting points as free numbers, [chains, dim]; uniform between -2 and 2 unless told. */
  readonly inits?: Tensor | readonly (readonly number[])[];
  /** What energies and adaptation are computed in: f64 where the device has it. */
  readonly energies?: FloatDType;
  /** Threads that share a chain, a power of two: chosen by `lanesFor` unless told. 1 on the CPU. */
  readonly lanes?: number;
  /** Ends the run early; what was drawn by then is returned. */
  readonly signal?: AbortSignal;
  /** Ends the run when every scalar has this effective sample size; `draws` is then the most. */
  readonly until?: { readonly essBulk: number };
  /** Draws a line of progress on the terminal. */
  readonly progress?: boolean;
}

/** How far a run has come. */
export interface Progress {
  readonly phase: "warmup" | "sampling";
  /** Draws kept so far, by chain. */
  readonly draws: Int32Array;
  readonly divergences: Int32Array;
  readonly leapfrogs: Int32Array;
  readonly stepSizes: Float64Array;
  /** The least bulk effective sample size of the blocks that have arrived; NaN before. */
  readonly ess: number;
  readonly milliseconds: number;
}

/** A posterior, as far as sampling is concerned. */
export interface Sampled extends Target, Named {
  readonly dtype: FloatDType;
  readonly device: string;
  readonly latents: readonly (Named["latents"][number] & {
    readonly freeShape: readonly number[];
    readonly offset: number;
  })[];
  logLikelihood(u: Tensor): Readonly<Record<string, Tensor>>;
}

/** Bytes of draws that a block may take on the device. */
const BLOCK_BYTES = 1 << 26;
/** Blocks of a run that somebody watches. */
const WATCHED_BLOCKS = 10;
/** The part of a run's time that may go into saying how well it goes. */
const ESS_SHARE = 0.05;
/** Threads that keep a multiprocessor busy, and lanes that a chain has at most and at least, if it has several. */
const BUSY_THREADS = 1024;
const MAX_LANES = 128;
const LEAST_LANES = 32;

/**
 * The threads that share a chain: one on the CPU, on software drivers, for models that go step by step, and where there are
 * so many chains that they keep the device busy by themselves. Else as many as still have four observations each, while
 * the device has room; but a subgroup even for the smallest model. Chains that are threads of one subgroup wait for each
 * other in every branch one of them takes; with a subgroup to itself a chain goes its own way.
 */
export function lanesFor({ backend, longest, isForLanes }: ChainDensity, chains: number, isDense: boolean): number {
  if (backend.id === "cpu" || backend.isSoftware || !isForLanes || isDense) return 1;
  const room = BUSY_THREADS * backend.units;
  let lanes = MAX_LANES;
  while (lanes > LEAST_LANES && (lanes * 4 > longest || lanes * chains > room)) lanes /= 2;
  return lanes * chains > room ? 1 : lanes;
}

export class SampleRun implements PromiseLike<Fit>, AsyncIterable<Progress> {
  private readonly sampler: Sampler;
  private steps: AsyncGenerator<Progress, Fit> | null = null;
  private fit: Promise<Fit> | null = null;
  private settle: { resolve(fit: Fit): void; reject(error: unknown): void } | null = null;

  constructor(posterior: Sampled, options: SampleOptions) {
    this.sampler = new Sampler(posterior, options);
  }

  /** How far the run has come, after every dispatch. It runs as fast as it is watched. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Progress> {
    const result = this.result();
    this.steps ??= this.sampler.run(true);
    for (;;) {
      try {
        const { done, value } = await this.steps.next();
        if (done) {
          this.settle?.resolve(value);
          break;
        }
        yield value;
      } catch (error) {
        this.settle?.reject(error);
        break;
      }
    }
    await result;
  }

  // biome-ignore lint/suspicious/noThenProperty: a run is awaited for its fit
  then<A = Fit, B = never>(
    onFit?: ((fit: Fit) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const result = this.result();
    if (!this.steps) {
      this.steps = this.sampler.run(false);
      void this.finish(this.steps);
    }
    return result.then(onFit, onError);
  }

  private async finish(steps: AsyncGenerator<Progress, Fit>): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await steps.next();
        if (!done) continue;
        this.settle?.resolve(value);
        return;
      }
    } catch (error) {
      this.settle?.reject(error);
    }
  }

  private result(): Promise<Fit> {
    this.fit ??= new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    return this.fit;
  }
}

type Filled = SampleOptions &
  Required<Pick<SampleOptions, "chains" | "draws" | "warmup" | "seed" | "dtype" | "maxTreeDepth">>;

/** Chains of a posterior on a device, and the way of their draws to the host. */
export class Sampler {
  readonly options: Filled;
  private readonly chains: NutsChains;
  private readonly density: ChainDensity;
  private readonly began = performance.now();
  private readonly isPooled: boolean;
  private drawn: number;

  constructor(
    private readonly posterior: Sampled,
    given: SampleOptions,
    /** @internal For tests of the tests. */
    mistake?: NutsOptions["mistake"],
  ) {
    const options: Filled = {
      ...given,
      chains: given.chains ?? 4,
      draws: given.draws ?? 1000,
      warmup: given.warmup ?? 1000,
      seed: given.seed ?? 0,
      dtype: given.dtype ?? posterior.dtype,
      maxTreeDepth: given.maxTreeDepth ?? 10,
    };
    checkOptions(options);
    this.options = options;
    const { chains, dtype } = options;
    this.density = densityOf(posterior, dtype, options.device ?? posterior.device);
    const { backend } = this.density;
    const isDense = options.metric === "dense";
    const { kernel = "nuts" } = options;
    this.isPooled = options.pooled ?? kernel === "chees";
    if (this.isPooled && isDense) {
      throw new ArgumentError(
        'sample: pooled adaptation is for { metric: "diagonal" }; a dense one is adapted by chain.',
      );
    }
    const lanes = options.lanes ?? lanesFor(this.density, chains, isDense);
    this.chains = new NutsChains(this.density, {
      chains,
      kernel: kernel === "nuts" ? "nuts" : "hmc",
      steps: kernel === "hmc" ? (options.steps ?? 16) : null,
      lanes,
      isDense,
      mistake,
      maxTreeDepth: options.maxTreeDepth,
      energyDType: options.energies ?? (backend.hasDoubles ? "f64" : "f32"),
      warmup: options.warmup,
      seed: options.seed,
      targetAcceptance: options.targetAcceptance ?? 0.8,
      initRadius: 2,
      stepSize: options.stepSize ?? 1,
      adaptation: options.warmup === 0 ? "none" : this.isPooled ? "pooled" : "own",
      inits: options.inits ? flatInits(options.inits) : null,
      metric: null,
    });
    this.drawn = options.warmup;
  }

  /** Draws everything, a block at a time. `isWatched`: in blocks small enough to say something on the way. */
  async *run(isWatched: boolean): AsyncGenerator<Progress, Fit> {
    const { draws: wanted, chains, until, progress, maxTreeDepth, signal } = this.options;
    const isInSteps = isWatched || progress || until !== undefined;
    const most = isInSteps ? Math.max(25, Math.ceil(wanted / WATCHED_BLOCKS)) : wanted;
    const block = Math.min(most, this.largestBlock());
    const draws = new Draws({ chains, variables: variablesOf(this.posterior), maxTreeDepth });
    let asked = 0;
    let ess = Number.NaN;
    let essMilliseconds = 0;
    // A block is on its way to the host while the next one is drawn.
    let arriving: Promise<void> | null = null;
    const show = progress ? progressLine(this.options) : null;
    if (this.isPooled) {
      for await (const status of this.chains.warmUpPooled()) {
        if (status.failed.length > 0) throw await this.failure(status.failed[0]);
        const now = this.progressOf(status);
        show?.update(now);
        yield now;
        if (signal?.aborted) break;
      }
    }
    for (let isEnded = false; asked < wanted && !isEnded; ) {
      const count = Math.min(block, wanted - asked);
      for await (const status of this.advance(count)) {
        const now = { ...this.progressOf(status), ess };
        show?.update(now);
        yield now;
        isEnded = signal?.aborted === true;
        if (isEnded) break;
      }
      await arriving;
      const taking = this.takeBlock(count, isEnded);
      arriving = taking.then((taken) => draws.appendByScalar(taken));
      // Should the chains fail first, nobody waits for the block.
      arriving.catch(() => {});
      asked += count;
      if (until) await arriving;
      const began = performance.now();
      if (until || (isInSteps && essMilliseconds < ESS_SHARE * (began - this.began))) {
        ess = leastEss(draws);
        essMilliseconds += performance.now() - began;
      }
      if (until && ess >= until.essBulk) break;
    }
    await arriving;
    show?.done();
    return new Fit(draws, this.options, this.chains.address, this);
  }

  async extend(draws: Draws, count: number): Promise<void> {
    for (let rest = count; rest > 0; ) {
      const block = Math.min(rest, this.largestBlock());
      for await (const _ of this.advance(block));
      draws.appendByScalar(await this.takeBlock(block, false));
      rest -= block;
    }
  }

  saved(): Promise<Readonly<Record<string, Uint8Array>>> {
    return this.chains.saved();
  }

  resume(saved: Readonly<Record<string, Uint8Array>>, draws: Draws): Fit {
    this.chains.restore(saved);
    this.drawn = this.options.warmup + draws.length;
    return new Fit(draws, this.options, this.chains.address, this);
  }

  private largestBlock(): number {
    const { chains, dtype } = this.options;
    return Math.max(1, Math.floor(BLOCK_BYTES / (chains * this.density.dim * (dtype === "f64" ? 8 : 4))));
  }

  private async *advance(count: number): AsyncGenerator<ChainStatus> {
    for await (const status of this.chains.advance(this.drawn + count, this.drawn)) {
      if (status.failed.length > 0) throw await this.failure(status.failed[0]);
      yield status;
    }
  }

  private progressOf({ draws, divergences, leapfrogs, stepSizes }: ChainStatus): Progress {
    const { warmup } = this.options;
    return {
      phase: draws.some((draw) => draw < warmup) ? "warmup" : "sampling",
      draws: draws.map((draw) => Math.max(0, draw - warmup)),
      divergences,
      leapfrogs,
      stepSizes,
      ess: Number.NaN,
      milliseconds: performance.now() - this.began,
    };
  }

  /** The block that was drawn, on the constrained scale; of one that was ended early, as much as every chain has. */
  private async takeBlock(room: number, isEnded: boolean): Promise<DrawsByScalar> {
    const { dim, backend, dtype } = this.density;
    const { chains } = this.options;
    const { draws } = isEnded ? await this.chains.status() : { draws: null };
    const count = draws ? Math.max(0, Math.min(room, draws.reduce(least) - this.drawn)) : room;
    const block = this.chains.take();
    this.drawn += count;
    // From [draw][element][chain], as chains side by side write it, to draws side by side: the device sorts faster.
    const sorted = (memory: DeviceStorage, elements: number, type: FloatDType) =>
      adopt(memory, [room, elements, chains], type, backend)
        .at(`0:${count}`)
        .permute(1, 2, 0)
        .reshape(elements, chains * count);
    const points = sorted(block.draws, dim, dtype);
    const noted = sorted(block.noted, NOTED.length, this.chains.energyDType);
    const notes = [noted.at(`0:${NOTED_ENERGIES}`), noted.at(`${NOTED_ENERGIES}:`).cast("f32")];
    const [values, ...read] = await Promise.all([
      valuesOf(this.posterior, points),
      ...notes.map((note) => note.data() as Promise<Float32Array | Float64Array>),
    ]);
    for (const done of [points, ...notes, block.draws, block.noted]) done.dispose();
    const size = chains * count;
    const columns = NOTED.map((name, n) => {
      const at = n < NOTED_ENERGIES ? n : n - NOTED_ENERGIES;
      return [name, read[n < NOTED_ENERGIES ? 0 : 1].subarray(at * size, (at + 1) * size)];
    });
    return { values, stats: Object.fromEntries(columns) };
  }

  /** Why a chain found no point to start from, or no step that would do, in terms of the model. */
  private async failure(chain: number): Promise<ArgumentError> {
    const { dim, dtype, backend } = this.density;
    const all = await this.chains.vector("q");
    const u = tensor(Array.from(all.subarray(chain * dim, (chain + 1) * dim)), { dtype, device: backend.id });
    const [value, slopes] = this.posterior.logDensityAndGrad(u);
    const density = (await value.item()) as number;
    const gradient = Array.from((await slopes.data()) as ArrayLike<number>);
    const bad = this.posterior.latents.filter(({ offset, freeShape }) =>
      gradient.slice(offset, offset + sizeOf(freeShape)).some((slope) => !Number.isFinite(slope)),
    );
    if (Number.isFinite(density) && bad.length === 0) {
      return new ArgumentError(
        `sample: no step size suits chain ${chain}: the density does not fall off, as if it were improper. ` +
          "Give every variable a prior, or data that determine it.",
      );
    }
    const why: string[] = [];
    if (!Number.isFinite(density)) {
      const culprits: string[] = [];
      for (const [name, terms] of Object.entries(this.posterior.logLikelihood(u))) {
        const numbers = Array.from((await terms.data()) as ArrayLike<number>);
        const at = numbers.findIndex((term) => !Number.isFinite(term));
        if (at >= 0) culprits.push(`${name}${numbers.length > 1 ? `[${at}]` : ""} has log density ${numbers[at]}`);
      }
      why.push(`the log density is ${density}${culprits.length > 0 ? `: ${culprits.join(", ")}` : ""}`);
    }
    if (bad.length > 0) why.push(`the gradient by ${bad.map(({ name }) => name).join(", ")} is not finite`);
    return new ArgumentError(
      `sample: chain ${chain} found no point to start from in 100 tries: ${why.join("; ")}. ` +
        "Give { inits } inside the support, or look for a likelihood that is 0 everywhere.",
    );
  }
}

function checkOptions(options: Filled): void {
  const { chains, draws, warmup, maxTreeDepth, kernel = "nuts", steps, targetAcceptance = 0.8, lanes = 1 } = options;
  if (!["nuts", "hmc", "chees"].includes(kernel)) {
    throw new ArgumentError(`sample: there is no kernel "${kernel}"; there are nuts, hmc and chees.`);
  }
  if (kernel === "chees" && warmup === 0) {
    throw new ArgumentError("sample: chees needs a warmup, in which it finds how long trajectories are to be.");
  }
  const count = (name: string, value: number, least: number, most = 2 ** 31 - 1) => {
    if (Number.isSafeInteger(value) && value >= least && value <= most) return;
    throw new ArgumentError(`sample: ${name} is ${value}; it is a whole number from ${least} on.`);
  };
  count("chains", chains, 1);
  count("draws", draws, 1);
  count("warmup", warmup, 0);
  count("maxTreeDepth", maxTreeDepth, 1, 24);
  count("lanes", lanes, 1, 1024);
  if (steps !== undefined) count("steps", steps, 1);
  if (targetAcceptance > 0 && targetAcceptance < 1) return;
  throw new ArgumentError(`sample: targetAcceptance is ${targetAcceptance}; it is between 0 and 1.`);
}

const flatInits = (inits: Tensor | readonly (readonly number[])[]): ArrayLike<number> =>
  Array.isArray(inits) ? inits.flat() : ((inits as Tensor).dataSync() as ArrayLike<number>);

const least = (a: number, b: number): number => Math.min(a, b);

function leastEss(draws: Draws): number {
  if (draws.length < 4) return Number.NaN;
  return draws.names.map((name) => essBulk(draws.scalar(name))).reduce(least, Number.POSITIVE_INFINITY);
}

/** Goes on from a file that `fit.save` wrote. */
export async function resume(posterior: Sampled, path: string, changes: Partial<SampleOptions> = {}): Promise<Fit> {
  const { options, draws, chains } = await loadFit(path);
  return new Sampler(posterior, { ...options, ...changes }).resume(chains, draws);
}

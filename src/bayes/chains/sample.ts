/**
 * Sampling: what `posterior.sample(options)` and `fit.extend(count)` do. Draws leave the device in blocks, as values by name,
 * which a compiled `constrain` makes of free numbers there.
 */
import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { checkString } from "../../core/arguments.js";
import { ArgumentError, UnsupportedError } from "../../core/errors.js";
import { type Shape, sameShape, sizeOf } from "../../core/shape.js";
import { checkKey, foldIn, type Key } from "../../random/key.js";
import type { DeviceStorage } from "../../runtime/backend.js";
import { adopt, type Tensor, tensor } from "../../tensor/index.js";
import { leastEss, leastTailEss } from "../diagnostics/effective-sample-size.js";
import { Draws, type DrawsByScalar } from "../draws.js";
import type { RunFacts } from "../export/stan-comments.js";
import { type InParts, impossibleAt } from "../model/impossible.js";
import { type ChainDensity, densityOf, type FloatDType, type Target } from "./density.js";
import { Fit } from "./fit.js";
import { type ChainSettings, type ChainStatus, NutsChains } from "./nuts-chains.js";
import { NOTED, NOTED_ENERGIES, type NutsOptions } from "./nuts-layout.js";
import {
  checkedRunOptions,
  type FilledOptions,
  filledOptions,
  initsOf,
  type ResumeOptions,
  type RunOptions,
  type SampleOptions,
} from "./options.js";
import { atEachDraw, type PointwiseSetting } from "./pointwise.js";
import { type ProgressLine, progressLine } from "./progress.js";
import { type Progress, SampleRun } from "./run.js";
import { readFit, type SavedFit, writeFit } from "./saved-fit.js";
import { type Named, valuesOf, variablesOf } from "./values.js";

/** A posterior, as far as sampling is concerned. */
export interface Sampled extends Target, Named, InParts {
  readonly dtype: FloatDType;
  readonly device: string;
  readonly latents: readonly (Named["latents"][number] & {
    readonly freeShape: readonly number[];
    readonly offset: number;
  })[];
  readonly observed: readonly { readonly name: string; readonly shape: Shape }[];
  logLikelihood(at: Tensor | Readonly<Record<string, Tensor>>): Readonly<Record<string, Tensor>>;
  posteriorPredictive(key: Key, at: Readonly<Record<string, Tensor>>): Readonly<Record<string, Tensor>>;
}

/** Bytes of draws that a block may take on the device. */
const BLOCK_BYTES = 1 << 26;
/** Blocks of a run that somebody watches. */
const WATCHED_BLOCKS = 10;
/** The part of a run's time that may go into saying how well it goes. */
const ESS_SHARE = 0.05;
/** Timers wait no longer than this, and a dispatch. */
const BREATH_MS = 20;
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

function checkLanes(lanes = 1, { backend }: ChainDensity, isDense: boolean): void {
  if (lanes === 1) return;
  if (backend.id === "cpu") {
    throw new ArgumentError(
      `sample: lanes is ${lanes}; on the CPU a chain has one thread. Leave lanes out, or give a Vulkan device.`,
    );
  }
  if (isDense) {
    throw new ArgumentError(`sample: lanes is ${lanes}; with a dense metric a chain has one thread. Leave lanes out.`);
  }
}

/** Chains of more lanes where one thread would go round more often than a software driver lets it. */
function withEnoughLanes(make: (lanes: number) => NutsChains, lanes = 1): NutsChains {
  try {
    return make(lanes);
  } catch (error) {
    if (!(error instanceof UnsupportedError) || lanes === MAX_LANES) throw error;
    return withEnoughLanes(make, lanes === 1 ? LEAST_LANES : MAX_LANES);
  }
}

/** Chains of a posterior on a device, and the way of their draws to the host. */
export class Sampler {
  readonly options: FilledOptions;
  private readonly chains: NutsChains;
  private readonly density: ChainDensity;
  private began = performance.now();
  /** Draws of every chain that have been taken, with those of the warmup. */
  private drawn: number;
  /** A block on its way to the host while the next one is drawn. */
  private arriving: Promise<void> = Promise.resolve();
  private lastSaved = performance.now();
  private hasWarned = false;
  /** Milliseconds in which the chains were under way. */
  private spent = { warmup: 0, sampling: 0 };
  private lastBreath = performance.now();
  private dataHash: Promise<string> | null = null;

  constructor(
    private readonly posterior: Sampled,
    given: SampleOptions,
    /** @internal For tests of the tests. */
    mistake?: NutsOptions["mistake"],
  ) {
    const options = filledOptions(given, posterior.dtype);
    this.options = options;
    const { chains, dtype } = options;
    this.density = densityOf(posterior, dtype, options.device ?? posterior.device);
    const { backend } = this.density;
    const isDense = options.metric === "dense";
    const { kernel = "nuts" } = options;
    const isPooled = options.pooled ?? kernel === "chees";
    checkLanes(options.lanes, this.density, isDense);
    const settings: Omit<ChainSettings, "lanes"> = {
      chains,
      kernel: kernel === "nuts" ? "nuts" : "hmc",
      steps: kernel === "hmc" ? (options.steps ?? 16) : null,
      together: options.superchains > 1 ? chains / options.superchains : 1,
      isDense,
      mistake,
      maxTreeDepth: options.maxTreeDepth ?? 0,
      energyDType: options.energies ?? (backend.hasDoubles ? "f64" : "f32"),
      warmup: options.warmup,
      seed: options.seed,
      targetAcceptance: options.targetAcceptance ?? 0.8,
      initRadius: 2,
      stepSize: options.stepSize ?? 1,
      adaptation: options.warmup === 0 ? "none" : isPooled ? "pooled" : "own",
      inits: initsOf(options, this.density.dim),
      metric: null,
    };
    const make = (lanes: number) => new NutsChains(this.density, { ...settings, lanes });
    const isFree = options.lanes === undefined && backend.isSoftware && this.density.isForLanes && !isDense;
    this.chains = isFree ? withEnoughLanes(make) : make(options.lanes ?? lanesFor(this.density, chains, isDense));
    this.drawn = options.warmup;
  }

  /** The names of what is sampled. */
  get latents(): readonly string[] {
    return this.posterior.latents.map(({ name }) => name);
  }

  /** Draws all that was asked for. */
  async *run<N extends string, O extends string>(isWatched: boolean): AsyncGenerator<Progress, Fit<N, O>> {
    const { draws: wanted, chains, superchains, maxTreeDepth } = this.options;
    const { dtype, backend } = this.density;
    const variables = variablesOf(this.posterior);
    const draws = new Draws<N>({ chains, variables, maxTreeDepth, superchains, dtype, device: backend.id });
    yield* this.draw(draws, wanted, this.options, isWatched);
    return new Fit(draws, this.options, this.chains.address, this);
  }

  /** More draws of chains that have some. */
  async *extend(draws: Draws, count: number, told: RunOptions, isWatched: boolean): AsyncGenerator<Progress, void> {
    this.began = this.lastSaved = performance.now();
    this.hasWarned = false;
    yield* this.draw(draws, count, told, isWatched);
  }

  /** So many more draws of every chain. `isWatched`: in blocks small enough to say something on the way. */
  private async *draw(
    draws: Draws,
    count: number,
    told: RunOptions,
    isWatched: boolean,
  ): AsyncGenerator<Progress, void> {
    const show = told.progress ? progressLine({ warmup: this.options.warmup, draws: draws.length + count }) : null;
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
    show: ProgressLine | null,
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
      await this.arriving;
      const taking = this.takeBlock(count, isEnded);
      this.arriving = taking.then((taken) => {
        if (taken) draws.appendByScalar(taken);
      });
      // Should the chains fail first, nobody waits for the block.
      this.arriving.catch(() => {});
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
    // Whoever watched hears how it ended.
    const end = { ...this.progressOf(last), ess: leastEss(draws) };
    show?.update(end);
    yield end;
  }

  async save(draws: Draws, path: string): Promise<void> {
    await writeFit("save: the fit", path, await this.saved(draws));
  }

  private async saved(draws: Draws): Promise<SavedFit> {
    const { chains: count } = this.options;
    const chains = await this.chains.saved();
    const { signal: _, progress: __, checkpoint: ___, checkpointSeconds: ____, inits, ...rest } = this.options;
    const { dim } = this.density;
    const flat = inits && (initsOf(this.options, dim) as Float64Array);
    const rows = flat && Array.from({ length: count }, (_, c) => Array.from(flat.subarray(c * dim, (c + 1) * dim)));
    const options = { ...rest, ...(rows && { inits: rows }) };
    const { spent } = this;
    return { options, draws, kernel: this.chains.address, data: await this.dataAddress(), spent, chains };
  }

  async resume<N extends string, O extends string>({
    draws,
    kernel,
    data,
    spent,
    chains,
  }: SavedFit): Promise<Fit<N, O>> {
    const variables = Object.entries(variablesOf(this.posterior));
    const isSame = ([name, shape]: readonly [string, Shape]) => sameShape(draws.variables.get(name) ?? [-1], shape);
    if (variables.length !== draws.variables.size || !variables.every(isSame)) {
      const named = (all: Iterable<readonly [string, Shape]>) =>
        [...all].map(([name, shape]) => (shape.length > 0 ? `${name} [${shape}]` : name)).join(", ");
      throw new ArgumentError(
        `resume: the saved fit is of ${named(draws.variables)}; this posterior has ${named(variables)}.`,
      );
    }
    if (kernel !== this.chains.address) {
      throw new ArgumentError(
        "resume: the fit was drawn by another kernel: another model, device or version of Pumice. Its draws can only be " +
          "continued by the one that made them.",
      );
    }
    if (data !== (await this.dataAddress())) {
      throw new ArgumentError("resume: the fit was made with other data; give the posterior those it was made with.");
    }
    this.chains.restore(chains);
    this.spent = { ...spent };
    this.drawn = this.options.warmup + draws.length;
    // Of a block that was being drawn, what every chain has of it.
    this.chains.beginBlock(this.drawn, 0);
    const taken = await this.takeBlock(Number.MAX_SAFE_INTEGER, true);
    if (taken) draws.appendByScalar(taken);
    return new Fit<N, O>(draws as Draws<N>, this.options, this.chains.address, this);
  }

  logLikelihood(draws: Draws): Promise<Draws> {
    return atEachDraw(draws, this.pointwise("logLikelihood", draws), (values) => ({
      ...this.posterior.logLikelihood(values),
    }));
  }

  predictive(draws: Draws, key: Key): Promise<Draws> {
    checkKey(key, "predictive", "");
    const own = key.to(this.density.backend.id);
    return atEachDraw(draws, this.pointwise("predictive", draws), (values, number) => ({
      ...this.posterior.posteriorPredictive(foldIn(own, number), values),
    }));
  }

  /** What other programs want to know of the run. */
  async facts(): Promise<RunFacts> {
    const { warmup, sampling } = this.spent;
    return {
      options: this.options,
      inverseMasses: await this.chains.inverseMasses(),
      seconds: { warmup: warmup / 1000, sampling: sampling / 1000 },
    };
  }

  private pointwise(operation: string, draws: Draws): PointwiseSetting {
    const { latents, observed } = this.posterior;
    if (observed.length === 0) {
      throw new ArgumentError(
        `${operation}: the model observes nothing: it was given no data by name, and what factor(…) adds is no observation.`,
      );
    }
    if (draws.length === 0) {
      throw new ArgumentError(`${operation}: there are no draws: the run was ended before. extend draws some.`);
    }
    const { dtype, backend } = this.density;
    return { dtype, device: backend.id, takes: latents, gives: observed };
  }

  /** The SHA-256 of the data that the kernel reads. */
  private dataAddress(): Promise<string> {
    const { backend, data } = this.density;
    this.dataHash ??= Promise.all(data.map((memory) => backend.read(memory))).then((contents) => {
      const hash = createHash("sha256");
      for (const bytes of contents) hash.update(`${bytes.byteLength} `).update(bytes);
      return hash.digest("hex");
    });
    return this.dataHash;
  }

  private largestBlock(): number {
    const { chains, dtype } = this.options;
    const size = (type: FloatDType) => (type === "f64" ? 8 : 4);
    const bytes = this.density.dim * size(dtype) + NOTED.length * size(this.chains.energyDType);
    return Math.max(1, Math.floor(BLOCK_BYTES / (chains * bytes)));
  }

  /** Lets every chain make `count` more draws than have been taken, when they are done with the warmup. */
  private async *advance(count: number, draws: Draws, told: RunOptions): AsyncGenerator<ChainStatus> {
    let since = performance.now();
    for await (const status of this.chains.advance(this.drawn + count, this.drawn)) {
      const now = performance.now();
      this.spent[this.phaseOf(status)] += now - since;
      since = now;
      if (status.failed.length > 0) throw await this.failure(status.failed[0], status);
      await this.keepCheckpoint(draws, told);
      await this.letOthersRun();
      yield status;
    }
  }

  /** Promises of the CPU are kept at once, one after the other: without this, timers and signals would wait for the end. */
  private async letOthersRun(): Promise<void> {
    if (performance.now() - this.lastBreath < BREATH_MS) return;
    await setImmediate();
    this.lastBreath = performance.now();
  }

  private async keepCheckpoint(draws: Draws, { checkpoint, checkpointSeconds = 60 }: RunOptions): Promise<void> {
    if (checkpoint === undefined || performance.now() - this.lastSaved < 1000 * checkpointSeconds) return;
    await this.arriving;
    const saved = await this.saved(draws);
    try {
      await writeFit("sample: a checkpoint", checkpoint, saved);
    } catch (error) {
      // A full disk may have room again by the next time; draws are dearer than checkpoints.
      if (!this.hasWarned) {
        process.emitWarning(`${(error as Error).message} The run goes on without.`);
      }
      this.hasWarned = true;
    }
    this.lastSaved = performance.now();
  }

  private phaseOf({ draws }: ChainStatus): Progress["phase"] {
    return draws.some((draw) => draw < this.options.warmup) ? "warmup" : "sampling";
  }

  private progressOf(status: ChainStatus): Progress {
    const { draws, divergences, leapfrogs, stepSizes } = status;
    const { warmup } = this.options;
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

  /**
   * The block that was drawn, on the constrained scale; of one that was ended early, as much as every chain has, null if that
   * is nothing. What some chains have beyond it is kept for the next block.
   */
  private async takeBlock(room: number, isEnded: boolean): Promise<DrawsByScalar | null> {
    const { dim, backend, dtype } = this.density;
    const { chains } = this.options;
    let count = room;
    if (isEnded) {
      const { draws } = await this.chains.status();
      count = Math.max(0, Math.min(room, draws.reduce(least) - this.drawn));
    }
    if (isEnded || this.chains.isAhead) await this.chains.keepFrom(count);
    const block = this.chains.take();
    this.drawn += count;
    if (count === 0) {
      block.draws.dispose();
      block.noted.dispose();
      return null;
    }
    // From [draw][element][chain], as chains side by side write it, to draws side by side: the device sorts faster.
    const sorted = (memory: DeviceStorage, elements: number, type: FloatDType) =>
      adopt(memory, [block.rows, elements, chains], type, backend)
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
  private async failure(chain: number, { draws, stepSizes }: ChainStatus): Promise<ArgumentError> {
    const { dim, dtype, backend } = this.density;
    const [all, hasStarted] = [await this.chains.vector("q"), await this.chains.hasStarted(chain)];
    const u = tensor(Array.from(all.subarray(chain * dim, (chain + 1) * dim)), { dtype, device: backend.id });
    const [value, slopes] = this.posterior.logDensityAndGrad(u);
    const density = (await value.item()) as number;
    const gradient = Array.from((await slopes.data()) as ArrayLike<number>);
    const bad = this.posterior.latents.filter(({ offset, freeShape }) =>
      gradient.slice(offset, offset + sizeOf(freeShape)).some((slope) => !Number.isFinite(slope)),
    );
    if (Number.isFinite(density) && bad.length === 0) {
      return new ArgumentError(
        `sample: no step size suits chain ${chain}: ` +
          (stepSizes[chain] > 1
            ? "the density does not fall off within millions, as if it were improper. Give every variable a prior, or data " +
              "that determine it; of numbers as large as that, another unit."
            : "the density falls off within the smallest of steps. Give numbers as small as that another unit, or look for " +
              "a density that breaks off."),
      );
    }
    const why: string[] = [];
    if (!Number.isFinite(density)) {
      const culprits = await impossibleAt(this.posterior, u);
      why.push(`the log density is ${density}${culprits.length > 0 ? `: ${culprits.join(", ")}` : ""}`);
    }
    if (bad.length > 0) why.push(`the gradient by ${bad.map(({ name }) => name).join(", ")} is not finite`);
    if (hasStarted) {
      return new ArgumentError(
        `sample: chain ${chain} was lost in the warmup, after ${draws[chain]} draws: where its steps lead, however small they are, ` +
          `${why.join("; ")}. Give { dtype: "f64" } if it is f32, or look for a density that breaks off.`,
      );
    }
    if (this.options.inits) {
      return new ArgumentError(
        `sample: chain ${chain} cannot start where inits[${chain}] is: ${why.join("; ")}. Give free numbers at which the ` +
          "density is finite, as posterior.unconstrain({ … }) makes them of values, or leave inits out.",
      );
    }
    return new ArgumentError(
      `sample: chain ${chain} found no point to start from in 100 tries: ${why.join("; ")}. ` +
        "Give { inits } inside the support, or look for a likelihood that is 0 everywhere.",
    );
  }
}

const least = (a: number, b: number): number => Math.min(a, b);

/** How many draws to ask for at once of a run that says how it goes: a share of all, but not many more than there are. */
function stepOf(wanted: number, drawn: number): number {
  const share = Math.ceil(wanted / WATCHED_BLOCKS);
  return Math.max(25, Math.min(share, Math.max(100, Math.ceil(drawn / 2))));
}

/** A run that begins when somebody waits for it or watches. */
export function sample<N extends string, O extends string>(
  posterior: Sampled,
  options: SampleOptions,
): SampleRun<N, O> {
  const sampler = new Sampler(posterior, options);
  return new SampleRun((isWatched) => sampler.run<N, O>(isWatched));
}

/** Goes on from a file that `fit.save` or a checkpoint wrote. */
export async function resume<N extends string, O extends string>(
  posterior: Sampled,
  path: string,
  options: ResumeOptions,
): Promise<Fit<N, O>> {
  checkString("resume", "the path", path);
  checkedRunOptions("resume", options);
  const saved = await readFit(path, posterior.device);
  return new Sampler(posterior, { ...saved.options, ...options }).resume(saved);
}

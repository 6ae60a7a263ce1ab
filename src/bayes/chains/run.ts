/**
 * A run as users hold it: what `posterior.sample` and `fit.extend` return. It is a promise of the fit, and can be iterated over
 * to watch it on its way.
 */
import type { Fit } from "./fit.js";

/** The progress of a run. */
export interface Progress {
  readonly phase: "warmup" | "sampling";
  /** Draws of the warmup so far, by chain. */
  readonly warmup: Int32Array;
  /** Draws kept so far, by chain. */
  readonly draws: Int32Array;
  /** The number of them that ended in a divergence, those of the warmup not counted. */
  readonly divergences: Int32Array;
  /** Steps taken so far, those of the warmup included: how much work was done. */
  readonly leapfrogs: Int32Array;
  readonly stepSizes: Float64Array;
  /**
   * The least bulk effective sample size of what varies, when it was last looked at; NaN before. The last progress of a run has
   * that of all its draws.
   */
  readonly ess: number;
  readonly milliseconds: number;
}

/** `N`: the names of the variables that are drawn; `O`: of those that were observed. */
export class SampleRun<N extends string = string, O extends string = string>
  implements Promise<Fit<N, O>>, AsyncIterable<Progress>
{
  readonly [Symbol.toStringTag] = "SampleRun";
  private steps: AsyncGenerator<Progress, Fit<N, O>> | null = null;
  private settle!: { resolve(fit: Fit<N, O>): void; reject(error: unknown): void };
  private readonly fit = new Promise<Fit<N, O>>((resolve, reject) => {
    this.settle = { resolve, reject };
  });
  private next: Promise<Progress | null> | null = null;
  private watchers = 0;
  private isFinishing = false;

  /** @internal `startsItself`: goes on though nobody waits or watches, since others wait for their turn. */
  constructor(
    private readonly start: (isWatched: boolean) => AsyncGenerator<Progress, Fit<N, O>>,
    private readonly startsItself = false,
  ) {
    if (startsItself) {
      // A watcher from the first begins before this, and sets the pace.
      queueMicrotask(() => {
        if (this.watchers === 0) void this.finish();
      });
    } else {
      // A failure is reported to watchers; without this, the promise that nobody awaits would be an unhandled rejection.
      this.fit.catch(() => {});
    }
  }

  /**
   * Hears of the progress after every dispatch; in a warmup of chains together, about every 60 ms. It runs as
   * fast as it is watched, or, once somebody waits for its end, as fast as it can.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Progress> {
    this.steps ??= this.start(true);
    this.watchers++;
    try {
      for (;;) {
        const progress = await this.step(this.steps);
        if (!progress) break;
        yield progress;
      }
    } finally {
      this.watchers--;
      if (this.startsItself && this.watchers === 0) void this.finish();
    }
    await this.fit;
  }

  // biome-ignore lint/suspicious/noThenProperty: a run is awaited for its fit
  then<A = Fit<N, O>, B = never>(
    onFit?: ((fit: Fit<N, O>) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    void this.finish();
    return this.fit.then(onFit, onError);
  }

  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<Fit<N, O> | B> {
    return this.then(null, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Fit<N, O>> {
    return this.then().finally(onEnd);
  }

  /**
   * @internal Runs to the end, whether or not somebody watches: who waits for it may be the one who watches, between two
   * steps, and would wait for ever.
   */
  async finish(): Promise<void> {
    if (this.isFinishing) return;
    this.isFinishing = true;
    this.steps ??= this.start(false);
    while (await this.step(this.steps));
  }

  /** The next progress, the same for all who wait for it; null when the run has ended, well or badly. */
  private step(steps: AsyncGenerator<Progress, Fit<N, O>>): Promise<Progress | null> {
    this.next ??= this.taken(steps);
    return this.next;
  }

  private async taken(steps: AsyncGenerator<Progress, Fit<N, O>>): Promise<Progress | null> {
    try {
      const { done, value } = await steps.next();
      if (!done) return value;
      this.settle.resolve(value);
    } catch (error) {
      this.settle.reject(error);
    } finally {
      this.next = null;
    }
    return null;
  }
}

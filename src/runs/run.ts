/**
 * A run: long work as users hold it. It is a promise of its result, and can be iterated over to watch it on its way. It begins
 * when somebody waits for it or watches. The libraries make runs of generators that yield progress and return the result:
 * `posterior.sample` and `fit.extend` of bayes, `train` of nn.
 */

/** Work that yields its progress and returns its result. `isWatched`: from the first, somebody iterates. */
type Work<P, R> = (isWatched: boolean) => AsyncGenerator<P, R>;

/** `P`: what those who watch hear of; `R`: the result. */
export class Run<P, R> implements Promise<R>, AsyncIterable<P> {
  readonly [Symbol.toStringTag]: string = "Run";
  private steps: AsyncGenerator<P, R> | null = null;
  private settle!: { resolve(result: R): void; reject(error: unknown): void };
  private readonly result = new Promise<R>((resolve, reject) => {
    this.settle = { resolve, reject };
  });
  private next: Promise<P | null> | null = null;
  private watchers = 0;
  private isFinishing = false;
  private hasEnded = false;

  /** @internal `startsItself`: goes on though nobody waits or watches, since others wait for their turn. */
  constructor(
    private readonly start: Work<P, R>,
    private readonly startsItself = false,
  ) {
    if (startsItself) {
      // A watcher from the first begins before this, and sets the pace.
      queueMicrotask(() => {
        if (this.watchers === 0) void this.finish();
      });
    } else {
      // A failure is reported to watchers; without this, the promise that nobody awaits would be an unhandled rejection.
      this.result.catch(() => {});
    }
  }

  /** Hears of the progress. The work goes on as fast as it is watched or, once somebody waits for its end, as fast as it can. */
  async *[Symbol.asyncIterator](): AsyncGenerator<P> {
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
    await this.result;
  }

  // biome-ignore lint/suspicious/noThenProperty: a run is awaited for its result
  then<A = R, B = never>(
    onResult?: ((result: R) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    void this.finish();
    return this.result.then(onResult, onError);
  }

  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<R | B> {
    return this.then(null, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<R> {
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
  private step(steps: AsyncGenerator<P, R>): Promise<P | null> {
    this.next ??= this.taken(steps);
    return this.next;
  }

  private async taken(steps: AsyncGenerator<P, R>): Promise<P | null> {
    try {
      const { done, value } = await steps.next();
      if (!done) return value;
      this.hasEnded = true;
      this.settle.resolve(value);
    } catch (error) {
      this.hasEnded = true;
      this.settle.reject(error);
    } finally {
      this.next = null;
    }
    return null;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    const doing = this.hasEnded ? "ended" : this.steps === null ? "begins when it is awaited or watched" : "under way";
    return `${this[Symbol.toStringTag]} (${doing})`;
  }
}

/**
 * A kernel that runs in the background: the main thread turns its event loop meanwhile, and may still finish it in place when
 * someone cannot wait. `ThreadPool` gives one to workers; `SlicedRun`, where there are none, runs it on the main thread, some
 * milliseconds at a time.
 */
import { turn } from "../turns.js";
import type { RunFunction } from "./job-board.js";

export class Background {
  isOver = false;
  failure: Error | null = null;
  /** Resolves when the kernel has run or failed. */
  readonly over: Promise<void>;
  private resolve: () => void = () => {};

  /** `finish`: computes the rest in place and ends it. */
  constructor(readonly finish: () => void) {
    this.over = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  end(failure: Error | null = null): void {
    this.isOver = true;
    this.failure = failure;
    this.resolve();
  }
}

/** Milliseconds of work between two turns of the event loop. */
const SLICE_MILLISECONDS = 3;
/** Slices to begin with, when nothing is known about how long a row takes. */
const FIRST_SLICES = 256;

/** Runs the rows of a kernel on this thread, in slices. A row is the least that it can do at a time. */
export function runInSlices(
  run: RunFunction,
  args: number,
  length: number,
  explain: (error: Error) => Error,
): Background {
  let next = 0;
  let rows = Math.max(1, Math.ceil(length / FIRST_SLICES));
  const slice = (count: number) => {
    const end = Math.min(length, next + count);
    try {
      run(args, next, end);
    } catch (error) {
      background.end(explain(error as Error));
      return;
    }
    next = end;
    if (next === length) background.end();
  };
  const background = new Background(() => slice(length));
  const goOn = async () => {
    while (!background.isOver) {
      const began = performance.now();
      slice(rows);
      const took = Math.max(0.01, performance.now() - began);
      rows = Math.max(1, Math.round(rows * Math.min(4, SLICE_MILLISECONDS / took)));
      if (!background.isOver) await turn();
    }
  };
  void goOn();
  return background;
}

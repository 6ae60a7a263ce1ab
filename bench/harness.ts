/**
 * How a row is measured. Warm-up is by time, not by count: an idle GPU runs at a fifth of its clock and takes about a
 * second of work to leave it, and V8 optimises what has run for a while. A GPU that was busy a moment ago needs less.
 * Then samples are taken until the time budget is spent. Rows get all this as `context.sample`; main.ts makes the context.
 */
import { randomFillSync } from "node:crypto";
import type { VulkanDevice } from "../src/vulkan/index.js";
import type { Closeness } from "./results.js";
import type { Ceiling } from "./row.js";

/** Times in seconds. */
export interface Pace {
  readonly warmUp: number;
  /** Instead of `warmUp` where the device was busy until a moment ago. */
  readonly warmUpWhenBusy: number;
  readonly budget: number;
  /** Samples to take even when the budget is spent. */
  readonly minimum: number;
}

/** What a row runs on: a GPU, software Vulkan, or the CPU engine. */
export type Kind = "gpu" | "software" | "cpu";

/** Only GPUs have clocks to raise, and the figures of software Vulkan are for trying the harness. */
const PACES: Readonly<Record<Kind, Pace>> = {
  gpu: { warmUp: 1.5, warmUpWhenBusy: 0.4, budget: 2, minimum: 9 },
  software: { warmUp: 0.3, warmUpWhenBusy: 0.3, budget: 1, minimum: 5 },
  cpu: { warmUp: 0.5, warmUpWhenBusy: 0.5, budget: 1.5, minimum: 7 },
};

/** `budget` in seconds, where the command line states one. */
export function paceFor(kind: Kind, isQuick: boolean, budget: number | null = null): Pace {
  const hurried = kind === "gpu" ? 0.5 : 0.1;
  if (isQuick) return { warmUp: hurried, warmUpWhenBusy: hurried, budget: 0.3, minimum: 3 };
  return { ...PACES[kind], ...(budget === null ? {} : { budget }) };
}

/** A GPU keeps its clock for longer than this when it has nothing to do. */
const STILL_BUSY_MS = 1000;

/** Remembers when the device was last busy: what follows within a moment warms up for less. */
export class Busyness {
  private lastBusy = Number.NEGATIVE_INFINITY;

  paceAt(pace: Pace, now: number): Pace {
    return now - this.lastBusy < STILL_BUSY_MS ? { ...pace, warmUp: pace.warmUpWhenBusy } : pace;
  }

  note(now: number): void {
    this.lastBusy = now;
  }
}

/** More samples than this sharpen no median. */
const MAX_SAMPLES = 2000;

export interface Context {
  readonly device: VulkanDevice;
  /** The device's position in `listDevices()`, for programs that a row starts. */
  readonly deviceIndex: number;
  readonly isSoftware: boolean;
  readonly isQuick: boolean;
  /** Where the row's tensors live: "vulkan:0", or "cpu". */
  readonly tensors: string;
  /** How often the edges of large tensors are halved: at a hurried pace, on software Vulkan, or where memory is short. */
  readonly halvings: number;
  readonly pace: Pace;
  /**
   * Warms up with `once`, then calls it for one sample after another until the budget is spent. Await it in the row:
   * `using` disposes of the buffers when the function returns, be it a promise.
   */
  sample(once: () => number | Promise<number>): Promise<number[]>;
  /** A remark to print under the table. */
  note(text: string): void;
  /** A few elements of the result. Peers show theirs, and one that differs by more than `closeness` gets no figure. */
  show(values: readonly number[], closeness?: Closeness): void;
  /** Bytes or operations per second that this device was seen to reach; measured once, when first asked for. */
  ceiling(of: Ceiling): Promise<number>;
}

/** Of samples that take longer than this many milliseconds, so many are enough. */
const [LONG_SAMPLE, FEW_SAMPLES] = [1000, 3];

export async function sample(
  pace: Omit<Pace, "warmUpWhenBusy">,
  once: () => number | Promise<number>,
  now: () => number = performance.now.bind(performance),
): Promise<number[]> {
  const warmUntil = now() + 1000 * pace.warmUp;
  let began: number;
  do {
    began = now();
    await once();
    await nextTurn();
  } while (now() < warmUntil);
  const minimum = now() - began > LONG_SAMPLE ? Math.min(FEW_SAMPLES, pace.minimum) : pace.minimum;
  const samples: number[] = [];
  const until = now() + 1000 * pace.budget;
  while (samples.length < minimum || (now() < until && samples.length < MAX_SAMPLES)) {
    samples.push(await once());
    // Deferred work (submissions at the next turn, finalizers) must not pile up, nor fall into a later sample.
    await nextTurn();
  }
  return samples;
}

/** A fixed number of samples, after one that does not count: for what takes seconds. */
export async function repeat(count: number, once: () => number | Promise<number>): Promise<number[]> {
  await once();
  const samples: number[] = [];
  for (let i = 0; i < count; i++) samples.push(await once());
  return samples;
}

/** Milliseconds that `work` takes, its promise included. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Milliseconds that synchronous `work` takes: no turn of the event loop is in the figure. */
export function timedSync(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

const PATTERN_BYTES = 1 << 24;

/** Fills with random bytes, repeating after 16 MiB. Zeros move and compute faster than data do. */
export function fillRandom(bytes: Uint8Array): Uint8Array {
  const pattern = bytes.subarray(0, Math.min(PATTERN_BYTES, bytes.byteLength));
  randomFillSync(pattern);
  for (let at = pattern.byteLength; at < bytes.byteLength; at += pattern.byteLength) {
    bytes.set(pattern.subarray(0, Math.min(pattern.byteLength, bytes.byteLength - at)), at);
  }
  return bytes;
}

/** Random numbers in [0, 1). */
export function randomFloats(length: number): Float32Array {
  return Float32Array.from({ length }, Math.random);
}

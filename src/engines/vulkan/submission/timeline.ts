/**
 * The timeline semaphore that counts finished batches, and three ways to wait for a count: poll, block the thread, or await.
 * A GPU answers in tens of microseconds and a sleeping thread takes as long to wake, so every wait polls first.
 */
import { DisposedError } from "../../../core/errors.js";
import type { DeviceFunction, FunctionTable, Handle } from "../driver/api.js";
import * as L from "../driver/layouts.js";
import { addressOf, type Bytes } from "../driver/native.js";
import { check } from "../driver/results.js";
import { Arena } from "../driver/structs.js";
import { validationMode } from "../driver/validation.js";

/**
 * How long a wait that blocks the thread polls, which keeps a core busy. On an H200 a thread that slept in the driver woke 0.1 to
 * 0.3 ms late. A software device computes on the cores that polling would take.
 */
const SPIN_BLOCKING_NS = { hardware: 5_000_000n, software: 300_000n };
const SPIN_ASYNC_NS = 20_000n;
const SPIN_TURNS_NS = 1_000_000n;
/**
 * A thread that sleeps until the GPU is done wakes 0.05 to 0.4 ms late. So it sleeps for a small part of the time that it has
 * waited, again and again: it is late by that part at most, and a long wait is slept through.
 */
const [LEAST_SLEEP_NS, MOST_SLEEP_NS] = [50_000, 100_000_000];
/** The part of one that blocks the thread, and of one that the event loop has to begin anew. */
const [BLOCKED_PART, AWAITED_PART] = [32, 16];

interface Waiter {
  readonly value: number;
  resolve(): void;
  reject(error: unknown): void;
}

export class Timeline {
  readonly semaphore: Handle;
  /** Last value seen; the GPU may be further. */
  completed = 0;
  private readonly out: Bytes = addressOf(8);
  private readonly waitArena = new Arena(1024);
  private readonly waitInfo: number;
  private readonly waitValue: number;
  private waiters: Waiter[] = [];
  private isAwaiting = false;
  private isDestroyed = false;
  /** Set while a worker thread is inside the driver with our semaphore: it must not be destroyed then. */
  private sleeping: Promise<unknown> | null = null;

  constructor(
    private readonly calls: FunctionTable<DeviceFunction>,
    private readonly device: Handle,
    private readonly kind: "hardware" | "software",
    private readonly onAdvance: () => void,
  ) {
    const arena = new Arena(1024);
    const type = arena.pack(L.VkSemaphoreTypeCreateInfo, { semaphoreType: 1, initialValue: 0 });
    const at = arena.room(8);
    check("vkCreateSemaphore", calls.vkCreateSemaphore(device, arena.pack(L.VkSemaphoreCreateInfo, {}, type), 0, at));
    this.semaphore = arena.handle(at);
    this.waitValue = this.waitArena.u64s([0]);
    this.waitInfo = this.waitArena.pack(L.VkSemaphoreWaitInfo, {
      semaphoreCount: 1,
      pSemaphores: this.waitArena.u64s([this.semaphore]),
      pValues: this.waitValue,
    });
  }

  /** Asks the GPU how far it is. */
  poll(): number {
    if (this.isDestroyed) throw new DisposedError("The device was closed.");
    check(
      "vkGetSemaphoreCounterValue",
      this.calls.vkGetSemaphoreCounterValue(this.device, this.semaphore, this.out.address),
    );
    const { view } = this.out;
    const value = view.getUint32(4, true) * 0x100000000 + view.getUint32(0, true);
    if (value > this.completed) {
      this.completed = value;
      this.onAdvance();
    }
    return this.completed;
  }

  /** Blocks the thread until the GPU has passed `value`. */
  waitSync(value: number): void {
    if (this.completed >= value) return;
    const start = process.hrtime.bigint();
    do {
      if (this.poll() >= value) return;
    } while (process.hrtime.bigint() - start < SPIN_BLOCKING_NS[this.kind]);
    while (this.completed < value) {
      this.waitArena.setU64(this.waitValue, value);
      const nap = napAfter(start, BLOCKED_PART);
      check("vkWaitSemaphores", this.calls.vkWaitSemaphores(this.device, this.waitInfo, nap));
      this.poll();
    }
  }

  /** Resolves when the GPU has passed `value`, without blocking the event loop. */
  wait(value: number): Promise<void> {
    try {
      const start = process.hrtime.bigint();
      do {
        if (this.poll() >= value) return Promise.resolve();
      } while (process.hrtime.bigint() - start < SPIN_ASYNC_NS);
    } catch (error) {
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      this.waiters.push({ value, resolve, reject });
      if (!this.isAwaiting) void this.awaitWaiters();
    });
  }

  /** Rejects all waiters. */
  fail(error: unknown): void {
    for (const waiter of this.waiters.splice(0)) waiter.reject(error);
  }

  /** Destroys the semaphore once no worker thread uses it. Waiters are resolved or rejected. */
  async destroy(): Promise<void> {
    this.isDestroyed = true;
    for (const { value, resolve, reject } of this.waiters.splice(0)) {
      if (value <= this.completed) resolve();
      else reject(new DisposedError("The device was closed before this was done."));
    }
    while (this.sleeping) await this.sleeping.catch(() => {});
    this.calls.vkDestroySemaphore(this.device, this.semaphore, 0);
  }

  /** One loop serves all waiters: a few turns of the event loop, then a worker thread that sleeps in the driver. */
  private async awaitWaiters(): Promise<void> {
    this.isAwaiting = true;
    try {
      let start = process.hrtime.bigint();
      while (this.waiters.length > 0) {
        if (this.settle()) start = process.hrtime.bigint();
        if (this.waiters.length === 0) break;
        if (process.hrtime.bigint() - start < SPIN_TURNS_NS) await new Promise((next) => setImmediate(next));
        else await this.sleep(Math.min(...this.waiters.map((waiter) => waiter.value)), napAfter(start, AWAITED_PART));
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.isAwaiting = false;
    }
  }

  private settle(): boolean {
    const now = this.poll();
    const due = this.waiters.filter((waiter) => waiter.value <= now);
    if (due.length === 0) return false;
    this.waiters = this.waiters.filter((waiter) => waiter.value > now);
    for (const waiter of due) waiter.resolve();
    return true;
  }

  private async sleep(value: number, ns: number): Promise<void> {
    const wait = this.calls.vkWaitSemaphores.async;
    // Callbacks of the validation layer must not arrive on a worker thread.
    if (!wait || validationMode()) return new Promise((next) => setTimeout(next, 1));
    const arena = new Arena(512);
    const info = arena.pack(L.VkSemaphoreWaitInfo, {
      semaphoreCount: 1,
      pSemaphores: arena.u64s([this.semaphore]),
      pValues: arena.u64s([value]),
    });
    const call = wait(this.device, info, ns);
    this.sleeping = call;
    try {
      check("vkWaitSemaphores", await call);
    } finally {
      this.sleeping = null;
      arena.reset();
    }
  }
}

/** How long to sleep, in nanoseconds, after a wait that began at `start`. */
function napAfter(start: bigint, part: number): number {
  const waited = Number(process.hrtime.bigint() - start);
  return Math.round(Math.min(MOST_SLEEP_NS, Math.max(LEAST_SLEEP_NS, waited / part)));
}

/**
 * The worker threads of a process (of an isolate, strictly: a program that loads Pumice in a worker thread gets a pool there
 * of its own). All devices share them; jobs run one at a time. The thread that starts a job takes part and waits, or leaves it
 * to the workers and hears of its end.
 *
 * Workers start with the first job that is large enough and do not keep the process alive. A worker that dies in a job
 * takes the job with it: the caller gets a `DeviceError`, and the next job finds a new pool.
 */

import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { DeviceError } from "../../core/errors.js";
import { threadsWanted } from "../../core/threads.js";
import type { WasmMemory, WasmModule } from "../../core/webassembly.js";
import { debug } from "../debug.js";
import { Background } from "./background.js";
import { type Crew, MissedSavings } from "./crew.js";
import { JobBoard, MAX_WORKERS, type RunFunction, spin, work } from "./job-board.js";
import type { Fault, Letter, Report, WorkerData } from "./worker.js";

/** A kernel as it is sent to workers. */
export interface SharedKernel {
  readonly name: string;
  readonly module: WasmModule;
  readonly memory: WasmMemory;
  readonly entry: string;
  /** The main thread's own instance. */
  readonly run: RunFunction;
}

/** Rows of a kernel, to be computed in chunks, from a row on that begins a chunk. */
interface Job {
  readonly kernel: SharedKernel;
  readonly args: number;
  readonly from: number;
  readonly length: number;
  readonly chunk: number;
}

/** A job that was left to workers. */
interface Started {
  readonly job: Job;
  readonly background: Background;
}

interface Member {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly knows: Set<number>;
  hasStarted: boolean;
  /** The operating system's name for the thread, where there is one. */
  thread: string | null;
}

/** Waking a thread takes about 50 µs, as long as a small job; but a thread that polls occupies a core. */
const SPIN_MICROSECONDS = 50;
/** Interval at which the main thread checks that the workers it waits for still exist. */
const CHECK_MILLISECONDS = 100;

const MAX_STILLBORN = 3;

/** The default number of threads, the main one included. */
export function defaultThreads(): number {
  return Math.min(threadsWanted(availableParallelism(), process.env.PUMICE_THREADS), MAX_WORKERS + 1);
}

export class ThreadPool {
  private board = new JobBoard();
  private members: Member[] = [];
  private readonly ids = new WeakMap<SharedKernel, number>();
  private nextId = 1;
  private deaths = 0;
  /** Workers that ended before their first message. */
  private stillborn = 0;
  private started: Started | null = null;
  /** What workers would have saved while they slept. */
  readonly missed = new MissedSavings(SPIN_MICROSECONDS / 1000);
  restarts = 0;

  get workers(): number {
    return this.members.length;
  }

  /** Workers that poll for a job, and help at once. */
  get awake(): number {
    return Math.max(0, this.members.length - this.board.sleeping);
  }

  /** Runs rows in chunks on up to so many threads. Returns when all is done, or throws. */
  run(job: Job, crew: Crew): void {
    const failure = this.complete(this.openFor(job, crew));
    if (failure) throw failure;
  }

  /** The same, but it does not wait for workers that are late: they finish in the background. Null when all is done. */
  share(rows: Job, crew: Crew): Background | null {
    const job = this.openFor(rows, crew);
    const failure = this.takePart(job);
    if (failure === null && !spin(() => this.board.workersInside === 0, SPIN_MICROSECONDS)) return this.leave(job);
    const outcome = this.finish(job, failure);
    if (outcome) throw outcome;
    return null;
  }

  /** Leaves the rows to as many workers, and returns at once. Null where there are no workers. */
  start(job: Job, workers: number): Background | null {
    this.settle();
    this.ensureWorkers(workers);
    return this.members.length === 0 ? null : this.leave(this.open(job, workers, true));
  }

  /** Opens a job in which this thread takes part. */
  private openFor(job: Job, { threads, wakes }: Crew): Job {
    this.settle();
    this.ensureWorkers(threads - 1);
    return this.open(job, Math.min(threads, Math.ceil((job.length - job.from) / job.chunk)) - 1, wakes);
  }

  private leave(job: Job): Background {
    const background = new Background(() => this.settle());
    this.started = { job, background };
    void this.watch(this.started);
    return background;
  }

  /** Finishes the job that was left to workers, if there is one; this thread helps. */
  private settle(): void {
    const { started } = this;
    if (started) this.end(started, this.complete(started.job));
  }

  private open(job: Job, limit: number, wakes: boolean): Job {
    const { args, from, length, chunk } = job;
    if (wakes) this.missed.clear();
    const kernel = this.introduce(job.kernel);
    this.board.open({ kernel, args, length, chunk, limit, done: from / chunk, wakes, workers: this.workers });
    return job;
  }

  /** Takes part in the open job until it is done. Returns why it failed, if it did. */
  private complete(job: Job): Error | null {
    return this.finish(job, this.takePart(job));
  }

  /** Computes chunks until none are left. */
  private takePart({ kernel, args, length, chunk }: Job): Error | null {
    try {
      work(this.board, kernel.run, args, length, chunk);
      return null;
    } catch (error) {
      this.board.abandon();
      return error as Error;
    }
  }

  /** Closes a job of which all chunks are claimed, and waits for those who compute them. */
  private finish({ kernel }: Job, failure: Error | null): Error | null {
    this.board.close();
    return this.waitForWorkers(kernel.name) ?? this.outcome(kernel, failure);
  }

  /** Why a closed job failed, if it did. */
  private outcome({ name }: SharedKernel, failure: Error | null): Error | null {
    if (failure === null && !this.board.hasFailed) return null;
    const [told] = this.readReports();
    return failed(name, failure ?? told ?? { name: "Error", message: "the worker did not say why" });
  }

  // ------------------------------------------------------------------------------------------------ background

  /** Waits for the workers without blocking. The timer keeps the process alive, which the wait itself does not. */
  private async watch(started: Started): Promise<void> {
    const { background, job } = started;
    const { board } = this;
    const timer = setInterval(() => this.check(started), CHECK_MILLISECONDS);
    const chunks = Math.ceil(job.length / job.chunk);
    const isDone = () => board.workersInside === 0 && board.isExhausted(chunks);
    while (!background.isOver) {
      // Looked at after the wait has begun: else the last worker could leave unnoticed in between.
      const leaving = board.leaving();
      if (!isDone()) await Promise.race([leaving, background.over]);
      if (background.isOver || !isDone()) continue;
      // A worker that joined just now finds nothing to do and leaves.
      this.end(started, this.finish(job, null));
    }
    clearInterval(timer);
  }

  /** Looks after a job that takes long: a worker may have died, or have missed it. */
  private check(started: Started): void {
    const { job, background } = started;
    if (background.isOver) return;
    if (this.hasLostWorker()) this.end(started, this.workerDied(job.kernel.name));
    else if (this.members.some(({ hasStarted }) => hasStarted)) this.board.reopen();
  }

  private end(started: Started, failure: Error | null): void {
    if (this.started === started) this.started = null;
    started.background.end(failure);
  }

  /** Tells workers to drop kernels that will not run again. */
  forget(kernels: Iterable<SharedKernel>): void {
    const ids = [...kernels].map((kernel) => this.ids.get(kernel)).filter((id) => id !== undefined);
    if (ids.length === 0 || this.members.length === 0) return;
    for (const member of this.members) {
      post(member, { kind: "forget", ids });
      for (const id of ids) member.knows.delete(id);
    }
    // Workers keep the code alive, and the memory of closed devices.
    this.board.announceMail(true);
  }

  /** Ends the workers; the next large job starts new ones. */
  async close(): Promise<void> {
    this.settle();
    const { members } = this;
    this.board.stop();
    this.reset();
    await Promise.all(members.map(({ worker }) => worker.terminate()));
  }

  /**
   * Makes each worker fail in its next job.
   * @internal for tests: only a worker itself can fail in the middle of a job, and no kernel that we emit does
   */
  injectFault(how: Fault): void {
    for (const member of this.members) post(member, { kind: "fault", how });
    this.board.announceMail();
  }

  /**
   * Ends the workers behind the pool's back.
   * @internal for tests: the operating system may end a thread at any time, and tests cannot reach the workers
   */
  async kill(): Promise<void> {
    await Promise.all(this.members.map(({ worker }) => worker.terminate()));
  }

  /** Starts workers. If threads are forbidden, or their script is not installed, this thread works alone. */
  private ensureWorkers(count: number): void {
    while (this.members.length < count && this.stillborn < MAX_STILLBORN) {
      try {
        this.members.push(this.startWorker());
      } catch (error) {
        this.giveUp(error as Error);
      }
    }
  }

  private giveUp(reason: Error): void {
    this.stillborn = MAX_STILLBORN;
    process.emitWarning(`Pumice cannot start worker threads, so kernels run on one: ${reason.message}`);
  }

  private startWorker(): Member {
    const { port1, port2 } = new MessageChannel();
    const data: WorkerData = {
      board: this.board.memory,
      port: port2,
      spinMicroseconds: SPIN_MICROSECONDS,
      cores: availableParallelism(),
    };
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      name: "pumice",
      workerData: data,
      transferList: [port2],
      // Options of the main program, such as --input-type or --test, are not meant for this script.
      execArgv: [],
    });
    worker.unref();
    port1.unref();
    const member: Member = { worker, port: port1, knows: new Set(), hasStarted: false, thread: null };
    let reason = new Error("they end at once");
    worker.on("error", (error) => {
      reason = error as Error;
      debug(1, () => `a worker thread failed: ${reason.message}`);
    });
    worker.on("exit", () => this.lose(member, reason));
    debug(2, () => `started worker thread ${this.members.length + 1}`);
    return member;
  }

  /** Removes a worker that has ended. Between jobs it is simply replaced, unless it never started. */
  private lose(member: Member, reason: Error): void {
    const at = this.members.indexOf(member);
    if (at < 0) return;
    this.readReports();
    if (!member.hasStarted && ++this.stillborn >= MAX_STILLBORN) this.giveUp(reason);
    this.members.splice(at, 1);
    member.port.close();
    const { started } = this;
    if (started && member.hasStarted) this.end(started, this.workerDied(started.job.kernel.name));
    else if (started && this.members.length === 0) this.settle();
    this.deaths = this.board.dead;
  }

  /** Sends the kernel to those workers that do not have it. */
  private introduce(kernel: SharedKernel): number {
    let id = this.ids.get(kernel);
    if (id === undefined) {
      id = this.nextId++;
      this.ids.set(kernel, id);
    }
    let isNew = false;
    for (const member of this.members) {
      if (member.knows.has(id)) continue;
      const { module, memory, entry } = kernel;
      post(member, { kind: "kernel", id, module, memory, entry });
      member.knows.add(id);
      isNew = true;
    }
    if (isNew) this.board.announceMail();
    return id;
  }

  /** Waits until no worker is inside the closed job. Returns an error when one died. */
  private waitForWorkers(name: string): Error | null {
    const { board } = this;
    const isDone = () => board.workersInside === 0;
    if (isDone() || spin(isDone, SPIN_MICROSECONDS)) return null;
    while (!isDone()) {
      board.waitForLeave(CHECK_MILLISECONDS);
      if (!isDone() && this.hasLostWorker()) return this.workerDied(name);
    }
    return null;
  }

  private workerDied(name: string): Error {
    this.started = null;
    this.abandonWorkers();
    return new DeviceError(
      `A worker thread died while running ${name}; what the kernel was to write is undefined. ` +
        "The threads are started again for the next run.",
    );
  }

  /** Ends all workers, and waits, as far as it can tell, until none writes to memory any more. */
  private abandonWorkers(): void {
    const threads = this.members.map(({ thread }) => thread).filter((thread) => thread !== null);
    this.restarts++;
    void this.close();
    const clock = new Int32Array(new SharedArrayBuffer(4));
    for (let tries = 0; tries < 1000 && threads.some(exists); tries++) Atomics.wait(clock, 0, 0, 1);
  }

  /** Whether a worker died without reporting it. Its exit event would arrive only after we return. */
  private hasLostWorker(): boolean {
    if (this.board.dead > this.deaths) return true;
    this.readReports();
    return this.members.some(({ thread }) => thread !== null && !exists(thread));
  }

  /** Reads the messages of workers; returns the failures. */
  private readReports(): (Report & { kind: "failure" })[] {
    const failures: (Report & { kind: "failure" })[] = [];
    for (const member of this.members) {
      for (let r = receiveMessageOnPort(member.port); r; r = receiveMessageOnPort(member.port)) {
        const report = r.message as Report;
        if (report.kind === "failure") failures.push(report);
        else {
          member.hasStarted = true;
          member.thread = report.id;
        }
      }
    }
    return failures;
  }

  private reset(): void {
    for (const { port } of this.members) port.close();
    this.members = [];
    this.board = new JobBoard();
    this.deaths = 0;
  }
}

function exists(thread: string): boolean {
  return existsSync(`/proc/${thread}`);
}

function post({ port }: Member, letter: Letter): void {
  port.postMessage(letter);
}

/** The error for the caller when a kernel throws, on any thread. */
export function failed(kernel: string, cause: { readonly name: string; readonly message: string }): DeviceError {
  return new DeviceError(`${kernel} failed: ${cause.message} (${cause.name}). What it was to write is undefined.`, {
    cause,
  });
}

let shared: ThreadPool | undefined;

/** The pool of this process. */
export function sharedPool(): ThreadPool {
  shared ??= new ThreadPool();
  return shared;
}

/**
 * The worker threads of a process (of an isolate, strictly: a program that loads Pumice in a worker thread gets a pool there
 * of its own). All devices share them; jobs run one at a time, because the thread that starts a job takes part and waits.
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
  return Math.min(threadsWanted(availableParallelism()), MAX_WORKERS + 1);
}

export class ThreadPool {
  private board = new JobBoard();
  private members: Member[] = [];
  private readonly ids = new WeakMap<SharedKernel, number>();
  private nextId = 1;
  private deaths = 0;
  /** Workers that ended before their first message. */
  private stillborn = 0;
  restarts = 0;

  get workers(): number {
    return this.members.length;
  }

  /** Runs rows 0 to `length` in chunks on up to `threads` threads. Returns when all is done, or throws. */
  run(kernel: SharedKernel, args: number, length: number, chunk: number, threads: number): void {
    const { board } = this;
    const helpers = Math.min(threads, Math.ceil(length / chunk)) - 1;
    this.ensureWorkers(threads - 1);
    board.open({ kernel: this.introduce(kernel), args, length, chunk, limit: helpers });
    let failure: unknown;
    try {
      work(board, kernel.run, args, length, chunk);
    } catch (error) {
      failure = error;
      board.abandon();
    }
    board.close();
    this.waitForWorkers(kernel.name);
    if (failure === undefined && !board.hasFailed) return;
    const [told] = this.readReports();
    const cause = (failure as Error | undefined) ?? told ?? { name: "Error", message: "the worker did not say why" };
    throw failed(kernel.name, cause);
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
    const { members } = this;
    this.board.stop();
    this.reset();
    await Promise.all(members.map(({ worker }) => worker.terminate()));
  }

  /** @internal For tests: makes each worker fail in its next job. */
  injectFault(how: Fault): void {
    for (const member of this.members) post(member, { kind: "fault", how });
    this.board.announceMail();
  }

  /** @internal For tests: ends the workers behind the pool's back. */
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
    const data: WorkerData = { board: this.board.memory, port: port2, spinMicroseconds: SPIN_MICROSECONDS };
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
    this.deaths = this.board.dead;
    member.port.close();
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

  private waitForWorkers(name: string): void {
    const { board } = this;
    const isDone = () => board.workersInside === 0;
    if (isDone() || spin(isDone, SPIN_MICROSECONDS)) return;
    while (!isDone()) {
      board.waitForLeave(CHECK_MILLISECONDS);
      if (isDone() || !this.hasLostWorker()) continue;
      const error = new DeviceError(
        `A worker thread died while running ${name}; what the kernel was to write is undefined. ` +
          "The threads are started anew for the next run.",
      );
      this.abandonWorkers();
      throw error;
    }
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

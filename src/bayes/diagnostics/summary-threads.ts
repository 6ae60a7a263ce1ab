/**
 * Summaries of scalars on several threads: one of a million draws takes some 60 ms, and a GPU draws those of twenty scalars in
 * the time of two. `summary` stays a plain function: this thread takes part, and waits for the others at the end. It
 * depends on none of them: one that has not started gets nothing to do, and what one does not deliver is done here.
 */
import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { threadsWanted } from "../../core/threads.js";
import type { Chains, Draws, ScalarName } from "../draws/draws.js";
import { type SummaryRow, summarizeScalar } from "./scalar-summary.js";
import { scoringMemory } from "./scores.js";

/** Fewer draws than this are done before another thread has started. */
const MANY_DRAWS = 1 << 22;
/** Bytes that all threads may take, and bytes of a thread for each draw of a scalar. */
const MOST_BYTES = 1 << 29;
const BYTES_PER_DRAW = 52;
const MOST_THREADS = 8;

/** States of a thread: waiting for a scalar, or summarizing one. A thread that has not started has state 0. */
export const IDLE = 1;
const BUSY = 2;

/** The data a thread starts with. */
export interface WorkerSetting {
  readonly state: Int32Array;
  readonly port: MessagePort;
}

/** All tasks of a thread are of as many draws. */
export interface SummaryRequest {
  readonly name: string;
  readonly x: Chains;
  readonly superchains: number;
}

/** The rows of scalars, in that order. */
export function summarizeAll(draws: Draws, names: readonly ScalarName<string>[]): SummaryRow[] {
  const size = draws.chains * draws.length;
  const isMuch = size * names.length > MANY_DRAWS;
  const most = Math.min(MOST_THREADS, names.length, Math.floor(MOST_BYTES / BYTES_PER_DRAW / size));
  const wanted = threadsWanted(availableParallelism(), process.env.PUMICE_THREADS);
  const helpers = startHelpers(isMuch ? Math.min(wanted, most) - 1 : 0);
  try {
    return shareOut(draws, names, helpers);
  } finally {
    for (const helper of helpers) helper.end();
  }
}

/** Starts threads: none where they are forbidden. */
function startHelpers(count: number): Helper[] {
  const helpers: Helper[] = [];
  try {
    while (helpers.length < count) helpers.push(new Helper());
  } catch {
    // Fewer threads will do.
  }
  return helpers;
}

/**
 * Shares the scalars out between this thread and helpers, which take the next one when they are done.
 * @internal for tests: shares are compared without threads
 */
export function shareOut(draws: Draws, names: readonly ScalarName<string>[], helpers: readonly Helper[]): SummaryRow[] {
  const { superchains = 1 } = draws;
  const memory = scoringMemory({ chains: draws.chains, draws: draws.length });
  const rows: SummaryRow[] = [];
  const given = new Map<Helper, number>();
  let longest = 0;
  const takeFrom = (helper: Helper, milliseconds: number) => {
    const index = given.get(helper);
    const row = index === undefined ? undefined : helper.take(milliseconds);
    if (index === undefined || !row) return;
    rows[index] = row;
    given.delete(helper);
  };
  for (let next = 0; next < names.length; next++) {
    for (const helper of helpers) {
      takeFrom(helper, 0);
      if (!helper.isIdle || given.has(helper) || next === names.length - 1) continue;
      helper.give({ name: names[next], x: draws.scalar(names[next]), superchains });
      given.set(helper, next++);
    }
    const began = performance.now();
    rows[next] = summarizeScalar(names[next], draws.scalar(names[next]), superchains, memory);
    longest = Math.max(longest, performance.now() - began);
  }
  // Far longer than it can take: a thread that died says nothing.
  for (const helper of helpers) takeFrom(helper, 1000 + 20 * longest);
  for (const index of given.values()) {
    rows[index] = summarizeScalar(names[index], draws.scalar(names[index]), superchains, memory);
  }
  return rows;
}

/** A thread that summarises a scalar at a time. @internal for tests: a thread that does not answer */
export class Helper {
  private readonly state = new Int32Array(new SharedArrayBuffer(4));
  private values = new Float64Array(new SharedArrayBuffer(0));
  private readonly worker: Worker;
  private readonly port = new MessageChannel();

  constructor() {
    const { port1, port2 } = this.port;
    const setting: WorkerSetting = { state: this.state, port: port2 };
    this.worker = new Worker(new URL("./summary-worker.js", import.meta.url), {
      name: "pumice-summary",
      workerData: setting,
      transferList: [port2],
      // Options of the main program, such as --input-type or --test, are not meant for this script.
      execArgv: [],
    });
    port1.unref();
    this.worker.unref();
    // It will not become idle then, or not deliver.
    this.worker.on("error", () => {});
  }

  /** Whether it has started, and has nothing to do. */
  get isIdle(): boolean {
    return Atomics.load(this.state, 0) === IDLE;
  }

  give({ x, ...rest }: SummaryRequest): void {
    if (this.values.length !== x.values.length)
      this.values = new Float64Array(new SharedArrayBuffer(x.values.byteLength));
    this.values.set(x.values);
    Atomics.store(this.state, 0, BUSY);
    const task: SummaryRequest = { ...rest, x: { ...x, values: this.values } };
    this.port.port1.postMessage(task);
  }

  /** The row of its task, if it comes in that time. */
  take(milliseconds: number): SummaryRow | undefined {
    Atomics.wait(this.state, 0, BUSY, milliseconds);
    return this.isIdle ? receiveMessageOnPort(this.port.port1)?.message : undefined;
  }

  end(): void {
    this.port.port1.close();
    void this.worker.terminate();
  }
}

/**
 * A worker thread of the host engine: waits for jobs on the board, helps with them, and goes back to waiting. It never
 * returns to its event loop; kernels arrive through a port that it reads when the board says so.
 */
import { readlinkSync } from "node:fs";
import { type MessagePort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { type WasmMemory, type WasmModule, WebAssembly } from "../../core/webassembly.js";
import { JobBoard, type RunFunction, spin, work } from "./job-board.js";

/** The data a worker starts with. */
export interface WorkerData {
  readonly board: SharedArrayBuffer;
  readonly port: MessagePort;
  /** The time to poll for the next job before sleeping. */
  readonly spinMicroseconds: number;
  /** Threads that the machine runs at once. */
  readonly cores: number;
}

/** Messages from the main thread. */
export type Letter =
  | {
      readonly kind: "kernel";
      readonly id: number;
      readonly module: WasmModule;
      readonly memory: WasmMemory;
      readonly entry: string;
    }
  | { readonly kind: "forget"; readonly ids: readonly number[] }
  /** Fail in the next job. Only tests send it (`ThreadPool.injectFault`): nothing else makes a worker fail inside a job. */
  | { readonly kind: "fault"; readonly how: Fault };

/** Exit, exit without a report, or throw. */
export type Fault = "exit" | "vanish" | "throw";

/** Messages to the main thread: the thread's identity, and failures of kernels. */
export type Report =
  | { readonly kind: "thread"; readonly id: string | null }
  | { readonly kind: "failure"; readonly name: string; readonly message: string; readonly stack: string };

const { board: shared, port, spinMicroseconds, cores } = workerData as WorkerData;
const board = new JobBoard(shared);
const letters = new Map<number, Letter & { kind: "kernel" }>();
const instances = new Map<number, RunFunction>();
let mailRead = 0;
let fault: Fault | null = null;

function send(report: Report): void {
  port.postMessage(report);
}

function readMail(): void {
  const mail = board.mail;
  if (mail === mailRead) return;
  mailRead = mail;
  for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
    const letter = received.message as Letter;
    if (letter.kind === "kernel") letters.set(letter.id, letter);
    else if (letter.kind === "fault") fault = letter.how;
    else {
      for (const id of letter.ids) {
        letters.delete(id);
        instances.delete(id);
      }
    }
  }
}

function instanceOf(id: number): RunFunction | undefined {
  const known = instances.get(id);
  if (known) return known;
  readMail();
  const letter = letters.get(id);
  if (!letter) return undefined;
  const { exports } = new WebAssembly.Instance(letter.module, { env: { memory: letter.memory } });
  const run = exports[letter.entry] as RunFunction;
  instances.set(id, run);
  return run;
}

/** Helps with the open job. False where there is none, or where others are enough. */
function help(): boolean {
  const job = board.join();
  if (!job) return false;
  if (fault === "vanish") process.removeAllListeners("exit");
  if (fault === "exit" || fault === "vanish") process.exit(1);
  try {
    if (fault === "throw") throw new Error("a fault was asked for");
    const run = instanceOf(job.kernel);
    // The kernel has not arrived yet: the other threads do this job.
    if (run) work(board, run, job.args, job.length, job.chunk);
  } catch (error) {
    const { name, message, stack = "" } = error as Error;
    send({ kind: "failure", name, message, stack });
    board.fail();
  }
  board.leave();
  return true;
}

function threadId(): string | null {
  try {
    // "<process>/task/<thread>", on systems with /proc: the main thread can check whether this thread still exists.
    return readlinkSync("/proc/thread-self");
  } catch {
    return null;
  }
}

process.on("exit", () => board.die());
send({ kind: "thread", id: threadId() });
// It polls after it helped or was woken. Jobs that others do keep it awake only where it takes no core from them.
let idleSince = performance.now();
while (!board.isStopped) {
  const { news } = board;
  readMail();
  if (help() || board.awake < cores) idleSince = performance.now();
  if (spin(() => board.news !== news, spinMicroseconds, idleSince)) continue;
  board.sleepSince(news);
  idleSince = performance.now();
}
process.removeAllListeners("exit");

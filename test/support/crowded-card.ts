/**
 * A program on a card that it shares with others, in a process of its own, or in a thread with a device and a garbage collector
 * of its own. test/engines/vulkan/garbage.test.ts starts it.
 */
import type { ChildProcess } from "node:child_process";
import { parentPort, type Worker, workerData } from "node:worker_threads";
import { type DeviceBuffer, openDevice } from "../../src/vulkan/index.js";
import { takenByProcesses, takenByThreads } from "./card-count.js";
import { FaultyDriver } from "./fault-injection.js";

export interface CrowdedProgram {
  readonly index: number;
  readonly cardBytes: number;
  /** Who shares the card: threads with this memory, or processes with this folder. */
  readonly taken: SharedArrayBuffer | string;
  readonly bufferBytes: number;
  /** Buffers that it drops, one after another, and does not dispose of. */
  readonly dropped: number;
  /** Buffers that it then makes and keeps until it is told to end. */
  readonly kept: number;
}

export interface CrowdedReport {
  readonly collections: number;
  readonly error: string | null;
}

async function run({ index, cardBytes, taken, bufferBytes, dropped, kept }: CrowdedProgram): Promise<void> {
  const counted = typeof taken === "string" ? takenByProcesses(taken) : takenByThreads(taken);
  const driver = new FaultyDriver({ card: { bytes: cardBytes, taken: counted } });
  const device = await openDevice({ index, cacheFolder: null, interpose: driver.interpose });
  const held: DeviceBuffer[] = [];
  let error: string | null = null;
  try {
    let last = device.allocUninitialized(bufferBytes);
    for (let i = 0; i < dropped; i++) {
      const next = device.allocUninitialized(bufferBytes);
      next.copyFrom(last);
      last = next;
      if (i % 8 === 7) await device.finish();
    }
    for (let i = 0; i < kept; i++) held.push(device.alloc(bufferBytes));
  } catch (reason) {
    error = (reason as Error).message;
  }
  const report: CrowdedReport = { collections: device.stats().collections, error };
  const parent = parentPort ?? process;
  if (parentPort) parentPort.postMessage(report);
  else process.send?.(report);
  await new Promise<void>((resolve) => void parent.once("message", () => resolve()));
  await device.close();
  if (!parentPort) process.disconnect();
}

/** The report of a program that was started. */
export const reportOf = (program: Worker | ChildProcess): Promise<CrowdedReport> =>
  new Promise((resolve, reject) => {
    program.once("message", resolve);
    program.once("error", reject);
    program.once("exit", (code: number) => reject(new Error(`The program ended with ${code} before it reported.`)));
  });

/** Given to a thread as its data, to a process as its last argument. */
const given = process.send ? process.argv[2] : undefined;
const program = given?.startsWith("{")
  ? (JSON.parse(given) as CrowdedProgram)
  : (workerData as { readonly crowded?: CrowdedProgram } | null)?.crowded;
if (program) void run(program);

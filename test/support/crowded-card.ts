/**
 * A program on a card that it shares with others, in a thread with a device and a garbage collector of its own: what two
 * processes are to each other. test/engines/vulkan/garbage.test.ts starts it.
 */
import { parentPort, type Worker, workerData } from "node:worker_threads";
import { type DeviceBuffer, openDevice } from "../../src/vulkan/index.js";
import { FaultyDriver } from "./fault-injection.js";

export interface CrowdedProgram {
  readonly index: number;
  readonly cardBytes: number;
  readonly taken: SharedArrayBuffer;
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
  const driver = new FaultyDriver({ card: { bytes: cardBytes, taken: new BigInt64Array(taken) } });
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
  parentPort?.postMessage(report);
  await new Promise<void>((resolve) => parentPort?.once("message", () => resolve()));
  await device.close();
}

/** The report of a program that was started. */
export const reportOf = (worker: Worker): Promise<CrowdedReport> =>
  new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });

const program = (workerData as { readonly crowded?: CrowdedProgram } | null)?.crowded;
if (program) void run(program);

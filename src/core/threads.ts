/** How many threads to share work among, for the host engine and for statistics of many draws. */
import { availableParallelism } from "node:os";
import { ArgumentError } from "./errors.js";

/** The main thread included: PUMICE_THREADS, or as many as the machine can run at once. */
export function threadsWanted(): number {
  const wish = process.env.PUMICE_THREADS;
  if (wish === undefined || wish === "") return availableParallelism();
  const threads = Number(wish);
  if (Number.isInteger(threads) && threads >= 1) return threads;
  throw new ArgumentError(`PUMICE_THREADS=${wish}: a number of threads is whole, from 1 up.`);
}

/** Chunks per thread: enough that a thread that comes late or is interrupted does not keep the others waiting. */
const CHUNKS_PER_THREAD = 4;

/** How many rows a thread takes at a time; null where there are so few that the calling thread does them by itself. */
export function chunkOf(length: number, grain: number, threads: number): number | null {
  if (threads === 1 || length < 2 * grain) return null;
  const share = length / (threads * CHUNKS_PER_THREAD);
  return Math.max(1, Math.ceil(share / grain)) * Math.ceil(grain);
}

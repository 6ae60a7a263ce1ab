/** The number of threads, and the chunks of rows that they share. */
import { ArgumentError } from "./errors.js";

/** Threads to use, the main thread included: as PUMICE_THREADS (`wish`) says, or all that the machine can run at once. */
export function threadsWanted(available: number, wish: string | undefined): number {
  if (wish === undefined || wish === "") return available;
  const threads = Number(wish);
  if (Number.isInteger(threads) && threads >= 1) return threads;
  throw new ArgumentError(`PUMICE_THREADS=${wish}: a number of threads is whole, from 1 up.`);
}

/** Chunks per thread: enough that a thread that comes late or is interrupted does not keep the others waiting. */
const CHUNKS_PER_THREAD = 4;

/** The rows that a thread takes at a time; null where they are so few that the calling thread does them by itself. */
export function chunkOf(length: number, grain: number, threads: number): number | null {
  if (threads === 1 || length < 2 * grain) return null;
  const share = length / (threads * CHUNKS_PER_THREAD);
  return Math.max(1, Math.ceil(share / grain)) * Math.ceil(grain);
}

/** The time a thread was busy, which other processes on the machine do not lengthen as they do the clock's. */
import { readFileSync } from "node:fs";

/** Milliseconds that the main thread has run; where the system does not say, of the clock. */
export function threadMilliseconds(): number {
  try {
    // Nanoseconds on a processor, then waiting for one, then the number of turns.
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

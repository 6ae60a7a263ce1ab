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

/** The warmup as Stan divides it: a fast start, slow windows that double in length, and a fast end. Pure. */
import { SCHEDULE } from "../kernels/layout.js";

const START = 75;
const WINDOW = 25;
const END = 50;

/** For each draw of the warmup, what it does to the metric: whether it counts, and whether it closes a window. */
export function warmupSchedule(draws: number): Int32Array {
  const flags = new Int32Array(Math.max(1, draws));
  if (draws < 20) return flags;
  const isShort = draws < START + WINDOW + END;
  const start = isShort ? Math.floor(0.15 * draws) : START;
  const end = isShort ? Math.floor(0.1 * draws) : END;
  let window = isShort ? draws - start - end : WINDOW;
  let next = start;
  while (next < draws - end) {
    // A window that would leave too little for one of twice its length takes the rest.
    const close = next + 3 * window > draws - end ? draws - end : next + window;
    flags.fill(SCHEDULE.counts, next, close);
    flags[close - 1] |= SCHEDULE.closes;
    next = close;
    window *= 2;
  }
  return flags;
}

/**
 * How the time of a reader grows with its text: 160 KB against 1.6 MB. A reader that looks at everything once takes ten times
 * as long, one that begins anew at every character a hundred times (and minutes). What counts is the processor's time, the best
 * of a few, and the bound lies between the two.
 */
import assert from "node:assert/strict";

const SHORT = 160_000;
const LONG = 10 * SHORT;
const MOST = 40;
/** Milliseconds that are too few to tell. */
const FLOOR = 10;

export function growthOf(read: (length: number) => void): void {
  const time = (length: number) => {
    const began = process.cpuUsage();
    read(length);
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
  const first = time(SHORT);
  assert.ok(first < 5000, `${SHORT} characters took ${first.toFixed(0)} ms`);
  const short = Math.min(first, time(SHORT), time(SHORT));
  const long = Math.min(time(LONG), time(LONG));
  const ratio = long / Math.max(short, FLOOR);
  assert.ok(ratio < MOST, `ten times the text took ${ratio.toFixed(0)} times as long: ${long.toFixed(0)} ms`);
}

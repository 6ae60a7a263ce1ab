/**
 * The progress of a run as text: on a terminal a line that is written over itself, elsewhere, as in the log of a job, a
 * line now and then.
 */
import type { Progress } from "./run.js";

export interface ProgressLine {
  update(progress: Progress): void;
  done(): void;
}

/** Draws of every chain that a run comes to, in its warmup and after. */
interface Wanted {
  readonly warmup: number;
  readonly draws: number;
}

const WIDTH = 24;
/** Between lines where there is no terminal. */
const LOG_MS = 10_000;

const sum = (values: Iterable<number>): number => Array.from(values).reduce((total, n) => total + n, 0);

/** The line itself, to be tested without a terminal. @internal for tests: the line is compared as text */
export function formatProgress(progress: Progress, wanted: Wanted): string {
  const { phase, warmup, draws, divergences, stepSizes, ess, milliseconds } = progress;
  const chains = draws.length;
  // While some chains warm up, what others have drawn by then is not told: the line would not know where to end.
  const [done, all] = phase === "warmup" ? [sum(warmup), wanted.warmup] : [sum(draws), wanted.draws];
  const share = Math.min(1, done / (all * chains));
  const bar = "█".repeat(Math.round(WIDTH * share)).padEnd(WIDTH, "░");
  const diverged = sum(divergences);
  const parts = [
    `${phase} ${bar} ${Math.floor(100 * share)} %`,
    ...(phase === "sampling" ? [`${done} draws`] : []),
    `step ${(sum(stepSizes) / chains).toPrecision(2)}`,
    ...(diverged > 0 ? [`${diverged} divergences`] : []),
    ...(Number.isFinite(ess) ? [`ESS ${Math.round(ess)}`] : []),
    `${(milliseconds / 1000).toFixed(1)} s`,
  ];
  return parts.join(" · ");
}

/** The destination of lines. @internal for tests: a terminal that is none */
export type Output = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">;

export function progressLine(wanted: Wanted, out: Output = process.stderr): ProgressLine {
  return out.isTTY ? terminalLine(wanted, out) : logLines(wanted, out);
}

function terminalLine(wanted: Wanted, out: Output): ProgressLine {
  let isBegun = false;
  return {
    update: (progress) => {
      isBegun = true;
      // A longer line would wrap, and its first part would stay on the terminal.
      const line = formatProgress(progress, wanted).slice(0, Math.max(1, (out.columns || 80) - 1));
      out.write(`\r\x1b[K${line}`);
    },
    done: () => {
      if (isBegun) out.write("\n");
    },
  };
}

function logLines(wanted: Wanted, out: Output): ProgressLine {
  let last: Progress | null = null;
  let written = 0;
  const write = (progress: Progress) => {
    written = progress.milliseconds;
    out.write(`${formatProgress(progress, wanted)}\n`);
  };
  return {
    update: (progress) => {
      last = progress;
      if (progress.milliseconds - written >= LOG_MS) write(progress);
    },
    done: () => {
      if (last && last.milliseconds > written) write(last);
    },
  };
}

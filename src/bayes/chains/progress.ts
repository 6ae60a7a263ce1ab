/** A line on the terminal that says how far a run has come, written over itself; nothing where there is no terminal. */
import type { Progress } from "./run.js";

export interface ProgressLine {
  update(progress: Progress): void;
  done(): void;
}

const WIDTH = 24;

/** The line itself, to be tested without a terminal. */
export function formatProgress(
  { phase, draws, divergences, stepSizes, ess, milliseconds }: Progress,
  wanted: number,
): string {
  const total = draws.reduce((sum, n) => sum + n, 0);
  const share = total / (wanted * draws.length);
  const bar = "█".repeat(Math.round(WIDTH * share)).padEnd(WIDTH, "░");
  const diverged = divergences.reduce((sum, n) => sum + n, 0);
  const step = stepSizes.reduce((sum, n) => sum + n, 0) / stepSizes.length;
  const parts = [
    `${phase} ${bar} ${Math.round(100 * share)} %`,
    `${total} draws`,
    `step ${step.toPrecision(2)}`,
    ...(diverged > 0 ? [`${diverged} divergences`] : []),
    ...(Number.isFinite(ess) ? [`ESS ${Math.round(ess)}`] : []),
    `${(milliseconds / 1000).toFixed(1)} s`,
  ];
  return parts.join(" · ");
}

/** `wanted`: draws of every chain at the end. */
export function progressLine(wanted: number, out: NodeJS.WriteStream = process.stderr): ProgressLine {
  if (!out.isTTY) return { update: () => {}, done: () => {} };
  let isBegun = false;
  return {
    update: (progress) => {
      isBegun = true;
      out.write(`\r\x1b[K${formatProgress(progress, wanted)}`);
    },
    done: () => {
      if (isBegun) out.write("\n");
    },
  };
}

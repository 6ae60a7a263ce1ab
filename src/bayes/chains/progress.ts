/** The line that tells of chains on their way: warmup or sampling, draws, step size, divergences, effective sample size. */
import { progressBar } from "../../runs/progress-line.js";
import type { Progress } from "./run.js";

/** Draws of every chain that a run comes to, in its warmup and after. */
interface Wanted {
  readonly warmup: number;
  readonly draws: number;
}

const sum = (values: Iterable<number>): number => Array.from(values).reduce((total, n) => total + n, 0);

/** The line itself, as text. */
export function formatProgress(progress: Progress, wanted: Wanted): string {
  const { phase, warmup, draws, divergences, stepSizes, ess, milliseconds } = progress;
  const chains = draws.length;
  // While some chains warm up, what others have drawn by then is not told: the line would not know where to end.
  const [done, all] = phase === "warmup" ? [sum(warmup), wanted.warmup] : [sum(draws), wanted.draws];
  const diverged = sum(divergences);
  const parts = [
    `${phase} ${progressBar(done / (all * chains))}`,
    ...(phase === "sampling" ? [`${done} draws`] : []),
    `step ${(sum(stepSizes) / chains).toPrecision(2)}`,
    ...(diverged > 0 ? [`${diverged} divergences`] : []),
    ...(Number.isFinite(ess) ? [`ESS ${Math.round(ess)}`] : []),
    `${(milliseconds / 1000).toFixed(1)} s`,
  ];
  return parts.join(" · ");
}

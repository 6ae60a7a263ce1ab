/** The progress of a training: what those who watch hear of, and the line on a terminal. */
import { progressBar } from "../../runs/progress-line.js";
import { shownNumber } from "./history.js";
import type { Metrics } from "./meter.js";

/** Where a training is. */
export interface TrainingProgress {
  readonly phase: "training" | "validating";
  /** Steps that are done, and how many there will be; null where nobody knows. */
  readonly step: number;
  readonly steps: number | null;
  /** The epoch that is under way, counted from 1, and how many there will be. */
  readonly epoch: number;
  readonly epochs: number | null;
  /** Means over the epoch so far, as they were last read, and those of the last validation as "validation.loss" … */
  readonly metrics: Metrics;
  readonly stepsPerSecond: number;
  /** The time that the rest will take at this rate; null where nobody knows. */
  readonly secondsLeft: number | null;
  readonly milliseconds: number;
}

/** The line itself, as text. */
export function formatTraining(progress: TrainingProgress): string {
  const { phase, step, steps, epoch, epochs, metrics, stepsPerSecond, secondsLeft } = progress;
  const parts = [
    epochs === null ? `epoch ${epoch}` : `epoch ${Math.min(epoch, epochs)}/${epochs}`,
    steps === null ? `step ${step}` : progressBar(steps === 0 ? 1 : step / steps),
    ...(phase === "validating" ? ["validating"] : []),
    ...(stepsPerSecond > 0 ? [`${shownRate(stepsPerSecond)} steps/s`] : []),
    ...(secondsLeft === null ? [] : [`${shownSeconds(secondsLeft)} left`]),
    ...Object.entries(metrics).map(([name, value]) => `${name} ${shownNumber(value)}`),
  ];
  return parts.join(" · ");
}

const shownRate = (rate: number): string => (rate >= 10 ? String(Math.round(rate)) : rate.toPrecision(2));

/** "9 s", "3:05", "2:10:00". */
function shownSeconds(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/**
 * What follows a metric from epoch to epoch: early stopping, the best parameters, smaller rates on plateaus, and goals. They
 * are pure functions of numbers, with a state that goes into checkpoints.
 */
import { checkChoice, checkNumber, checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { tensor } from "../../tensor/index.js";
import { type Plateau, type PlateauOptions, type PlateauState, plateau } from "../schedules/plateau.js";
import type { Metrics } from "./meter.js";
import { modeOf } from "./metric-choice.js";

/** A metric to follow. */
export interface Monitor {
  /** "validation.loss" where there is a validation, and "loss" elsewhere, unless told. */
  readonly monitor?: string;
  /** Whether smaller or larger is better; by the metric's name unless told. */
  readonly mode?: "min" | "max";
}

/** Options of `earlyStop`. */
export interface EarlyStopOptions extends Monitor {
  /** The run ends when the metric has not got better so many times in a row; 5. */
  readonly patience?: number;
  /** By how much a value must be better to count; 0. */
  readonly threshold?: number;
}

/** Options of `reduceOnPlateau`. */
export interface ReduceOnPlateauOptions extends Monitor, Omit<PlateauOptions, "mode"> {}

/** Values to reach, by metric: `{ "validation.accuracy": 0.98 }`; or a function of the metrics that says when to end. */
export type Until = Readonly<Record<string, number>> | ((metrics: Metrics) => boolean);

/** The best value so far and how many were no better since. */
export interface Standing {
  readonly best: number | null;
  readonly bad: number;
}

export const NO_STANDING: Standing = { best: null, bad: 0 };

/** A metric that is followed, with all its options. */
export interface Followed {
  readonly monitor: string;
  readonly mode: "min" | "max";
}

/** The standing after one more value. NaN is never better. */
export function judged({ best, bad }: Standing, value: number, mode: "min" | "max", threshold = 0): Standing {
  const gain = mode === "min" ? (best ?? 0) - value : value - (best ?? 0);
  const isBetter = best === null ? !Number.isNaN(value) : gain > threshold;
  return isBetter ? { best: value, bad: 0 } : { best, bad: bad + 1 };
}

/** The metric that options name, or the usual one. */
export function followed(what: string, { monitor, mode }: Monitor, hasValidation: boolean): Followed {
  const name = monitor ?? (hasValidation ? "validation.loss" : "loss");
  if (typeof name !== "string")
    throw new ArgumentError(`${what}: monitor is the name of a metric, not ${shown(name)}.`);
  if (name.startsWith("validation.") && !hasValidation) {
    throw new ArgumentError(`${what}: "${name}" needs the option validation.`);
  }
  checkChoice(what, "mode", mode, ["min", "max"]);
  return { monitor: name, mode: mode ?? modeOf(name) };
}

/** The value of a metric by name. */
export function metricIn(what: string, metrics: Metrics, name: string): number {
  const value = metrics[name];
  if (value !== undefined) return value;
  throw new ArgumentError(`${what}: there is no metric "${name}"; there are ${Object.keys(metrics).join(", ")}.`);
}

/** Early stopping, with its defaults. */
export interface EarlyStop extends Followed {
  readonly patience: number;
  readonly threshold: number;
}

export function earlyStopOf(options: EarlyStopOptions, hasValidation: boolean): EarlyStop {
  const what = "train: earlyStop";
  checkOptions(what, options, { monitor: "text", mode: "text", patience: "number", threshold: "number" });
  const { patience = 5, threshold = 0 } = options;
  checkWhole(what, "patience", patience, 1);
  return { ...followed(what, options, hasValidation), patience, threshold };
}

/** A plateau that follows a metric. Its state are tensors of the CPU. */
export interface ReduceOnPlateau extends Followed {
  readonly plateau: Plateau;
}

export function reduceOnPlateauOf(options: ReduceOnPlateauOptions, hasValidation: boolean): ReduceOnPlateau {
  const { monitor, mode, ...rest } = options;
  const follows = followed("train: reduceOnPlateau", { monitor, mode } as Monitor, hasValidation);
  return { ...follows, plateau: plateau({ ...rest, mode: follows.mode }) };
}

/** The state after one more value, and the scale of the rate. */
export async function plateaued(
  { plateau: rule }: ReduceOnPlateau,
  state: PlateauState,
  value: number,
): Promise<{ readonly state: PlateauState; readonly scale: number }> {
  const next = rule.update(tensor(value, { device: "cpu" }), state);
  return { state: next, scale: Number(await next.scale.item()) };
}

/** Whether all goals are reached. */
export function isReached(until: Until, metrics: Metrics): boolean {
  if (typeof until === "function") return until(metrics);
  return Object.entries(until).every(([name, goal]) => {
    const value = metricIn("train: until", metrics, name);
    return modeOf(name) === "min" ? value <= goal : value >= goal;
  });
}

export function checkUntil(until: Until, hasValidation: boolean): void {
  if (typeof until === "function") return;
  if (typeof until !== "object" || until === null || Object.keys(until).length === 0) {
    throw new ArgumentError(`train: until is { loss: 0.1 } or a function of the metrics, not ${shown(until)}.`);
  }
  for (const [name, goal] of Object.entries(until)) {
    followed("train: until", { monitor: name }, hasValidation);
    checkNumber("train: until", `the goal of ${name}`, goal);
  }
}

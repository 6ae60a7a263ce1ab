/** The options of a training run that do not depend on what is trained, their checks, and the rules that are made of them. */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Key, key as keyOf } from "../../random/index.js";
import { checkKey } from "../../random/key.js";
import { checkRunOptions, RUN_OPTION_KINDS, type RunOptions } from "../../runs/options.js";
import type { Batches } from "../data/batches.js";
import { type Handlers, type ReadyHandlers, readyHandlers } from "./events.js";
import {
  checkUntil,
  type EarlyStop,
  type EarlyStopOptions,
  earlyStopOf,
  type Followed,
  followed,
  type Monitor,
  type ReduceOnPlateau,
  type ReduceOnPlateauOptions,
  reduceOnPlateauOf,
  type Until,
} from "./monitors.js";

/** Options of every training. `C`: what is trained; `B`: a batch. */
export interface LoopOptions<C, B> extends RunOptions {
  /** Batches by epoch: a loader, or anything that gives them in this form. */
  readonly data: Batches<B>;
  /** Batches on which the metrics are also computed, without training. */
  readonly validation?: Batches<B>;
  /** Steps between validations; at the end of each epoch unless told. */
  readonly validateEvery?: number;
  /** When the run ends: after so many epochs or steps in all, or when metrics have reached these values. */
  readonly epochs?: number;
  readonly steps?: number;
  readonly until?: Until;
  /** A whole number from which all that is random comes; 0 unless told. Or a key. */
  readonly seed?: number;
  readonly key?: Key;
  /** Handlers of events: `{ epoch: fn, step: [fn, { every: 100 }] }`. */
  readonly on?: Handlers<C>;
  /** Ends the run when a metric no longer gets better. True for the usual metric. */
  readonly earlyStop?: boolean | EarlyStopOptions;
  /** Keeps what was trained where a metric was best, and gives that in the end. True for the usual metric. */
  readonly keepBest?: boolean | Monitor;
  /** Makes the rate smaller when a metric no longer gets better. True for the usual metric. */
  readonly reduceOnPlateau?: boolean | ReduceOnPlateauOptions;
  /** Whether a loss that is NaN or infinite stops the run with an error that names the layer; true unless told. */
  readonly stopOnNonFinite?: boolean;
  /** Ends the run early; what was trained by then is the result. */
  readonly signal?: AbortSignal;
  /** Whether Ctrl-C ends the run, with a last checkpoint; a second one kills the process. True unless told. */
  readonly interrupts?: boolean;
  /** A line of progress on stderr; where stderr is a terminal unless told. */
  readonly progress?: boolean;
  /** A file in which the run is saved every `checkpointSeconds` (60) and at its end. */
  readonly checkpoint?: string;
  readonly checkpointSeconds?: number;
  /**
   * Goes on from the file of `checkpoint` where there is one; or, as a path, from that file, which must be there. As an object, it
   * may say which parts of the run are others than when it began: `{ changed: ["optimizer"] }`.
   */
  readonly resume?: boolean | string | ResumeOptions;
}

/** How a run goes on. */
export interface ResumeOptions {
  /** The checkpoint; that of the option `checkpoint` unless told. */
  readonly path?: string;
  /**
   * Parts that may be others than when the run began: "model", "loss", "optimizer", "precision", "metrics", "data" (also of the
   * validation), "monitor" (the metrics that are followed) and "step" (functions and schedules); true for all.
   */
  readonly changed?: true | readonly string[];
}

/** What they may be. */
export const LOOP_KINDS: OptionKinds<LoopOptions<never, never>> = {
  data: "any",
  validation: "any",
  validateEvery: "number",
  epochs: "number",
  steps: "number",
  until: "any",
  seed: "number",
  key: "any",
  on: "any",
  earlyStop: "any",
  keepBest: "any",
  reduceOnPlateau: "any",
  stopOnNonFinite: "flag",
  interrupts: "flag",
  resume: "any",
  ...RUN_OPTION_KINDS,
};

/** The options as the loop uses them. */
export interface Plan<C, B> extends Omit<LoopOptions<C, B>, "on" | "earlyStop" | "keepBest" | "reduceOnPlateau"> {
  readonly handlers: ReadyHandlers<C>;
  readonly earlyStop: EarlyStop | null;
  readonly keepBest: Followed | null;
  readonly reduceOnPlateau: ReduceOnPlateau | null;
}

/** Checks the options, and makes what follows from them. */
export function planOf<C, B>(options: LoopOptions<C, B>): Plan<C, B> {
  const { on, earlyStop, keepBest, reduceOnPlateau, ...rest } = options;
  const { data, validation, validateEvery, epochs, steps, until, resume, checkpoint } = rest;
  checkBatches("data", data);
  if (validation !== undefined) checkBatches("validation", validation);
  const hasValidation = validation !== undefined;
  const whole = { validateEvery, epochs, steps };
  for (const [name, value] of Object.entries(whole)) {
    if (value !== undefined) checkWhole("train", `the option ${name}`, value, name === "validateEvery" ? 1 : 0);
  }
  if (validateEvery !== undefined && !hasValidation) throw lone("validateEvery", "validation");
  if (epochs === undefined && steps === undefined && until === undefined) {
    throw new ArgumentError("train: nothing says when to end; give { epochs }, { steps } or { until: { loss: 0.1 } }.");
  }
  if (until !== undefined) checkUntil(until, hasValidation);
  checkRunOptions("train", rest, "run.safetensors");
  checkResume(resume, checkpoint);
  const chosen = <T extends object>(value: boolean | T | undefined): T | null =>
    value === true ? ({} as T) : value === false || value === undefined ? null : value;
  const [stop, best, plateau] = [chosen(earlyStop), chosen(keepBest), chosen(reduceOnPlateau)];
  if (best) checkOptions("train: keepBest", best, { monitor: "text", mode: "text" });
  return {
    ...rest,
    handlers: readyHandlers("train", on),
    earlyStop: stop && earlyStopOf(stop, hasValidation),
    keepBest: best && followed("train: keepBest", best, hasValidation),
    reduceOnPlateau: plateau && reduceOnPlateauOf(plateau, hasValidation),
  };
}

/** The key from which all that is random comes, on a device; the default one where null. */
export function keyFor({ seed, key }: Pick<LoopOptions<never, never>, "seed" | "key">, device: string | null): Key {
  if (seed !== undefined && key !== undefined) {
    throw new ArgumentError("train: seed and key say the same; give one of them.");
  }
  const on = device === null ? {} : { device };
  if (key === undefined) return keyOf(seed ?? 0, on);
  checkKey(key, "train", "", "the option key");
  return device === null ? key : (key.to(device) as Key);
}

function checkResume(resume: LoopOptions<never, never>["resume"], checkpoint: string | undefined): void {
  if (resume === undefined || resume === false || typeof resume === "string") return;
  if (resume !== true) {
    if (typeof resume !== "object" || resume === null) {
      throw new ArgumentError(`train: the option resume is true or the path of a checkpoint, not ${shown(resume)}.`);
    }
    checkOptions("train: the option resume", resume, { path: "text", changed: "any" });
    const { changed } = resume;
    const isNames = Array.isArray(changed) && changed.every((name) => typeof name === "string");
    if (changed !== undefined && changed !== true && !isNames) {
      throw new ArgumentError(
        `train: the option resume: changed is true or names of parts, as ["optimizer"], not ${shown(changed)}.`,
      );
    }
    if (resume.path !== undefined) return;
  }
  if (checkpoint === undefined) throw lone("resume", "checkpoint");
}

const lone = (name: string, other: string): ArgumentError =>
  new ArgumentError(`train: the option ${name} needs the option ${other}.`);

function checkBatches(name: string, value: unknown): void {
  if (typeof (value as Partial<Batches<unknown>> | null | undefined)?.epoch === "function") return;
  throw new ArgumentError(
    `train: the option ${name} gives batches, as a loader or { x, y } with { batchSize } does, not ${shown(value)}.`,
  );
}

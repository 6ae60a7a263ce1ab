/**
 * Events of a training, and handlers for them: `on: { epoch: fn, step: [fn, { every: 100 }] }`. A handler sees where the training
 * is and may end it, change the rate or put something else in place of what is trained. It runs between two steps; a promise
 * that it returns is awaited.
 */
import { checkFunction, checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Metrics } from "./meter.js";

/** The events, in the order in which they come. */
const EVENTS = [
  "started",
  "epochStarted",
  "stepStarted",
  "step",
  "validation",
  "improved",
  "epoch",
  "checkpoint",
  "halted",
  "completed",
] as const;

/**
 * started: before the first step, also of a run that goes on. epochStarted, stepStarted: before one. step, epoch: after one.
 * validation: its metrics are there. improved: the metric that `keepBest` follows is better than ever. checkpoint: one was
 * written. halted: the run ended early. completed: it did all that was asked for.
 */
export type EventName = (typeof EVENTS)[number];

/** An event as handlers see it. `C`: what is trained, a tree of tensors. */
export interface TrainingEvent<C = unknown> {
  readonly name: EventName;
  /** Steps that are done, and the epoch that is under way or was just completed, counted from 1. */
  readonly step: number;
  readonly epoch: number;
  /** How often this event has come so far in this training, this time included. */
  readonly count: number;
  /** Metrics as they were last read: means over the epoch so far, and those of the last validation as "validation.loss" … */
  readonly metrics: Metrics;
  /** What is trained: `{ params, state, optimizer }` of a model. It may be kept. */
  readonly carry: C;
  /** Reads the metrics of this moment, which waits for the device. */
  read(): Promise<Metrics>;
  /** Ends the run after this step, with what there is. */
  halt(): void;
  /** Multiplies the updates by this from now on: 0.1 is a tenth of the optimiser's rate. */
  setRate(factor: number): void;
  /** Goes on with something else of the same form. */
  replace(carry: C): void;
}

/** A function that is called at an event. */
export type Handler<C = unknown> = (event: TrainingEvent<C>) => void | Promise<void>;

/** Which times of an event a handler is called; all conditions must hold. */
export interface EventFilter<C = unknown> {
  /** The times that this number divides. */
  readonly every?: number;
  /** The times after the n-th, and before it. */
  readonly after?: number;
  readonly before?: number;
  /** Whatever this function says. */
  readonly when?: (event: TrainingEvent<C>) => boolean;
}

/** A handler, or one with a filter. */
export type Handling<C = unknown> = Handler<C> | readonly [Handler<C>, EventFilter<C> | "always" | "once"];

/** Handlers by event: one, or a list. */
export type Handlers<C = unknown> = { readonly [N in EventName]?: Handling<C> | readonly Handling<C>[] };

/** A handler that is ready to be asked. */
interface Ready<C> {
  readonly handler: Handler<C>;
  isMeant(event: TrainingEvent<C>): boolean;
}

/** Handlers by event, checked. */
export type ReadyHandlers<C> = ReadonlyMap<EventName, readonly Ready<C>[]>;

export function readyHandlers<C>(operation: string, given: Handlers<C> = {}): ReadyHandlers<C> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new ArgumentError(
      `${operation}: the option on is an object, as { epoch: (event) => … }, not ${shown(given)}.`,
    );
  }
  const found = new Map<EventName, readonly Ready<C>[]>();
  for (const [name, handling] of Object.entries(given)) {
    if (!EVENTS.includes(name as EventName)) {
      throw new ArgumentError(`${operation}: there is no event "${name}"; there are ${EVENTS.join(", ")}.`);
    }
    if (handling !== undefined) found.set(name as EventName, readied(`${operation}: on.${name}`, handling));
  }
  return found;
}

function readied<C>(what: string, handling: Handling<C> | readonly Handling<C>[]): Ready<C>[] {
  if (typeof handling === "function") return [{ handler: handling, isMeant: () => true }];
  if (!Array.isArray(handling)) {
    throw new ArgumentError(`${what} is a function, or [function, { every: 100 }], not ${shown(handling)}.`);
  }
  const [first, second] = handling as readonly unknown[];
  const isPair =
    typeof first === "function" && handling.length === 2 && !Array.isArray(second) && typeof second !== "function";
  if (!isPair) return (handling as readonly Handling<C>[]).flatMap((each) => readied(what, each));
  return [{ handler: first as Handler<C>, isMeant: meantBy(what, second as EventFilter<C>) }];
}

function meantBy<C>(what: string, filter: EventFilter<C> | "always" | "once"): Ready<C>["isMeant"] {
  if (filter === "always") return () => true;
  if (filter === "once") return ({ count }) => count === 1;
  if (typeof filter === "string")
    throw new ArgumentError(`${what}: the filter ${shown(filter)} is "always", "once" or an object.`);
  checkOptions(what, filter, { every: "number", after: "number", before: "number", when: "any" });
  const { every = 1, after = 0, before = Number.POSITIVE_INFINITY, when } = filter;
  checkWhole(what, "every", every, 1);
  if (when !== undefined) checkFunction(what, when, "when");
  return (event) => {
    const { count } = event;
    return count % every === 0 && count > after && count < before && (when === undefined || when(event));
  };
}

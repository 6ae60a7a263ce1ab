/**
 * A training under way: its state on the device, where it stands, and the metrics that were read. loop.ts moves it on.
 *
 * Steps are given to the device in pieces of about 60 ms. The metrics of a piece are read while the next one runs, so the
 * device never waits, and the host is never more than two pieces ahead. The bits do not depend on when anything is read.
 */
import { ArgumentError, PumiceError } from "../../core/errors.js";
import { foldIn, type Key, split } from "../../random/index.js";
import { nextBudget } from "../../runs/pace.js";
import type { Tensor } from "../../tensor/index.js";
import { areDrawn, DRAW, type Drawn } from "../data/drawn.js";
import type { PlateauState } from "../schedules/plateau.js";
import type { EventName, TrainingEvent } from "./events.js";
import type { Fingerprint } from "./fingerprint.js";
import type { HistoryRecord } from "./history.js";
import { type Means, type Metrics, type Reading, readMeans, startMeans } from "./meter.js";
import { isReached, judged, metricIn, NO_STANDING, plateaued, type Standing } from "./monitors.js";
import { NonFiniteLossError } from "./non-finite.js";
import type { Plan } from "./options.js";
import {
  type DeviceState,
  type EvaluateProgram,
  evaluateProgram,
  held,
  type StepProgram,
  stepProgram,
  weightOf,
} from "./program.js";
import type { TrainingProgress } from "./progress.js";
import type { Trainer } from "./trainer.js";

/** What was trained where the metric that `keepBest` follows was best. */
export interface Best<C> {
  readonly carry: C;
  readonly value: number;
  readonly epoch: number;
  readonly step: number;
}

/** The batches of the first epoch, of which the first was taken: data that can be read once only are read once. */
export interface OpenedData<B> {
  readonly first: B;
  readonly iterator: AsyncIterator<B>;
}

/** Why a run ended. */
export type Ending = "completed" | "until" | "earlyStop" | "halted" | "aborted" | "interrupted";

/** Where a training stands, besides its state on the device: all that a checkpoint must also hold. */
interface Place<C> {
  step: number;
  /** The epoch under way, counted from 0, and its batches that were seen. */
  epoch: number;
  place: number;
  metrics: Metrics;
  history: HistoryRecord[];
  best: Best<C> | null;
  early: Standing;
  plateau: PlateauState | null;
  /** Factors of the rate: by handlers and by the plateau. */
  rate: number;
  plateauScale: number;
  /** How often events came that are neither steps nor epochs. */
  counts: Record<string, number>;
  /** Milliseconds of runs before this one. */
  spentBefore: number;
}

export class Training<C, B> implements Place<C> {
  step = 0;
  epoch = 0;
  place = 0;
  metrics: Metrics = {};
  history: HistoryRecord[] = [];
  best: Best<C> | null = null;
  early: Standing = NO_STANDING;
  plateau: PlateauState | null;
  rate = 1;
  plateauScale = 1;
  counts: Record<string, number> = {};
  spentBefore = 0;
  /** Set when the run is to end. */
  ending: Ending | null = null;

  private readonly program: StepProgram<C, B>;
  private readonly evaluateBatch: EvaluateProgram<C, B> | null;
  private readonly stepKey: Key;
  private readonly began = performance.now();
  /** The step that this run began with. */
  private firstStep = 0;
  /** From when on steps are counted to tell their rate. */
  private timed: { readonly since: number; readonly step: number } | null = null;
  /** Steps of a piece, and those given to the device since the last one. */
  private budget = 1;
  private given = 0;
  private pieceBegan = performance.now();
  private arriving: Promise<Reading> | null = null;
  private firstMeans: Means;
  private validationMeans: Means | null = null;

  constructor(
    readonly trainer: Trainer<C, B>,
    readonly plan: Plan<C, B>,
    readonly device: string,
    readonly key: Key,
    public state: DeviceState<C>,
    private opened: OpenedData<B> | null,
    /** What the run is made of; empty where it is not saved. */
    readonly print: Fingerprint,
  ) {
    this.stepKey = split(key, 3)[1] as Key;
    this.program = stepProgram(trainer, plan.stopOnNonFinite ?? true);
    this.evaluateBatch = plan.validation
      ? evaluateProgram(evaluationOf(trainer), (batch) => weightOf(trainer, batch))
      : null;
    this.firstMeans = state.means;
    this.state = { ...state, means: held(state.means) };
    this.plateau = plan.reduceOnPlateau?.plateau.init({ device: "cpu" }) ?? null;
  }

  /** Goes on from somewhere else: from a checkpoint. */
  restore(state: DeviceState<C>, place: Place<C>): void {
    this.state = state;
    Object.assign(this, place);
    this.firstStep = this.step;
    this.ending = this.endingByMetrics();
  }

  // ------------------------------------------------------------------------------------------------ steps

  /** The batches of the epoch under way that come next. Those that were opened to see the first one are used. */
  async *batches(): AsyncGenerator<B | Drawn> {
    const { opened, epoch, place } = this;
    const { data } = this.plan;
    if (areDrawn(data)) {
      await this.close();
      yield* data[DRAW](epoch, place);
      return;
    }
    if (!opened || epoch > 0 || place > 0) {
      await this.close();
      yield* data.epoch(epoch, place);
      return;
    }
    yield opened.first;
    this.opened = null;
    yield* { [Symbol.asyncIterator]: () => opened.iterator };
  }

  /** Closes data that were opened and not used. */
  async close(): Promise<void> {
    const { opened } = this;
    this.opened = null;
    await opened?.iterator.return?.();
  }

  /** Whether there is more to do. */
  get isOver(): boolean {
    const { epochs = Number.POSITIVE_INFINITY, steps = Number.POSITIVE_INFINITY } = this.plan;
    return this.ending !== null || this.step >= steps || this.epoch >= epochs;
  }

  /** Gives the device one more step. */
  advance(batch: B | Drawn): void {
    this.state = this.program(this.state, batch, this.stepKey, this.step);
    this.step++;
    this.place++;
    this.given++;
  }

  /** Whether the device has as many steps as it should have at a time. */
  get isPieceGiven(): boolean {
    return this.given >= this.budget;
  }

  /** Begins to read the metrics, and waits for those of the piece before. */
  async endPiece(): Promise<void> {
    const isFirst = this.step - this.given === this.firstStep;
    const before = this.arriving;
    this.given = 0;
    this.arriving = this.reading();
    this.arriving.catch(() => {});
    // Compiling takes long and says nothing about the steps that come.
    if (isFirst) {
      await this.settled();
      this.timed = { since: performance.now(), step: this.step };
    } else if (before) await this.took(await before);
    const now = performance.now();
    if (!isFirst) this.budget = nextBudget(this.budget, now - this.pieceBegan);
    this.pieceBegan = now;
  }

  /** Waits for all steps that were given, and reads the metrics. */
  async settled(): Promise<Metrics> {
    const reading = this.arriving && this.given === 0 ? this.arriving : this.reading();
    this.arriving = null;
    await this.took(await reading);
    return this.metrics;
  }

  private reading(): Promise<Reading> {
    return readMeans(this.state.means, this.state.bad, this.step);
  }

  private async took({ metrics, failedStepsAgo }: Reading): Promise<void> {
    this.metrics = { ...this.metrics, ...metrics };
    if (failedStepsAgo !== null) throw await this.failure();
  }

  /** The error for a step that failed. The state is that before the step. */
  private async failure(): Promise<NonFiniteLossError> {
    const { carry, bad } = this.state;
    const step = Number(await bad.item());
    const place = this.place - (this.step - step);
    const why = await this.reasonOf(carry, place, step);
    const what = this.trainer.hasFailed ? "the loss or a gradient" : "the loss";
    return new NonFiniteLossError(
      `train: ${what} of step ${step + 1} (epoch ${this.epoch + 1}) is not finite${why && `: first, ${why}`}. ` +
        "Try a smaller rate, clip gradients as by optimizers.chain(optimizers.clipByGlobalNorm(1), …), look for logarithms and " +
        `divisions of zero, or train in "bf16" or "f32" if it is in "f16".`,
      step + 1,
      this.epoch + 1,
    );
  }

  /** The trainer's explanation of a step that went wrong; empty where it has none, or the batch cannot be had again. */
  private async reasonOf(carry: C, place: number, step: number): Promise<string> {
    const { trainer, plan } = this;
    if (!trainer.explain) return "";
    try {
      for await (const batch of plan.data.epoch(this.epoch, place)) {
        return await trainer.explain(carry, batch, foldIn(this.stepKey, step));
      }
    } catch (error) {
      // The data are read once only, say. The loss is still what stops the training.
      if (!(error instanceof PumiceError)) throw error;
    }
    return "";
  }

  // ------------------------------------------------------------------------------------------------ epochs

  /** Whether a validation is due after this step. */
  get isValidationDue(): boolean {
    const { validateEvery } = this.plan;
    return validateEvery !== undefined && this.step % validateEvery === 0;
  }

  /** The means begin anew with the next epoch. */
  beginNextEpoch(): void {
    this.epoch++;
    this.place = 0;
    this.state = { ...this.state, means: held(this.firstMeans) };
  }

  /** Computes the metrics of the validation. Yields now and then, so that others have their turn. */
  async *validate(): AsyncGenerator<TrainingProgress> {
    const { validation } = this.plan;
    if (!validation || !this.evaluateBatch) return;
    const { carry } = this.state;
    let means: Means | null = null;
    let began = performance.now();
    for await (const batch of validation.epoch(0)) {
      this.validationMeans ??= startMeans(evaluationOf(this.trainer), carry, batch);
      means = this.evaluateBatch(means ?? held(this.validationMeans), carry, batch);
      if (performance.now() - began < 60) continue;
      await Object.values(means)[0]?.weight.again().data();
      yield this.progress("validating");
      began = performance.now();
    }
    if (!means) throw new ArgumentError("train: the validation has no batches.");
    const { metrics } = await readMeans(means, this.state.bad, this.step);
    const named = Object.entries(metrics).map(([name, value]) => [`validation.${name}`, value]);
    this.metrics = { ...this.metrics, ...Object.fromEntries(named) };
    this.pieceBegan = performance.now();
  }

  /** Notes the metrics, and lets everything that follows them decide. Whether the best so far was found. */
  async judge(): Promise<boolean> {
    const { earlyStop, keepBest, reduceOnPlateau } = this.plan;
    const { metrics, step } = this;
    const epoch = this.epoch + 1;
    const rate = this.rate * this.plateauScale;
    this.history.push({ epoch, step, metrics, rate, seconds: this.milliseconds / 1000 });
    let isBest = false;
    if (keepBest) {
      const value = metricIn("train: keepBest", metrics, keepBest.monitor);
      const standing = { best: this.best?.value ?? null, bad: 0 };
      isBest = judged(standing, value, keepBest.mode).bad === 0;
      if (isBest) this.best = { carry: held(this.state.carry), value, epoch, step };
    }
    if (earlyStop) {
      const value = metricIn("train: earlyStop", metrics, earlyStop.monitor);
      this.early = judged(this.early, value, earlyStop.mode, earlyStop.threshold);
    }
    this.ending ??= this.endingByMetrics();
    if (reduceOnPlateau && this.plateau) {
      const value = metricIn("train: reduceOnPlateau", metrics, reduceOnPlateau.monitor);
      const { state, scale } = await plateaued(reduceOnPlateau, this.plateau, value);
      this.plateau = state;
      if (scale !== this.plateauScale) {
        this.plateauScale = scale;
        this.applyRate();
      }
    }
    return isBest;
  }

  /** Why the metrics that were noted last end the run; null where they do not. */
  private endingByMetrics(): Ending | null {
    const { earlyStop, until } = this.plan;
    const last = this.history.at(-1);
    if (!last) return null;
    if (earlyStop && this.early.bad >= earlyStop.patience) return "earlyStop";
    return until !== undefined && isReached(until, last.metrics) ? "until" : null;
  }

  // ------------------------------------------------------------------------------------------------ handlers

  /** Tells the handlers of an event, those that it is meant for. */
  async emit(name: EventName): Promise<void> {
    const count = this.countOf(name);
    const handlers = this.plan.handlers.get(name);
    if (!handlers) return;
    const event = this.eventOf(name, count);
    for (const { handler, isMeant } of handlers) if (isMeant(event)) await handler(event);
  }

  /** How often an event has come, this time included. */
  private countOf(name: EventName): number {
    if (name === "step") return this.step;
    if (name === "stepStarted") return this.step + 1;
    if (name === "epoch" || name === "epochStarted") return this.epoch + 1;
    const count = (this.counts[name] ?? 0) + 1;
    this.counts[name] = count;
    return count;
  }

  private eventOf(name: EventName, count: number): TrainingEvent<C> {
    const training = this;
    return {
      name,
      count,
      step: this.step,
      epoch: this.epoch + 1,
      metrics: this.metrics,
      get carry() {
        return held(training.state.carry);
      },
      read: () => this.settled(),
      halt: () => {
        this.ending ??= "halted";
      },
      setRate: (factor) => {
        this.rate = factor;
        this.applyRate();
      },
      replace: (carry) => {
        this.state = { ...this.state, carry: held(carry) };
      },
    };
  }

  /** Brings the factors of the rate into the carry. */
  applyRate(): void {
    const { withRate } = this.trainer;
    if (!withRate) {
      throw new ArgumentError("train: this trainer has no rate to change; give it withRate(carry, factor).");
    }
    this.state = { ...this.state, carry: withRate.call(this.trainer, this.state.carry, this.rate * this.plateauScale) };
  }

  // ------------------------------------------------------------------------------------------------ progress

  get milliseconds(): number {
    return this.spentBefore + performance.now() - this.began;
  }

  /** Where it is. */
  progress(phase: TrainingProgress["phase"]): TrainingProgress {
    const { epochs = null, steps: most = null, data } = this.plan;
    const perEpoch = data.batchesPerEpoch;
    const all = perEpoch === null || epochs === null ? null : perEpoch * epochs;
    const steps = all === null || most === null ? (all ?? most) : Math.min(all, most);
    const { timed } = this;
    const counted = timed ? this.step - timed.step : 0;
    const stepsPerSecond = timed && counted > 0 ? (1000 * counted) / (performance.now() - timed.since) : 0;
    return {
      phase,
      step: this.step,
      steps,
      epoch: Math.min(this.epoch + 1, epochs ?? Number.POSITIVE_INFINITY),
      epochs,
      metrics: this.metrics,
      stepsPerSecond,
      secondsLeft: steps === null || stepsPerSecond === 0 ? null : Math.max(0, steps - this.step) / stepsPerSecond,
      milliseconds: this.milliseconds,
    };
  }
}

/** The evaluation of a trainer; without one there is no validation. */
function evaluationOf<C, B>(trainer: Trainer<C, B>): (carry: C, batch: B) => Readonly<Record<string, Tensor>> {
  const { evaluate } = trainer;
  if (!evaluate) throw new ArgumentError("train: a validation needs evaluate(carry, batch) of the trainer.");
  return (carry, batch) => evaluate.call(trainer, carry, batch);
}

/**
 * The stages of tempering: at each, particles are weighed and drawn again at the next temperature, and moved until they have
 * forgotten where they were. Every stage is two programs on the device. `smc` calls this.
 */
import { ArgumentError } from "../../core/errors.js";
import { foldIn, type Key, split } from "../../random/key.js";
import { arange, full, stack, type Tensor, zeros } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import type { Circumstances, Move } from "./moves.js";
import { reweighed } from "./reweighing.js";
import type { Bridge, Particles } from "./tempering.js";

/** A report of one stage. */
export interface SmcStage {
  /** From 0, the start, to 1, the posterior. */
  readonly temperature: number;
  /** The effective number of particles by their weights, before they were drawn again. */
  readonly effective: number;
  /** Of the last move. */
  readonly acceptance: number;
  readonly moves: number;
  /** The largest correlation, over coordinates, of the particles' positions before and after the moves. */
  readonly correlation: number;
}

interface StageOptions {
  readonly move: Move;
  readonly maxMoves: number;
  /** Temperatures rise as far as leaves the particles worth this share of their number. */
  readonly share: number;
  /** Whether moves know the correlations of the cloud. */
  readonly isDense: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (stage: SmcStage) => void;
}

interface Tempered {
  readonly particles: Particles;
  /** For each particle, the number of the first one it comes from. */
  readonly ancestors: Tensor;
  readonly stages: readonly SmcStage[];
  readonly logEvidence: number;
}

/** Moves go on until places correlate less than this with those before, or until three moves lower it by less than a tenth. */
export const FORGOTTEN = 0.1;
const PATIENCE = 3;
const MOST_STAGES = 1000;

/** Leads particles from temperature 0 to 1. */
export async function tempered(bridge: Bridge, first: Particles, key: Key, options: StageOptions): Promise<Tempered> {
  const { dtype, device, shape } = first.points;
  const reweigh = reweighProgram(options);
  const apply = moveProgram(bridge, options.move);
  let particles = first;
  let ancestors: Tensor = arange(0, shape[0], 1, { dtype: "i32", device });
  let temperature: Tensor = zeros([], { dtype, device });
  let stepSize: Tensor = full([], options.move.firstStep, { dtype, device });
  let logEvidence = 0;
  const stages: SmcStage[] = [];
  do {
    if (stages.length === MOST_STAGES) throw tooSlow(stages);
    const [chooseKey, moveKey] = split(foldIn(key, stages.length));
    const stage = reweigh(chooseKey, particles, ancestors, temperature);
    ({ ancestors, temperature } = stage);
    const [reached, logRatio, effective] = (await stage.figures.data()) as Float64Array;
    logEvidence += logRatio;
    const circumstances = { temperature, factor: stage.factor, stepSize };
    const moved = await movedAround(apply, moveKey, stage.particles, circumstances, options);
    ({ particles, stepSize } = moved);
    const { acceptance, moves, correlation } = moved;
    stages.push({ temperature: reached, effective, acceptance, moves, correlation });
    options.onProgress?.(stages[stages.length - 1]);
  } while (stages[stages.length - 1].temperature < 1);
  return { particles, ancestors, stages, logEvidence };
}

/** Moves until the particles have forgotten where they were, or moves no longer help. */
async function movedAround(
  apply: ReturnType<typeof moveProgram>,
  key: Key,
  first: Particles,
  { temperature, factor, stepSize: firstStep }: Circumstances,
  { maxMoves, signal }: StageOptions,
) {
  let particles = first;
  let stepSize = firstStep;
  let acceptance = 1;
  const correlations = [1];
  const correlation = () => correlations[correlations.length - 1];
  const isFalling = () => !(correlation() > 0.9 * correlations[correlations.length - 1 - PATIENCE]);
  while (correlations.length <= maxMoves && correlation() > FORGOTTEN && isFalling()) {
    signal?.throwIfAborted();
    const moveKey = foldIn(key, correlations.length);
    const result = apply(moveKey, particles, { temperature, factor, stepSize }, first.points);
    ({ particles, stepSize } = result);
    const [accepted, remembered] = (await result.figures.data()) as Float64Array;
    acceptance = accepted;
    correlations.push(remembered);
  }
  return { particles, stepSize, acceptance, moves: correlations.length - 1, correlation: correlation() };
}

function reweighProgram(options: Pick<StageOptions, "share" | "isDense">) {
  return jit((key: Key, particles: Particles, ancestors: Tensor, temperature: Tensor) => {
    const result = reweighed(key, particles, ancestors, temperature, options);
    const figures = stack([result.temperature, result.logRatio, result.effective]);
    return { ...result, figures };
  });
}

function moveProgram(bridge: Bridge, move: Move) {
  return jit((key: Key, particles: Particles, circumstances: Circumstances, origin: Tensor) => {
    const [moved, acceptance] = move.apply(bridge, key, particles, circumstances);
    const stepSize = circumstances.stepSize.mul(acceptance.sub(move.target).exp()).minimum(move.longestStep);
    return { particles: moved, stepSize, figures: stack([acceptance, correlationOf(origin, moved.points)]) };
  });
}

/** The correlation of the same particles' places then and now, of the coordinate that remembers most. */
function correlationOf(then: Tensor, now: Tensor): Tensor {
  const standard = (x: Tensor) => {
    const centred = x.sub(x.mean({ axis: 0 }));
    return centred.div(centred.square().mean({ axis: 0 }).sqrt().maximum(1e-30));
  };
  return standard(then).mul(standard(now)).mean({ axis: 0 }).abs().max();
}

const tooSlow = (stages: readonly SmcStage[]): ArgumentError =>
  new ArgumentError(
    `smc: after ${MOST_STAGES} stages the temperature is ${stages[stages.length - 1].temperature}; the start and the posterior ` +
      "are too far apart. Give proper priors of a size that is possible, standardise the data, or lower effectiveShare.",
  );

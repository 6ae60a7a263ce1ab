/**
 * Sequential Monte Carlo with tempering (Del Moral, Doucet and Jasra 2006; Chopin and Papaspiliopoulos 2020, chapter 17): a
 * cloud of particles goes from the prior to the posterior over a bridge of temperatures. It keeps modes that chains
 * do not travel between, and estimates the evidence on the way. Every stage is two programs on the device.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { foldIn, type Key, split } from "../../random/key.js";
import { arange, full, stack, type Tensor, zeros } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import { Approximation } from "../approximation/approximation.js";
import { namedDraws } from "../approximation/named-draws.js";
import {
  type AnyPosterior,
  type ApproximationOptions,
  checkCount,
  checkMethod,
  settingOf,
} from "../approximation/setting.js";
import { meanOf, varianceOf } from "../diagnostics/chains.js";
import type { Problem } from "../diagnostics/check.js";
import type { Chains, Draws } from "../draws.js";
import { impossibleAt } from "../model/impossible.js";
import { type Circumstances, hamiltonian, type Move, randomWalk } from "./moves.js";
import { reweighed } from "./reweighing.js";
import { type Bridge, bridgeTo, NOWHERE, type Particles, particlesAt } from "./tempering.js";

/** What happened in one stage. */
export interface SmcStage {
  /** From 0, the start, to 1, the posterior. */
  readonly temperature: number;
  /** What the particles' weights were worth before they were drawn again. */
  readonly effective: number;
  /** Of the last move. */
  readonly acceptance: number;
  readonly moves: number;
  /** How much the particles' places after the moves still tell of those before: the largest correlation of a coordinate. */
  readonly correlation: number;
}

export interface SmcOptions extends ApproximationOptions<SmcStage> {
  /** How many particles, and so draws: 2048. */
  readonly particles?: number;
  /** Hamiltonian moves, which follow the gradient, or random walks. */
  readonly move?: "hamiltonian" | "random-walk";
  /** Leapfrog steps of a Hamiltonian move: 10. More, and so shorter ones, reach narrow places better. */
  readonly leapfrogs?: number;
  /** Temperatures rise as far as leaves the particles worth this share of their number: 0.5. */
  readonly effectiveShare?: number;
  /** Moves of a stage at most: 30. */
  readonly maxMoves?: number;
}

/** Moves go on until places correlate less than this with those before, or until three moves lower it by less than a tenth. */
const FORGOTTEN = 0.1;
const PATIENCE = 3;
/** Up to this many dimensions, moves know the correlations of the cloud. */
const DENSE = 64;
const MOST_STAGES = 1000;

/** Draws from a posterior, and an estimate of its evidence, by a cloud of particles. */
export async function smc(posterior: AnyPosterior, options: SmcOptions = {}): Promise<SmcFit> {
  checkMethod("smc", posterior, options, {
    particles: "number",
    move: "any",
    leapfrogs: "number",
    effectiveShare: "number",
    maxMoves: "number",
  });
  checkChoice("smc", "move", options.move, ["hamiltonian", "random-walk"]);
  const { signal, effectiveShare = 0.5 } = options;
  const count = checkCount(options.particles ?? 2048, 8, "smc: particles");
  const maxMoves = checkCount(options.maxMoves ?? 30, 1, "smc: maxMoves");
  if (!(effectiveShare > 0 && effectiveShare < 1)) {
    throw new ArgumentError(`smc: effectiveShare is ${effectiveShare}; it is a share between 0 and 1.`);
  }
  if (options.move === "random-walk" && options.leapfrogs !== undefined) {
    throw new ArgumentError('smc: leapfrogs are those of move: "hamiltonian"; a random walk has none.');
  }
  const move =
    options.move === "random-walk"
      ? randomWalk(posterior.dim)
      : hamiltonian(checkCount(options.leapfrogs ?? 10, 1, "smc: leapfrogs"));
  const setting = settingOf(posterior, options);
  const { dtype, device } = setting;
  const [startKey, stageKey] = split(setting.key);
  const bridge = bridgeTo(posterior, { ...setting, key: startKey }, count);
  const reweigh = reweighProgram({
    share: effectiveShare,
    isDense: posterior.dim <= DENSE && count >= 8 * posterior.dim,
  });
  const apply = moveProgram(bridge, move);

  let particles = jit((points: Tensor) => particlesAt(bridge, points))(bridge.points);
  await checkSomewhere(posterior, particles, bridge);
  let ancestors: Tensor = arange(0, count, 1, { dtype: "i32", device });
  let temperature: Tensor = zeros([], { dtype, device });
  let stepSize: Tensor = full([], move.firstStep, { dtype, device });
  let logEvidence = 0;
  const stages: SmcStage[] = [];
  do {
    if (stages.length === MOST_STAGES) throw tooSlow(stages);
    const [chooseKey, moveKey] = split(foldIn(stageKey, stages.length));
    const stage = reweigh(chooseKey, particles, ancestors, temperature);
    ({ particles, ancestors, temperature } = stage);
    const [reached, logRatio, effective] = (await stage.figures.data()) as Float64Array;
    logEvidence += logRatio;

    const origin = particles.points;
    let acceptance = 1;
    const correlations = [1];
    const correlation = () => correlations[correlations.length - 1];
    const isFalling = () => !(correlation() > 0.9 * correlations[correlations.length - 1 - PATIENCE]);
    while (correlations.length <= maxMoves && correlation() > FORGOTTEN && isFalling()) {
      signal?.throwIfAborted();
      const circumstances = { temperature, factor: stage.factor, stepSize };
      const result = apply(foldIn(moveKey, correlations.length), particles, circumstances, origin);
      ({ particles, stepSize } = result);
      const [accepted, remembered] = (await result.figures.data()) as Float64Array;
      acceptance = accepted;
      correlations.push(remembered);
    }
    const moves = correlations.length - 1;
    stages.push({ temperature: reached, effective, acceptance, moves, correlation: correlation() });
    options.onProgress?.(stages[stages.length - 1]);
  } while (stages[stages.length - 1].temperature < 1);

  const lp = (await particles.start.add(particles.change).data()) as ArrayLike<number>;
  const draws = await namedDraws(posterior, particles.points, lp);
  const families = Array.from((await ancestors.data()) as Int32Array);
  return new SmcFit(draws, { from: bridge.from, stages, logEvidence, families, maxMoves });
}

function reweighProgram(options: { readonly share: number; readonly isDense: boolean }) {
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

async function checkSomewhere(posterior: AnyPosterior, { points, change }: Particles, { from }: Bridge): Promise<void> {
  const possible = (await change.greater(NOWHERE).cast("f32").sum().item()) as number;
  if (possible > 0) return;
  const culprits = (await impossibleAt(posterior, points.at(0))).join(", ");
  throw new ArgumentError(
    `smc: the data are impossible under every particle drawn from ${from === "prior" ? "the prior" : "the start"}` +
      `${culprits && `: ${culprits}`}. ` +
      "Look for data the model cannot produce, for a prior that excludes them, and for 0/0 or log of 0 in the model.",
  );
}

const tooSlow = (stages: readonly SmcStage[]): ArgumentError =>
  new ArgumentError(
    `smc: after ${MOST_STAGES} stages the temperature is ${stages[stages.length - 1].temperature}; the start and the posterior ` +
      "are too far apart. Give proper priors of a size that is possible, standardise the data, or lower effectiveShare.",
  );

/** The result of `smc`. */
export class SmcFit extends Approximation {
  /** Where the particles began: at draws from the prior, or, where it cannot be drawn from, at normal free numbers. */
  readonly from: "prior" | "normal";
  readonly stages: readonly SmcStage[];
  /** The estimated logarithm of the evidence, the probability (density) of the data under the model. */
  readonly logEvidence: number;
  /** Its standard error. */
  readonly logEvidenceError: number;
  /** For each particle, which of the first ones it comes from. */
  private readonly families: readonly number[];
  private readonly maxMoves: number;

  /** @internal */
  constructor(
    draws: Draws,
    found: Pick<SmcFit, "from" | "stages" | "logEvidence"> & {
      readonly families: readonly number[];
      readonly maxMoves: number;
    },
  ) {
    super(draws);
    this.from = found.from;
    this.stages = found.stages;
    this.logEvidence = found.logEvidence;
    this.families = found.families;
    this.maxMoves = found.maxMoves;
    const size = this.families.length;
    const ones = new Float64Array(size).fill(1);
    this.logEvidenceError = Math.sqrt(Math.max(0, sumOfSquares(this.families, ones) / size ** 2 - 1 / size));
  }

  /**
   * Particles of one family, those that come from the same first one, may be alike. What the sums over families vary by
   * is what a mean varies by from run to run (Lee and Whiteley 2018).
   */
  protected effectiveDraws({ values, draws }: Chains): number {
    const mean = meanOf(values);
    const variance =
      sumOfSquares(
        this.families,
        values.map((value) => value - mean),
      ) /
      draws ** 2;
    return Math.min(draws, varianceOf(values) / variance);
  }

  protected doubts(): readonly Problem[] {
    return [...this.fewFamilies(), ...this.stiffMoves()];
  }

  private fewFamilies(): Problem[] {
    const count = new Set(this.families).size;
    if (count >= FEW_FAMILIES && this.logEvidenceError <= 0.5) return [];
    return [
      {
        kind: "particles",
        severity: "warning",
        message:
          `The particles come from ${count} of the ${this.families.length} that began, and the log evidence is known to ` +
          `± ${this.logEvidenceError.toFixed(2)} only.`,
        remedy: "Use more particles, four times as many for half the error; or a prior closer to what is possible.",
        variables: [],
      },
    ];
  }

  private stiffMoves(): Problem[] {
    const last = this.stages[this.stages.length - 1];
    const hasForgotten = last.moves < this.maxMoves || last.correlation <= FORGOTTEN;
    if (hasForgotten && last.acceptance > 0.05) return [];
    return [
      {
        kind: "particles",
        severity: "warning",
        message:
          `The particles hardly moved at the end: ${(100 * last.acceptance).toFixed(0)}% of moves were accepted, and after ` +
          `${last.moves} moves their places still correlate by ${last.correlation.toFixed(2)} with those before.`,
        remedy:
          "Raise maxMoves or, of Hamiltonian moves, leapfrogs; use more particles, or reparameterise (.noncentered()).",
        variables: [],
      },
    ];
  }

  protected praise(): string {
    const evidence = `log evidence ${this.logEvidence.toFixed(2)} ± ${this.logEvidenceError.toFixed(2)}`;
    const start = this.from === "prior" ? "the prior" : "normal free numbers, since the prior cannot be drawn from";
    return `${this.stages.length} stages from ${start}, ${evidence}, and moves that forget where they began`;
  }
}

const FEW_FAMILIES = 50;

/** Over families, the squares of their sums. */
function sumOfSquares(families: readonly number[], values: Float64Array): number {
  const sums = new Float64Array(families.length);
  families.forEach((family, i) => {
    sums[family] += values[i];
  });
  return sums.reduce((total, sum) => total + sum * sum, 0);
}

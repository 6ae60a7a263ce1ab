/**
 * Sequential Monte Carlo with tempering (Del Moral, Doucet and Jasra 2006; Chopin and Papaspiliopoulos 2020, chapter 17): a
 * cloud of particles goes from the prior to the posterior over a bridge of temperatures. It keeps modes that chains
 * do not travel between, and estimates the evidence on the way.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { split } from "../../random/key.js";
import type { Tensor } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import { namedDraws } from "../approximation/named-draws.js";
import {
  type AnyPosterior,
  type ApproximationOptions,
  checkCount,
  checkMethod,
  settingOf,
} from "../approximation/setting.js";
import { impossibleAt } from "../target/impossible.js";
import { hamiltonian, type Move, randomWalk } from "./moves.js";
import { SmcFit } from "./smc-fit.js";
import { type SmcStage, tempered } from "./stages.js";
import { type Bridge, bridgeTo, NOWHERE, type Particles, particlesAt } from "./tempering.js";

export interface SmcOptions extends ApproximationOptions<SmcStage> {
  /** The number of particles, which is the number of draws: 2048 unless told. */
  readonly particles?: number;
  /** Hamiltonian moves, which follow the gradient, or random walks. */
  readonly move?: "hamiltonian" | "random-walk";
  /** Leapfrog steps of a Hamiltonian move: 10 unless told. More steps are shorter, and reach narrow regions better. */
  readonly leapfrogs?: number;
  /** Temperatures rise as far as leaves the particles worth this share of their number: 0.5. */
  readonly effectiveShare?: number;
  /** Moves of a stage at most: 30. */
  readonly maxMoves?: number;
}

/** Up to this many dimensions, moves use the correlations of the cloud. */
const DENSE = 64;

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
  const { signal, onProgress, effectiveShare: share = 0.5 } = options;
  const count = checkCount(options.particles ?? 2048, 8, "smc: particles");
  const maxMoves = checkCount(options.maxMoves ?? 30, 1, "smc: maxMoves");
  if (!(share > 0 && share < 1)) {
    throw new ArgumentError(`smc: effectiveShare is ${share}; it is a share between 0 and 1.`);
  }
  const move = moveOf(options, posterior.dim);
  const setting = settingOf(posterior, options);
  const [startKey, stageKey] = split(setting.key);
  const bridge = bridgeTo(posterior, { ...setting, key: startKey }, count);
  const first = jit((points: Tensor) => particlesAt(bridge, points))(bridge.points);
  await checkSomewhere(posterior, first, bridge);
  const isDense = posterior.dim <= DENSE && count >= 8 * posterior.dim;
  const { particles, ancestors, stages, logEvidence } = await tempered(bridge, first, stageKey, {
    move,
    maxMoves,
    share,
    isDense,
    signal,
    onProgress,
  });
  const lp = (await particles.start.add(particles.change).data()) as ArrayLike<number>;
  const draws = await namedDraws(posterior, particles.points, lp);
  return new SmcFit(draws, {
    from: bridge.from,
    stages,
    logEvidence,
    ancestors: Array.from((await ancestors.data()) as Int32Array),
    maxMoves,
  });
}

function moveOf({ move, leapfrogs }: SmcOptions, dim: number): Move {
  if (move !== "random-walk") return hamiltonian(checkCount(leapfrogs ?? 10, 1, "smc: leapfrogs"));
  if (leapfrogs === undefined) return randomWalk(dim);
  throw new ArgumentError('smc: leapfrogs are those of move: "hamiltonian"; a random walk has none.');
}

/** The error for data that no particle explains. */
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

/**
 * Numbers of a saved fit that are numbers, but none that a run with this posterior leaves: draws outside the range of their
 * variable, statistics that no sampler notes, chains whose log density is not that of their position (one too large would hold
 * a chain there for ever). Bounds are closed and wide, so that rounding refuses no fit that is as it was saved.
 * `Sampler.resume` calls this once the state has passed saved-state.ts.
 */
import { FormatError } from "../../core/errors.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { vmap } from "../../transforms/vmap.js";
import type { Draws, Statistic } from "../draws/draws.js";
import { INTS, PHASE, REALS, VECTORS } from "../kernels/layout.js";
import type { Sampling } from "./sampling.js";
import type { SavedFit } from "./saved-fit.js";
import { floatsIn } from "./starting-state.js";

type Range = readonly [least: number, most: number];

const ANYWHERE: Range = [-Infinity, Infinity];

/** Of the noted energy nothing is known: that of a divergent draw may be anything. The mean of shares may round above 1. */
const STATISTIC_RANGES: Partial<Record<Statistic, Range>> = {
  lp: [-Number.MAX_VALUE, Number.MAX_VALUE],
  acceptance: [0, 1.001],
  stepSize: [Number.MIN_VALUE, Number.MAX_VALUE],
  treeDepth: [0, 2 ** 24],
  leapfrogs: [0, 2 ** 31],
  divergent: [0, 1],
};

/**
 * The largest difference between the log density of a position and the saved one: kernels add up in another order, and large
 * terms may cancel.
 */
const TOLERANCE = { f32: 0.1, f64: 1e-5 };

function refuse(why: string): never {
  throw new FormatError(`resume: ${why}. The file was changed.`);
}

export async function checkSavedNumbers(sampling: Sampling, { draws, chains }: SavedFit): Promise<void> {
  checkDraws(sampling, draws);
  await checkPositions(sampling, chains.buffers);
}

function checkDraws({ posterior }: Sampling, draws: Draws): void {
  for (const { name, range = ANYWHERE } of posterior.latents) {
    const bad = firstOutside(draws.values(name), range);
    if (bad !== undefined) refuse(`a draw of "${name}" is ${bad}, and it lies from ${range[0]} to ${range[1]}`);
  }
  for (const name of draws.stats) {
    const range = STATISTIC_RANGES[name];
    const bad = range && firstOutside(draws.stat(name)?.values ?? [], range);
    if (range && bad !== undefined)
      refuse(`the statistic ${name} is ${bad}, and it is from ${range[0]} to ${range[1]}`);
  }
}

function firstOutside(values: ArrayLike<number>, [least, most]: Range): number | undefined {
  for (let i = 0; i < values.length; i++) if (!(values[i] >= least && values[i] <= most)) return values[i];
  return undefined;
}

/** Compares the log density of each chain that has started with that of its position. */
async function checkPositions(
  { posterior, density, options, chains: nuts }: Sampling,
  buffers: Readonly<Record<string, Uint8Array>>,
): Promise<void> {
  const { chains } = options;
  const { dim, dtype, backend } = density;
  const { buffer, byteOffset } = buffers.ints;
  const phases = new Int32Array(buffer, byteOffset + 4 * INTS.indexOf("phase") * chains, chains);
  const saved = floatsIn(buffers.reals, nuts.energyDType).subarray(REALS.indexOf("logp") * chains);
  const at = VECTORS.indexOf("qSample") * dim * chains;
  const points = floatsIn(buffers.vectors, dtype).slice(at, at + dim * chains);
  const u = tensor(points, { shape: [dim, chains], dtype, device: backend.id });
  const logDensity = (free: Tensor) => posterior.logDensityAndGrad(free, { normalized: false })[0];
  const found = await vmap(logDensity, { in: 1 })(u).data();
  for (let chain = 0; chain < chains; chain++) {
    if (phases[chain] <= PHASE.init || phases[chain] === PHASE.failed) continue;
    const [was, is] = [saved[chain], Number(found[chain])];
    if (Math.abs(was - is) <= TOLERANCE[dtype] * (1 + Math.abs(was) + Math.abs(is))) continue;
    refuse(`the log density of chain ${chain} is ${was}, and that of its position is ${is}`);
  }
}

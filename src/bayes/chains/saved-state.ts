/**
 * Validates the state of chains in a saved fit. The sampler's kernel takes its numbers from there as they are: a draw is a
 * place to write to, a leaf of the tree is a place of a record, a length is how long a trajectory goes on. A file that was
 * changed could have the kernel write outside its memory, or run without an end; so each number is held to what a run can
 * leave. `NutsChains.restore` calls this.
 */
import { FormatError } from "../../core/errors.js";
import { INTS, NOTED, PHASE, POOLED_INTS, POOLED_REALS, REALS, RUN_REALS, VECTORS } from "../kernels/layout.js";
import { MAX_STEPS } from "../kernels/nuts/known-length.js";
import { MAX_ATTEMPTS } from "../kernels/nuts/start.js";
import type { FloatDType } from "../target/target.js";
import type { ChainSettings } from "./chain-settings.js";
import { bytesOfType, floatsIn, runRealBytes } from "./starting-state.js";

type Buffers = Readonly<Record<string, Uint8Array>>;
type Range = readonly [least: number, most: number];

/** Whole numbers may be as large as they get where nothing depends on them. */
const ANY: Range = [-(2 ** 31), 2 ** 31 - 1];
const COUNT: Range = [0, 2 ** 31 - 1];
const FLAG: Range = [0, 1];
const SIDE: Range = [-1, 1];

interface SavedState {
  readonly settings: ChainSettings;
  readonly dim: number;
  readonly dtype: FloatDType;
  readonly buffers: Buffers;
  /** Draws of every chain that the fit has. */
  readonly draws: number;
}

function refuse(why: string): never {
  throw new FormatError(`resume: the state of the chains is none that a run leaves: ${why}. The file was changed.`);
}

/** Throws if a run cannot have left these numbers. The caller has checked that there are as many as the chains need. */
export function checkSavedState(state: SavedState): void {
  checkInts(state);
  checkRows(state);
  checkReals(state);
  checkPooled(state);
}

/** The most steps of a trajectory. */
function mostSteps({ trajectories, steps, maxTreeDepth }: ChainSettings): number {
  return trajectories.isOfKnownLength ? Math.max(MAX_STEPS, 2 * (steps ?? 0)) : 2 ** maxTreeDepth;
}

function rangesOf({ settings, dim, draws }: SavedState): Readonly<Record<(typeof INTS)[number], Range>> {
  const { warmup, maxTreeDepth, isDense } = settings;
  const steps = mostSteps(settings);
  return {
    phase: [PHASE.new, isDense ? PHASE.factor : PHASE.failed],
    // Those that the fit has were made by every chain.
    draw: [draws > 0 ? warmup + draws : 0, 2 ** 31 - 1],
    attempts: COUNT,
    isSearching: FLAG,
    searchSide: [-2, 1],
    depth: [0, maxTreeDepth],
    leaf: [-1, Math.max(2 ** maxTreeDepth, dim)],
    direction: SIDE,
    leapfrogs: [0, steps],
    isDivergent: FLAG,
    adapted: [0, warmup],
    counted: [0, warmup],
    // These go round in very long runs.
    totalLeapfrogs: ANY,
    totalDivergences: ANY,
    keyHigh: ANY,
    keyLow: ANY,
    length: [0, steps],
  };
}

function checkInts(state: SavedState): void {
  const { settings, dim } = state;
  const { chains, maxTreeDepth, trajectories } = settings;
  const ints = intsIn(state.buffers.ints);
  const ranges = rangesOf(state);
  const value = (name: (typeof INTS)[number], chain: number) => ints[INTS.indexOf(name) * chains + chain];
  for (let chain = 0; chain < chains; chain++) {
    for (const name of INTS) checkRange(`${name} of chain ${chain}`, value(name, chain), ranges[name]);
    const phase = value("phase", chain);
    // A chain that has no start yet gives up after so many attempts.
    if (phase <= PHASE.init) checkRange(`attempts of chain ${chain}`, value("attempts", chain), [0, MAX_ATTEMPTS]);
    if (phase === PHASE.factor) checkRange(`column of chain ${chain}`, value("leaf", chain), [0, dim - 1]);
    if (phase !== PHASE.tree || trajectories.isOfKnownLength) continue;
    // In the middle of a tree, the depth says how many records there are, and the leaf which one is next.
    const depth = value("depth", chain);
    checkRange(`depth of chain ${chain}`, depth, [0, maxTreeDepth - 1]);
    checkRange(`leaf of chain ${chain}`, value("leaf", chain), [-1, 2 ** depth - 1]);
  }
}

/** Draws that some chains have made ahead of others lie beside the state: from the last that all have to the furthest. */
function checkRows({ settings, dim, dtype, buffers, draws }: SavedState): void {
  const { chains, warmup, energyDType } = settings;
  const made = intsIn(buffers.ints).subarray(INTS.indexOf("draw") * chains, (INTS.indexOf("draw") + 1) * chains);
  const rows = Math.max(0, made.reduce((a, b) => Math.max(a, b)) - (warmup + draws));
  const rowBytes = {
    draws: dim * chains * bytesOfType(dtype),
    noted: NOTED.length * chains * bytesOfType(energyDType),
  };
  for (const [name, bytes] of Object.entries(rowBytes)) {
    const found = buffers[name]?.byteLength ?? 0;
    if (found !== rows * bytes)
      refuse(`${name} has ${found} bytes, and chains that are ${rows} draws ahead have ${rows * bytes}`);
  }
}

function checkReals({ settings, dim, dtype, buffers }: SavedState): void {
  const { chains, energyDType, isDense } = settings;
  const phases = intsIn(buffers.ints).subarray(INTS.indexOf("phase") * chains);
  const hasStarted = (chain: number) => phases[chain] > PHASE.init;
  const reals = floatsIn(buffers.reals, energyDType);
  const real = (name: (typeof REALS)[number], chain: number) => reals[REALS.indexOf(name) * chains + chain];
  for (let chain = 0; chain < chains; chain++) {
    checkPositive(`the step size of chain ${chain}`, real("stepSize", chain));
    for (const name of ["mu", "sBar", "xBar"] as const) checkFinite(`${name} of chain ${chain}`, real(name, chain));
    if (hasStarted(chain)) checkFinite(`the log density of chain ${chain}`, real("logp", chain));
  }
  const position = VECTORS.indexOf("qSample") * dim * chains;
  const positions = floatsIn(buffers.vectors, dtype).subarray(position, position + dim * chains);
  checkAll("the position", positions, chains, (value, at) => Number.isFinite(value) || !hasStarted(at % chains));
  const isVariance = (element: number) => (isDense ? element < dim * dim && element % (dim + 1) === 0 : true);
  // A chain that factors its metric finds out by itself whether there is a factor.
  const isNumber = (value: number, at: number) => Number.isFinite(value) || phases[at % chains] === PHASE.factor;
  const isInMetric = (value: number, at: number) =>
    isVariance(Math.floor(at / chains)) ? value > 0 && Number.isFinite(value) : isNumber(value, at);
  checkAll("the metric", floatsIn(buffers.metric, dtype), chains, isInMetric);
  if (isDense) checkAll("the metric's factor", floatsIn(buffers.factor, dtype), chains, isNumber);
  checkRunReals(settings, floatsIn(buffers.wishes, energyDType));
}

/** Numbers of every chain, [element][chain]. */
function checkAll(
  what: string,
  values: Float64Array | Float32Array,
  chains: number,
  isGood: (value: number, at: number) => boolean,
): void {
  const bad = values.findIndex((value, at) => !isGood(value, at));
  if (bad >= 0) refuse(`${what} of chain ${bad % chains} has the number ${values[bad]}`);
}

/** The options of the run must be in the state unchanged, except the trajectory time, which warmup adapts. */
function checkRunReals(settings: ChainSettings, found: ArrayLike<number>): void {
  const told = floatsIn(runRealBytes(settings), settings.energyDType);
  RUN_REALS.forEach((name, n) => {
    if (name === "trajectory") checkPositive("the time of trajectories", found[n]);
    else if (found[n] !== told[n]) refuse(`${name} is ${found[n]}, and the run was told ${told[n]}`);
  });
}

/** The adaptation of chains together. */
function checkPooled({ settings, buffers }: SavedState): void {
  if (settings.adaptation !== "pooled") return;
  const { warmup } = settings;
  const ints = intsIn(buffers.pooledInts);
  POOLED_INTS.forEach((name, n) => {
    checkRange(`${name} of the warmup`, ints[n], [0, warmup]);
  });
  const reals = floatsIn(buffers.pooledReals, settings.energyDType);
  POOLED_REALS.forEach((name, n) => {
    checkFinite(`${name} of the warmup`, reals[n]);
  });
}

const intsIn = ({ buffer, byteOffset, byteLength }: Uint8Array): Int32Array =>
  new Int32Array(buffer, byteOffset, byteLength / 4);

function checkRange(what: string, value: number, [least, most]: Range): void {
  if (!(value >= least && value <= most)) refuse(`${what} is ${value}, and it is from ${least} to ${most}`);
}

function checkFinite(what: string, value: number): void {
  if (!Number.isFinite(value)) refuse(`${what} is ${value}`);
}

function checkPositive(what: string, value: number): void {
  if (!(value > 0 && Number.isFinite(value))) refuse(`${what} is ${value}, and it is a positive number`);
}

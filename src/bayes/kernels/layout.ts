/**
 * The agreement between the sampler's kernel and the host that runs it: the numbers and vectors of a chain, the buffers they
 * lie in, and what a dispatch is told.
 */
import type { FloatDType } from "../target/target.js";
import type { Trajectories } from "./nuts/trajectories.js";

export interface NutsOptions {
  readonly trajectories: Trajectories;
  readonly chains: number;
  readonly lanes: number;
  readonly maxTreeDepth: number;
  /** Energies and adaptation are computed in this. Weights, which are differences of energies, need no more than positions. */
  readonly energyDType: FloatDType;
  readonly isDense: boolean;
}

/** The phases of a chain. */
export const PHASE = { new: 0, init: 1, begin: 2, tree: 3, failed: 4, factor: 5 } as const;

/** Whole numbers of a chain. */
export const INTS = [
  "phase",
  "draw",
  "attempts",
  "isSearching",
  "searchSide",
  "depth",
  "leaf",
  "direction",
  "leapfrogs",
  "isDivergent",
  "adapted",
  "counted",
  "totalLeapfrogs",
  "totalDivergences",
  "keyHigh",
  "keyLow",
  "length",
] as const;
/** Real numbers of a chain. */
export const REALS = [
  "stepSize",
  "h0",
  "logp",
  "energy",
  "subLogp",
  "subEnergy",
  "logWeight",
  "subLogWeight",
  "acceptance",
  "mu",
  "sBar",
  "xBar",
] as const;
/** Vectors of a chain, in this order; records of the tree come after them. */
export const VECTORS = [
  "q",
  "p",
  "g",
  "sum",
  "qLeft",
  "pLeft",
  "gLeft",
  "qRight",
  "pRight",
  "gRight",
  "qSample",
  "gSample",
  "qSub",
  "gSub",
  "rho",
  "mean",
  "scatter",
] as const;
/** The notes of each draw, in this order: first the energies, then those for which f32 is enough. */
export const NOTED = ["lp", "energy", "acceptance", "stepSize", "treeDepth", "leapfrogs", "divergent"] as const;
export const NOTED_ENERGIES = 2;

/** Whole numbers that each dispatch gets. Chains adapted together go to the next draw only, and then as far as was asked. */
export const DISPATCH_INTS = [
  "budget",
  "until",
  "first",
  "warmup",
  "givenInits",
  "adaptation",
  "steps",
  "together",
  "asked",
] as const;
/** Real numbers that a run gets. */
export const RUN_REALS = ["targetAcceptance", "maxEnergyError", "initRadius", "trajectory"] as const;
/**
 * The adaptation of step size and metric: none, by each chain for itself, or by kernels between transitions that pool all
 * chains.
 */
export const ADAPTATION = { none: 0, own: 1, pooled: 2 } as const;

/** Flags of a draw of the warmup: it counts for the metric; it closes a window. */
export const SCHEDULE = { counts: 1, closes: 2 } as const;

/**
 * Whole numbers of a warmup of chains together: draws adapted to, updates of dual averaging and Adam's steps under this metric,
 * draws of each chain in the window, and in the one that closes here (0 where none does).
 */
export const POOLED_INTS = ["adapted", "averaged", "moved", "counted", "closing"] as const;
/** Real numbers of it: dual averaging, and Adam on the logarithm of the trajectories' time. */
export const POOLED_REALS = ["mu", "sBar", "xBar", "logTime", "squares", "averageTime"] as const;

/** Buffers behind the data, in this order; then scratch. */
export const BUFFERS = [
  "dispatchInts",
  "key",
  "schedule",
  "runReals",
  "vectors",
  "reals",
  "ints",
  "metric",
  "factor",
  "draws",
  "noted",
] as const;

export const vectorSlots = ({ trajectories, maxTreeDepth }: NutsOptions): number =>
  VECTORS.length + trajectories.moreVectors(maxTreeDepth);

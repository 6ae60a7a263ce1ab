/**
 * The state of chains before their first dispatch, as the bytes of their buffers: points to start from, step sizes, metrics.
 * Buffers lie as [element][chain]. `ChainMemory` uploads them.
 */
import { ArgumentError } from "../../core/errors.js";
import { REALS, RUN_REALS, VECTORS, vectorSlots } from "../kernels/layout.js";
import { choleskyFactor } from "../numerics/cholesky.js";
import type { FloatDType } from "../target/target.js";
import type { ChainSettings } from "./chain-settings.js";

/** A step that changes the energy by more than this is a divergence, as in Stan. */
const MAX_ENERGY_ERROR = 1000;

export const bytesOfType = (dtype: string): number => (dtype === "f64" ? 8 : 4);

/** The numbers in the bytes of a buffer. */
export function floatsIn(from: Uint8Array, dtype: FloatDType): Float64Array | Float32Array {
  return dtype === "f64"
    ? new Float64Array(from.buffer, from.byteOffset, from.byteLength / 8)
    : new Float32Array(from.buffer, from.byteOffset, from.byteLength / 4);
}

const bytesOf = (dtype: FloatDType, values: ArrayLike<number>): Uint8Array =>
  new Uint8Array((dtype === "f64" ? new Float64Array(values) : new Float32Array(values)).buffer);

/** A value for every element and chain. */
function filled(
  chains: number,
  elements: number,
  dtype: FloatDType,
  value: (element: number, chain: number) => number,
): Uint8Array {
  const numbers = new Float64Array(elements * chains);
  for (let e = 0; e < elements; e++) for (let c = 0; c < chains; c++) numbers[e * chains + c] = value(e, c);
  return bytesOf(dtype, numbers);
}

/** Both words of the seed. */
export const keyBytes = (seed: number): Uint8Array =>
  new Uint8Array(Uint32Array.of(seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0).buffer);

export function runRealBytes({ targetAcceptance, initRadius, energyDType }: ChainSettings): Uint8Array {
  const values = { targetAcceptance, maxEnergyError: MAX_ENERGY_ERROR, initRadius, trajectory: 1 };
  return bytesOf(
    energyDType,
    RUN_REALS.map((name) => values[name]),
  );
}

/** Vectors with the points to start from; null where none are given, and all are zeros. */
export function vectorBytes(settings: ChainSettings, dim: number, dtype: FloatDType): Uint8Array | null {
  const { chains, inits } = settings;
  if (!inits) return null;
  if (inits.length !== chains * dim) {
    throw new ArgumentError(`sample: inits are ${chains} chains × ${dim} free numbers, not ${inits.length} numbers.`);
  }
  const first = VECTORS.indexOf("qSample") * dim;
  const given = (e: number, c: number) => (e >= first && e < first + dim ? inits[c * dim + e - first] : 0);
  return filled(chains, vectorSlots(settings) * dim, dtype, given);
}

export function realBytes({ chains, energyDType, stepSize }: ChainSettings): Uint8Array {
  const slot = REALS.indexOf("stepSize");
  return filled(chains, REALS.length, energyDType, (e) => (e === slot ? stepSize : 0));
}

/**
 * Inverse masses of every chain, and the Cholesky factor where they are dense. Behind a dense metric lies room for the scatter
 * of a window.
 */
export function metricBytes(
  { chains, isDense, metric: given }: ChainSettings,
  dim: number,
  dtype: FloatDType,
): { readonly metric: Uint8Array; readonly factor: Uint8Array | null } {
  if (!isDense) {
    const variances = given ?? new Float64Array(dim).fill(1);
    return { metric: filled(chains, dim, dtype, (e) => variances[e] ?? 0), factor: null };
  }
  const covariance = given ?? identity(dim);
  const factor = choleskyFactor(covariance, dim);
  if (!factor) throw new ArgumentError("sample: the metric is not positive definite.");
  return {
    metric: filled(chains, 2 * dim * dim, dtype, (e) => covariance[e] ?? 0),
    factor: filled(chains, dim * dim, dtype, (e) => factor[e]),
  };
}

const identity = (dim: number): Float64Array =>
  Float64Array.from({ length: dim * dim }, (_, at) => Number(at % (dim + 1) === 0));

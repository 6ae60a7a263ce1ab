/**
 * Autocovariances averaged over chains, the raw material of every effective sample size. Chains that mix need a handful of
 * lags, which plain sums give faster than any transform; the rest comes from one FFT per two chains, summed before
 * the one inverse transform. Chains are read one at a time into a buffer that stays in the processor's cache, so 4096
 * chains of 250 draws cost milliseconds.
 */
import { checkWhole } from "../../core/arguments.js";
import type { Chains } from "../draws/draws.js";
import { type ChainMoments, chainMeans } from "./chains.js";
import { checkNumbers } from "./check-numbers.js";
import { fftOf } from "./fft.js";

export interface Autocovariance {
  readonly chains: number;
  readonly draws: number;
  /** The mean of every chain. */
  readonly means: Float64Array;
  /**
   * The mean over chains of the (biased) autocovariance: (1/n) Σ (x_i - m)(x_{i+lag} - m), m the chain's mean. Found when
   * asked for.
   */
  at(lag: number): number;
}

/** Lags found by plain sums, a block at a time, before the FFT takes over. */
const DIRECT_LAGS = 32;
const BLOCK = 4;

export function meanAutocovariance(x: Chains): Autocovariance {
  const { chains, draws } = x;
  const means = chainMeans(x);
  const found = new Float64Array(draws);
  // Zeros behind the end, for the last lags.
  const buffer = new Float64Array(draws + DIRECT_LAGS);
  let known = 0;

  const extend = (lag: number) => {
    const isDirect = lag < DIRECT_LAGS;
    const end = isDirect ? Math.min(known + BLOCK, draws) : draws;
    if (isDirect) {
      for (let c = 0; c < chains; c++) {
        readCentred(x, c, means[c], buffer);
        addLags(found, known, draws, buffer);
      }
    } else {
      found.set(transformedLags(x, means).subarray(known), known);
    }
    for (let t = known; t < end; t++) found[t] /= chains * draws;
    known = end;
  };
  return {
    chains,
    draws,
    means,
    at: (lag) => {
      while (known <= lag && known < draws) extend(lag);
      return lag < draws ? found[lag] : 0;
    },
  };
}

/** The variance of the chains is part of it. */
export function momentsOf({ draws, means, at }: Autocovariance): ChainMoments {
  return { draws, means, within: (at(0) * draws) / (draws - 1) };
}

/** The autocorrelations of one chain, for plots. */
export function autocorrelation(x: Float64Array, maxLag: number): Float64Array {
  checkNumbers("autocorrelation", "the chain", x);
  checkWhole("autocorrelation", "maxLag", maxLag, 0);
  const covariance = meanAutocovariance({ values: x, chains: 1, draws: x.length });
  return Float64Array.from({ length: Math.min(maxLag + 1, x.length) }, (_, t) => covariance.at(t) / covariance.at(0));
}

/** Writes a chain less its mean. */
function readCentred({ values, draws }: Chains, chain: number, mean: number, into: Float64Array): void {
  const start = chain * draws;
  for (let i = 0; i < draws; i++) into[i] = values[start + i] - mean;
}

/** Adds Σ x_i x_{i+t} to `sums[t]` for the four lags of a block, as far as there are such sums. One pass: two loads each. */
function addLags(sums: Float64Array, from: number, draws: number, x: Float64Array): void {
  let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0];
  let [x0, x1, x2] = [x[from], x[from + 1], x[from + 2]];
  for (let i = 0; i < draws; i++) {
    const now = x[i];
    const x3 = x[i + from + 3];
    sum0 += now * x0;
    sum1 += now * x1;
    sum2 += now * x2;
    sum3 += now * x3;
    x0 = x1;
    x1 = x2;
    x2 = x3;
  }
  sums[from] += sum0;
  if (from + 1 < sums.length) sums[from + 1] += sum1;
  if (from + 2 < sums.length) sums[from + 2] += sum2;
  if (from + 3 < sums.length) sums[from + 3] += sum3;
}

/** Σ x_i x_{i+t} summed over chains for all lags t. Two real chains make one complex one, whose spectrum is their sum's. */
function transformedLags(x: Chains, means: Float64Array): Float64Array {
  const { chains, draws } = x;
  const fft = fftOf(2 ** Math.ceil(Math.log2(2 * draws)));
  const re = new Float64Array(fft.size);
  const im = new Float64Array(fft.size);
  const power = new Float64Array(fft.size);
  for (let c = 0; c < chains; c += 2) {
    readCentred(x, c, means[c], re.fill(0, draws));
    if (c + 1 < chains) readCentred(x, c + 1, means[c + 1], im.fill(0, draws));
    else im.fill(0);
    fft.transform(re, im);
    for (let k = 0; k < fft.size; k++) power[k] += re[k] * re[k] + im[k] * im[k];
  }
  // The real part of the inverse transform of something real is that of the forward one, over the size.
  fft.transform(power, im.fill(0));
  return power.subarray(0, draws).map((value) => value / fft.size);
}

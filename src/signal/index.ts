/** Signals: convolution, windows, spectra: `import { signal } from "pumice"`. */
export {
  type ConvolutionOptions,
  convolve,
  correlate,
  type FftConvolveOptions,
  fftConvolve,
} from "./convolution.js";
export { oaConvolve } from "./overlap-add.js";
export { type HilbertOptions, hilbert, type ResampleOptions, resample } from "./resampling.js";
export {
  coherence,
  csd,
  type IstftOptions,
  istft,
  type PeriodogramOptions,
  type PowerOptions,
  type PowerSpectrum,
  periodogram,
  type SegmentOptions,
  type Stft,
  type StftOptions,
  stft,
  welch,
} from "./spectral.js";
export { type DetrendOptions, detrend, type Trend } from "./trends.js";
export {
  bartlett,
  blackman,
  blackmanharris,
  boxcar,
  cosine,
  flattop,
  gaussian,
  getWindow,
  hamming,
  hann,
  kaiser,
  nuttall,
  type SignalWindowOptions,
  type TukeyOptions,
  triang,
  tukey,
  type WindowChoice,
  type WindowName,
} from "./windows.js";

/** A consumer's program: every function of `fft` and `signal`. */
import { fft, signal, type Tensor, tensor } from "pumice";
import type { Calls } from "./methods.js";

const v = (): Tensor<"f32"> => tensor([1, 2, 3, 4]);
const m = (): Tensor<"f32"> => tensor([[2, 1], [1, 2]]); // biome-ignore format: a matrix
const norm: fft.FftNorm = "ortho";
const along: fft.FftOptions = { n: 5, axis: 0, norm };
const several: fft.FftnOptions = { s: [3, 4], axes: [0, 1], norm };
const kind: fft.DctOptions = { type: 3, norm };
const segments: signal.SegmentOptions = { fs: 8, nperseg: 2, window: ["kaiser", 3] };

const transforms: Calls = {
  "fft.fft": (): Tensor<"c64"> => fft.fft(v(), along),
  "fft.ifft": () => fft.ifft(fft.fft(v())),
  "fft.rfft": (): Tensor<"c64"> => fft.rfft(v()),
  "fft.irfft": (): Tensor<"f32"> => fft.irfft(fft.rfft(v()), { n: 4 }),
  "fft.hfft": () => fft.hfft(v()),
  "fft.ihfft": () => fft.ihfft(v()),
  "fft.fft2": () => fft.fft2(m()),
  "fft.ifft2": () => fft.ifft2(m()),
  "fft.rfft2": () => fft.rfft2(m()),
  "fft.irfft2": () => fft.irfft2(m()),
  "fft.fftn": () => fft.fftn(m(), several),
  "fft.ifftn": () => fft.ifftn(m()),
  "fft.rfftn": () => fft.rfftn(m()),
  "fft.irfftn": () => fft.irfftn(m(), { s: [2, 3] }),
  "fft.hfft2": (): Tensor<"f32"> => fft.hfft2(m()),
  "fft.ihfft2": () => fft.ihfft2(m()),
  "fft.hfftn": () => fft.hfftn(m(), { s: [2, 3] }),
  "fft.ihfftn": (): Tensor<"c64"> => fft.ihfftn(m()),
  "fft.fftfreq": () => fft.fftfreq(4, { d: 0.5 }),
  "fft.rfftfreq": (): Tensor<"f64"> => fft.rfftfreq(4, { dtype: "f64" }),
  "fft.fftshift": () => fft.fftshift(v()),
  "fft.ifftshift": () => fft.ifftshift(m(), { axes: [1] }),
  "fft.dct": (): Tensor<"f32"> => fft.dct(v(), kind),
  "fft.idct": () => fft.idct(v()),
  "fft.dst": () => fft.dst(v()),
  "fft.idst": () => fft.idst(v()),
};

const windows: Calls = {
  "signal.boxcar": () => signal.boxcar(4),
  "signal.bartlett": () => signal.bartlett(4),
  "signal.triang": () => signal.triang(4),
  "signal.cosine": () => signal.cosine(4),
  "signal.hann": () => signal.hann(4, { sym: false, dtype: "f64" }),
  "signal.hamming": () => signal.hamming(4),
  "signal.blackman": () => signal.blackman(4),
  "signal.blackmanharris": () => signal.blackmanharris(4),
  "signal.nuttall": () => signal.nuttall(4),
  "signal.flattop": () => signal.flattop(4),
  "signal.kaiser": () => signal.kaiser(4, 8),
  "signal.gaussian": () => signal.gaussian(4, 1),
  "signal.tukey": () => signal.tukey(4, { alpha: 0.2 }),
  "signal.getWindow": () => signal.getWindow(["gaussian", 2], 4),
};

export const signals: Calls = {
  ...transforms,
  ...windows,
  "signal.convolve": () => signal.convolve(v(), v(), { mode: "same", method: "fft" }),
  "signal.correlate": () => signal.correlate(v(), v()),
  "signal.fftConvolve": () => signal.fftConvolve(m(), m(), { axes: -1 }),
  "signal.oaConvolve": () => signal.oaConvolve(m(), m(), { axes: -1 }),
  "signal.resample": () => signal.resample(v(), 6, { window: "hann" }),
  "signal.hilbert": (): Tensor<"c64"> => signal.hilbert(v()),
  "signal.detrend": () => signal.detrend(v(), { type: "constant" }),
  "signal.stft": () => signal.stft(v(), { ...segments, boundary: false }).values,
  "signal.istft": () => signal.istft(signal.stft(v(), segments).values, { fs: 8, nperseg: 2 }).values,
  "signal.welch": () => signal.welch(v(), segments).values,
  "signal.csd": () => signal.csd(v(), v(), segments).values,
  "signal.coherence": () => signal.coherence(v(), v(), segments).frequencies,
  "signal.periodogram": () => signal.periodogram(v(), { scaling: "spectrum" }).values,
};

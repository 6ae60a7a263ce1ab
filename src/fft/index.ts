/** Fourier transforms: `import { fft } from "pumice"`. */
export { type DctOptions, dct, dst, idct, idst, type TransformType } from "./cosine.js";
export { type FrequencyOptions, fftfreq, fftshift, ifftshift, rfftfreq, type ShiftOptions } from "./frequencies.js";
export type { FftNorm, FftOptions } from "./norms.js";
export { fft, hfft, ifft, ihfft, irfft, type RealPartOf, rfft } from "./one-axis.js";
export {
  type FftnOptions,
  fft2,
  fftn,
  hfft2,
  hfftn,
  ifft2,
  ifftn,
  ihfft2,
  ihfftn,
  irfft2,
  irfftn,
  rfft2,
  rfftn,
} from "./several-axes.js";

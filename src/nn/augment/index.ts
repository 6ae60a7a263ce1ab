/** Augmentation of images, by a key, on the device: `augment.randomFlip(x, key)`. Batches are [batch, channels, height, width] unless told. */

export {
  affine,
  type RandomAffineOptions,
  type Range,
  randomAffine,
  randomRotation,
  randomShift,
  randomZoom,
  type SamplingOptions,
} from "./affine.js";
export {
  adjustBrightness,
  adjustContrast,
  adjustHue,
  adjustSaturation,
  type ColorJitterOptions,
  type ColorOptions,
  colorJitter,
  gaussianNoise,
  grayscale,
  type NormalizeOptions,
  normalize,
  randomGrayscale,
} from "./color.js";
export { type RandomCropOptions, type RandomFlipOptions, randomCrop, randomFlip } from "./crop-flip.js";
export { cutmix, type Mixed, type MixOptions, mixup, type RandomErasingOptions, randomErasing } from "./mixing.js";
export type { FillMode } from "./pixels.js";

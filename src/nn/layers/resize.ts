/**
 * Images in another size, one axis after the other, each by a matrix of weights: the kernel of the method around the place in the input
 * that a result lies at, divided by its sum. Pixels are areas: place i is at (i + ½)·n/m - ½, as in PyTorch without align_corners
 * and in jax.image.resize.
 */
import { checkChoice, checkOptions } from "../../core/arguments.js";
import { isFloat } from "../../core/dtype.js";
import { constantsBeside, countingLike, type Tensor } from "../../tensor/index.js";
import { type Layer, layer } from "../core/layer.js";
import { type Channels, channelAxes, checkChannels, checkPerAxis, type PerAxis, perAxis } from "./spatial.js";

/** The kernel of `resize`. Bicubic is that of Keys (1981) with a = -½. */
export type ResizeMethod = "nearest" | "bilinear" | "bicubic" | "lanczos3" | "lanczos5";

/** Options of `resize`. */
export interface ResizeOptions {
  /** "bilinear" unless told. */
  readonly method?: ResizeMethod;
  /** Whether kernels widen where the image becomes smaller, so that every pixel counts; true. */
  readonly antialias?: boolean;
  readonly channels?: Channels;
}

/** Kernels by the distance in pixels, from 0 on. */
const KERNELS: Readonly<Record<Exclude<ResizeMethod, "nearest">, (x: number) => number>> = {
  bilinear: (x) => Math.max(0, 1 - x),
  bicubic: (x) => {
    if (x >= 2) return 0;
    return x >= 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1;
  },
  lanczos3: (x) => lanczos(x, 3),
  lanczos5: (x) => lanczos(x, 5),
};

/** The sinc function under a window of its own shape, which ends at the radius. */
function lanczos(x: number, radius: number): number {
  if (x >= radius) return 0;
  return x < 1e-8 ? 1 : (radius * Math.sin(Math.PI * x) * Math.sin((Math.PI * x) / radius)) / (Math.PI * x) ** 2;
}

/** The spatial axes in another size: `resize([224, 224])`, `resize(64, { method: "bicubic" })`. */
export function resize(size: PerAxis, options: ResizeOptions = {}): Layer {
  checkPerAxis("resize", "the size", size);
  checkOptions("resize", options, { method: "text", antialias: "flag", channels: "text" });
  const { method = "bilinear", antialias = true, channels } = options;
  checkChoice("resize", "the option method", method, ["nearest", ...Object.keys(KERNELS)]);
  checkChannels("resize", channels);
  return layer("resize", { size, ...options }, (_, x: Tensor) => {
    const { spatial } = channelAxes("resize", x, channels, 1);
    const sizes = perAxis("resize", "the size", size, spatial.length);
    if (method === "nearest") return spatial.reduce((so, axis, i) => nearest(so, axis, sizes[i]), x);
    const wide = x.dtype === "f64" ? "f64" : "f32";
    const floats = x.cast(wide) as Tensor;
    const result = spatial.reduce((so, axis, i) => weighed(so, axis, sizes[i], method, antialias), floats);
    return (isFloat(x.dtype) ? result.cast(x.dtype) : result) as Tensor;
  });
}

function nearest(x: Tensor, axis: number, size: number): Tensor {
  const n = x.shape[axis];
  if (n === size) return x;
  const place = countingLike(x, size)
    .mul(2)
    .add(1)
    .mul(n)
    .floorDivide(2 * size);
  return x.take(place, { axis });
}

function weighed(
  x: Tensor,
  axis: number,
  size: number,
  method: Exclude<ResizeMethod, "nearest">,
  antialias: boolean,
): Tensor {
  const n = x.shape[axis];
  if (n === size) return x;
  const table = weightsOf(n, size, KERNELS[method], antialias);
  const dtype = x.dtype as "f32" | "f64";
  const weights = constantsBeside(x, `resize ${method} ${n} ${size} ${antialias}`, n * size, dtype, (i) => table()[i]);
  const along = x.moveAxis(axis, -1).matmul(weights.reshape([n, size]), { precision: "highest" });
  return along.moveAxis(-1, axis) as Tensor;
}

/** [n, size]: the share of each pixel in each result. Computed when first asked for. */
function weightsOf(n: number, size: number, kernel: (x: number) => number, antialias: boolean): () => Float64Array {
  let table: Float64Array | undefined;
  const make = (): Float64Array => {
    const weights = new Float64Array(n * size);
    const ratio = n / size;
    const width = antialias ? Math.max(1, ratio) : 1;
    for (let j = 0; j < size; j++) {
      const place = (j + 0.5) * ratio - 0.5;
      let sum = 0;
      for (let i = 0; i < n; i++) sum += weights[i * size + j] = kernel(Math.abs(place - i) / width);
      for (let i = 0; i < n; i++) weights[i * size + j] /= sum;
    }
    return weights;
  };
  return () => (table ??= make());
}

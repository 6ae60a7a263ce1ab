/**
 * The curve of UMAP: 1 / (1 + a d^2b) says how much samples at a distance d of the embedding belong together. It is the nearest of its
 * kind to a curve that is 1 up to `minDist` and then falls as an exponential over `spread`, by least squares at 300 distances.
 */
import { type Tensor, tensor } from "../../tensor/index.js";
import { levenbergMarquardt } from "../optimize/levenberg-marquardt.js";

/** a and b, as tensors of one number. */
export interface Curve {
  readonly a: Tensor;
  readonly b: Tensor;
}

const POINTS = 300;

/** a and b of a curve. They come from options alone, so the CPU finds them, in f64. */
export async function curveOf(minDist: number, spread: number): Promise<{ readonly a: number; readonly b: number }> {
  const place = { device: "cpu", dtype: "f64" } as const;
  const distances = Array.from({ length: POINTS }, (_, i) => (3 * spread * i) / (POINTS - 1));
  const wanted = distances.map((d) => (d < minDist ? 1 : Math.exp(-(d - minDist) / spread)));
  // The curve starts at 1 whatever a and b are, and its slope has a logarithm there.
  const logs = tensor(distances.slice(1).map(Math.log), place);
  const heights = tensor(wanted.slice(1), place);
  const residuals = ({ a, b }: Curve): Tensor =>
    logs.mul(b.mul(2)).exp().mul(a).add(1).reciprocal().sub(heights) as Tensor;
  const start: Curve = { a: tensor(1, place) as Tensor, b: tensor(1, place) as Tensor };
  const { x } = levenbergMarquardt(residuals, start);
  const [a, b] = await Promise.all([x.a.item(), x.b.item()]);
  return { a: Number(a), b: Number(b) };
}

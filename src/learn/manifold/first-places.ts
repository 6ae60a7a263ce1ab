/** First places of samples in an embedding, from which rounds move them: along principal components, drawn by chance, or given. */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { key, normal } from "../../random/index.js";
import { concat, isTensor, type Tensor, tensor } from "../../tensor/index.js";
import { spectrumOf } from "../decomposition/spectrum.js";

/** Places as people have them, [samples, components]. */
export type Places = Tensor | readonly (readonly number[])[];

/** Throws unless first places are one of the ways, or a matrix of finite numbers. */
export function checkInit(kind: string, init: unknown, ways: readonly string[]): void {
  if (isTensor(init)) {
    if (init.rank === 2) return;
    throw new ShapeError(`${kind}: init has the shape ${formatShape(init.shape)}; places are [samples, nComponents].`);
  }
  if (!Array.isArray(init)) checkChoice(kind, "init", init, ways);
  else if (!init.every((row) => Array.isArray(row) && row.every(Number.isFinite)))
    throw new ArgumentError(`${kind}: init is ${shown(init)}; places are rows of finite numbers.`);
}

/** Places that were given, beside the samples. */
export function givenPlaces(operation: string, places: Places, x: Tensor, nComponents: number): Tensor {
  const { device, dtype } = x;
  const found = (isTensor(places) ? places.cast(dtype) : tensor(places as number[][], { device, dtype })) as Tensor;
  const wanted = [x.shape[0] as number, nComponents];
  if (formatShape(found.shape) === formatShape(wanted)) return found;
  throw new ShapeError(
    `${operation}: init has the shape ${formatShape(found.shape)}; places of these samples are ${formatShape(wanted)}.`,
  );
}

/** Normal numbers, [samples, columns]. */
export function drawnPlaces(seed: number, x: Tensor, columns: number): Tensor {
  const dtype = x.dtype as "f32" | "f64";
  return normal(key(seed, { device: x.device }), [x.shape[0] as number, columns], { dtype }) as Tensor;
}

/** Throws where samples are distances, along which nothing lies. */
export function checkComponents(operation: string, metric: string | undefined, instead: string): void {
  if (metric !== "precomputed") return;
  throw new ArgumentError(`${operation}: init is "pca", and distances have no components; use { init: "${instead}" }.`);
}

/** Samples along their first principal components, [samples, nComponents]. Columns that the samples lack are drawn, and small. */
export function principalPlaces(seed: number, x: Tensor, nComponents: number): Tensor {
  const centred = x.sub(x.mean({ axis: 0 })) as Tensor;
  const count = Math.min(nComponents, ...(x.shape as [number, number]));
  const { rows } = spectrumOf(centred, count, { seed });
  const places = centred.matmul(rows.T) as Tensor;
  if (count === nComponents) return places;
  const width = places.at(":", ":1").square().mean().sqrt();
  return concat([places, drawnPlaces(seed, x, nComponents - count).mul(width.mul(0.01))], { axis: 1 }) as Tensor;
}

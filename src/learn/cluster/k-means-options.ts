/** Options that all k-means share, their checks, and first centres by them. */
import { checkChoice, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import type { Key } from "../../random/index.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";
import { checkAmount, checkWholeSetting } from "../core/settings.js";
import { randomCenters, type Seed, spreadCenters } from "./seeding.js";

/** A matrix as people have it. */
type Rows = Tensor | readonly (readonly number[])[];

/** Options of every k-means. */
export interface CentersOptions {
  /** The number of clusters: 8 unless told. */
  readonly nClusters?: number;
  /** First centres: spread over the samples ("k-means++", unless told), drawn ("random"), or these rows. */
  readonly init?: "k-means++" | "random" | Rows;
  /** Decides the random numbers: 0 unless told. A key (`random.key`), too, so that `vmap` can go over keys. */
  readonly seed?: Seed;
  /** The move of the centres at which the fit ends. */
  readonly tol?: number;
  /** Rounds at most. */
  readonly maxIter?: number;
}

export const CENTERS: OptionKinds<CentersOptions> = {
  nClusters: "number",
  init: "any",
  seed: "any",
  tol: "number",
  maxIter: "number",
};

export function checkCenters(kind: string, options: CentersOptions): void {
  const { nClusters = 8, init, seed = 0, tol = 0, maxIter = 1 } = options;
  checkWhole(kind, "nClusters", nClusters, 1);
  checkAmount(kind, "tol", tol);
  checkWhole(kind, "maxIter", maxIter, 1);
  checkSeed(kind, seed);
  if (typeof init !== "object") checkChoice(kind, "init", init, ["k-means++", "random"]);
  else checkRows(kind, "init", init, nClusters);
}

/** Throws unless a seed is a whole number or a key. */
export function checkSeed(kind: string, seed: unknown): void {
  if (isTensor(seed) ? seed.dtype === "u32" : Number.isSafeInteger(seed)) return;
  throw new ArgumentError(`${kind}: seed is ${shown(seed)}; it is a whole number, or a key as random.key gives.`);
}

/** Throws unless there are as many rows as asked for, and rows that are no tensor hold finite numbers. */
function checkRows(kind: string, name: string, rows: Rows, count: number): void {
  const found = isTensor(rows) ? (rows.rank === 2 ? rows.shape[0] : -1) : Array.isArray(rows) ? rows.length : -1;
  if (found !== count) {
    const what = isTensor(rows) ? `of the shape ${formatShape(rows.shape)}` : found < 0 ? shown(rows) : `${found} rows`;
    throw new ArgumentError(`${kind}: ${name} is ${what}; it is ${count} rows, one for each cluster.`);
  }
  if (isTensor(rows) || rows.every((row) => row.every(Number.isFinite))) return;
  throw new ArgumentError(`${kind}: ${name} holds a number that is not finite; each is a number, none of them NaN.`);
}

/** Rows as a matrix with the columns of the samples. */
function rowsBeside(operation: string, name: string, rows: Rows, x: Tensor): Tensor {
  const { device, dtype } = x;
  const matrix = (isTensor(rows) ? rows.cast(dtype) : tensor(rows as number[][], { device, dtype })) as Tensor;
  const features = x.shape[1] as number;
  if (matrix.rank === 2 && matrix.shape[1] === features) return matrix;
  throw new ShapeError(
    `${operation}: ${name} has the shape ${formatShape(matrix.shape)}, and the samples have ${features} features.`,
  );
}

/** The number of clusters, no more than samples. */
export const clustersFor = (operation: string, { nClusters = 8 }: CentersOptions, x: Tensor): number =>
  checkWholeSetting(operation, "nClusters", nClusters, x.shape[0] as number);

/** Draws first centres; null where they are given. */
export function drawnCenters({ init = "k-means++" }: CentersOptions): typeof spreadCenters | null {
  if (init === "k-means++") return spreadCenters;
  return init === "random" ? randomCenters : null;
}

/** First centres, drawn by a key or given. `offset` was taken away from the samples. */
export function firstCenters(
  operation: string,
  options: CentersOptions,
  from: Key,
  { x, weights, offset }: { readonly x: Tensor; readonly weights: Tensor | null; readonly offset: Tensor },
): Tensor {
  const draw = drawnCenters(options);
  if (draw) return draw(from, x, weights, options.nClusters ?? 8);
  return rowsBeside(operation, "init", options.init as Rows, x).sub(offset) as Tensor;
}

/**
 * Distances between all samples, for algorithms that go from sample to sample: linkages, minimum spanning trees, orders of density. Their
 * next step depends on the last, so they run on the host. With few features a row of distances is computed when it is asked for, and
 * nothing the size of all pairs is kept; with many, the device computes them all, band by band.
 */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import type { Tensor } from "../../tensor/index.js";
import { rowDistance } from "../neighbors/boxes.js";
import { nearestOfAll } from "../neighbors/brute-force.js";
import {
  checkMetric,
  METRIC_KINDS,
  type Metric,
  type MetricOptions,
  normOf,
  type Space,
  spaceOf,
} from "../neighbors/metric.js";
import { hostValues, isForTree } from "../neighbors/within.js";

/** Options that say how distances are measured, or that the samples are distances. */
export interface DistanceOptions extends Omit<MetricOptions, "metric"> {
  /** The measure of distance: "euclidean" unless told. "precomputed": the samples are a matrix of distances, [samples, samples]. */
  readonly metric?: Metric | "precomputed";
}

/** What options of distances are. */
export const DISTANCE_KINDS = METRIC_KINDS;

/** Distances between samples. */
export interface Distances {
  readonly count: number;
  between(a: number, b: number): number;
  /** Distances from a sample to all. The next call writes over them. */
  from(a: number): Float64Array;
}

/** Pairs that a band of the device compares. */
const BAND = 1 << 24;

/** Throws on a measure that there is not. */
export function checkDistances(operation: string, options: DistanceOptions): void {
  if (!isPrecomputed(options)) checkMetric(operation, options as MetricOptions);
}

/** Whether samples are distances themselves. */
export const isPrecomputed = (options: DistanceOptions): boolean => options.metric === "precomputed";

/** The space of the samples, where they are none. */
export const spaceFor = (options: DistanceOptions): Space => spaceOf(options as MetricOptions);

/** Throws unless samples are a matrix from each to each. */
export function checkSquareShape(operation: string, what: string, { shape }: Tensor): void {
  if (shape[0] === shape[1]) return;
  throw new ShapeError(`${operation}: precomputed ${what} are [samples, samples], not ${formatShape(shape)}.`);
}

/** Throws unless samples are distances from each to each. */
export async function checkPrecomputed(operation: string, x: Tensor): Promise<void> {
  checkSquareShape(operation, "distances", x);
  const least = Number(await x.min().item());
  if (least < 0)
    throw new ArgumentError(`${operation}: one of the precomputed distances is ${least}; they are 0 or more.`);
  const [apart, largest] = [Number(await x.sub(x.T).abs().max().item()), Number(await x.max().item())];
  if (apart <= 1e-5 * largest) return;
  throw new ArgumentError(
    `${operation}: precomputed distances are the same both ways, and some here differ by ${apart}.`,
  );
}

/** Distances between samples, as options measure them. */
export async function distancesOf(operation: string, x: Tensor, options: DistanceOptions): Promise<Distances> {
  const count = x.shape[0] as number;
  if (isPrecomputed(options)) {
    await checkPrecomputed(operation, x);
    return ofMatrix(await hostValues(x), count);
  }
  const space = spaceFor(options);
  const samples = space.embed(x);
  if (isForTree(samples, space)) return ofSamples(await hostValues(samples), samples.shape[1] as number, space);
  const matrix = new Float64Array(count * count);
  for await (const { row, values } of distanceBands(samples, space)) matrix.set(values, row * count);
  return ofMatrix(matrix, count);
}

const ofMatrix = (matrix: Float64Array, count: number): Distances => ({
  count,
  between: (a, b) => matrix[a * count + b] as number,
  from: (a) => matrix.subarray(a * count, (a + 1) * count),
});

function ofSamples(values: Float64Array, features: number, space: Space): Distances {
  const count = values.length / features;
  const reduced = rowDistance(values, values, features, space);
  const between = (a: number, b: number): number => space.distance(reduced(a, b));
  const row = new Float64Array(count);
  const from = (a: number): Float64Array => {
    for (let b = 0; b < count; b++) row[b] = between(a, b);
    return row;
  };
  return { count, between, from };
}

/** Distances of all pairs from the device, some rows at a time. */
async function* distanceBands(
  samples: Tensor,
  space: Space,
): AsyncGenerator<{ readonly row: number; readonly values: Float64Array }> {
  const count = samples.shape[0] as number;
  const perBand = Math.max(1, Math.floor(BAND / count));
  for (let row = 0; row < count; row += perBand) {
    const band = samples.at(`${row}:${Math.min(count, row + perBand)}`);
    const reduced = normOf(band.expandDims(1).sub(samples) as Tensor, space);
    yield { row, values: await hostValues(space.distances(reduced)) };
  }
}

/** Distances of pairs a < b one after the other: (0, 1), (0, 2) … as linkages take them. */
export async function condensedDistances(
  operation: string,
  x: Tensor,
  options: DistanceOptions,
): Promise<Float64Array> {
  const count = x.shape[0] as number;
  if (count > 1 << 16) {
    throw new ArgumentError(
      `${operation}: there are ${count} samples, and the distances of all pairs are kept for ${1 << 16} at most; ` +
        'take linkage "single", which keeps none, or cluster some of the samples.',
    );
  }
  const pairs = new Float64Array((count * (count - 1)) / 2);
  let at = 0;
  const add = (values: Float64Array, row: number): void => {
    for (let i = 0; i < values.length / count; i++) {
      const upper = values.subarray(i * count + row + i + 1, (i + 1) * count);
      pairs.set(upper, at);
      at += upper.length;
    }
  };
  if (isPrecomputed(options)) {
    await checkPrecomputed(operation, x);
    add(await hostValues(x), 0);
  } else {
    const space = spaceFor(options);
    for await (const { row, values } of distanceBands(space.embed(x), space)) add(values, row);
  }
  return pairs;
}

/**
 * The distance of each sample to the k-th nearest, itself the first. The device finds who that is; the distance is the host's, so that
 * equal distances stay equal where they are compared.
 */
export async function coreDistances(
  x: Tensor,
  k: number,
  options: DistanceOptions,
  { count, between }: Distances,
): Promise<Float64Array> {
  const last = isPrecomputed(options)
    ? x.topK(k, { largest: false }).indices.at(":", k - 1)
    : farthestOf(spaceFor(options), x, k);
  const places = (await last.cast("i32").data()) as Int32Array;
  return Float64Array.from({ length: count }, (_, i) => between(i, places[i] as number));
}

function farthestOf(space: Space, x: Tensor, k: number): Tensor {
  const samples = space.embed(x);
  return nearestOfAll(samples, samples, k, space).indices.at(":", k - 1) as Tensor;
}

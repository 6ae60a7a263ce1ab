/** Windows and convolutions by their definitions, in plain loops over f64 numbers. */
import { indicesOf, type Plain, plainOf, read } from "./tensors.js";

export interface Geometry {
  readonly size: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  readonly padding: readonly (readonly [number, number])[];
}

export const countWindows = (extents: readonly number[], { size, stride, dilation, padding }: Geometry): number[] =>
  extents.map((extent, i) => {
    const room = extent + padding[i]![0] + padding[i]![1] - (size[i]! - 1) * dilation[i]! - 1;
    return room < 0 ? 0 : Math.floor(room / stride[i]!) + 1;
  });

/** Where place k of window o lies; null in the padding. */
export function placeOf(
  extents: readonly number[],
  { stride, dilation, padding }: Geometry,
  o: readonly number[],
  k: readonly number[],
): number[] | null {
  const at = o.map((window, i) => window * stride[i]! + k[i]! * dilation[i]! - padding[i]![0]);
  return at.every((position, i) => position >= 0 && position < extents[i]!) ? at : null;
}

/** The elements of each window, over all axes; padding as `outside`. */
export function windowed(
  x: Plain,
  geometry: Geometry,
  outside: number,
  reduce: (elements: readonly number[]) => number,
): Plain {
  const places = indicesOf(geometry.size);
  return plainOf(countWindows(x.shape, geometry), (o) =>
    reduce(
      places.map((k) => {
        const at = placeOf(x.shape, geometry, o, k);
        return at ? read(x, at) : outside;
      }),
    ),
  );
}

/** Adds each source to the first place of its window that no other place is better than. */
export function windowScattered(
  x: Plain,
  source: Plain,
  geometry: Geometry,
  initial: number,
  isBetter: (a: number, b: number) => boolean,
): Plain {
  const values = new Map(indicesOf(x.shape).map((index) => [index.join(), initial]));
  for (const o of indicesOf(source.shape)) {
    let chosen: number[] | null = null;
    for (const k of indicesOf(geometry.size)) {
      const at = placeOf(x.shape, geometry, o, k);
      if (at && (!chosen || isBetter(read(x, at), read(x, chosen)))) chosen = at;
    }
    if (chosen) values.set(chosen.join(), values.get(chosen.join())! + read(source, o));
  }
  return plainOf(x.shape, (index) => values.get(index.join())!);
}

export interface ConvGeometry {
  readonly stride: readonly number[];
  readonly padding: readonly (readonly [number, number])[];
  readonly inputDilation: readonly number[];
  readonly kernelDilation: readonly number[];
  readonly featureGroups: number;
  readonly batchGroups: number;
}

/** [N, C, …] and [O, I, …]. */
export function convolution(x: Plain, w: Plain, geometry: ConvGeometry): Plain {
  const { shape, pairs } = convolved(x.shape, w.shape, geometry);
  return plainOf(shape, (result) => {
    let total = 0;
    for (const { pixel, place } of pairs(result)) total += read(x, pixel) * read(w, place);
    return total;
  });
}

/** What the input and the kernels get of the slopes of the result. */
export function convolutionSlopes(x: Plain, w: Plain, slopes: Plain, geometry: ConvGeometry): [Plain, Plain] {
  const [ofInput, ofKernels] = [new Map<string, number>(), new Map<string, number>()];
  const give = (to: Map<string, number>, at: readonly number[], amount: number) =>
    to.set(at.join(), (to.get(at.join()) ?? 0) + amount);
  const { shape, pairs } = convolved(x.shape, w.shape, geometry);
  for (const result of indicesOf(shape)) {
    for (const { pixel, place } of pairs(result)) {
      give(ofInput, pixel, read(slopes, result) * read(w, place));
      give(ofKernels, place, read(slopes, result) * read(x, pixel));
    }
  }
  const taken = (shape: readonly number[], from: Map<string, number>) =>
    plainOf(shape, (index) => from.get(index.join()) ?? 0);
  return [taken(x.shape, ofInput), taken(w.shape, ofKernels)];
}

/** The shape of a convolution, and which pixels each of its elements multiplies with which places of the kernels. */
function convolved(ofInput: readonly number[], ofKernels: readonly number[], geometry: ConvGeometry) {
  const { stride, padding, inputDilation, kernelDilation, featureGroups, batchGroups } = geometry;
  const [batch, , ...extents] = ofInput as [number, number, ...number[]];
  const [results, inner, ...size] = ofKernels as [number, number, ...number[]];
  const spread = extents.map((extent, i) => (extent === 0 ? 0 : (extent - 1) * inputDilation[i]! + 1));
  const windows: Geometry = { size, stride, dilation: kernelDilation, padding };
  const rest = batch / batchGroups;
  const pairs = ([n, o, ...at]: readonly number[]) => {
    const group = Math.floor(o! / (results / (featureGroups * batchGroups)));
    const image = batchGroups > 1 ? group * rest + n! : n!;
    const first = featureGroups > 1 ? group * inner : 0;
    return indicesOf(size).flatMap((k) => {
      const place = placeOf(spread, windows, at, k);
      if (!place || place.some((position, i) => position % inputDilation[i]! !== 0)) return [];
      const pixel = place.map((position, i) => position / inputDilation[i]!);
      return Array.from({ length: inner }, (_, i) => ({ pixel: [image, first + i, ...pixel], place: [o!, i, ...k] }));
    });
  };
  return { shape: [rest, results, ...countWindows(spread, windows)], pairs };
}

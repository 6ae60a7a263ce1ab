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
  const { stride, padding, inputDilation, kernelDilation, featureGroups, batchGroups } = geometry;
  const [batch, , ...extents] = x.shape as [number, number, ...number[]];
  const [results, inner, ...size] = w.shape as [number, number, ...number[]];
  const spread = extents.map((extent, i) => (extent === 0 ? 0 : (extent - 1) * inputDilation[i]! + 1));
  const windows: Geometry = { size, stride, dilation: kernelDilation, padding };
  const rest = batch / batchGroups;
  return plainOf([rest, results, ...countWindows(spread, windows)], ([n, o, ...at]) => {
    const group = Math.floor(o! / (results / (featureGroups * batchGroups)));
    const image = batchGroups > 1 ? group * rest + n! : n!;
    const first = featureGroups > 1 ? group * inner : 0;
    let total = 0;
    for (const k of indicesOf(size)) {
      const place = placeOf(spread, windows, at, k);
      if (!place || place.some((position, i) => position % inputDilation[i]! !== 0)) continue;
      const pixel = place.map((position, i) => position / inputDilation[i]!);
      for (let i = 0; i < inner; i++) total += read(x, [image, first + i, ...pixel]) * read(w, [o!, i, ...k]);
    }
    return total;
  });
}

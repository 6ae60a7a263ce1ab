/**
 * Samples within a radius: who they are, of each query. How many there are is not known before, so values are read: the functions here are
 * awaited and do not trace. With few features a tree on the host finds them (boxes.ts); with many, the device compares all pairs, band by
 * band, and sends one bit for each. Neither holds a matrix of all pairs.
 */
import { arange, type Tensor } from "../../tensor/index.js";
import { MOST_FEATURES } from "./boxes.js";
import type { Space } from "./metric.js";
import { reducedBetween } from "./pair-metric.js";

/** Pairs that a band of the device compares. */
const BAND = 1 << 24;

/** Values of a tensor as doubles on the host. */
export async function hostValues(x: Tensor): Promise<Float64Array> {
  const values = (await x.data()) as Float32Array | Float64Array;
  return values instanceof Float64Array ? values : Float64Array.from(values);
}

/** Whether searches by radius go through a tree on the host. */
export const isForTree = (x: Tensor, { norm }: Space): boolean =>
  norm !== "pairs" && (x.shape[1] as number) <= MOST_FEATURES;

/** Calls back with the place of each bit that is set, of a row of words. */
export function forBits(words: Int32Array, from: number, width: number, visit: (place: number) => void): void {
  for (let w = 0; w < width; w++) {
    let word = words[from + w] as number;
    while (word !== 0) {
      const bit = 31 - Math.clz32(word & -word);
      visit(32 * w + bit);
      word &= word - 1;
    }
  }
}

/** Which samples are within a radius of a band of queries: rows of `width` words, a bit for each sample. */
interface BitBand {
  /** The first query of the band. */
  readonly row: number;
  readonly words: Int32Array;
  readonly width: number;
}

/** The bits of all pairs, band by band. */
export async function* pairBits(
  samples: Tensor,
  queries: Tensor,
  radius: number,
  space: Space,
): AsyncGenerator<BitBand> {
  const [count, total] = [samples.shape[0] as number, queries.shape[0] as number];
  const width = Math.ceil(count / 32);
  const perBand = Math.max(1, Math.floor(BAND / (32 * width)));
  const { device } = samples;
  const bit = arange(32, { device, dtype: "i32" });
  const one = bit.mul(0).add(1).leftShift(bit);
  const places = arange(32 * width, { device, dtype: "i32" });
  const isSample = places.less(count);
  const repeated = places.minimum(count - 1);
  // Precomputed distances are columns of the queries, and no samples: they are repeated themselves.
  const isOfSamples = space.norm !== "pairs";
  const compared = (isOfSamples ? samples.take(repeated, { axis: 0 }) : samples) as Tensor;
  for (let row = 0; row < total; row += perBand) {
    const band = queries.at(`${row}:${Math.min(total, row + perBand)}`);
    const reduced = reducedBetween(band, compared, space);
    const isNear = (isOfSamples ? reduced : reduced.take(repeated, { axis: 1 })).lessEqual(radius).logicalAnd(isSample);
    const bits = isNear.reshape(-1, width, 32).cast("i32").mul(one).sum({ axis: 2 });
    yield { row, words: (await bits.data()) as Int32Array, width };
  }
}

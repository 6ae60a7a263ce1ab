/** Samples in parts of equal size, a power of two in number: what balanced trees cut level by level. */
import { type Tensor, tensor } from "../../tensor/index.js";

/** How samples fill the leaves of a balanced tree. */
interface EvenParts {
  readonly levels: number;
  readonly leaves: number;
  /** The sample at each place, i32. Some stand twice, so that leaves are equally large; the copies lie far from each other. */
  readonly sources: Tensor;
  /** The same, and -1 for a copy. */
  readonly places: Tensor;
}

/** Leaves of at most `leafSize` of so many samples. */
export function evenly(count: number, leafSize: number, device: string): EvenParts {
  const levels = Math.max(0, Math.ceil(Math.log2(count / leafSize)));
  const leaves = 2 ** levels;
  const total = leaves * Math.ceil(count / leaves);
  const sources = Int32Array.from({ length: total }, (_, i) => Math.floor((i * count) / total));
  const places = sources.map((place, i) => (i > 0 && place === sources[i - 1] ? -1 : place));
  return {
    levels,
    leaves,
    sources: tensor(sources, { device }) as Tensor,
    places: tensor(places, { device }) as Tensor,
  };
}

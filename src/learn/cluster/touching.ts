/**
 * Pairs of samples that touch: within a radius of each other. Two ways to find them, one answer: the leaves of a tree on the host, with few
 * features, or bits of all pairs from the device. Both go over the pairs anew each time, so that nothing the size of their number is kept.
 */
import type { Tensor } from "../../tensor/index.js";
import { boxesOf, rowDistance, visitWithin } from "../neighbors/boxes.js";
import type { Space } from "../neighbors/metric.js";
import { forBits, hostValues, isForTree, pairBits } from "../neighbors/within.js";

/** Pairs of samples within a radius. */
export interface Touching {
  /** The weight within the radius of each sample, itself included. Counting may stop at `enough`. */
  counts(weights: Float64Array | null, enough: number): Promise<Float64Array>;
  /**
   * Calls back with pairs of a core sample and another sample that it touches. Of pairs of core samples as many as connect all that
   * touch, of others all.
   */
  joins(isCore: Uint8Array, join: (core: number, other: number) => void): Promise<void>;
}

/** The pairs of samples, which are embedded (metric.ts), within a reduced radius. */
export const touching = async (
  samples: Tensor,
  radius: number,
  space: Space,
  signal?: AbortSignal,
): Promise<Touching> =>
  isForTree(samples, space)
    ? inTree(await hostValues(samples), samples.shape[1] as number, radius, space)
    : onDevice(samples, radius, space, signal);

function inTree(values: Float64Array, features: number, radius: number, space: Space): Touching {
  const boxes = boxesOf(values, features);
  const { order, starts, ends, seconds, lows, highs, nodes } = boxes;
  const distance = rowDistance(boxes.points, boxes.points, features, space);
  const leaves = Array.from({ length: nodes }, (_, node) => node).filter((node) => seconds[node] === 0);
  const forLeaves = (visit: (leaf: number, node: number, isWithin: boolean) => void): void => {
    for (const leaf of leaves) {
      visitWithin(boxes, lows, highs, leaf * features, radius, space, (node, isWithin) => visit(leaf, node, isWithin));
    }
  };
  return {
    async counts(weights, enough) {
      const counts = new Float64Array(order.length);
      const weight = Float64Array.from(order, (i) => (weights ? (weights[i] as number) : 1));
      forLeaves((leaf, node, isWithin) => {
        const [start, end] = [starts[node] as number, ends[node] as number];
        for (let a = starts[leaf] as number; a < (ends[leaf] as number); a++) {
          let sum = counts[a] as number;
          for (let b = start; b < end && sum < enough; b++) {
            if (isWithin || distance(a, b) <= radius) sum += weight[b] as number;
          }
          counts[a] = sum;
        }
      });
      const found = new Float64Array(order.length);
      order.forEach((i, place) => {
        found[i] = counts[place] as number;
      });
      return found;
    },
    async joins(isCore, join) {
      const core = Uint8Array.from(order, (i) => isCore[i] as number);
      forLeaves((leaf, node, isWithin) => {
        const [start, end] = [starts[node] as number, ends[node] as number];
        const hub = isWithin ? firstCore(core, start, end) : -1;
        let isTold = false;
        for (let a = starts[leaf] as number; a < (ends[leaf] as number); a++) {
          if (!core[a]) continue;
          // All of the node touch all of the leaf. With a core sample among them they are one cluster, which is told once.
          if (isTold && hub >= 0) {
            join(order[a] as number, order[hub] as number);
            continue;
          }
          isTold = true;
          for (let b = start; b < end; b++) {
            // Of two core samples, the pair is told once.
            if (isWithin || ((b > a || !core[b]) && distance(a, b) <= radius)) {
              join(order[a] as number, order[b] as number);
            }
          }
        }
      });
    },
  };
}

/** The first core sample of a range; -1 where there is none. */
function firstCore(core: Uint8Array, start: number, end: number): number {
  for (let b = start; b < end; b++) if (core[b]) return b;
  return -1;
}

const onDevice = (samples: Tensor, radius: number, space: Space, signal: AbortSignal | undefined): Touching =>
  inPairs(samples.shape[0] as number, async (visit) => {
    for await (const { row, words, width } of pairBits(samples, samples, radius, space)) {
      signal?.throwIfAborted();
      for (let i = 0; i < words.length / width; i++) forBits(words, i * width, width, (b) => visit(row + i, b));
    }
  });

/** Cells of a matrix of distances that are read at once. */
const MOST_READ = 2 ** 24;

/** The pairs within a radius, by their distances [samples, samples], the same both ways. */
export function touchingIn(distances: Tensor, radius: number, signal: AbortSignal | undefined): Touching {
  const count = distances.shape[0] as number;
  const band = Math.max(1, Math.floor(MOST_READ / count));
  return inPairs(count, async (visit) => {
    for (let first = 0; first < count; first += band) {
      signal?.throwIfAborted();
      const flags = await distances
        .at(`${first}:${Math.min(count, first + band)}`)
        .lessEqual(radius)
        .data();
      flags.forEach((isNear: number | boolean, place: number) => {
        if (isNear) visit(first + Math.floor(place / count), place % count);
      });
    }
  });
}

/** Pairs that are gone over one by one. */
const inPairs = (count: number, forPairs: (visit: (a: number, b: number) => void) => Promise<void>): Touching => {
  return {
    async counts(weights) {
      const counts = new Float64Array(count);
      await forPairs((a, b) => {
        counts[a] = (counts[a] as number) + (weights ? (weights[b] as number) : 1);
      });
      return counts;
    },
    joins: (isCore, join) => forPairs((a, b) => void (isCore[a] && (b > a || !isCore[b]) && join(a, b))),
  };
};

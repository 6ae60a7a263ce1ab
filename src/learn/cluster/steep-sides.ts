/**
 * Clusters of a reachability plot between a steep fall and a steep rise (figure 19 of Ankerst, Breunig, Kriegel & Sander 1999), with the
 * correction by predecessors of Schubert & Gertz (2018). Places here are places of the order.
 */

/** The plot: the order of samples, and by sample how far it was to reach and from which. */
export interface Plot {
  readonly ordering: Int32Array;
  readonly reachability: Float64Array;
  readonly predecessors: Int32Array;
}

/** A cluster: its first and last places. */
type Range = readonly [first: number, last: number];

interface SideOptions {
  /** The share by which a steep place falls or rises. */
  readonly xi: number;
  /** Places in a row within a side that need not be steep. */
  readonly least: number;
  /** Samples of a cluster at least. */
  readonly size: number;
  readonly isCorrected: boolean;
}

/** A steep fall, and the highest place since its end. */
interface Fall {
  readonly first: number;
  readonly last: number;
  readonly between: number;
}

/** A steep rise that has been found, with what its clusters are measured by. */
interface Rise {
  readonly first: number;
  readonly last: number;
  /** Heights by place; Infinity behind the last. */
  readonly heights: Float64Array;
  /** 1 − ξ. */
  readonly rest: number;
}

/** Ranges that are clusters, smaller ones before those they lie in. */
export function clustersBySides(plot: Plot, options: SideOptions): Range[] {
  const { ordering } = plot;
  const count = ordering.length;
  const heights = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
  ordering.forEach((i, place) => {
    heights[place] = plot.reachability[i] as number;
  });
  const rest = 1 - options.xi;
  // ∞ / ∞ and 0 / 0 are neither falls nor rises.
  const ratio = (place: number): number => (heights[place] as number) / (heights[place + 1] as number);
  const falls = (place: number): boolean => ratio(place) >= 1 / rest;
  const rises = (place: number): boolean => ratio(place) <= rest;
  const clusters: Range[] = [];
  let open: Fall[] = [];
  let highest = 0;
  for (let place = 0; place < count; ) {
    highest = Math.max(highest, heights[place] as number);
    const isFall = falls(place);
    if (!isFall && !rises(place)) {
      place++;
      continue;
    }
    open = stillOpen(open, highest, heights, rest);
    let last: number;
    if (isFall) {
      last = sideEnd(place, count, options.least, falls, (at) => ratio(at) < 1);
      open.push({ first: place, last, between: 0 });
    } else {
      last = sideEnd(place, count, options.least, rises, (at) => ratio(at) > 1);
      clusters.push(...clustersOfRise({ first: place, last, heights, rest }, open, plot, options));
    }
    place = last + 1;
    highest = heights[place] as number;
  }
  return clusters;
}

/** The last steep place of a side: it goes on over places that do not go back, few enough of them in a row. */
function sideEnd(
  first: number,
  count: number,
  least: number,
  isSteep: (place: number) => boolean,
  goesBack: (place: number) => boolean,
): number {
  let [end, flat] = [first, 0];
  for (let place = first; place < count; place++) {
    if (isSteep(place)) {
      flat = 0;
      end = place;
    } else if (goesBack(place) || ++flat > least) return end;
  }
  return end;
}

/** Falls that began higher than all since. */
function stillOpen(falls: readonly Fall[], highest: number, heights: Float64Array, rest: number): Fall[] {
  if (highest === Number.POSITIVE_INFINITY) return [];
  return falls
    .filter(({ first }) => highest <= (heights[first] as number) * rest)
    .map((fall) => ({ ...fall, between: Math.max(fall.between, highest) }));
}

/** Clusters that end with a rise, the smallest first. */
function clustersOfRise(rise: Rise, open: readonly Fall[], plot: Plot, { size, isCorrected }: SideOptions): Range[] {
  const found: Range[] = [];
  for (const fall of open) {
    if ((rise.heights[rise.last + 1] as number) * rise.rest < fall.between) continue;
    const level = levelled(fall, rise);
    const range = isCorrected ? corrected(level, rise.heights, plot) : level;
    if (!range) continue;
    const [first, last] = range;
    if (last - first + 1 >= size && first <= fall.last && last >= rise.first) found.push(range);
  }
  return found.reverse();
}

/** The ends at about the same height: the higher side is cut off where it reaches the other. */
function levelled({ first: start, last: foot }: Fall, { first: riseStart, last: end, heights, rest }: Rise): Range {
  let [first, last] = [start, end];
  const [top, after] = [heights[start] as number, heights[end + 1] as number];
  if (top * rest >= after) {
    while ((heights[first + 1] as number) > after && first < foot) first++;
  } else if (after * rest >= top) {
    while ((heights[last - 1] as number) > top && last > riseStart) last--;
  }
  return [first, last];
}

/** A range whose last sample was reached from inside it, or is lower than its first; null where there is none. */
function corrected([first, end]: Range, heights: Float64Array, { ordering, predecessors }: Plot): Range | null {
  for (let last = end; last > first; last--) {
    if ((heights[first] as number) > (heights[last] as number)) return [first, last];
    const from = predecessors[ordering[last] as number] as number;
    for (let place = first; place < last; place++) if (ordering[place] === from) return [first, last];
  }
  return null;
}

/** Labels of samples by the smallest ranges they lie in. Ranges around others have none of their own. */
export function labelsOfRanges(ordering: Int32Array, ranges: readonly Range[]): Int32Array {
  const labels = new Int32Array(ordering.length).fill(-1);
  let next = 0;
  for (const [first, last] of ranges) {
    const members = ordering.subarray(first, last + 1);
    if (members.some((i) => labels[i] !== -1)) continue;
    for (const i of members) labels[i] = next;
    next++;
  }
  return labels;
}

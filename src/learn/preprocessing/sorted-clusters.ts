/**
 * k-means in one dimension, for bins: on a sorted column groups are stretches, so that a round of Lloyd's method is a few bisections and
 * differences of running sums. Follows scikit-learn's rules to stop and to refill groups that are empty.
 */

const MAX_ROUNDS = 300;
const TOL = 1e-4;

/** Centers of a sorted column, in order, from these first ones. */
export function sortedClusters(sorted: Float64Array, first: Float64Array): Float64Array {
  const { length } = sorted;
  const mean = sorted.reduce((sum, each) => sum + each, 0) / length;
  // Sums are of what is left of the mean, which keeps their digits.
  const x = sorted.map((value) => value - mean);
  const sums = new Float64Array(length + 1);
  for (let i = 0; i < length; i++) sums[i + 1] = (sums[i] as number) + (x[i] as number);
  const tol = (x.reduce((sum, each) => sum + each * each, 0) / length) * TOL;
  let centers: Float64Array = first.map((value) => value - mean);
  let before: Int32Array | null = null;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const starts = groupStarts(x, centers);
    const next = refilled(x, sums, starts, centers);
    const shift = next.reduce((sum, each, k) => sum + (each - (centers[k] as number)) ** 2, 0);
    const isSame = before !== null && starts.every((start, k) => start === before?.[k]);
    centers = next;
    if (isSame || shift <= tol) break;
    before = starts;
  }
  return centers.map((value) => value + mean).sort();
}

/** The first position of each group and the end, for centers in order: a value goes to the nearest, the earlier of two. */
function groupStarts(x: Float64Array, centers: Float64Array): Int32Array {
  centers.sort();
  const starts = new Int32Array(centers.length + 1);
  starts[centers.length] = x.length;
  for (let k = 1; k < centers.length; k++) {
    const middle = ((centers[k - 1] as number) + (centers[k] as number)) / 2;
    let [low, high] = [0, x.length];
    while (low < high) {
      const at = (low + high) >> 1;
      if ((x[at] as number) <= middle) low = at + 1;
      else high = at;
    }
    starts[k] = low;
  }
  return starts;
}

/** Means of the groups. An empty group takes the value that is farthest from its center, which leaves its own group. */
function refilled(x: Float64Array, sums: Float64Array, starts: Int32Array, centers: Float64Array): Float64Array {
  const bounds = Array.from(centers, (_, k): [number, number] => [starts[k] as number, starts[k + 1] as number]);
  const totals = bounds.map(([from, to]) => (sums[to] as number) - (sums[from] as number));
  const counts = bounds.map(([from, to]) => to - from);
  const empty = counts.flatMap((count, k) => (count === 0 ? [k] : []));
  if (empty.length > 0) {
    const far = bounds
      .flatMap(([from, to], k) => {
        const center = centers[k] as number;
        return Array.from({ length: to - from }, (_, i) => ({ k, value: x[from + i] as number, center }));
      })
      .sort((a, b) => Math.abs(b.value - b.center) - Math.abs(a.value - a.center));
    for (const [i, group] of empty.entries()) {
      const moved = far[i];
      if (!moved) break;
      totals[group] = moved.value;
      counts[group] = 1;
      totals[moved.k] = (totals[moved.k] as number) - moved.value;
      counts[moved.k] = (counts[moved.k] as number) - 1;
    }
  }
  return Float64Array.from(centers, (center, k) =>
    (counts[k] as number) > 0 ? (totals[k] as number) / (counts[k] as number) : center,
  );
}

/**
 * Fewer marks for the same picture: what lies on the same spot is drawn once. So pictures of very many points stay small, and points far
 * from the others are never lost.
 */

type Point = readonly [x: number, y: number];

/** Marks in one picture, over all its groups. */
const MOST_MARKS = 3000;
/** Points of one curve. */
const MOST_CURVE_POINTS = 1000;

/** At most so many items of a list, evenly spread. */
export function spread<T>(items: ArrayLike<T>, most: number): T[] {
  const step = Math.max(items.length / most, 1);
  return Array.from({ length: Math.min(items.length, most) }, (_, i) => items[Math.floor(i * step)]);
}

/**
 * Positions of the points to draw, in their order: all where there are few, else the first in each cell of a grid, whose cells grow until
 * few enough are left. `groups` have grids of their own. Points that are not finite are left out.
 */
export function thinned(
  points: readonly Point[],
  most = MOST_MARKS,
  groups: ArrayLike<number> = new Uint8Array(points.length),
): number[] {
  const finite = [...points.keys()].filter((i) => points[i].every(Number.isFinite));
  let kept = finite;
  for (let cell = 1; kept.length > most; cell *= 1.25) {
    const taken = new Set<string>();
    kept = finite.filter((i) => {
      const spot = `${groups[i]} ${Math.floor(points[i][0] / cell)} ${Math.floor(points[i][1] / cell)}`;
      return taken.size < taken.add(spot).size;
    });
    // Groups alone may be too many for any grid.
    if (cell > 1000) return spread(kept, most);
  }
  return kept;
}

/** A curve with fewer points: those within a step of the last one kept are left out, and the step grows until few enough are left. */
export function thinnedCurve(points: readonly Point[], most = MOST_CURVE_POINTS): readonly Point[] {
  let kept = points;
  for (let step = 0.3; kept.length > most; step *= 1.25) {
    let last: Point | undefined;
    kept = points.filter((point, i) => {
      const isFar = !last || Math.hypot(point[0] - last[0], point[1] - last[1]) >= step;
      if (isFar || i === points.length - 1) last = point;
      return isFar || i === points.length - 1;
    });
  }
  return kept;
}

/** Spreads the elements of a group over a device: chooses the axes that are rows, and the lanes that share a row. */
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import type { TargetProfile } from "../target/profile.js";
import type { GroupResult, RowTiling } from "./group.js";
import type { FoundReduction, Survey } from "./survey.js";

/** Work that may be repeated when several rows compute the same reduction: so many times its elements. */
const MAX_REPEATED = 16;
/** Lanes of a row that need no barriers, on most devices. */
const SHORT_ROW_LANES = 32;
/** Threads that keep a device busy. */
const BUSY_THREADS = 1 << 17;
/** A result with so many times the elements that its reductions go over is spread, and not a function of its rows. */
const LEAST_SPREAD = 4;
/** Elements of such a result that a lane may write one after the other. */
const MAX_SPREAD = 64;

/** The split into rows and columns that lets the most reduction work be done in the kernel. */
export function chooseRows(
  result: Node,
  reductions: readonly FoundReduction[],
  profile: TargetProfile,
): { rowAxes: readonly number[]; inlined: readonly Node[] } {
  const everyAxis = result.shape.map((_, axis) => axis);
  const own = reductions.find(({ node }) => node === result);
  const byAxes = new Map<string, { axes: readonly number[]; nodes: Node[]; found: FoundReduction[]; work: number }>();
  for (const reduction of reductions) {
    const { node, axes, extent, isApart } = reduction;
    const key = axes.join();
    const rows = productOf(axes.map((axis) => result.shape[axis]));
    // Rows that share a result, as the pixels of a window do, would each compute it.
    const isRepeated = rows > productOf(node.shape) && rows * extent > MAX_REPEATED * productOf(node.shape);
    if (isApart || isRepeated) continue;
    const entry = byAxes.get(key) ?? { axes, nodes: [], found: [], work: 0 };
    entry.nodes.push(node);
    entry.found.push(reduction);
    entry.work += rows * extent;
    byAxes.set(key, entry);
  }
  const candidates = [...byAxes.values()]
    .filter(({ axes, found }) => {
      if (axes.length === everyAxis.length) return true;
      // A reduction that the result is not a row-wise function of stays a kernel of its own when rows are few.
      const rows = productOf(axes.map((axis) => result.shape[axis]));
      return !own && rows >= profile.minRows && !isSpreadThin(result, axes, found, profile);
    })
    .sort((a, b) => b.work - a.work);
  const best = candidates[0];
  if (!best) return { rowAxes: everyAxis, inlined: [] };
  return { rowAxes: best.axes, inlined: best.nodes };
}

/**
 * Whether the lanes of a row would write far more than they reduce: a shift by the mean of each channel, whose sum was made in
 * chunks, has 64 rows of a few partial sums and of a quarter million elements. Its elements are better rows of their own.
 */
function isSpreadThin(
  result: Node,
  rowAxes: readonly number[],
  reductions: readonly FoundReduction[],
  profile: TargetProfile,
): boolean {
  if (profile.maxLanes === 1) return false;
  const rows = productOf(rowAxes.map((axis) => result.shape[axis]));
  const columns = productOf(result.shape) / rows;
  const longest = Math.max(...reductions.map(({ extent }) => extent));
  return columns > LEAST_SPREAD * longest && columns > MAX_SPREAD * chooseLanes(result, rowAxes, reductions, profile);
}

/** A workgroup per row where the row is long and read along memory; a thread per row otherwise. */
export function chooseLanes(
  result: Node,
  rowAxes: readonly number[],
  reductions: readonly FoundReduction[],
  profile: TargetProfile,
): number {
  const rows = productOf(rowAxes.map((axis) => result.shape[axis]));
  const longest = Math.max(0, ...reductions.filter(({ isInnermost }) => isInnermost).map(({ extent }) => extent));
  if (profile.maxLanes === 1 || longest < 8 * profile.width) return 1;
  let lanes = 8;
  while (lanes < SHORT_ROW_LANES && lanes * 2 * profile.width <= longest) lanes *= 2;
  // As many elements per lane as it can hold, fewer where there are not enough rows to keep the device busy.
  while (lanes < profile.maxLanes && lanes * profile.elementsPerLane <= longest / 2) lanes *= 2;
  while (lanes < profile.maxLanes && lanes * 2 * profile.width <= longest && rows * lanes < BUSY_THREADS) lanes *= 2;
  return lanes;
}

/** Most rows that a thread reduces together. */
export const MAX_TOGETHER = 4;
/** Additions in each round that they must share. */
const LEAST_SHARED = 8;

/**
 * Neighbouring rows whose reductions compute much alike: the three components of a force share the distance. One thread
 * then reduces all along the last axis, in one loop; 1 if they had better stay apart.
 */
export function rowsTogether({ node, rowAxes }: GroupResult, { reductions, sharedAlongLast }: Survey): number {
  const last = node.shape.findLast((extent) => extent > 1) ?? 1;
  const isOfRows = rowAxes.length === node.shape.length && reductions.length > 0;
  return isOfRows && last <= MAX_TOGETHER && sharedAlongLast >= LEAST_SHARED ? last : 1;
}

/** A thread by itself takes one element at a time, its neighbours take those beside it: it needs more under way. */
export function tilingFor(lanes: number, profile: TargetProfile, isWide: boolean): RowTiling {
  const { width, elementsPerLane } = profile;
  const unroll = isWide ? profile.unrollWide : profile.unroll;
  return lanes > 1
    ? { lanes, width, unroll, elementsPerLane }
    : { lanes, width: 1, unroll: unroll * width, elementsPerLane };
}

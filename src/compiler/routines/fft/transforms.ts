/**
 * The transforms that a node asks for: the plan of their length, and the distances in memory along the transformed axis and
 * along the others, on both sides. fft.ts makes passes of them.
 */
import { stridesOf } from "../../../core/shape.js";
import { areColumns, type DftFloat, type DftLimits, type DftPlan, planDft } from "../../../graph/dft-plan.js";
import type { Node } from "../../../graph/node.js";
import { type DftParams, dftFloat, dftParams } from "../../../graph/primitives/dft.js";

/** An axis, or several that lie in memory as one, whose places are transforms of their own. Distances count numbers. */
interface BatchAxis {
  readonly extent: number;
  readonly from: number;
  readonly to: number;
}

export interface Transforms {
  readonly type: DftFloat;
  readonly params: DftParams;
  readonly plan: DftPlan;
  /** The nearest neighbours first. */
  readonly batch: readonly BatchAxis[];
  /** Numbers on the transformed axis of the source, the distance of neighbours there, and of the first number. */
  readonly extent: number;
  readonly from: number;
  readonly start: number;
  /** The distance of neighbours in the result. */
  readonly to: number;
}

export function transformsOf(node: Node, limits: DftLimits): Transforms {
  const params = dftParams(node);
  const type = dftFloat(node);
  const { axis, kind, length, isOfComplex, view, order, passes } = params;
  const [{ shape: stored }] = node.inputs;
  const shape = view?.shape ?? (isOfComplex ? stored.slice(0, -1) : stored);
  const from = view?.strides ?? stridesOf(shape);
  const to = distancesTo(kind === "half" ? node.shape : node.shape.slice(0, -1), order);
  return {
    type,
    params,
    plan: planDft(kind, length, type, limits, areColumns(shape, axis), passes),
    batch: joined(
      shape.flatMap((extent, i) => (i === axis || extent === 1 ? [] : [{ extent, from: from[i], to: to[i] }])),
    ),
    extent: shape[axis],
    from: from[axis],
    start: view?.offset ?? 0,
    to: to[axis],
  };
}

/** Distances along the axes of a result whose axes lie in another order. */
function distancesTo(shape: readonly number[], order: readonly number[] | undefined): number[] {
  const strides = stridesOf(shape);
  if (!order) return strides;
  const distances: number[] = [];
  order.forEach((axis, i) => {
    distances[axis] = strides[i];
  });
  return distances;
}

/** Whether places along an axis are neighbours in memory, on either side. */
const isNear = ({ from, to }: BatchAxis): boolean => from === 1 || to === 1;

/** The axes, the nearest neighbours first; those that lie in memory as one on both sides are one. */
function joined(axes: readonly BatchAxis[]): BatchAxis[] {
  const nearest = (axis: BatchAxis) => (isNear(axis) ? 0 : Math.min(Math.abs(axis.from), Math.abs(axis.to)));
  const sorted = [...axes].reverse().sort((a, b) => nearest(a) - nearest(b));
  const found: BatchAxis[] = [];
  for (const axis of sorted) {
    const inner = found.at(-1);
    const isOne = inner && axis.from === inner.from * inner.extent && axis.to === inner.to * inner.extent;
    if (isOne) found[found.length - 1] = { ...inner, extent: inner.extent * axis.extent };
    else found.push(axis);
  }
  return found;
}

/** The layout of the numbers of all transforms: distances along the transformed axis and along those of the batch. */
export interface Memory {
  readonly start: number;
  readonly apart: number;
  readonly axes: readonly number[];
}

export const sourceOf = ({ start, from, batch }: Transforms): Memory => ({
  start,
  apart: from,
  axes: batch.map((axis) => axis.from),
});

export const resultOf = ({ to, batch }: Transforms): Memory => ({
  start: 0,
  apart: to,
  axes: batch.map((axis) => axis.to),
});

/** The first axis of the batch, where it has neighbours in memory: lanes go along it. */
export const nearAxis = ({ batch: [first] }: Transforms): BatchAxis | null => (first && isNear(first) ? first : null);

/** Memory between passes: neighbours of the near axis stay neighbours, and other transforms follow one another. */
export function temporaryOf(transforms: Transforms): Memory {
  const { plan, batch } = transforms;
  const near = nearAxis(transforms);
  const apart = near?.extent ?? 1;
  let next = plan.computed * apart;
  const axes = batch.map((axis) => {
    if (axis === near) return 1;
    next *= axis.extent;
    return next / axis.extent;
  });
  return { start: 0, apart, axes };
}

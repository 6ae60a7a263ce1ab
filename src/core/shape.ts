/**
 * The arithmetic of shapes: sizes, strides, broadcasting, axes, reshaping, indices. A shape is a list of sizes,
 * outermost first; an empty one is a scalar's. Every function that can throw takes the name of the operation, so that the
 * error names what the user called. Everything above core calls this.
 */
import { ArgumentError, ShapeError } from "./errors.js";
import { remedyForTensor, shown } from "./shown.js";

/** The extents of the axes: `[2, 3]`. */
export type Shape = readonly number[];

/** As users write it: [2, 3]. */
export function formatShape(shape: Shape): string {
  return `[${shape.map(shown).join(", ")}]`;
}

/** Throws if the shape is no list. The shapes of random variables are lists that can also be called. */
function checkList(shape: Shape, operation: string): void {
  if (Array.isArray(shape) || (typeof shape === "function" && "entries" in shape)) return;
  const remedy = typeof shape === "number" ? `; write [${shape}]` : "";
  throw new ShapeError(`${operation}: a shape is a list of sizes, as [2, 3], not ${shown(shape)}${remedy}.`);
}

/** The shape itself, when every size is a whole number from 0 on and the product stays exact. */
export function checkShape(shape: Shape, operation: string): Shape {
  checkList(shape, operation);
  for (const [axis, size] of shape.entries()) {
    if (Number.isSafeInteger(size) && size >= 0) continue;
    const rule =
      typeof size === "number" && size > Number.MAX_SAFE_INTEGER
        ? "sizes go up to 2^53 - 1"
        : "a size is a whole number, 0 or more";
    throw new ShapeError(
      `${operation}: axis ${axis} of ${formatShape(shape)} has size ${shown(size)}; ${rule}.${remedyForTensor(size)}`,
    );
  }
  sizeOf(shape, operation);
  return shape;
}

/** The number of elements of a shape. */
export function sizeOf(shape: Shape, operation = "size"): number {
  let size = 1;
  for (const length of shape) {
    if (length === 0) return 0;
    size *= length;
  }
  if (size <= Number.MAX_SAFE_INTEGER) return size;
  throw new ShapeError(`${operation}: ${formatShape(shape)} has more than 2^53 elements, too many to count exactly.`);
}

/** The product of some extents. It may exceed the exact integers when another extent of the shape is 0. */
export function productOf(extents: readonly number[]): number {
  let product = 1;
  for (const extent of extents) product *= extent;
  return product;
}

/** Row-major strides, in elements. */
export function stridesOf(shape: Shape): number[] {
  const strides = new Array<number>(shape.length);
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

export function sameShape(a: Shape, b: Shape): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let axis = 0; axis < a.length; axis++) if (a[axis] !== b[axis]) return false;
  return true;
}

/** The shape that all of these broadcast to: aligned at the last axis, sizes of 1 stretch. */
export function broadcastShapes(operation: string, ...shapes: Shape[]): number[] {
  const rank = Math.max(0, ...shapes.map((shape) => shape.length));
  const result = new Array<number>(rank).fill(1);
  for (const shape of shapes) {
    for (let i = 0; i < shape.length; i++) {
      const axis = rank - shape.length + i;
      if (shape[i] === result[axis] || shape[i] === 1) continue;
      if (result[axis] !== 1) throw broadcastError(operation, shapes, axis - rank);
      result[axis] = shape[i];
    }
  }
  return result;
}

/** `axis` is negative: counted from the end, the way the shapes are aligned. */
function broadcastError(operation: string, shapes: Shape[], axis: number): ShapeError {
  const sizes = [...new Set(shapes.map((shape) => shape.at(axis)).filter((size) => size !== undefined && size !== 1))];
  return new ShapeError(
    `${operation}: shapes ${shapes.map(formatShape).join(" and ")} do not broadcast: ` +
      `at axis ${axis} (counted from the end) the sizes are ${sizes.join(" and ")}. ` +
      `Sizes must be equal or 1; reshape, or insert an axis with expandDims.`,
  );
}

/** The shape `target`, when `shape` broadcasts to exactly it. */
export function checkBroadcastTo(operation: string, shape: Shape, target: Shape): Shape {
  checkShape(target, operation);
  const fits =
    shape.length <= target.length &&
    shape.every((size, i) => size === 1 || size === target[target.length - shape.length + i]);
  if (fits) return target;
  throw new ShapeError(
    `${operation}: ${formatShape(shape)} does not broadcast to ${formatShape(target)}; ` +
      `aligned at the last axis, each size must be equal or 1.`,
  );
}

/** The axis counted from the front. */
export function normalizeAxis(axis: number, rank: number, operation: string): number {
  if (!Number.isInteger(axis)) {
    throw new ShapeError(`${operation}: axis ${shown(axis)} is not a whole number.${remedyForTensor(axis)}`);
  }
  if (axis < -rank || axis >= rank) {
    const range = rank === 0 ? "a scalar has no axes" : `use ${-rank} to ${rank - 1}`;
    throw new ShapeError(`${operation}: axis ${axis} is out of range for ${rank} dimensions; ${range}.`);
  }
  return axis < 0 ? axis + rank : axis + 0; // no -0
}

/** Distinct axes counted from the front, in the order given; all of them when undefined. */
export function normalizeAxes(
  axes: number | readonly number[] | null | undefined,
  rank: number,
  operation: string,
): number[] {
  if (axes === undefined || axes === null) {
    const all: number[] = [];
    for (let axis = 0; axis < rank; axis++) all.push(axis);
    return all;
  }
  const list = Array.isArray(axes) ? (axes as readonly number[]) : [axes as number];
  const normal = list.map((axis) => normalizeAxis(axis, rank, operation));
  const repeated = normal.findIndex((axis, i) => normal.indexOf(axis) !== i);
  if (repeated >= 0) {
    throw new ShapeError(
      `${operation}: axes ${formatShape(list)} name axis ${normal[repeated]} of ${rank} twice; name each axis once.`,
    );
  }
  return normal;
}

/** The shape left when the (normalised) axes are reduced away, or kept with size 1. */
export function reducedShape(shape: Shape, axes: readonly number[], keepDims = false): number[] {
  if (axes.length === shape.length && !keepDims) return [];
  const reduced = new Set(axes);
  return shape.flatMap((size, axis) => (reduced.has(axis) ? (keepDims ? [1] : []) : [size]));
}

/** The target of a reshape, with one size of -1 worked out from the others. */
export function reshapeInfer(shape: Shape, target: Shape, operation = "reshape"): number[] {
  checkList(target, operation);
  const unknown = target.indexOf(-1);
  if (target.indexOf(-1, unknown + 1) > unknown && unknown >= 0) {
    throw new ShapeError(`${operation}: ${formatShape(target)} has more than one -1; only one size can be worked out.`);
  }
  const known = target.filter((_, axis) => axis !== unknown);
  checkShape(known, operation);
  const size = sizeOf(shape, operation);
  const rest = sizeOf(known, operation);
  if (unknown < 0) {
    if (rest === size) return [...target];
    throw new ShapeError(
      `${operation}: ${formatShape(shape)} has ${size} elements, ${formatShape(target)} has ${rest}; they must be equal.`,
    );
  }
  if (rest === 0) {
    throw new ShapeError(
      `${operation}: the -1 in ${formatShape(target)} can be anything, as another size is 0; write the size you mean.`,
    );
  }
  if (size % rest !== 0) {
    throw new ShapeError(
      `${operation}: the ${size} elements of ${formatShape(shape)} do not fill ${formatShape(target)}; ${size} is no multiple of ${rest}.`,
    );
  }
  return target.map((length) => (length === -1 ? size / rest : length));
}

/** The permutation counted from the front, when it names every axis once. */
export function checkPermutation(axes: readonly number[], rank: number, operation: string): number[] {
  if (axes.length !== rank) {
    throw new ShapeError(
      `${operation}: ${formatShape(axes)} names ${axes.length} axes of ${rank}; a permutation names every axis once.`,
    );
  }
  return normalizeAxes(axes, rank, operation);
}

/** The row-major position of an index; the index may count from the end. */
export function ravelIndex(index: readonly number[], shape: Shape, operation = "ravelIndex"): number {
  if (index.length !== shape.length) {
    throw new ShapeError(`${operation}: index ${formatShape(index)} does not fit shape ${formatShape(shape)}.`);
  }
  let position = 0;
  for (const [axis, size] of shape.entries()) {
    position = position * size + normalizeIndex(index[axis], size, axis, operation);
  }
  return position;
}

/** The index at a row-major position. */
export function unravelIndex(position: number, shape: Shape, operation = "unravelIndex"): number[] {
  const size = sizeOf(shape, operation);
  if (!Number.isInteger(position) || position < 0 || position >= size) {
    throw new ArgumentError(
      `${operation}: position ${position} is outside shape ${formatShape(shape)}, which has ${size} elements.`,
    );
  }
  const index = new Array<number>(shape.length);
  let rest = position;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index[axis] = rest % shape[axis];
    rest = Math.floor(rest / shape[axis]);
  }
  return index;
}

/** An index into one axis, counted from the front. */
export function normalizeIndex(index: number, size: number, axis: number, operation: string): number {
  if (!Number.isInteger(index)) {
    throw new ArgumentError(`${operation}: index ${shown(index)} of axis ${axis} is not a whole number.`);
  }
  if (index < -size || index >= size) {
    const range = size === 0 ? "it is empty" : `use ${-size} to ${size - 1}`;
    throw new ArgumentError(`${operation}: index ${index} is out of range for axis ${axis} of size ${size}; ${range}.`);
  }
  return index < 0 ? index + size : index + 0; // no -0
}

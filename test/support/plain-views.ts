/**
 * Tensors whose elements are known, reached in many ways: whole, permuted, flipped, cut out of larger ones, padded,
 * repeated, reshaped, taken, rolled. What each must hold is worked out by loops over plain arrays.
 */
import type { DType, Scalar } from "../../src/core/dtype.js";
import { encodeValues } from "../../src/core/storage.js";
import { expand, pad, permute, reshape, slice, take, wrap } from "../../src/graph/primitives/movement.js";
import { backendOf, derive, makeNode } from "../../src/tensor/build.js";
import { fromBytes, Tensor } from "../../src/tensor/index.js";
import type { Value } from "./element-oracle.js";
import type { Random } from "./random.js";

export const sizeOf = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

export function tensorOf(values: ArrayLike<Scalar>, shape: readonly number[], dtype: DType, device: string): Tensor {
  return fromBytes(encodeValues(values, dtype, "tensorOf"), shape, dtype, { device });
}

export function valuesOf(x: Tensor): Value[] {
  return Array.from(x.dataSync() as ArrayLike<Value>);
}

/** Calls back with every index of a shape, in row-major order. The array is reused. */
export function forEachIndex(shape: readonly number[], visit: (index: readonly number[], flat: number) => void): void {
  const index = shape.map(() => 0);
  const total = sizeOf(shape);
  for (let flat = 0; flat < total; flat++) {
    visit(index, flat);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      index[axis]!++;
      if (index[axis]! < shape[axis]!) break;
      index[axis] = 0;
    }
  }
}

export function flatAt(shape: readonly number[], index: readonly number[]): number {
  let flat = 0;
  for (let axis = 0; axis < shape.length; axis++) flat = flat * shape[axis]! + index[axis]!;
  return flat;
}

export interface Viewed<T extends Scalar = Value> {
  readonly x: Tensor;
  /** What x holds: as given, except where the view repeats or fills elements. */
  readonly values: readonly T[];
}

export const viewKinds = [
  "whole",
  "permuted",
  "flipped",
  "sliced",
  "padded",
  "broadcast",
  "reshaped",
  "taken",
  "rolled",
] as const;
export type ViewKind = (typeof viewKinds)[number];

/** A tensor of that shape, seen through a view of the kind; axes and amounts are chosen at random. */
export function viewOf<T extends Scalar = Value>(
  kind: ViewKind,
  values: readonly T[],
  shape: readonly number[],
  dtype: DType,
  device: string,
  random: Random,
): Viewed<T> {
  const rank = shape.length;
  const make = (of: readonly T[], as: readonly number[]) => tensorOf(of, as, dtype, device).node;
  const filler = (values[0] ?? 0) as T;
  if (rank === 0 && kind !== "reshaped") return { x: new Tensor(make(values, shape)), values };
  switch (kind) {
    case "whole":
      return { x: new Tensor(make(values, shape)), values };
    case "permuted": {
      const axes = shape.map((_, axis) => axis);
      for (let i = rank - 1; i > 0; i--) {
        const j = random.below(i + 1);
        [axes[i], axes[j]] = [axes[j]!, axes[i]!];
      }
      const from = shape.map(() => 0);
      axes.forEach((axis, i) => {
        from[axis] = shape[i]!;
      });
      const stored = new Array<T>(values.length);
      const at = shape.map(() => 0);
      forEachIndex(shape, (index, flat) => {
        axes.forEach((axis, i) => {
          at[axis] = index[i]!;
        });
        stored[flatAt(from, at)] = values[flat]!;
      });
      return { x: new Tensor(derive(permute, make(stored, from), { axes })), values };
    }
    case "flipped": {
      const isFlipped = shape.map(() => random.below(2) === 1);
      const stored = new Array<T>(values.length);
      forEachIndex(shape, (index, flat) => {
        const at = index.map((i, axis) => (isFlipped[axis] ? shape[axis]! - 1 - i : i));
        stored[flatAt(shape, at)] = values[flat]!;
      });
      const start = shape.map((extent, axis) => (isFlipped[axis] ? Math.max(0, extent - 1) : 0));
      const step = isFlipped.map((flipped) => (flipped ? -1 : 1));
      return { x: new Tensor(derive(slice, make(stored, shape), { start, step, shape: [...shape] })), values };
    }
    case "sliced": {
      const step = shape.map(() => random.below(3) + 1);
      const start = shape.map(() => random.below(3));
      const larger = shape.map((extent, axis) => start[axis]! + extent * step[axis]! + random.below(2));
      const stored = new Array<T>(sizeOf(larger)).fill(filler);
      forEachIndex(shape, (index, flat) => {
        const at = index.map((i, axis) => start[axis]! + i * step[axis]!);
        stored[flatAt(larger, at)] = values[flat]!;
      });
      return { x: new Tensor(derive(slice, make(stored, larger), { start, step, shape: [...shape] })), values };
    }
    case "padded": {
      const low = shape.map((extent) => random.below(Math.min(3, extent + 1)));
      const high = shape.map((extent, axis) => random.below(Math.min(3, extent - low[axis]! + 1)));
      const inner = shape.map((extent, axis) => extent - low[axis]! - high[axis]!);
      const stored: T[] = [];
      const seen = values.map((value, _) => value);
      forEachIndex(shape, (index, flat) => {
        const isInside = index.every((i, axis) => i >= low[axis]! && i < shape[axis]! - high[axis]!);
        if (isInside) stored.push(values[flat]!);
        else seen[flat] = filler;
      });
      const value = dtype === "bool" ? Boolean(filler) : filler;
      const params = { low, high, interior: shape.map(() => 0), value };
      return { x: new Tensor(derive(pad, make(stored, inner), params)), values: seen };
    }
    case "broadcast": {
      const isRepeated = shape.map((extent) => extent > 0 && random.below(2) === 1);
      const small = shape.map((extent, axis) => (isRepeated[axis] ? 1 : extent));
      const source = (index: readonly number[]) => index.map((i, axis) => (isRepeated[axis] ? 0 : i));
      const stored: T[] = [];
      forEachIndex(small, (index) => stored.push(values[flatAt(shape, index)]!));
      const seen: T[] = [];
      forEachIndex(shape, (index) => seen.push(values[flatAt(shape, source(index))]!));
      return { x: new Tensor(derive(expand, make(stored, small), { shape: [...shape] })), values: seen };
    }
    case "reshaped":
      return { x: new Tensor(derive(reshape, make(values, [...shape].reverse()), { shape: [...shape] })), values };
    case "taken": {
      const axis = random.below(rank);
      const extent = shape[axis]!;
      const places = Array.from({ length: extent }, (_, i) => i);
      for (let i = extent - 1; i > 0; i--) {
        const j = random.below(i + 1);
        [places[i], places[j]] = [places[j]!, places[i]!];
      }
      const stored = new Array<T>(values.length);
      forEachIndex(shape, (index, flat) => {
        stored[flatAt(shape, index.with(axis, places[index[axis]!]!))] = values[flat]!;
      });
      const source = make(stored, shape);
      const positions = tensorOf(places, [extent], "i32", device).node;
      return { x: new Tensor(makeNode(take, [source, positions], { axis }, backendOf(source))), values };
    }
    case "rolled": {
      const start = shape.map((extent) => random.below(Math.max(1, extent)));
      const stored = new Array<T>(values.length);
      forEachIndex(shape, (index, flat) => {
        stored[
          flatAt(
            shape,
            index.map((i, axis) => (i + start[axis]!) % shape[axis]!),
          )
        ] = values[flat]!;
      });
      return { x: new Tensor(derive(wrap, make(stored, shape), { start, shape: [...shape] })), values };
    }
  }
}

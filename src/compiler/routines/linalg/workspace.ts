/**
 * The memory in which a workgroup works on a matrix: shared memory where the matrix fits, else a part of a buffer. The kernels
 * of decompositions (small-eigh.ts, jacobi-svd.ts, householder.ts) are written once, over either.
 */
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import type { TargetProfile } from "../../target/profile.js";
import { type Field, type Num, valuesOf } from "./field.js";

/** Bytes of arrays that a row of a kernel may have: shared memory, or the scratch of a thread of the CPU. */
export const arrayBytes = ({ maxLanes, tiles }: TargetProfile): number =>
  maxLanes === 1 ? 1 << 20 : Math.min(tiles.sharedBytes, 48 << 10);

/** Numbers by position, read and written in order. */
export interface Workspace {
  get(index: Value): Num;
  set(index: Value, x: Num, gate?: Value | null): void;
}

export function arrayWorkspace(field: Field, size: number): Workspace {
  const array = field.array(size);
  return {
    get: (index) => field.get(array, index),
    set: (index, x, gate = null) => field.set(array, index, x, gate),
  };
}

/** A part of a buffer that the kernel writes, from position `first` on. */
export function bufferWorkspace(k: KernelBuilder, field: Field, buffer: number, first: Value): Workspace {
  const at = (index: Value) => k.binary("add", first, index);
  return {
    get: (index) => field.read(buffer, at(index)),
    set: (index, x, gate = null) => field.store(buffer, at(index), x, gate, false),
  };
}

/** The same of a buffer of real parts and, in complex matrices, one of imaginary parts. */
export function planeWorkspace(
  k: KernelBuilder,
  { type }: Field,
  [re, im]: readonly number[],
  first: Value,
): Workspace {
  const at = (index: Value) => k.binary("add", first, index);
  return {
    get: (index) => ({ re: k.read(re, at(index), type), im: im === undefined ? null : k.read(im, at(index), type) }),
    set: (index, x, gate = null) => {
      k.store(re, at(index), x.re, false, gate);
      if (x.im) k.store(im, at(index), x.im, false, gate);
    },
  };
}

/** Does something for 0 … count - 1, shared out among the lanes. */
export function eachByLane(k: KernelBuilder, count: number, body: (index: Value) => void): void {
  if (count === 0) return;
  const i = (value: number) => k.constant("i32", value);
  const rounds = Math.ceil(count / k.lanes);
  if (k.lanes === 1) {
    k.loop(count, [], (at) => {
      body(at);
      return [];
    });
    return;
  }
  const one = (at: Value, isWhole: boolean) => {
    if (isWhole) body(at);
    else {
      k.when(k.compare("lt", at, i(count)), () => {
        body(at);
        return [];
      });
    }
  };
  if (rounds === 1) {
    one(k.lane, count === k.lanes);
    return;
  }
  k.loop(rounds, [], (round) => {
    one(k.binary("add", k.lane, k.binary("mul", round, i(k.lanes))), count % k.lanes === 0);
    return [];
  });
}

/** A loop over positions, shared out among the lanes, that carries numbers. */
export function overLanes(
  k: KernelBuilder,
  field: Field,
  count: number,
  initial: readonly Num[],
  body: (index: Value, carried: readonly Num[]) => readonly Num[],
): Num[] {
  const i = (value: number) => k.constant("i32", value);
  if (k.lanes === 1) return field.loop(count, initial, body);
  return field.loop(Math.ceil(count / k.lanes), initial, (round, carried) => {
    const index = k.binary("add", k.lane, k.binary("mul", round, i(k.lanes)));
    const unflat = (values: readonly Value[]) =>
      field.isComplex
        ? Array.from({ length: values.length / 2 }, (_, at) => ({ re: values[2 * at], im: values[2 * at + 1] }))
        : values.map((re) => ({ re, im: null }));
    const found = k.when(
      k.compare("lt", index, i(count)),
      () => body(index, carried).flatMap(valuesOf),
      () => carried.flatMap(valuesOf),
    );
    return unflat(found);
  });
}

/** The least power of two that is not below x. */
export const powerOfTwo = (x: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, x)));

/** 2^-52 or 2^-23: the distance from 1 to the next number. */
export const epsilonOf = (type: "f32" | "f64"): number => (type === "f64" ? 2 ** -52 : 2 ** -23);

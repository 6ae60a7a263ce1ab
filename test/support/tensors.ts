/**
 * Suites over tensor devices, and plain-JavaScript references for them: values in row-major order with a shape, walked by
 * loops that share nothing with the library. PUMICE_TEST_DEVICES names the devices ("vulkan,cpu"); all there are otherwise.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { castScalar } from "../../src/core/cast.js";
import { DTYPES, type DType } from "../../src/core/dtype.js";
import { backendFor, devices, type Nested, setDefaultDevice, type Tensor, tensor } from "../../src/tensor/index.js";
import { type Random, randomFrom } from "./random.js";

// Tests never write to the user's cache folder.
process.env.PUMICE_CACHE ??= "off";

/** Numbers in f64 on the CPU, where models are made whose results are read there. */
export const f64 = (values: Nested<number>): Tensor => tensor(values, { dtype: "f64", device: "cpu" });

/** The devices to test: one of each kind. */
export function testDevices(): string[] {
  const named = process.env.PUMICE_TEST_DEVICES;
  if (named) return named.split(",").map((name) => name.trim());
  try {
    return [...new Set(devices().map((name) => name.split(":")[0] as string))];
  } catch {
    return [];
  }
}

/** Those of them that compute in f64. */
export const devicesWithDoubles = (): string[] => testDevices().filter((device) => backendFor(device).hasDoubles);

/** A suite for each tensor device, which is the default device while it runs. */
export function describeOnTensorDevices(title: string, body: (device: string) => void): void {
  const found = testDevices();
  if (found.length === 0) test(title, { skip: "missing: a device for tensors" }, () => {});
  for (const device of found) {
    describe(`${title}, ${device}`, () => {
      before(() => setDefaultDevice(device));
      body(device);
    });
  }
}

export const integerDTypes = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"] as const;
export const floatDTypes = ["bf16", "f16", "f32", "f64"] as const;
export const realDTypes = [...integerDTypes, ...floatDTypes] as const;
/** Dtypes that hold few numbers: tests whose values are ordinary ones leave them out. */
export const narrowDTypes = ["u2", "u4", "i2", "i4", "f8e4m3", "f8e5m2"] as const;

/** A tensor as the tests see it: its numbers in row-major order. i64 and u64 are numbers too, so keep them small. */
export interface Plain {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

export const count = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

/** Every index of a shape, in row-major order. */
export function indicesOf(shape: readonly number[]): number[][] {
  const found: number[][] = [];
  const walk = (index: number[]) => {
    if (index.length === shape.length) found.push(index);
    else for (let i = 0; i < shape[index.length]!; i++) walk([...index, i]);
  };
  walk([]);
  return found;
}

export function flatIndex(shape: readonly number[], index: readonly number[]): number {
  return index.reduce((flat, i, axis) => flat * shape[axis]! + i, 0);
}

/** Builds a plain tensor from a rule. */
export function plainOf(shape: readonly number[], value: (index: readonly number[]) => number): Plain {
  return { shape, values: indicesOf(shape).map(value) };
}

export const read = (x: Plain, index: readonly number[]): number => x.values[flatIndex(x.shape, index)]!;

/** Each line along an axis, given to a function that returns a line of any length. */
export function alongAxis(x: Plain, axis: number, map: (line: number[]) => readonly number[]): Plain {
  const at = axis < 0 ? axis + x.shape.length : axis;
  const lines = new Map<string, readonly number[]>();
  const others = x.shape.map((extent, i) => (i === at ? 1 : extent));
  let length = map(new Array(x.shape[at]).fill(0)).length;
  for (const base of indicesOf(others)) {
    const line = Array.from({ length: x.shape[at]! }, (_, i) => read(x, base.with(at, i)));
    const mapped = map(line);
    length = mapped.length;
    lines.set(base.join(), mapped);
  }
  const shape = x.shape.with(at, length);
  return plainOf(shape, (index) => lines.get(index.with(at, 0).join())![index[at]!]!);
}

export const dropAxis = (x: Plain, axis: number): Plain => ({
  shape: x.shape.filter((_, i) => i !== (axis < 0 ? axis + x.shape.length : axis)),
  values: x.values,
});

/** Values that a dtype holds exactly, with repetitions; `specials` adds NaN, infinities and -0 to floats. */
export function sampleValues(dtype: DType, size: number, seed: number, specials = false): number[] {
  const random = randomFrom(seed);
  return Array.from({ length: size }, () => inDType(sampleValue(random, dtype, specials), dtype));
}

function sampleValue(random: Random, dtype: DType, specials: boolean): number {
  const { kind, signed, bits, min } = DTYPES[dtype];
  if (kind === "bool") return random.below(2);
  if (kind === "float") {
    if (specials && random.below(6) === 0) return random.pick([Number.NaN, Infinity, -Infinity, -0, 0]);
    return (random.below(81) - 40) / 4;
  }
  return bits < 8 ? Number(min) + random.below(2 ** bits) : random.below(20) - (signed ? 10 : 0);
}

export function toTensor(plain: Plain, dtype: DType): Tensor {
  const values = plain.values.map((value) => (DTYPES[dtype].bits === 64 && dtype[0] !== "f" ? BigInt(value) : value));
  return tensor(values, { dtype, shape: plain.shape });
}

/** The value as the dtype holds it, as a number. */
export function inDType(value: number, dtype: DType): number {
  return Number(castScalar(value, "f64", dtype));
}

export function numbersOf(x: Tensor): number[] {
  return Array.from(x.dataSync() as ArrayLike<number | bigint>, Number);
}

export interface Tolerance {
  readonly absolute?: number;
  readonly relative?: number;
}

/** Compares values, shape and dtype. Without a tolerance, values are the same (NaN is NaN, -0 is not 0). */
export function expectTensor(actual: Tensor, expected: Plain, dtype: DType, tolerance?: Tolerance, what = ""): void {
  assert.deepEqual(actual.shape, expected.shape, `${what}: shape`);
  assert.equal(actual.dtype, dtype, `${what}: dtype`);
  const values = numbersOf(actual);
  expected.values.forEach((value, i) => {
    const got = values[i]!;
    const allowed = tolerance ? (tolerance.absolute ?? 0) + (tolerance.relative ?? 0) * Math.abs(value) : 0;
    const isSame = Object.is(got, value) || (tolerance !== undefined && Math.abs(got - value) <= allowed);
    const isSameZero = tolerance !== undefined && got === 0 && value === 0;
    if (!isSame && !isSameZero) {
      assert.fail(`${what}: element ${i} of [${expected.shape}] is ${got}, not ${value}`);
    }
  });
}

/** The same values reached as a plain tensor and as views: permuted, flipped, cut out of a larger one. */
export function viewsOf(plain: Plain, dtype: DType): { readonly name: string; readonly x: Tensor }[] {
  const { shape } = plain;
  const found = [{ name: "whole", x: toTensor(plain, dtype) }];
  if (shape.length === 0) return found;
  const reversed = plainOf([...shape].reverse(), (index) => read(plain, [...index].reverse()));
  found.push({ name: "permuted", x: toTensor(reversed, dtype).permute() });
  const flipped = plainOf(shape, (index) =>
    read(
      plain,
      index.map((i, axis) => shape[axis]! - 1 - i),
    ),
  );
  found.push({ name: "flipped", x: toTensor(flipped, dtype).flip() });
  const larger = plainOf(
    shape.map((extent) => 2 * extent + 1),
    (index) =>
      index.every((i) => i % 2 === 1)
        ? read(
            plain,
            index.map((i) => (i - 1) / 2),
          )
        : 7,
  );
  found.push({ name: "sliced", x: toTensor(larger, dtype).at(...shape.map(() => "1::2" as const)) });
  return found;
}

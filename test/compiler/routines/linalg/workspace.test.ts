/** The memory of decompositions: arrays and parts of buffers alike, loops that reach every position once, powers of two. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { Field } from "../../../../src/compiler/routines/linalg/field.js";
import {
  arrayBytes,
  arrayWorkspace,
  bufferWorkspace,
  eachByLane,
  epsilonOf,
  powerOfTwo,
} from "../../../../src/compiler/routines/linalg/workspace.js";
import { cpuProfile } from "../../../../src/compiler/target/profile.js";
import { encodeValues } from "../../../../src/core/storage.js";
import { undefinedBytes } from "../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { gpuOf, KINDS, numbersIn, settings } from "./matrices.js";

test("every position is reached once, by one lane, whatever the lanes and positions are", () => {
  for (const lanes of [1, 8, 32]) {
    for (const count of [0, 1, 7, 8, 9, 31, 32, 33, 64, 65]) {
      const k = new KernelBuilder("each", 1, lanes);
      const found = k.buffer("i32", true);
      // A position reached twice, by two lanes, would be a race: they write their own numbers.
      eachByLane(k, count, (at) => {
        const mark = k.binary("add", k.lane, k.constant("i32", 1));
        k.store(found, at, k.binary("add", k.read(found, at, "i32"), mark), false);
      });
      const bytes = encodeValues(new Array(66).fill(0), "i32", "found");
      interpretKernel(k.finish(), [bytes]);
      const expected = Array.from({ length: 66 }, (_, at) => (at < count ? (at % lanes) + 1 : 0));
      assert.deepEqual(numbersIn(bytes, "i32"), expected, `${count} positions, ${lanes} lanes`);
    }
  }
});

test("numbers are found where they were put, in arrays and from a place of a buffer on; a gate keeps them", () => {
  for (const isInside of [true, false]) {
    const k = new KernelBuilder("space", 2, 4);
    const f = new Field(k, KINDS.c128, settings);
    const [memory, result] = [f.buffer(true), f.buffer(true)];
    const first = k.binary("mul", k.row, k.constant("i32", 4));
    const space = isInside ? arrayWorkspace(f, 4) : bufferWorkspace(k, f, memory, first);
    const own = { re: k.convert("f64", k.lane), im: k.convert("f64", k.row) };
    space.set(k.lane, f.constant(9));
    space.set(k.lane, own, k.compare("lt", k.lane, k.constant("i32", 3)));
    k.barrier();
    const other = k.binary("sub", k.constant("i32", 3), k.lane);
    f.store(result, k.binary("add", first, k.lane), space.get(other));
    const [held, found] = [undefinedBytes(128), undefinedBytes(128)];
    interpretKernel(k.finish(), [held, found]);
    const expected = [0, 1].flatMap((row) => [9, 0, 2, row, 1, row, 0, row]);
    assert.deepEqual(numbersIn(found, "f64"), expected);
    if (!isInside) assert.deepEqual(numbersIn(held, "f64").slice(8), [0, 1, 1, 1, 2, 1, 9, 0]);
  }
});

test("powers of two, distances from 1, and the bytes that arrays may have", () => {
  assert.deepEqual([0, 0.5, 1, 2, 3, 4, 5, 100].map(powerOfTwo), [1, 1, 1, 2, 4, 4, 8, 128]);
  for (const type of ["f32", "f64"] as const) {
    const round = type === "f32" ? Math.fround : (x: number) => x;
    const next = round(1 + epsilonOf(type));
    assert.ok(next > 1 && round(1 + epsilonOf(type) / 2) === 1);
  }
  assert.deepEqual([gpuOf(64, 16384), gpuOf(64, 1 << 17), cpuProfile].map(arrayBytes), [16384, 49152, 1 << 20]);
});

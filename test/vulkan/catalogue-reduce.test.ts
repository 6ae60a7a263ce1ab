/** The catalogue's reductions of the middle axis of (outer, reduce, inner), in one pass and in two. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogue } from "../../src/vulkan/index.js";
import { describeOnOpenDevices } from "../support/devices.js";
import { sum as exactSum } from "../support/exact-math.js";
import { asFloats, type FloatArray, type FloatType, floats, randomFloats, roundoff } from "../support/floats.js";

const TYPES = ["f32", "f64"] as const;
const OPS = ["sum", "max", "min"] as const;
const [SUM, MAX, MIN] = [0, 1, 2];

/** From a single element to more slots than threads, lengths around the workgroup's 256 and the two-pass threshold. */
const SHAPES: readonly (readonly [outer: number, reduce: number, inner: number])[] = [
  [1, 1, 1],
  [1, 3, 1],
  [1, 255, 1],
  [1, 256, 1],
  [1, 257, 1],
  [1, 4096, 1],
  [1, 4097, 1],
  [1, 65537, 1],
  [7, 1000, 1],
  [1, 1000, 7],
  [5, 13, 11],
  [3, 1, 5],
  [300, 2, 1],
  [1, 5, 1009],
  [2, 9001, 3],
  [1031, 40, 1],
];

/** The elements of each slot, in order. */
function* slots(data: FloatArray, [outer, reduce, inner]: readonly [number, number, number]): Generator<number[]> {
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) {
      yield Array.from({ length: reduce }, (_, r) => data[(o * reduce + r) * inner + i]);
    }
  }
}

/** Without spreading a million arguments. NaN wins, as in NumPy. */
const fold = (values: readonly number[], op: number): number => {
  if (op === SUM) return values.reduce((total, x) => total + x, 0);
  return values.reduce(
    op === MAX ? (a, b) => Math.max(a, b) : (a, b) => Math.min(a, b),
    op === MAX ? -Infinity : Infinity,
  );
};

describeOnOpenDevices("reduceAxis", false, (device) => {
  const hasType = (type: FloatType) => type === "f32" || device().plan.features.includes("shaderFloat64");
  const reduce = (
    type: FloatType,
    data: FloatArray,
    [outer, length, inner]: readonly [number, number, number],
    op: number,
  ) => {
    using a = device().upload(data);
    using out = device().upload(floats(type, outer * inner).fill(-12345));
    catalogue.reduceAxis(out, a, outer, length, inner, op, { type });
    return asFloats(type, out.readSync());
  };

  for (const type of TYPES) {
    for (const [op, name] of OPS.entries()) {
      test(`${name} (op ${op}) of whole numbers is exact for every shape, at ${type}`, (t) => {
        if (!hasType(type)) return t.skip("the device has no f64");
        for (const shape of SHAPES) {
          const [outer, length, inner] = shape;
          // Small enough that no sum needs more than 24 bits.
          const random = randomFloats(type, outer + 31 * length + 1009 * inner);
          const data = floats(
            type,
            Array.from({ length: outer * length * inner }, () => random.below(201) - 100),
          );
          const want = floats(
            type,
            Array.from(slots(data, shape), (values) => fold(values, op)),
          );
          assert.deepEqual(reduce(type, data, shape, op), want, `shape ${shape}`);
        }
      });
    }

    // Threads add a few numbers each and then pairwise, so the error grows with log n, not with n.
    for (const n of [257, 4096, 1_000_000]) {
      test(`the ${type} sum of ${n} reals is off by at most (1 + 2 log2 n) roundings of the sum of magnitudes`, (t) => {
        if (!hasType(type)) return t.skip("the device has no f64");
        const random = randomFloats(type, n);
        const data = floats(
          type,
          Array.from({ length: n }, () => random.between(-1, 1)),
        );
        const { high, low } = exactSum(data);
        const magnitudes = fold(Array.from(data, Math.abs), SUM);
        const [got] = reduce(type, data, [1, n, 1], SUM);
        const bound = (1 + 2 * Math.log2(n)) * roundoff[type] * magnitudes;
        assert.ok(
          Math.abs(got - high - low) <= bound,
          `${got} is ${got - high - low} from the sum; the bound is ${bound}`,
        );
      });
    }
  }

  test("the largest and smallest of a million elements are found wherever they are", () => {
    const n = 1_000_000;
    for (const at of [0, 1, 4081, 4082, 255 * 4082 + 3, n - 1]) {
      const data = new Float32Array(n).fill(1);
      data[at % n] = 2;
      assert.equal(reduce("f32", data, [1, n, 1], MAX)[0], 2, `largest at ${at}`);
      data[at % n] = -2;
      assert.equal(reduce("f32", data, [1, n, 1], MIN)[0], -2, `smallest at ${at}`);
    }
  });

  test("a NaN anywhere makes the maximum, the minimum and the sum NaN, in one pass and in two", () => {
    for (const n of [1, 2, 256, 300, 9000]) {
      for (const at of new Set([0, n >> 1, n - 1])) {
        const data = new Float32Array(n).map((_, i) => i - 5);
        data[at] = NaN;
        for (const [op, name] of OPS.entries()) {
          assert.ok(Number.isNaN(reduce("f32", data, [1, n, 1], op)[0]), `${name} of ${n} with NaN at ${at}`);
        }
      }
    }
  });

  test("infinities: they are the extremes, and opposite ones have no sum", () => {
    const data = floats("f32", [1, -Infinity, 3, Infinity, 0]);
    assert.equal(reduce("f32", data, [1, 5, 1], MAX)[0], Infinity);
    assert.equal(reduce("f32", data, [1, 5, 1], MIN)[0], -Infinity);
    assert.ok(Number.isNaN(reduce("f32", data, [1, 5, 1], SUM)[0]));
    assert.equal(reduce("f32", data.slice(2), [1, 3, 1], SUM)[0], Infinity);
    assert.equal(reduce("f32", floats("f32", [-Infinity, -Infinity]), [1, 2, 1], MAX)[0], -Infinity);
  });

  test("reducing nothing gives what changes nothing: 0, -Infinity, Infinity", () => {
    for (const [op, want] of [0, -Infinity, Infinity].entries()) {
      assert.deepEqual(reduce("f32", floats("f32", 0), [2, 0, 3], op), floats("f32", 6).fill(want));
    }
  });

  test("no slots, nothing to do", () => {
    for (const shape of [
      [0, 5, 3],
      [2, 5, 0],
    ] as const) {
      assert.equal(reduce("f32", floats("f32", 0), shape, SUM).length, 0);
    }
  });

  test("the same data gives the same bits each time", () => {
    const random = randomFloats("f32", 9);
    const data = new Float32Array(100_000).map(() => random.scaled(-20, 20));
    const first = reduce("f32", data, [1, 100_000, 1], SUM);
    for (let i = 0; i < 5; i++) assert.deepEqual(reduce("f32", data, [1, 100_000, 1], SUM), first);
  });

  test("intermediate results of the two-pass way are given back", () => {
    using a = device().alloc(4 * 100_000);
    using out = device().alloc(4);
    catalogue.reduceAxis(out, a, 1, 100_000, 1, SUM);
    device().finishSync();
    const { buffers, usedBytes } = device().stats();
    for (let i = 0; i < 20; i++) catalogue.reduceAxis(out, a, 1, 100_000, 1, SUM);
    device().finishSync();
    assert.deepEqual([device().stats().buffers, device().stats().usedBytes], [buffers, usedBytes]);
  });

  test("more slots than one row of workgroups holds are all computed", (t) => {
    const [widest] = device().plan.limits.maxComputeWorkGroupCount;
    const n = widest + 10;
    if (n > 2 ** 20) return t.skip(`one row of workgroups of ${device().name} holds more than the test's memory`);
    const data = new Float32Array(2 * n).map((_, i) => i % 1021);
    const want = new Float32Array(n).map((_, i) => data[2 * i] + data[2 * i + 1]);
    assert.deepEqual(reduce("f32", data, [n, 2, 1], SUM), want);
  });
});

/** Sorting and what follows from it, against JavaScript's stable sort with NaN moved to the end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, ShapeError } from "../../../src/core/errors.js";
import { backendFor, tensor, zeros } from "../../../src/tensor/index.js";
import {
  alongAxis,
  count,
  describeOnTensorDevices,
  dropAxis,
  expectTensor,
  floatDTypes,
  inDType,
  narrowDTypes,
  numbersOf,
  realDTypes,
  sampleValues,
  toTensor,
  viewsOf,
} from "../../support/tensors.js";

/** Positions in order; NaN last, 0 and -0 equal. */
function order(line: readonly number[], isDescending = false): number[] {
  const compare = (a: number, b: number): number => {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a === b ? 0 : a < b !== isDescending ? -1 : 1;
  };
  return line.map((_, i) => i).sort((i, j) => compare(line[i]!, line[j]!));
}
const sorted = (line: readonly number[], isDescending = false) => order(line, isDescending).map((i) => line[i]!);

describeOnTensorDevices("sort and argsort", () => {
  for (const dtype of [...realDTypes, ...narrowDTypes, "bool"] as const) {
    test(`of ${dtype}: ties in order, NaN last, both directions`, () => {
      const plain = { shape: [3, 37], values: sampleValues(dtype, 111, 31, true) };
      const x = toTensor(plain, dtype);
      expectTensor(
        x.argsort(),
        alongAxis(plain, 1, (line) => order(line)),
        "i32",
        undefined,
        "argsort",
      );
      expectTensor(
        x.sort(),
        alongAxis(plain, 1, (line) => sorted(line)),
        dtype,
        undefined,
        "sort",
      );
      const falling = x.argsort({ descending: true });
      expectTensor(
        falling,
        alongAxis(plain, 1, (line) => order(line, true)),
        "i32",
        undefined,
        "descending",
      );
      expectTensor(
        x.sort({ descending: true }),
        alongAxis(plain, 1, (line) => sorted(line, true)),
        dtype,
      );
    });
  }

  test("the ends of the ranges, and 64-bit integers beyond 2^53", () => {
    const wide = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 2n ** 53n, -1n, 0n];
    const byValue = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);
    assert.deepEqual(tensor(wide, { dtype: "i64" }).sort().arraySync(), [...wide].sort(byValue));
    const unsigned = [2n ** 64n - 1n, 0n, 2n ** 63n, 5n];
    assert.deepEqual(tensor(unsigned, { dtype: "u64" }).sort().arraySync(), [...unsigned].sort(byValue));
    const integers = [2 ** 31 - 1, -(2 ** 31), 0, -1];
    assert.deepEqual(tensor(integers, { dtype: "i32" }).sort().arraySync(), [-(2 ** 31), -1, 0, 2 ** 31 - 1]);
    for (const dtype of floatDTypes) {
      const values = [1e-7, -1e-7, 3e4, -3e4, Infinity, -Infinity].map((v) => inDType(v, dtype));
      expectTensor(toTensor({ shape: [6], values }, dtype).sort(), { shape: [6], values: sorted(values) }, dtype);
    }
  });

  for (const extent of [1, 2, 8, 9, 17, 4099]) {
    test(`rows of ${extent}`, () => {
      const rows = extent > 500 ? 2 : 7;
      const plain = { shape: [rows, extent], values: sampleValues("i32", rows * extent, 32) };
      expectTensor(
        toTensor(plain, "i32").argsort(),
        alongAxis(plain, 1, (line) => order(line)),
        "i32",
      );
    });
  }

  test("a hundred thousand elements, already sorted, reversed, all equal, random", () => {
    const n = 100003;
    const random = sampleValues("i32", n, 33).map((v, i) => v * 1000 + ((i * 7919) % 1000));
    const inputs = {
      rising: random.map((_, i) => i),
      falling: random.map((_, i) => -i),
      equal: random.map(() => 5),
      random,
    };
    for (const [name, values] of Object.entries(inputs)) {
      const got = numbersOf(toTensor({ shape: [n], values }, "i32").argsort());
      const want = order(values);
      assert.ok(
        got.every((v, i) => v === want[i]),
        name,
      );
    }
  });

  test("along any axis of any view, rank 5", () => {
    const shape = [2, 3, 1, 5, 2];
    const plain = { shape, values: sampleValues("f32", count(shape), 34, true) };
    for (const { name, x } of viewsOf(plain, "f32")) {
      for (const axis of [0, 3, -1]) {
        expectTensor(
          x.sort({ axis }),
          alongAxis(plain, axis, (line) => sorted(line)),
          "f32",
          undefined,
          `${name} ${axis}`,
        );
      }
    }
  });

  test("zero-size tensors; a scalar has no axis", () => {
    assert.deepEqual(zeros([0]).sort().arraySync(), []);
    assert.deepEqual(zeros([3, 0]).argsort().shape, [3, 0]);
    assert.deepEqual(zeros([0, 3]).sort({ axis: 0 }).shape, [0, 3]);
    assert.throws(() => tensor(1).sort(), { name: ShapeError.name, message: /sort.*axis/ });
  });
});

describeOnTensorDevices("topK", () => {
  test("largest or smallest, with positions, NaN last", () => {
    const plain = { shape: [4, 23], values: sampleValues("f32", 92, 35, true) };
    for (const largest of [true, false]) {
      const { values, indices } = toTensor(plain, "f32").topK(5, { largest });
      expectTensor(
        values,
        alongAxis(plain, 1, (line) => sorted(line, largest).slice(0, 5)),
        "f32",
      );
      expectTensor(
        indices,
        alongAxis(plain, 1, (line) => order(line, largest).slice(0, 5)),
        "i32",
      );
    }
    assert.deepEqual(toTensor(plain, "f32").topK(2, { axis: 0 }).values.shape, [2, 23]);
    assert.throws(() => zeros([3]).topK(4), { name: ArgumentError.name, message: /topK: 4 of the 3/ });
  });
});

describeOnTensorDevices("searchSorted", (device) => {
  for (const dtype of [...realDTypes, ...narrowDTypes]) {
    test(`of ${dtype}, both sides`, () => {
      const table = sorted(sampleValues(dtype, 29, 36, true));
      const wanted = sampleValues(dtype, 40, 37, true);
      const isBefore = (a: number, b: number) => (Number.isNaN(b) ? !Number.isNaN(a) : a < b);
      const [t, w] = [
        toTensor({ shape: [29], values: table }, dtype),
        toTensor({ shape: [5, 8], values: wanted }, dtype),
      ];
      const left = wanted.map((q) => table.filter((v) => isBefore(v, q)).length);
      const right = wanted.map((q) => table.filter((v) => !isBefore(q, v)).length);
      expectTensor(t.searchSorted(w), { shape: [5, 8], values: left }, "i32", undefined, "left");
      expectTensor(t.searchSorted(w, { side: "right" }), { shape: [5, 8], values: right }, "i32", undefined, "right");
    });
  }
  test("row by row, in nothing, and misuse", () => {
    const rows = tensor([
      [1, 3, 5],
      [10, 20, 30],
    ]);
    assert.deepEqual(
      rows
        .searchSorted(
          tensor([
            [4, 0],
            [40, 20],
          ]),
        )
        .arraySync(),
      [
        [2, 0],
        [3, 1],
      ],
    );
    assert.deepEqual(
      zeros([0])
        .searchSorted(tensor([1, 2]))
        .arraySync(),
      [0, 0],
    );
    assert.deepEqual(
      tensor([1, 2])
        .searchSorted(zeros([0]))
        .arraySync(),
      [],
    );
    assert.throws(() => rows.searchSorted(tensor([1, 2, 3])), ShapeError);
    assert.throws(() => tensor([1]).searchSorted(tensor([1]), { side: "middle" as "left" }), ArgumentError);
  });

  test("plain values are searched in the tensor's dtype", () => {
    const far = 2 ** 24;
    const whole = tensor([far, far + 1, far + 3], { dtype: "i32" });
    assert.deepEqual(numbersOf(whole.searchSorted([far + 1, far + 2, far + 3])), [1, 2, 2]);
    assert.deepEqual(numbersOf(whole.searchSorted([far + 0.5, far + 1.5])), [1, 2]);
    assert.deepEqual(numbersOf(whole.searchSorted([far + 0.5, far + 1.5, far + 1], { side: "right" })), [1, 2, 2]);
    assert.equal(whole.searchSorted(far + 1).itemSync(), 1);
    const long = tensor([2n ** 60n, 2n ** 60n + 1n]);
    assert.deepEqual(numbersOf(long.searchSorted([2n ** 60n, 2n ** 60n + 1n, 2n ** 61n])), [0, 1, 2]);
    assert.deepEqual(numbersOf(whole.searchSorted([-Infinity, Infinity])), [0, 3]);
    assert.deepEqual(numbersOf(whole.searchSorted([])), []);
  });

  test("… and those of f64 in f64", { skip: !backendFor(device).hasDoubles && `${device} has no f64` }, () => {
    const x = tensor([0.1, 0.1 + 2 ** -40], { dtype: "f64" });
    assert.deepEqual(numbersOf(x.searchSorted([0.1, 0.1 + 2 ** -41, 0.2])), [0, 1, 2]);
  });
});

describeOnTensorDevices("median and mode", () => {
  const median = (line: readonly number[]): number => {
    if (line.some(Number.isNaN)) return Number.NaN;
    const s = sorted(line);
    const [a, b] = [s[Math.floor((s.length - 1) / 2)]!, s[Math.floor(s.length / 2)]!];
    return a === b ? a + 0 : a / 2 + b / 2;
  };
  const mode = (line: readonly number[]): number => {
    const s = sorted(line);
    const times = (v: number) => s.filter((w) => w === v).length;
    return s.reduce((best, v) => (times(v) > times(best) ? v : best), s[0]!);
  };
  for (const extent of [1, 6, 9]) {
    test(`of ${extent} elements, along an axis and over all`, () => {
      const plain = { shape: [5, extent], values: sampleValues("f32", 5 * extent, 38) };
      const x = toTensor(plain, "f32");
      expectTensor(
        x.median({ axis: 1 }),
        dropAxis(
          alongAxis(plain, 1, (line) => [median(line)]),
          1,
        ),
        "f32",
      );
      expectTensor(
        x.mode({ axis: -1, keepDims: true }),
        alongAxis(plain, 1, (line) => [mode(line)]),
        "f32",
        { absolute: 0 },
      );
      assert.equal(x.median().itemSync(), median(plain.values));
    });
  }
  test("the median of whole numbers is rounded once, at the end", () => {
    const far = 2 ** 24;
    const middle = (values: readonly number[], dtype: "i32" | "u32" | "i64" | "u64" | "i8") =>
      toTensor({ shape: [values.length], values }, dtype)
        .median()
        .itemSync();
    for (const dtype of ["i32", "u32", "i64", "u64"] as const) {
      assert.equal(middle([far + 5, far + 1], dtype), far + 4); // the even neighbour of far + 3
      assert.equal(middle([far + 3, far + 1], dtype), far + 2);
      assert.equal(middle([2 ** 31 - 1, 2 ** 31 - 1, 7], dtype), 2 ** 31);
      assert.equal(middle([5, 2], dtype), 3.5);
    }
    assert.equal(middle([-5, -2], "i32"), -3.5);
    assert.equal(middle([-128, -127, 127, 127], "i8"), 0);
    assert.equal(middle([-(2 ** 62), -(2 ** 62) - 2 ** 41], "i64"), -(2 ** 62) - 2 ** 40);
    assert.equal(middle([2 ** 63, 2 ** 63 + 2 ** 62], "u64"), 2 ** 63 + 2 ** 61);
  });

  test("median of a line with NaN is NaN; of integers a float; of infinities not NaN", () => {
    assert.deepEqual(
      tensor([
        [1, Number.NaN, 3],
        [1, 2, 4],
      ])
        .median({ axis: 1 })
        .arraySync(),
      [Number.NaN, 2],
    );
    assert.equal(tensor([1, 2], { dtype: "i32" }).median().itemSync(), 1.5);
    assert.equal(tensor([Infinity, Infinity]).median().itemSync(), Infinity);
    // Halves are added, so that the sum does not overflow.
    assert.equal(tensor([3e38, 2e38]).median().itemSync(), Math.fround(2.5e38));
    assert.throws(() => zeros([0]).median(), { name: ShapeError.name, message: /median/ });
  });
  test("mode of ties is the smallest, of integers an integer, over several axes", () => {
    assert.equal(tensor([3, 1, 3, 1, 2], { dtype: "i32" }).mode().itemSync(), 1);
    const got = tensor(
      [
        [
          [1, 2],
          [2, 5],
        ],
        [
          [7, 7],
          [8, 8],
        ],
      ],
      { dtype: "i64" },
    ).mode({ axis: [1, 2] });
    assert.deepEqual(got.arraySync(), [2n, 7n]);
  });
});

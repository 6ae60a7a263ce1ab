/** Running totals against loops: every dtype, direction, axis and way of cutting the axis into chunks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ShapeError } from "../../../src/core/errors.js";
import { ones, tensor, zeros } from "../../../src/tensor/index.js";
import {
  alongAxis,
  count,
  describeOnTensorDevices,
  expectTensor,
  floatDTypes,
  inDType,
  integerDTypes,
  numbersOf,
  sampleValues,
  toTensor,
  viewsOf,
} from "../../support/tensors.js";

const running = (combine: (a: number, b: number) => number) => (line: number[]) => {
  let total: number | undefined;
  return line.map((value) => {
    total = total === undefined ? value : combine(total, value);
    return total;
  });
};
const backwards = (map: (line: number[]) => number[]) => (line: number[]) => map([...line].reverse()).reverse();
const sum = running((a, b) => a + b);
const max = running(Math.max);
const min = running(Math.min);
const logsumexp = running((a, b) => {
  const larger = Math.max(a, b);
  return Math.abs(larger) === Infinity ? larger : larger + Math.log(Math.exp(a - larger) + Math.exp(b - larger));
});
const before = (line: number[]) => [0, ...sum(line).slice(0, -1)].slice(0, line.length);

describeOnTensorDevices("cumulative", () => {
  for (const dtype of [...integerDTypes, "bool", "f32", "f64"] as const) {
    test(`sums and extremes of ${dtype}, exactly`, () => {
      const plain = { shape: [3, 67], values: sampleValues(dtype, 201, 21) };
      const x = toTensor(plain, dtype);
      const wide = { bool: "i32", i8: "i32", i16: "i32", u8: "u32", u16: "u32" } as const;
      const summed = wide[dtype as keyof typeof wide] ?? dtype;
      expectTensor(x.cumsum({ axis: 1 }), alongAxis(plain, 1, sum), summed, undefined, "cumsum");
      expectTensor(x.cumsum({ axis: 0 }), alongAxis(plain, 0, sum), summed, undefined, "cumsum, axis 0");
      expectTensor(x.cummax({ axis: 1 }), alongAxis(plain, 1, max), dtype, undefined, "cummax");
      expectTensor(x.cummin({ axis: 0 }), alongAxis(plain, 0, min), dtype, undefined, "cummin");
    });
  }

  for (const dtype of floatDTypes) {
    test(`of ${dtype} with NaN, infinities and -0`, () => {
      const values = [-0, 1, -2, -0, 3, Infinity, 2, -Infinity, 5, 6];
      const x = toTensor({ shape: [10], values }, dtype);
      const want = (map: (line: number[]) => number[]) => ({ shape: [10], values: map(values) });
      expectTensor(x.cumsum(), want(sum), dtype, undefined, "cumsum");
      expectTensor(
        x.cummax(),
        want((line) => max(line).map((v) => v + 0)),
        dtype,
        { absolute: 0 },
        "cummax",
      );
      expectTensor(
        x.cumprod({ reverse: true }),
        want(backwards(running((a, b) => b * a))),
        dtype,
        undefined,
        "cumprod",
      );
    });
    test(`logsumexp of ${dtype}`, () => {
      const values = [-Infinity, -3, 80, 80.5, 2, -70, Infinity, 1].map((v) => inDType(v, dtype));
      const got = toTensor({ shape: [8], values }, dtype).cumlogsumexp();
      const relative = { bf16: 1e-2, f16: 1e-3, f32: 1e-6, f64: 1e-14 }[dtype];
      expectTensor(got, { shape: [8], values: logsumexp(values) }, dtype, { relative });
    });
  }

  test("either direction, inclusive or not, along any axis of any view", () => {
    const shape = [2, 5, 1, 3, 2];
    const plain = { shape, values: sampleValues("i32", count(shape), 22) };
    for (const { name, x } of viewsOf(plain, "i32")) {
      for (const axis of [1, -1, 0]) {
        const what = `${name}, axis ${axis}`;
        expectTensor(x.cumsum({ axis }), alongAxis(plain, axis, sum), "i32", undefined, what);
        const reverse = alongAxis(plain, axis, backwards(sum));
        expectTensor(x.cumsum({ axis, reverse: true }), reverse, "i32", undefined, `${what}, reverse`);
        const exclusive = alongAxis(plain, axis, backwards(before));
        expectTensor(
          x.cumsum({ axis, reverse: true, exclusive: true }),
          exclusive,
          "i32",
          undefined,
          `${what}, exclusive`,
        );
      }
    }
  });

  // One chunk and many, whole and ragged, shared by lanes and not.
  const cuts = [
    [1, 4096, 1],
    [1, 40007, 1],
    [3, 10000, 1],
    [1, 3001, 3],
    [2, 20001, 1],
    [70000, 3, 1],
    [1, 47, 1],
    [5, 300, 7],
  ];
  for (const shape of cuts) {
    test(`of [${shape}], however it is cut`, () => {
      const size = count(shape);
      const values = sampleValues("i32", size, 23);
      const [outer, extent, inner] = shape as [number, number, number];
      const want = { forward: new Array<number>(size), backward: new Array<number>(size) };
      for (let o = 0; o < outer; o++) {
        for (let i = 0; i < inner; i++) {
          const at = (p: number) => (o * extent + p) * inner + i;
          let total = 0;
          for (let p = 0; p < extent; p++) want.forward[at(p)] = total += values[at(p)]!;
          total = 0;
          for (let p = extent - 1; p >= 0; p--) {
            want.backward[at(p)] = total;
            total += values[at(p)]!;
          }
        }
      }
      const x = toTensor({ shape, values }, "i32");
      assert.deepEqual(numbersOf(x.cumsum({ axis: 1 })), want.forward);
      assert.deepEqual(numbersOf(x.cumsum({ axis: 1, reverse: true, exclusive: true })), want.backward);
    });
  }

  test("long maxima, sums of floats and logsumexp over many chunks", () => {
    const values = sampleValues("f64", 30011, 24);
    const x = toTensor({ shape: [30011], values }, "f64");
    assert.deepEqual(numbersOf(x.cummax()), max(values));
    expectTensor(x.cumsum(), { shape: [30011], values: sum(values) }, "f64", { absolute: 1e-9 });
    expectTensor(x.cumlogsumexp(), { shape: [30011], values: logsumexp(values) }, "f64", { relative: 1e-12 });
    assert.deepEqual(numbersOf(x.cumsum()), numbersOf(x.add(0).cumsum()), "the same in every run");
  });

  test("without an axis, zero-size and rank-0 tensors", () => {
    assert.deepEqual(
      tensor([
        [1, 2],
        [3, 4],
      ])
        .cumsum()
        .arraySync(),
      [1, 3, 6, 10],
    );
    assert.deepEqual(tensor(3).cumsum().arraySync(), [3]);
    assert.deepEqual(zeros([2, 0]).cumsum({ axis: 1 }).shape, [2, 0]);
    assert.deepEqual(zeros([0, 2]).cumsum({ axis: 1 }).arraySync(), []);
    assert.deepEqual(ones([4]).cumprod({ exclusive: true }).arraySync(), [1, 1, 1, 1]);
    assert.ok(Object.is(numbersOf(zeros([2]).cumsum({ exclusive: true }))[0], 0));
  });

  test("its input and its users fuse around it", () => {
    assert.deepEqual(tensor([1, 2, 3]).add(1).cumsum().mul(2).sum().itemSync(), 2 * (2 + 5 + 9));
  });

  test("an axis that is not there is refused", () => {
    assert.throws(() => zeros([3]).cumsum({ axis: 1 }), { name: ShapeError.name, message: /cumsum.*axis 1/ });
  });
});

/** Results whose shape depends on values, against sets and loops in JavaScript. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, DTypeError, ShapeError } from "../../../src/core/errors.js";
import { backendFor, tensor, zeros } from "../../../src/tensor/index.js";
import {
  count,
  describeOnTensorDevices,
  expectTensor,
  indicesOf,
  integerDTypes,
  numbersOf,
  read,
  realDTypes,
  sampleValues,
  toTensor,
  viewsOf,
} from "../../support/tensors.js";

describeOnTensorDevices("nonzero and masks", () => {
  for (const shape of [[13], [3, 7], [2, 3, 2, 4, 1]]) {
    test(`of [${shape}], and of views of it`, () => {
      const plain = { shape, values: sampleValues("f32", count(shape), 51, true).map((v, i) => (i % 3 ? v : 0)) };
      const want = indicesOf(shape).filter((index) => read(plain, index) !== 0);
      for (const { name, x } of viewsOf(plain, "f32")) {
        const found = x.nonzero();
        assert.equal(found.length, shape.length);
        found.forEach((positions, axis) => {
          const values = want.map((index) => index[axis]!);
          expectTensor(positions, { shape: [want.length], values }, "i32", undefined, `${name}, axis ${axis}`);
        });
        assert.deepEqual(numbersOf(x.argwhere()), want.flat());
        assert.deepEqual(
          numbersOf(x.at(x.notEqual(0))),
          want.map((index) => read(plain, index)),
        );
      }
    });
  }
  test("of nothing, of all, of none", () => {
    assert.deepEqual(
      zeros([0, 3])
        .nonzero()
        .map((t) => t.shape),
      [[0], [0]],
    );
    assert.deepEqual(zeros([5]).nonzero()[0]!.arraySync(), []);
    assert.deepEqual(zeros([3]).add(1).argwhere().arraySync(), [[0], [1], [2]]);
    assert.deepEqual(zeros([2, 2]).argwhere().shape, [0, 2]);
    assert.throws(() => tensor(1).nonzero(), ShapeError);
  });
  test("of a hundred thousand", () => {
    const values = sampleValues("bool", 100003, 52);
    const want = values.flatMap((v, i) => (v ? [i] : []));
    assert.deepEqual(numbersOf(toTensor({ shape: [100003], values }, "bool").nonzero()[0]!), want);
  });
});

describeOnTensorDevices("unique", () => {
  for (const dtype of [...realDTypes, "bool"] as const) {
    test(`of ${dtype}, with counts, first places and inverse`, () => {
      const values = sampleValues(dtype, 60, 53, true).map((v) => (v === 0 ? 0 : v));
      const { values: got, counts, indices, inverse } = toTensor({ shape: [6, 10], values }, dtype).unique();
      const same = (a: number, b: number) => Object.is(a, b);
      const distinct = [...new Set(values)].sort((a, b) =>
        Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : a < b ? -1 : 1,
      );
      const shape = [distinct.length];
      expectTensor(got, { shape, values: distinct }, dtype, undefined, "values");
      expectTensor(counts, { shape, values: distinct.map((v) => values.filter((w) => same(v, w)).length) }, "i32");
      expectTensor(indices, { shape, values: distinct.map((v) => values.findIndex((w) => same(v, w))) }, "i32");
      const places = values.map((v) => distinct.findIndex((w) => same(v, w)));
      expectTensor(inverse, { shape: [6, 10], values: places }, "i32");
    });
  }
  test("of one, of none, of many equal", () => {
    assert.deepEqual(tensor(3).unique().values.arraySync(), [3]);
    assert.deepEqual(zeros([0]).unique().values.shape, [0]);
    assert.deepEqual(zeros([1000]).unique().counts.arraySync(), [1000]);
  });
});

describeOnTensorDevices("bincount and histogram", () => {
  for (const dtype of [...integerDTypes, "bool"] as const) {
    test(`bincount of ${dtype}`, () => {
      const values = sampleValues(dtype, 200, 54);
      const x = toTensor({ shape: [200], values }, dtype);
      const size = Math.max(...values) + 1;
      const want = Array.from({ length: size }, (_, n) => values.filter((v) => v === n).length);
      expectTensor(x.bincount(), { shape: [size], values: want }, "i32");
      expectTensor(
        x.bincount({ minLength: 30 }),
        { shape: [30], values: [...want, ...new Array(30 - size).fill(0)] },
        "i32",
      );
      expectTensor(x.bincount({ length: 1 }), { shape: [1], values: want.slice(0, 1) }, "i32");
    });
  }
  test("bincount with weights; with a length nothing is read back", () => {
    const x = tensor(
      [
        [0, 2],
        [2, 1],
      ],
      { dtype: "i32" },
    );
    const weights = tensor([
      [1, 2],
      [3, 4],
    ]);
    assert.deepEqual(x.bincount({ weights }).arraySync(), [1, 4, 5]);
    assert.deepEqual(x.bincount({ weights, deterministic: true }).arraySync(), [1, 4, 5]);
    const backend = backendFor();
    const before = backend.counters.kernels;
    x.bincount({ length: 5 });
    assert.equal(backend.counters.kernels, before);
    assert.deepEqual(tensor([], { shape: [0], dtype: "i32" }).bincount().shape, [0]);
    assert.throws(() => tensor([1.5]).bincount(), DTypeError);
    assert.throws(() => x.bincount({ weights: zeros([3]) }), ShapeError);
  });

  test("histogram: the last bin includes its edge; outside and NaN are not counted", () => {
    const values = [0, 1, 2, 2, 3, 4, -1, 5, Number.NaN, 0.5];
    const x = tensor(values);
    const { counts, edges } = x.histogram({ bins: 4, range: [0, 4] });
    assert.deepEqual(edges.arraySync(), [0, 1, 2, 3, 4]);
    assert.deepEqual(counts.arraySync(), [2, 1, 2, 2]);
    assert.deepEqual(x.histogram({ bins: tensor([0, 1, 5]) }).counts.arraySync(), [2, 6]);
    const finite = values.filter((v) => !Number.isNaN(v));
    const all = tensor(finite).histogram({ bins: 3 });
    assert.deepEqual(all.edges.arraySync(), [-1, 1, 3, 5]);
    assert.deepEqual(all.counts.arraySync(), [3, 3, 3]);
    const density = tensor(finite).histogram({ bins: 3, density: true }).counts;
    expectTensor(density, { shape: [3], values: [1 / 6, 1 / 6, 1 / 6] }, "f32", { relative: 1e-6 });
    const weighted = tensor([0, 1, 1]).histogram({ bins: 2, weights: tensor([1, 2, 0.5]) }).counts;
    assert.deepEqual(weighted.arraySync(), [1, 2.5]);
    assert.deepEqual(tensor([2, 2]).histogram({ bins: 2 }).edges.arraySync(), [1.5, 2, 2.5]);
    assert.deepEqual(zeros([0]).histogram({ bins: 2 }).counts.arraySync(), [0, 0]);
    assert.throws(() => x.histogram({ bins: 0 }), ArgumentError);
    assert.throws(() => x.histogram({ bins: zeros([1]) }), ShapeError);
  });
});

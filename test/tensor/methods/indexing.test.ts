/** Indexing and functional updates, against what NumPy gave (make-indexing-cases.py wrote it down). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ArgumentError, DTypeError, ShapeError } from "../../../src/core/errors.js";
import { type IndexArgument, newAxis } from "../../../src/core/slice.js";
import { arange, backendFor, type Nested, type Tensor, tensor, zeros } from "../../../src/tensor/index.js";
import {
  count,
  describeOnTensorDevices,
  expectTensor,
  integerDTypes,
  narrowDTypes,
  type Plain,
  realDTypes,
  toTensor,
  viewsOf,
} from "../../support/tensors.js";

interface Case {
  readonly shape: readonly number[];
  readonly args: readonly (number | string | Nested<number | boolean>[])[];
  readonly at: Plain;
  readonly value: readonly number[];
  readonly set: readonly number[];
  readonly add: readonly number[];
}

const cases: Case[] = JSON.parse(
  readFileSync(new URL("../../../../test/tensor/methods/indexing-cases.json", import.meta.url), "utf8"),
);

function argumentOf(arg: Case["args"][number]): IndexArgument<Tensor> {
  if (arg === "newaxis") return newAxis;
  if (typeof arg === "string") return arg as "...";
  if (typeof arg === "number") return arg;
  const isMask = typeof arg.flat(9)[0] === "boolean";
  return tensor(arg, { dtype: isMask ? "bool" : "i32" });
}

const shown = (args: Case["args"]) => JSON.stringify(args);

describeOnTensorDevices("indexing as NumPy", (device) => {
  test("at, set and addAt", () => {
    for (const { shape, args, at, value, set, add } of cases) {
      const what = `[${shape}] at ${shown(args)}`;
      const size = count(shape);
      const plain = { shape, values: Array.from({ length: size }, (_, i) => i) };
      const x = toTensor(plain, "i32");
      const indices = args.map(argumentOf);
      expectTensor(x.at(...indices), at, "i32", undefined, what);
      const given = toTensor({ shape: value, values: Array.from({ length: count(value) }, (_, i) => -1 - i) }, "i32");
      expectTensor(x.set(...indices, given), { shape, values: set }, "i32", undefined, `set ${what}`);
      expectTensor(x.addAt(...indices, given), { shape, values: add }, "i32", undefined, `addAt ${what}`);
    }
  });

  test("of views", () => {
    const some = cases.filter(({ shape, args }) => shape.length === 3 && args.some(Array.isArray)).slice(0, 5);
    for (const { shape, args, at, value, add } of some) {
      const plain = { shape, values: Array.from({ length: count(shape) }, (_, i) => i) };
      const given = toTensor({ shape: value, values: Array.from({ length: count(value) }, (_, i) => -1 - i) }, "f32");
      for (const { name, x } of viewsOf(plain, "f32")) {
        const indices = args.map(argumentOf);
        expectTensor(x.at(...indices), at, "f32", undefined, `${name}, ${shown(args)}`);
        expectTensor(x.addAt(...indices, given), { shape, values: add }, "f32", undefined, `${name}, ${shown(args)}`);
      }
    }
  });

  test("index tensors narrower than a byte", () => {
    assert.deepEqual(
      arange(9)
        .at(tensor([7, -1, 0], { dtype: "i4" }))
        .arraySync(),
      [7, 8, 0],
    );
    assert.deepEqual(
      arange(9)
        .at(tensor([15, 3], { dtype: "u4" }))
        .arraySync(),
      [8, 3],
    );
    assert.deepEqual(
      arange(3)
        .at(tensor([1, -2, -1], { dtype: "i2" }))
        .arraySync(),
      [1, 1, 2],
    );
    assert.deepEqual(
      zeros([3])
        .addAt(tensor([3, 2, 2], { dtype: "u2" }), 1)
        .arraySync(),
      [0, 0, 2],
    );
  });

  for (const dtype of integerDTypes) {
    test(`index tensors of ${dtype}; outside they read the nearest end and write nothing`, () => {
      const isSigned = dtype.startsWith("i");
      const values = isSigned ? [1, -1, 100, -100, 2] : [1, 2, 100, 101, 2];
      const positions = toTensor({ shape: [5], values }, dtype);
      assert.deepEqual(arange(3).at(positions).arraySync(), isSigned ? [1, 2, 2, 0, 2] : [1, 2, 2, 2, 2]);
      const changed = zeros([3]).set(positions, tensor([1, 2, 3, 4, 5]));
      assert.deepEqual(changed.arraySync(), [0, 1, 5]);
      assert.deepEqual(zeros([3]).addAt(positions, 1).arraySync(), [0, 1, 2]);
    });
  }

  for (const dtype of [...realDTypes, ...narrowDTypes, "bool"] as const) {
    test(`set keeps ${dtype}`, () => {
      const x = toTensor({ shape: [4], values: [0, 1, 1, 0] }, dtype);
      expectTensor(x.set(tensor([3, 0], { dtype: "i32" }), 1), { shape: [4], values: [1, 1, 1, 1] }, dtype);
      expectTensor(x.set("1:3", 0), { shape: [4], values: [0, 0, 0, 0] }, dtype);
    });
  }

  test("mulAt, minAt, maxAt combine as often as an element is named", () => {
    const x = tensor([1, 2, 3]);
    const twice = tensor([0, 0, 2], { dtype: "i32" });
    assert.deepEqual(x.mulAt(twice, 3).arraySync(), [9, 2, 9]);
    assert.deepEqual(x.minAt(twice, tensor([0, -1, 5])).arraySync(), [-1, 2, 3]);
    assert.deepEqual(x.maxAt("1:", 2.5).arraySync(), [1, 2.5, 3]);
  });

  test("a value for a whole mask reads nothing back", () => {
    const backend = backendFor(device);
    const x = tensor([
      [1, -2],
      [-3, 4],
    ]);
    const before = backend.counters.kernels;
    const changed = x.set(x.less(0), 0);
    assert.equal(backend.counters.kernels, before);
    assert.deepEqual(changed.arraySync(), [
      [1, 0],
      [0, 4],
    ]);
  });

  test("addAt with { deterministic: true } gives the same sums", () => {
    const positions = tensor([0, 1, 0, 0, 1], { dtype: "i32" });
    const sums = zeros([3]).addAt(positions, tensor([1, 2, 3, 4, 5]), { deterministic: true });
    assert.deepEqual(sums.arraySync(), [8, 7, 0]);
  });

  test("misuse is refused with the operation's name and the shapes", () => {
    const x = zeros([3, 4]);
    assert.throws(() => x.at(tensor([0.5])), { name: DTypeError.name, message: /at: an index tensor holds integers/ });
    assert.throws(() => x.at(tensor([true, false])), { name: ShapeError.name, message: /mask of \[2\].*\[3\]/ });
    assert.throws(() => x.at(0, 1, tensor([1], { dtype: "i32" })), ShapeError);
    assert.throws(() => x.set("1:", tensor([1, 2, 3])), { name: ShapeError.name, message: /set, values/ });
    assert.throws(() => x.cast("i32").set(0, 0.5), { name: DTypeError.name, message: /0.5.*i32/ });
    assert.throws(() => x.at(tensor([0, 1], { dtype: "i32" }), tensor([0, 1, 2], { dtype: "i32" })), ShapeError);
    assert.throws(() => x.at(tensor(true)), ArgumentError);
  });
});

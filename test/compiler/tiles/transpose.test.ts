/** Results that lie the other way than their source, made square by square on both engines, against plain loops. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { kernelsOf } from "../../../src/compiler/program/program.js";
import type { DType } from "../../../src/core/dtype.js";
import type { Backend } from "../../../src/runtime/backend.js";
import type { Tensor } from "../../../src/tensor/index.js";
import { jit } from "../../../src/transforms/jit.js";
import { tensorOn, withTiles } from "../../support/forced-tiles.js";
import {
  count,
  describeOnTensorDevices,
  expectTensor,
  type Plain,
  plainOf,
  read,
  sampleValues,
  toTensor,
} from "../../support/tensors.js";

const sample = (shape: readonly number[], seed: number, dtype: DType = "f32"): Plain => ({
  shape,
  values: sampleValues(dtype, count(shape), seed),
});

describeOnTensorDevices("transposes in squares", (device) => {
  let backend: Backend;
  before(() => {
    backend = withTiles(device, device === "cpu" ? {} : { kind: "shared" });
  });
  const on = (plain: Plain, dtype: DType = "f32") => tensorOn(backend, plain, dtype);
  const expectSquares = (x: Tensor, expected: Plain, dtype: DType = "f32", isInSquares = true) => {
    const names = kernelsOf(backend.plan([x.node]).steps).map(({ kernel }) => kernel.name);
    assert.equal(names.length, 1, names.join(", "));
    assert.equal(/transposed$/.test(names[0]!), isInSquares, names[0]);
    expectTensor(x, expected, dtype, {});
  };
  const permuted = (x: Plain, axes: readonly number[]): Plain =>
    plainOf(
      axes.map((axis) => x.shape[axis]!),
      (index) =>
        read(
          x,
          x.shape.map((_, axis) => index[axes.indexOf(axis)]!),
        ),
    );

  for (const [sharedBytes, extent, atOnce] of [
    [49152, 256, 4],
    [49152, 192, 2],
    [49152, 160, 1],
    [32768, 256, 2],
    [16384, 256, 1],
  ] as const) {
    const title = `${atOnce} squares at once of ${extent} numbers with ${sharedBytes} bytes to share`;
    if (device === "cpu") continue;
    test(title, () => {
      const own = withTiles(device, { kind: "shared", sharedBytes });
      const x = sample([extent, 128], 3);
      const result = tensorOn(own, x, "f32").permute().add(0);
      const [step] = kernelsOf(own.plan([result.node]).steps);
      assert.equal(step!.kernel.rows, (128 / 32) * (extent / 32 / atOnce));
      expectTensor(result, permuted(x, [1, 0]), "f32", {});
    });
  }

  for (const [m, n] of [
    [128, 128],
    [192, 100],
    [130, 129],
    [1000, 17],
    [31, 997],
    [256, 64],
  ] as const) {
    test(`${m}×${n}`, () => {
      const x = sample([m, n], 1);
      expectSquares(on(x).permute().add(0), permuted(x, [1, 0]));
    });
  }

  for (const dtype of ["u8", "bool", "i16", "f16", "i64", "f64"] as const) {
    test(`of ${dtype}`, () => {
      const x = sample([130, 132], 2, dtype);
      expectSquares(
        on(x, dtype)
          .permute()
          .reshape([132 * 130]),
        { ...permuted(x, [1, 0]), shape: [132 * 130] },
        dtype,
      );
    });
  }

  test("other axes come along", () => {
    const x = sample([3, 40, 5, 36], 3);
    expectSquares(on(x).permute([3, 0, 2, 1]).neg(), {
      shape: [36, 3, 5, 40],
      values: permuted(x, [3, 0, 2, 1]).values.map((value) => -value),
    });
    expectSquares(on(x).permute([2, 3, 0, 1]).neg(), {
      shape: [5, 36, 3, 40],
      values: permuted(x, [2, 3, 0, 1]).values.map((value) => -value),
    });
  });

  test("what lies well is read as it lies, what lies badly goes through squares", () => {
    const [x, y, z] = [sample([150, 140], 4), sample([140, 150], 5), sample([150, 140], 6)];
    const expected = plainOf([140, 150], ([i, j]) => read(x, [j!, i!]) * 2 + read(y, [i!, j!]) - read(z, [j!, i!]));
    expectSquares(on(x).permute().mul(2).add(on(y)).sub(on(z).permute()), expected);
  });

  test("a matrix and its own transpose", () => {
    const x = sample([132, 132], 7);
    const expected = plainOf([132, 132], ([i, j]) => read(x, [i!, j!]) + read(x, [j!, i!]));
    const a = on(x);
    expectSquares(a.add(a.permute()), expected);
  });

  test("a part of a matrix, backwards and with a border", () => {
    const x = sample([160, 150], 8);
    const expected = plainOf([120, 144], ([i, j]) => read(x, [2 + j!, 149 - i!]));
    expectSquares(on(x).flip([1]).at("2:146", ":120").permute().add(0), expected);
    const bordered = plainOf([152, 162], ([i, j]) =>
      i === 0 || i === 151 || j === 0 || j === 161 ? 0 : read(x, [j! - 1, i! - 1]),
    );
    const padded = on(x)
      .permute()
      .pad([
        [1, 1],
        [1, 1],
      ]);
    expectTensor(padded.add(0), bordered, "f32", {});
  });

  test("a result that takes over the memory of an argument is not computed twice anywhere", () => {
    const [x, y] = [sample([201, 133], 11), sample([133, 201], 12)];
    const expected = plainOf([133, 201], ([i, j]) => read(x, [j!, i!]) + read(y, [i!, j!]));
    const add = jit((a: Tensor, b: Tensor) => a.permute().add(b), { donate: 1 });
    expectTensor(add(toTensor(x, "f32"), toTensor(y, "f32")), expected, "f32", {});
  });

  test("what is not transposed, or small, is not made so", () => {
    const x = sample([128, 130], 9);
    expectSquares(on(x).add(1), { ...x, values: x.values.map((value) => value + 1) }, "f32", false);
    const y = sample([20, 30], 10);
    expectSquares(on(y).permute().add(0), permuted(y, [1, 0]), "f32", false);
  });
});

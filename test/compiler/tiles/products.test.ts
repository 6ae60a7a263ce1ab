/**
 * Products of matrices in every kind of tile, on both engines, against three plain loops. The samples are multiples of a
 * quarter, so that sums of a few hundred products are exact whatever their order.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sharedBytesOf } from "../../../src/compiler/target/shared-tile.js";
import type { MatrixTile, SharedTile, Tile } from "../../../src/compiler/target/tile-profile.js";
import { SHARED_VARIANTS } from "../../../src/compiler/tiles/shared-candidates.js";
import { castScalar } from "../../../src/core/cast.js";
import { DTYPES, type DType, isInteger } from "../../../src/core/dtype.js";
import type { Backend } from "../../../src/runtime/backend.js";

import { type Tensor, where } from "../../../src/tensor/index.js";
import { tensorOn, withTiles } from "../../support/forced-tiles.js";
import {
  count,
  describeOnTensorDevices,
  expectTensor,
  type Plain,
  plainOf,
  read,
  realDTypes,
  sampleValues,
} from "../../support/tensors.js";

const sample = (shape: readonly number[], seed: number, dtype: DType = "f32"): Plain => ({
  shape,
  values: sampleValues(dtype, count(shape), seed),
});

/** [b, m, k] × [b, k, n], by the definition. */
function product(x: Plain, y: Plain): Plain {
  const [batch, m, k] = x.shape as [number, number, number];
  const n = y.shape[2]!;
  const values: number[] = [];
  for (let b = 0; b < batch; b++) {
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        let sum = 0;
        for (let l = 0; l < k; l++) sum += x.values[(b * m + i) * k + l]! * y.values[(b * k + l) * n + j]!;
        values.push(sum);
      }
    }
  }
  return { shape: [batch, m, n], values };
}

const transposed = (x: Plain): Plain => {
  const [b, m, n] = x.shape as [number, number, number];
  return plainOf([b, n, m], ([at, i, j]) => read(x, [at!, j!, i!]));
};

const inDType = (plain: Plain, dtype: DType): Plain => ({
  ...plain,
  values: plain.values.map((value) => Number(castScalar(value, isInteger(dtype) ? "i64" : "f64", dtype))),
});

const map = (x: Plain, rule: (value: number, index: number) => number): Plain => ({
  ...x,
  values: x.values.map(rule),
});

const shared = (tile: Partial<SharedTile>): SharedTile => ({ ...SHARED_VARIANTS[3]!.tile, ...tile });

/** Tiles by device. A software driver compiles slowly, so only some of them, small ones, go through every test. */
/** Matrix units have a test of their own, without a device. */
type PlainTile = Exclude<Tile, MatrixTile>;

const tiles: Readonly<Record<string, readonly { readonly tile?: PlainTile; readonly isThorough: boolean }[]>> = {
  vulkan: [
    ...SHARED_VARIANTS.map(({ tile }) => ({ tile, isThorough: false })),
    { tile: shared({ buffers: 2, depth: 8, unrolled: 8 }), isThorough: true },
    // Lines of 7 and 24 units, which do not divide the lanes.
    { tile: shared({ columns: 24, depth: 7, unrolled: 7, perLane: [4, 3], isSpread: true }), isThorough: true },
    { tile: { kind: "registers", rows: 4, columns: 4 }, isThorough: true },
  ],
  cpu: [
    { isThorough: true },
    { tile: { kind: "panels", rows: 8, columns: 16, depth: 12, micro: [4, 2], lanes: 4 }, isThorough: true },
    { tile: { kind: "panels", rows: 6, columns: 8, depth: 20, micro: [3, 4], lanes: 1 }, isThorough: true },
    { tile: { kind: "registers", rows: 4, columns: 4 }, isThorough: false },
  ],
};
function nameOf(tile: PlainTile | undefined): string {
  if (!tile) return "as planned";
  const { kind, rows, columns } = tile;
  if (kind === "registers") return `${kind} ${rows}×${columns}`;
  const more = kind === "shared" ? `${tile.buffers} at a time, ${tile.unrolled} written out` : `${tile.lanes} lanes`;
  return `${kind} ${rows}×${columns}×${tile.depth}, ${more}`;
}

/** Rows, summands, columns: around the edges of tiles, and within them. */
const sizes: readonly (readonly [number, number, number])[] = [
  [1, 1, 1],
  [2, 7, 3],
  [5, 16, 4],
  [64, 32, 64],
  [127, 33, 129],
  [130, 17, 132],
  [129, 40, 61],
  [31, 128, 17],
  [1, 130, 257],
  [258, 3, 2],
];

describeOnTensorDevices("products in tiles", (device) => {
  for (const { tile, isThorough } of tiles[device] ?? []) {
    describe(nameOf(tile), () => {
      let backend: Backend;
      const backendOf = () => {
        backend ??= withTiles(device, { ...(tile && { kind: tile.kind }), forced: { tile, parts: 1 } });
        return backend;
      };
      const on = (plain: Plain, dtype: DType = "f32") => tensorOn(backendOf(), plain, dtype);
      const fits = (dtype: DType) => {
        return tile?.kind !== "shared" || sharedBytesOf(tile, DTYPES[dtype].bytes) <= 32768;
      };
      // On the CPU tiles are whole, so a matrix has at least one.
      const [leastRows, leastColumns] = device === "vulkan" ? [1, 1] : [tile?.rows ?? 8, tile?.columns ?? 8];
      /** One kernel, so that nothing was put in memory on the way. */
      const expectFused = (x: Tensor, expected: Plain, dtype: DType = "f32", kernels = 1) => {
        const plan = backendOf()
          .plan([x.node])
          .steps.map((step) => (step.kind === "kernel" ? step.kernel.name : step.kind));
        assert.equal(plan.length, kernels, plan.join(", "));
        assert.match(plan.join(), / in \d+×\d+/);
        expectTensor(x, expected, dtype, {});
      };

      for (const [m, k, n] of isThorough ? sizes : sizes.slice(4, 6)) {
        if (m < leastRows || n < leastColumns) continue;
        test(`${m}×${k} · ${k}×${n}`, () => {
          const [x, y] = [sample([1, m, k], 1), sample([1, k, n], 2)];
          expectFused(
            on(x)
              .reshape([m, k])
              .matmul(on(y).reshape([k, n]))
              .reshape([1, m, n]),
            product(x, y),
          );
        });
      }

      if (!isThorough) {
        test("transposed operands, and what is done to the result", () => {
          const [x, y, bias] = [sample([2, 36, 72], 5), sample([2, 72, 68], 6), sample([68], 13)];
          const z = on(transposed(x))
            .permute([0, 2, 1])
            .matmul(on(transposed(y)).permute([0, 2, 1]));
          expectFused(
            z.add(on(bias)),
            map(product(x, y), (value, i) => value + bias.values[i % 68]!),
          );
        });
        return;
      }

      test("batches, and an operand that they share", () => {
        const [x, y] = [sample([3, 65, 20], 3), sample([3, 20, 66], 4)];
        expectFused(on(x).matmul(on(y)), product(x, y));
        const one = { shape: [1, 20, 66], values: y.values.slice(0, 20 * 66) };
        const repeated = { shape: [3, 20, 66], values: [...one.values, ...one.values, ...one.values] };
        expectFused(on(x).matmul(on(one)), product(x, repeated));
      });

      test("operands that are transposed, sliced, flipped, padded or repeated are read where they lie", () => {
        const [x, y] = [sample([2, 36, 72], 5), sample([2, 72, 68], 6)];
        const expected = product(x, y);
        expectFused(on(transposed(x)).permute([0, 2, 1]).matmul(on(y)), expected);
        expectFused(on(x).matmul(on(transposed(y)).permute([0, 2, 1])), expected);
        expectFused(
          on(transposed(x))
            .permute([0, 2, 1])
            .matmul(on(transposed(y)).permute([0, 2, 1])),
          expected,
        );
        const larger = plainOf([2, 39, 145], ([b, i, j]) =>
          i! >= 2 && i! < 38 && j! % 2 === 1 ? read(x, [b!, i! - 2, (j! - 1) / 2]) : 9,
        );
        expectFused(on(larger).at(":", "2:38", "1::2").matmul(on(y)), expected);
        const backwards = plainOf(y.shape, ([b, i, j]) => read(y, [b!, 71 - i!, 67 - j!]));
        expectFused(on(x).matmul(on(backwards).flip([1, 2])), expected);
        const short = plainOf([2, 36, 70], ([b, i, j]) => read(x, [b!, i!, j! + 1]));
        const zeroed = plainOf(x.shape, ([b, i, j]) => (j === 0 || j === 71 ? 0 : read(x, [b!, i!, j!])));
        expectFused(
          on(short)
            .pad([
              [0, 0],
              [0, 0],
              [1, 1],
            ])
            .matmul(on(y)),
          product(zeroed, y),
        );
      });

      test("cheap operations on operands are done as they are loaded", () => {
        const [x, y] = [sample([1, 33, 50], 7), sample([1, 50, 70], 8)];
        const expected = product(
          map(x, (value) => Math.max(0, value) + 1),
          map(y, (value) => -value),
        );
        expectFused(on(x).maximum(0).add(1).matmul(on(y).neg()), expected);
      });

      test("what costs more is computed once, and put in memory", () => {
        const [x, y] = [sample([1, 300, 20], 9), sample([1, 20, 70], 10)];
        const expected = product(
          x,
          map(y, (value) => Math.fround(Math.exp(value))),
        );
        const result = on(x).matmul(on(y).exp());
        assert.equal(backendOf().plan([result.node]).steps.length, 2);
        // The exponentials are right to two units in the last place.
        expectTensor(result, expected, "f32", { relative: 1e-5, absolute: 0.5 });
      });

      test("what is done to the elements of the product is done before they are stored", () => {
        const [x, y] = [sample([1, 67, 24], 11), sample([1, 24, 70], 12)];
        const [bias, rest] = [sample([70], 13), sample([67, 70], 14)];
        const [m, n] = [67, 70];
        const sums = product(x, y);
        const flat = { ...sums, shape: [m, n] };
        const twice = on(x)
          .reshape([m, 24])
          .matmul(on(y).reshape([24, n]));
        const z = () =>
          on(x)
            .reshape([m, 24])
            .matmul(on(y).reshape([24, n]));
        const biased = map(flat, (value, i) => value + bias.values[i % n]!);
        expectFused(
          z().add(on(bias)).maximum(0),
          map(biased, (value) => Math.max(0, value)),
        );
        expectFused(
          z().sub(on(rest)),
          map(flat, (value, i) => value - rest.values[i]!),
        );
        expectFused(
          z().mul(0.5).cast("i32"),
          map(flat, (value) => Math.trunc(value / 2)),
          "i32",
        );
        expectFused(z().add(on(bias)).permute(), {
          shape: [n, m],
          values: transposed({ ...biased, shape: [1, m, n] }).values,
        });
        expectFused(
          where(twice.less(0), -1, twice),
          map(flat, (value) => (value < 0 ? -1 : value)),
        );
        expectFused(
          z()
            .reshape([m * n])
            .add(on(rest).reshape([m * n])),
          {
            shape: [m * n],
            values: flat.values.map((value, i) => value + rest.values[i]!),
          },
        );
      });

      test("a product that is used in two ways is computed once", () => {
        const [x, y] = [sample([1, 40, 24], 15), sample([1, 24, 40], 16)];
        const [one, sums] = [on(x).matmul(on(y)), product(x, y)];
        const both = one.add(one.permute([0, 2, 1]));
        const expected = plainOf(sums.shape, ([b, i, j]) => read(sums, [b!, i!, j!]) + read(sums, [b!, j!, i!]));
        expectFused(both, expected, "f32", 2);
        const other = on(x)
          .matmul(on(y))
          .add(on(x).matmul(on(y).mul(2)));
        expectFused(
          other,
          map(sums, (value) => 3 * value),
          "f32",
          2,
        );
      });

      test("a product of a product", () => {
        const [x, y, z] = [sample([1, 20, 9], 17), sample([1, 9, 19], 18), sample([1, 19, 30], 19)];
        const first = map(product(x, y), (value) => Math.max(value, 0));
        expectFused(on(x).matmul(on(y)).maximum(0).matmul(on(z)), product(first, z), "f32", 2);
      });

      test("a sum over a product, and a product with a sum", () => {
        const [x, y] = [sample([1, 20, 9], 20), sample([1, 9, 18], 21)];
        const sums = product(x, y);
        const total = plainOf([1, 18], ([b, j]) => {
          let sum = 0;
          for (let i = 0; i < 20; i++) sum += read(sums, [b!, i, j!]);
          return sum;
        });
        expectFused(on(x).matmul(on(y)).sum({ axis: 1 }), total, "f32", 2);
        const shifted = plainOf(x.shape, ([b, i, j]) => {
          let sum = 0;
          for (let l = 0; l < 9; l++) sum += read(x, [b!, i!, l]);
          return read(x, [b!, i!, j!]) - sum;
        });
        const result = on(x)
          .sub(on(x).sum({ axis: 2, keepDims: true }))
          .matmul(on(y));
        expectTensor(result, product(shifted, y), "f32", {});
      });

      for (const dtype of [...realDTypes, "bool"] as const) {
        test(`of ${dtype}`, { skip: fits(dtype) ? false : "not a dtype for this tile" }, () => {
          const [x, y] = [sample([2, 35, 24], 22, dtype), sample([2, 24, 38], 23, dtype)];
          const sums = product(x, y);
          const expected = dtype === "bool" ? map(sums, (value) => Number(value > 0)) : inDType(sums, dtype);
          expectFused(on(x, dtype).matmul(on(y, dtype)), expected, dtype);
        });
      }

      test("operands and results are cast on the way, to wider numbers and back", () => {
        const [x, y] = [sample([1, 33, 24], 33, "f64"), sample([1, 24, 38], 34)];
        const sums = product(x, y);
        expectFused(on(x, "f64").cast("f32").matmul(on(y)).cast("f64"), sums, "f64");
        expectFused(
          on(x, "f64").cast("f32").matmul(on(y)).cast("i64"),
          map(sums, (value) => Math.trunc(value)),
          "i64",
        );
      });

      test("NaN and infinities stay in the rows and columns they are in", () => {
        const [x, y] = [sample([1, 70, 18], 24), sample([1, 18, 67], 25)];
        const spoiled = map(x, (value, i) => (i === 3 * 18 + 2 ? Number.NaN : i === 69 * 18 + 17 ? Infinity : value));
        const values = [...on(spoiled).matmul(on(y)).dataSync()];
        values.forEach((value, i) => {
          const row = Math.floor(i / 67);
          assert.equal(Number.isFinite(value), row !== 3 && row !== 69, `element ${i}`);
        });
      });

      for (const parts of [2, 3, 7]) {
        test(`a summation in ${parts} parts`, () => {
          const split = withTiles(device, { ...(tile && { kind: tile.kind }), forced: { tile, parts } });
          for (const k of [130, 256]) {
            const [x, y] = [sample([2, 20, k], 26), sample([2, k, 33], 27)];
            const result = tensorOn(split, x, "f32")
              .matmul(tensorOn(split, y, "f32"))
              .add(1);
            expectTensor(
              result,
              map(product(x, y), (value) => value + 1),
              "f32",
              {},
            );
          }
          const [x, y] = [sample([1, 20, 100], 28, "f16"), sample([1, 100, 33], 29, "f16")];
          const result = tensorOn(split, x, "f16").matmul(tensorOn(split, y, "f16"));
          expectTensor(result, inDType(product(x, y), "f16"), "f16", {});
        });
      }

      test("convolutions read their windows in place", () => {
        const [x, w] = [sample([2, 3, 13, 11], 30), sample([9, 3, 3, 3], 31)];
        const bias = sample([9], 32);
        const expected = plainOf([2, 9, 13, 11], ([b, o, i, j]) => {
          let sum = bias.values[o!]!;
          for (let c = 0; c < 3; c++) {
            for (let di = 0; di < 3; di++) {
              for (let dj = 0; dj < 3; dj++) {
                const [y, z] = [i! + di - 1, j! + dj - 1];
                if (y >= 0 && y < 13 && z >= 0 && z < 11) sum += read(x, [b!, c, y, z]) * read(w, [o!, c, di, dj]);
              }
            }
          }
          return Math.max(sum, 0);
        });
        const result = on(x)
          .conv(on(w), { padding: "same" })
          .add(on(bias).reshape([9, 1, 1]))
          .maximum(0);
        expectFused(result, expected);
      });
    });
  }
});

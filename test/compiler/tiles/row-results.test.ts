/** Rows of a product that its own kernel reduces, in shared tiles, against plain loops. The samples make every sum exact. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SharedTile } from "../../../src/compiler/target/tile-profile.js";
import { SHARED_VARIANTS } from "../../../src/compiler/tiles/shared-candidates.js";
import type { Tensor } from "../../../src/index.js";
import type { Backend } from "../../../src/runtime/backend.js";
import { tensorOn, withTiles } from "../../support/forced-tiles.js";
import { count, describeOnTensorDevices, type Plain, sampleValues } from "../../support/tensors.js";

const sample = (shape: readonly number[], seed: number): Plain => ({
  shape,
  values: sampleValues("f32", count(shape), seed),
});

/** Rows of x [m, k] times y [k, n], by the definition. */
function rowsOf(x: Plain, y: Plain): number[][] {
  const [m, k] = x.shape as [number, number];
  const n = y.shape[1]!;
  return Array.from({ length: m }, (_, i) =>
    Array.from({ length: n }, (_, j) => {
      let sum = 0;
      for (let l = 0; l < k; l++) sum += x.values[i * k + l]! * y.values[l * n + j]!;
      return sum;
    }),
  );
}

const tiles: readonly SharedTile[] = [
  SHARED_VARIANTS[1]!.tile,
  SHARED_VARIANTS[4]!.tile,
  { ...SHARED_VARIANTS[3]!.tile, buffers: 2, depth: 8, unrolled: 8 },
];

/** Of the distances c - 2 x y, with c a number for each column. */
const reductions: Readonly<
  Record<string, readonly [of: (x: Tensor) => Tensor, expected: (row: readonly number[]) => number]>
> = {
  argmin: [(x) => x.argmin({ axis: 1 }), (row) => row.indexOf(Math.min(...row))],
  argmax: [(x) => x.argmax({ axis: 1 }), (row) => row.indexOf(Math.max(...row))],
  "the sum of squares": [(x) => x.square().sum({ axis: 1 }), (row) => row.reduce((sum, v) => sum + v * v, 0)],
  "the range, as a column": [
    (x) =>
      x
        .max({ axis: 1, keepDims: true })
        .sub(x.min({ axis: 1, keepDims: true }))
        .mul(3),
    (row) => 3 * (Math.max(...row) - Math.min(...row)),
  ],
  logsumexp: [
    (x) => x.mul(1 / 64).logsumexp({ axis: -1 }),
    (row) => Math.log(row.reduce((sum, v) => sum + Math.exp(v / 64), 0)),
  ],
};

describeOnTensorDevices("rows of a product", (device) => {
  const each = device === "cpu" ? [] : tiles;
  const stepsOf = (backend: Backend, x: Tensor) =>
    backend.plan([x.node]).steps.map((step) => (step.kind === "kernel" ? step.kernel.name : step.kind));

  for (const tile of each) {
    test(`are reduced by its own kernel where a tile of ${tile.rows}×${tile.columns} holds them`, async () => {
      const backend = withTiles(device, { kind: "shared", sharedBytes: 49152, forced: { tile, parts: 1 } });
      // A software driver takes seconds to compile the kernels of large tiles: few of them.
      const isLarge = tile.rows > 32;
      const names = isLarge ? ["argmin", "logsumexp"] : Object.keys(reductions);
      const ragged = [tile.rows + 3, 21, tile.columns - 5] as const;
      const others = [[tile.rows * 2, 16, tile.columns], [7, 9, 11]] as const; // biome-ignore format: a row
      for (const [m, k, n] of isLarge ? [ragged] : [ragged, ...others]) {
        const [x, y, c] = [sample([m, k], 1), sample([k, n], 2), sample([n], 3)];
        // Anew for each: what is asked for a second time is kept.
        const distances = () =>
          tensorOn(backend, c, "f32").sub(
            tensorOn(backend, x, "f32")
              .matmul(tensorOn(backend, y, "f32"))
              .mul(2),
          );
        const rows = rowsOf(x, y).map((row) => row.map((v, j) => c.values[j]! - 2 * v));
        for (const name of names) {
          const [of, expected] = reductions[name]!;
          const result = of(distances());
          const steps = stepsOf(backend, result);
          assert.equal(steps.length, 1, `${name}: ${steps}`);
          assert.match(steps[0]!, / in \d+×\d+/);
          const found = [...(await result.data())].map(Number);
          rows.forEach((row, i) => {
            const want = expected(row);
            assert.ok(
              Math.abs(found[i]! - want) <= 1e-5 * Math.abs(want),
              `${name}, ${m}×${n}, ${i}: ${found[i]}, not ${want}`,
            );
          });
        }
      }
    });
  }

  test("of a batch, with NaN in a row, are reduced as after the product", async () => {
    if (device === "cpu") return;
    const backend = withTiles(device, { kind: "shared", sharedBytes: 49152, forced: { tile: tiles[1]!, parts: 1 } });
    const [x, y] = [sample([3, 20, 12], 4), sample([3, 12, 30], 5)];
    const hostile = { ...x, values: x.values.map((v, e) => (e === 12 * 7 ? Number.NaN : v)) };
    const product = tensorOn(backend, hostile, "f32").matmul(tensorOn(backend, y, "f32"));
    const least = product.argmin({ axis: 2 });
    assert.equal(stepsOf(backend, least).length, 1);
    const found = [...(await least.data())];
    for (let b = 0; b < 3; b++) {
      const part = (p: Plain, size: number, shape: number[]): Plain => ({
        shape,
        values: p.values.slice(b * size, (b + 1) * size),
      });
      rowsOf(part(hostile, 240, [20, 12]), part(y, 360, [12, 30])).forEach((row, i) => {
        const want = row.some(Number.isNaN) ? row.findIndex(Number.isNaN) : row.indexOf(Math.min(...row));
        assert.equal(found[b * 20 + i], want);
      });
    }
  });

  test("are stored where a tile does not hold them, or where something else needs the product", () => {
    if (device === "cpu") return;
    const [tile] = [tiles[1]!];
    const backend = withTiles(device, { kind: "shared", sharedBytes: 49152, forced: { tile, parts: 1 } });
    const product = (n: number) =>
      tensorOn(backend, sample([40, 8], 1), "f32").matmul(tensorOn(backend, sample([8, n], 2), "f32"));
    assert.equal(stepsOf(backend, product(tile.columns + 1).min({ axis: 1 })).length, 2);
    assert.equal(stepsOf(backend, product(16).min({ axis: 0 })).length, 2, "columns");
    const both = product(16);
    const steps = backend.plan([both.node, both.min({ axis: 1 }).node]).steps;
    assert.equal(steps.length, 2);
    const little = withTiles(device, { kind: "shared", sharedBytes: 5000, forced: { tile, parts: 1 } });
    const small = tensorOn(little, sample([40, 8], 1), "f32").matmul(tensorOn(little, sample([8, 16], 2), "f32"));
    assert.equal(stepsOf(little, small.min({ axis: 1 })).length, 2, "no room for the parts of lanes");
  });
});

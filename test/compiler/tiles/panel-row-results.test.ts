/** Rows of a product that its own kernel reduces on a CPU, in panels, against plain loops. The samples make every sum exact. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { DType } from "../../../src/core/dtype.js";
import { setDefaultDevice, type Tensor } from "../../../src/index.js";
import type { Backend } from "../../../src/runtime/backend.js";
import { tensorOn, withTiles } from "../../support/forced-tiles.js";
import { count, type Plain, sampleValues } from "../../support/tensors.js";

/** The CPU engine with tiles of at most 24 rows by so many columns. */
const backendFor = (rows: number, columns: number, dtype: DType = "f32"): Backend =>
  withTiles("cpu", {
    forced: {
      tile: {
        kind: "panels",
        rows: Math.min(24, rows),
        columns,
        depth: 256,
        micro: dtype === "f64" ? [4, 1] : [4, 2],
        lanes: 4,
      },
      parts: 1,
    },
  });

before(() => setDefaultDevice("cpu"));

const sample = (dtype: DType, shape: readonly number[], seed: number): Plain => ({
  shape,
  values: sampleValues(dtype, count(shape), seed),
});

/** Rows of x [m, k] times y [k, n], by the definition. */
function rowsOf(x: Plain, y: Plain): number[][] {
  const [m, k] = x.shape as [number, number];
  const n = y.shape[1]!;
  return Array.from({ length: m }, (_, i) =>
    Array.from({ length: n }, (_, j) =>
      Array.from({ length: k }, (_, l) => x.values[i * k + l]! * y.values[l * n + j]!).reduce((a, b) => a + b, 0),
    ),
  );
}

const positionOf = (row: readonly number[], op: "min" | "max"): number =>
  row.some(Number.isNaN) ? row.findIndex(Number.isNaN) : row.indexOf(Math[op](...row));

type Reduced = readonly [of: (x: Tensor) => Tensor, expected: (row: readonly number[]) => number];
const positions: Readonly<Record<string, Reduced>> = {
  argmin: [(x) => x.argmin({ axis: -1 }), (row) => positionOf(row, "min")],
  argmax: [(x) => x.argmax({ axis: -1 }), (row) => positionOf(row, "max")],
};
const others: Readonly<Record<string, Reduced>> = {
  "the last of the least": [(x) => x.argmin({ axis: -1, tie: "last" }), (row) => row.lastIndexOf(Math.min(...row))],
  "the sum of squares": [(x) => x.square().sum({ axis: 1 }), (row) => row.reduce((sum, v) => sum + v * v, 0)],
  "the range": [(x) => x.max({ axis: 1 }).sub(x.min({ axis: 1 })), (row) => Math.max(...row) - Math.min(...row)],
  logsumexp: [
    (x) => x.mul(1 / 64).logsumexp({ axis: -1 }),
    (row) => Math.log(row.reduce((sum, v) => sum + Math.exp(v / 64), 0)),
  ],
};

const stepsOf = (backend: Backend, x: Tensor): number => backend.plan([x.node]).steps.length;

async function checkRows([of, expected]: Reduced, x: Plain, y: Plain, dtype: DType, what: string): Promise<void> {
  const backend = backendFor(x.shape[0]!, y.shape[1]!, dtype);
  const result = of(tensorOn(backend, x, dtype).matmul(tensorOn(backend, y, dtype)));
  assert.equal(stepsOf(backend, result), 1, `${what}: one kernel`);
  const found = [...(await result.data())].map(Number);
  rowsOf(x, y).forEach((row, i) => {
    const wanted = expected(row);
    assert.ok(Math.abs(found[i]! - wanted) <= 1e-5 * Math.abs(wanted), `${what}, row ${i}: ${found[i]}, not ${wanted}`);
  });
}

// Whole panels and tiles, others that overlap, and the smallest matrix with tiles.
const SHAPES = [
  [128, 16, 64],
  [203, 5, 37],
  [8, 9, 8],
  [9, 12, 11],
  [70, 3, 256],
] as const;

for (const dtype of ["f32", "f64", "i32", "u8", "f16"] as const) {
  test(`the least and the largest of rows of ${dtype} are found by the product's own kernel, the first of equals`, async () => {
    for (const [m, k, n] of SHAPES) {
      const [x, y] = [sample(dtype, [m, k], 1), sample(dtype, [k, n], 2)];
      // Small numbers, so that none wraps or is rounded, and many are equal.
      const small = ({ shape, values }: Plain): Plain => ({
        shape,
        values: values.map((v) => Math.abs(Math.trunc(v)) % 3),
      });
      for (const [name, reduced] of Object.entries(positions)) {
        await checkRows(reduced, small(x), small(y), dtype, `${name}, ${m}×${k}×${n}`);
      }
    }
  });
}

test("other reductions of rows, and what follows them, are computed there as well", async () => {
  for (const [m, k, n] of SHAPES) {
    for (const [name, reduced] of Object.entries(others)) {
      await checkRows(reduced, sample("f32", [m, k], 3), sample("f32", [k, n], 4), "f32", `${name}, ${m}×${k}×${n}`);
    }
  }
});

test("of a batch, with NaN in rows, the first NaN is the least and the largest", async () => {
  const backend = backendFor(20, 30);
  const [x, y] = [sample("f32", [3, 20, 12], 5), sample("f32", [3, 12, 30], 6)];
  const hostile = { ...y, values: y.values.map((v, e) => (e % 360 === 17 || e % 360 === 29 ? Number.NaN : v)) };
  const part = (p: Plain, b: number): Plain => ({
    shape: p.shape.slice(1),
    values: p.values.slice((b * p.values.length) / 3, ((b + 1) * p.values.length) / 3),
  });
  for (const [of, expected] of Object.values(positions)) {
    const result = of(tensorOn(backend, x, "f32").matmul(tensorOn(backend, hostile, "f32")));
    assert.equal(stepsOf(backend, result), 1);
    const wanted = [0, 1, 2].flatMap((b) => rowsOf(part(x, b), part(hostile, b)).map(expected));
    assert.deepEqual([...(await result.data())], wanted);
  }
});

test("what needs no more of a product than reductions of its rows leaves them to the product's kernel", async () => {
  const [x, y] = [sample("f32", [40, 8], 7), sample("f32", [8, 16], 8)];
  const backend = backendFor(40, 16);
  const table = sample("f32", [16, 5], 9);
  const nearest = tensorOn(backend, x, "f32")
    .matmul(tensorOn(backend, y, "f32"))
    .argmin({ axis: 1 });
  const taken = tensorOn(backend, table, "f32").take(nearest, { axis: 0 }) as Tensor;
  const { steps } = backend.plan([taken.node]);
  const [first] = steps;
  assert.ok(steps.length === 2 && first?.kind === "kernel" && / in 24×16$/.test(first.kernel.name));
  assert.equal(first.kernel.buffers.at(-1)?.dtype, "i32");
  const rows = rowsOf(x, y).map((row) => positionOf(row, "min"));
  assert.deepEqual(
    [...(await taken.data())],
    rows.flatMap((row) => table.values.slice(row * 5, row * 5 + 5)),
  );
});

test("the product is stored where a tile does not hold whole rows, and where something else needs it", () => {
  const backend = backendFor(40, 16);
  const product = (n: number) =>
    tensorOn(backend, sample("f32", [40, 8], 1), "f32").matmul(tensorOn(backend, sample("f32", [8, n], 2), "f32"));
  assert.equal(stepsOf(backend, product(17).min({ axis: 1 })), 2, "wider than a tile");
  assert.equal(stepsOf(backend, product(16).min({ axis: 0 })), 2, "columns");
  const both = product(16);
  assert.equal(backend.plan([both.node, both.min({ axis: 1 }).node]).steps.length, 2);
});

/** Positions of extremes that one loop finds with the extremes: the definition of argmin, for every order of its elements. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import { lowerGroup } from "../../../src/compiler/lower/lower-group.js";
import type { Node } from "../../../src/graph/node.js";
import { isNan } from "../../../src/graph/primitives/elementwise.js";
import { constant, iota } from "../../../src/graph/primitives/leaf.js";
import { min } from "../../../src/graph/primitives/reduce.js";
import { g } from "../../../src/graph/vocabulary.js";
import { tensor } from "../../../src/index.js";
import { make, stored, storedAs } from "../../support/nodes.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

/** The least position where an element of a row equals the least one, or is NaN, and variants that are something else. */
function placeOfLeast(x: Node, { ofOther = false, withNaN = true, limit = 300 } = {}): Node {
  const [, n] = x.shape as [number, number];
  const least = make(min, [ofOther ? g.neg(x) : x], { axes: [1] });
  const isLeast = g.equal(x, g.unreduce(least, x.shape, [1]));
  const places = g.broadcast(make(iota, [], { shape: [n], dtype: "i32" }), x.shape);
  const more = make(constant, [], { shape: x.shape, dtype: "i32", value: limit });
  return make(min, [g.where(withNaN ? g.or(isLeast, make(isNan, [x])) : isLeast, places, more)], { axes: [1] });
}

function kernelOf(result: Node, lanes = 1): Kernel {
  return lowerGroup(
    {
      results: [{ node: result, rowAxes: [0] }],
      tiling: { lanes, width: 1, unroll: 1, elementsPerLane: 0 },
      rowsPerThread: 1,
      isLoaded: ({ storage }) => storage !== null,
    },
    "tested",
    { division: "native" },
  ).kernel;
}

const loopsOf = (kernel: Kernel): number => kernel.body.filter(({ kind }) => kind === "loop").length;

test("a lane that has a row to itself finds the extreme and its position in one loop", () => {
  const x = stored(2, 300);
  assert.equal(loopsOf(kernelOf(placeOfLeast(x))), 1);
  assert.equal(loopsOf(kernelOf(placeOfLeast(x), 32)), 2, "lanes that share a row");
  assert.equal(loopsOf(kernelOf(placeOfLeast(x, { ofOther: true }))), 2, "the extreme of other elements");
  assert.equal(loopsOf(kernelOf(placeOfLeast(x, { withNaN: false }))), 2, "a row with NaN has no such position");
  assert.equal(loopsOf(kernelOf(placeOfLeast(x, { limit: 299 }))), 2, "a number that is a position");
  const integers = storedAs("i32", 2, 300);
  assert.equal(loopsOf(kernelOf(placeOfLeast(integers, { withNaN: false }))), 1);
});

/** Rows of n elements that are hard: all equal, many equal, zeros of both signs, the least last, infinities, NaN. */
function hardRows(n: number): number[][] {
  const row = (of: (i: number) => number) => Array.from({ length: n }, (_, i) => of(i));
  const nanAt = (...places: number[]) => row((i) => (places.includes(i) ? Number.NaN : (i * 7) % 5));
  return [
    row(() => 3),
    row((i) => (i * 5) % 7),
    row((i) => (i % 2 ? -0 : 0)),
    row((i) => n - i),
    row((i) => i),
    row(() => Number.POSITIVE_INFINITY),
    row(() => Number.NEGATIVE_INFINITY),
    row((i) => (i === n - 1 ? 1 : Number.POSITIVE_INFINITY)),
    row((i) => (i === n - 1 ? 1 : Number.NEGATIVE_INFINITY)),
    row(() => Number.NaN),
    nanAt(n - 1),
    nanAt(n >> 1, n - 1),
    nanAt(0),
  ];
}

/** Along which the four lanes, or four rows, of the CPU engine take no turns or take them, and blocks of a long row. */
const EXTENTS = [1, 2, 5, 8, 31, 64, 67, 259, 4099] as const;

describeOnTensorDevices("positions of extremes", (device) => {
  for (const dtype of ["f32", "f64", "f16", "i32", "u8", "i64"] as const) {
    test(`of ${dtype} are those of the first among equals, along rows and along columns`, async () => {
      for (const n of device === "cpu" ? EXTENTS : [5, 64]) {
        // f16 does not tell larger numbers apart.
        if (dtype === "f16" && n > 2048) continue;
        const isInteger = !dtype.startsWith("f");
        const rows = hardRows(n)
          .filter((row) => !isInteger || row.every(Number.isFinite))
          .map((row) => (dtype === "u8" ? row.map((v) => v % 256) : row));
        const x = tensor(rows, { dtype });
        for (const op of ["min", "max"] as const) {
          const wanted = rows.map((row) => {
            const nan = row.findIndex(Number.isNaN);
            const extreme = row.reduce((a, b) => (op === "min" ? Math.min(a, b) : Math.max(a, b)));
            return nan >= 0 ? nan : row.indexOf(extreme);
          });
          for (const [axis, y] of [
            [1, x],
            [
              0,
              tensor(
                rows[0]!.map((_, i) => rows.map((row) => row[i]!)),
                { dtype },
              ),
            ],
          ] as const) {
            const found = op === "min" ? y.argmin({ axis }) : y.argmax({ axis });
            assert.deepEqual([...(await found.data())].map(Number), wanted, `${op} of ${n} along axis ${axis}`);
          }
        }
      }
    });
  }
});

/**
 * Products on matrix units, without a device: an interpreter runs the kernels by the rules of the loop-nest language and finds
 * missing barriers, indices outside memory and fragments read from the wrong place.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FragmentShape, MatrixTile } from "../../../src/compiler/target/tile-profile.js";
import type { DType } from "../../../src/core/dtype.js";
import type { Node } from "../../../src/graph/node.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import { permute } from "../../../src/graph/primitives/movement.js";
import { make } from "../../support/nodes.js";
import { interpreted, lowered, matrix, product, sample } from "./product-kernels.js";

const floats: FragmentShape = { operand: "f16", rows: 16, columns: 16, depth: 16 };
const bytes: FragmentShape = { operand: "i8", rows: 16, columns: 16, depth: 32 };

const tileOf = (changes: Partial<MatrixTile> = {}): MatrixTile => ({
  ...{
    kind: "matrix",
    rows: 32,
    columns: 64,
    depth: 32,
    subgroups: [1, 2],
    subgroupSize: 8,
    fragment: floats,
    parts: 1,
    promoted: 0,
  },
  ...changes,
});

/** Small numbers whose sums f16 holds exactly. */
const small = (count: number, seed: number) => sample(count, seed).map((x) => Math.sign(x) * (Math.abs(x) % 3));

/** A matrix of rows × columns, column by column. */
function transposed(rows: number, columns: number, values: readonly number[]): number[] {
  return Array.from({ length: rows * columns }, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)]!);
}

function check(tile: MatrixTile, dtype: DType, m: number, k: number, n: number, layout = "NN"): void {
  const [x, y] = [small(m * k, 1), small(k * n, 2)];
  const leaf = (isTurned: boolean, rows: number, columns: number, values: readonly number[]) => {
    const node = isTurned ? matrix(dtype, 1, columns, rows) : matrix(dtype, 1, rows, columns);
    const view = isTurned ? make(permute, [node], { axes: [0, 2, 1] }) : node;
    return { node, view, values: isTurned ? transposed(rows, columns, values) : values };
  };
  const a = leaf(layout[0] === "T", m, k, x);
  const b = leaf(layout[1] === "T", k, n, y);
  const kernel = lowered(tile, a.view, b.view);
  const found = interpreted(
    kernel,
    new Map([
      [a.node, a.values],
      [b.node, b.values],
    ]),
  );
  const wrap = (sum: number) => (dtype === "i8" ? (sum << 24) >> 24 : sum);
  assert.deepEqual(found, product(m, k, n, x, y).map(wrap), `${dtype} ${m}×${k}×${n} ${layout}`);
}

describe("products on matrix units", () => {
  test("whole tiles, in every layout of the operands", () => {
    for (const layout of ["NN", "NT", "TN", "TT"]) check(tileOf(), "f16", 64, 96, 128, layout);
  });

  test("edges inside tiles, fragments and units", () => {
    const sizes = [
      [1, 1, 1],
      [33, 32, 65],
      [31, 40, 72],
      [17, 33, 8],
      [50, 7, 61],
      [32, 70, 64],
    ] as const;
    for (const [m, k, n] of sizes) for (const layout of ["NN", "TT"]) check(tileOf(), "f16", m, k, n, layout);
  });

  test("bf16 and bytes", () => {
    const brain = tileOf({ fragment: { ...floats, operand: "bf16" } });
    check(brain, "bf16", 64, 64, 64);
    check(brain, "bf16", 37, 41, 43, "NT");
    const whole = tileOf({ fragment: bytes, depth: 64 });
    for (const layout of ["NN", "NT", "TN"]) check(whole, "i8", 64, 128, 64, layout);
    check(whole, "i8", 21, 70, 45);
  });

  test("bytes cast to i32: the sums are whole", () => {
    const [m, k, n] = [40, 96, 70];
    const [a, b] = [matrix("i8", 1, m, k), matrix("i8", 1, k, n)];
    const [x, y] = [m * k, k * n].map((count, seed) =>
      Array.from({ length: count }, (_, i) => ((i * 37 + seed) % 256) - 128),
    ) as [number[], number[]];
    const wide = (node: Node) => make(E.cast, [node], { dtype: "i32" });
    const kernel = lowered(tileOf({ fragment: bytes, depth: 64 }), wide(a), wide(b));
    const given = new Map([
      [a, x],
      [b, y],
    ]);
    assert.deepEqual(interpreted(kernel, given), product(m, k, n, x, y));
  });

  test("other tiles: more subgroups, deeper, a subgroup of 32", () => {
    check(tileOf({ rows: 64, subgroups: [2, 2] }), "f16", 64, 64, 128);
    check(tileOf({ rows: 16, columns: 64, depth: 64, subgroups: [1, 4], subgroupSize: 4 }), "f16", 40, 130, 64);
    check(tileOf({ subgroupSize: 32 }), "f16", 32, 64, 64);
    check(tileOf({ rows: 128, columns: 16, depth: 64, subgroups: [4, 1] }), "f16", 130, 64, 24);
  });

  test("batches", () => {
    const [a, b] = [matrix("f16", 3, 20, 40), matrix("f16", 3, 40, 24)];
    const [x, y] = [small(3 * 20 * 40, 3), small(3 * 40 * 24, 4)];
    const found = interpreted(
      lowered(tileOf(), a, b),
      new Map([
        [a, x],
        [b, y],
      ]),
    );
    const expected = [0, 1, 2].flatMap((at) =>
      product(20, 40, 24, x.slice(at * 800, (at + 1) * 800), y.slice(at * 960, (at + 1) * 960)),
    );
    assert.deepEqual(found, expected);
  });

  test("an operand that is computed, and an epilogue", () => {
    const [a, b, bias] = [matrix("f16", 1, 33, 48), matrix("f16", 1, 48, 64), matrix("f16", 1, 33, 64)];
    const [x, y, z] = [small(33 * 48, 5), small(48 * 64, 6), small(33 * 64, 7)];
    const turned = make(E.neg, [a], {});
    const kernel = lowered(tileOf(), turned, b, (dot) => make(E.add, [dot, bias], {}));
    const found = interpreted(
      kernel,
      new Map([
        [a, x],
        [b, y],
        [bias, z],
      ]),
    );
    assert.deepEqual(
      found,
      product(33, 48, 64, x, y).map((sum, i) => z[i]! - sum),
    );
  });
});

test("an operand in memory is copied 16 bytes at a time, a computed one element by element", () => {
  const [a, b] = [matrix("f16", 1, 64, 64), matrix("f16", 1, 64, 64)];
  const kinds = (left: Node) => {
    const found: Record<string, number> = {};
    for (const { kind } of lowered(tileOf(), left, b).kernel.body) found[kind] = (found[kind] ?? 0) + 1;
    return found.loadWords ?? 0;
  };
  // Before the loop: the first and the second tile; 32×32 and 32×64 halves among 16 lanes.
  assert.equal(kinds(a), 2 * (8 + 16));
  assert.equal(kinds(make(E.neg, [a], {})), 2 * 16);
});

test("sums that matrix units have not finished are not stored: a barrier stands before each reuse of shared memory", () => {
  const { kernel } = lowered(tileOf(), matrix("f16", 1, 32, 64), matrix("f16", 1, 64, 64));
  const kinds = kernel.body.map(({ kind }) => kind);
  const stores = kinds.flatMap((kind, at) =>
    kind === "storeFragment" && kinds[at - 1] !== "storeFragment" ? [at] : [],
  );
  assert.ok(stores.length > 0);
  for (const at of stores) assert.ok(kinds.lastIndexOf("barrier", at) > kinds.lastIndexOf("store", at));
});

describe("f32 as two f16 parts", () => {
  const split = tileOf({ parts: 2, promoted: 2, columns: 32 });
  const half = (x: number) => {
    const bits = new Uint32Array(Float32Array.of(x).buffer);
    bits[0] = (bits[0]! + 0x1000) & 0xffffe000;
    return new Float32Array(bits.buffer)[0]!;
  };

  /** The product of numbers in parts, and its largest error over Σ|a||b|. */
  const errorOf = (tile: MatrixTile, m: number, k: number, n: number, x: readonly number[], y: readonly number[]) => {
    const given = new Map<Node, readonly number[]>();
    const operand = (rows: number, columns: number, values: readonly number[]) => {
      const [upper, lower] = [matrix("f16", 1, rows, columns), matrix("f16", 1, rows, columns)];
      given.set(upper, values.map(half)).set(
        lower,
        values.map((value) => value - half(value)),
      );
      const wide = (node: Node) => make(E.cast, [node], { dtype: "f32" });
      return tile.parts === 1 ? wide(upper) : make(E.add, [wide(upper), wide(lower)], {});
    };
    const found = interpreted(lowered(tile, operand(m, k, x), operand(k, n, y)), given);
    const exact = product(m, k, n, x, y);
    const size = product(m, k, n, x.map(Math.abs), y.map(Math.abs));
    return Math.max(...found.map((value, i) => Math.abs(value - exact[i]!) / Math.max(size[i]!, 1e-30)));
  };

  test("products of whole numbers are exact, at every edge, promoted in every round or in every second", () => {
    for (const [m, k, n] of [
      [32, 64, 32],
      [33, 96, 40],
      [17, 33, 8],
      [40, 256, 31],
    ] as const) {
      assert.equal(errorOf(split, m, k, n, small(m * k, 1), small(k * n, 2)), 0, `${m}×${k}×${n}`);
    }
  });

  test("22 bits of each operand count: the error is that of f32, not of f16", () => {
    const numbers = (count: number, seed: number) =>
      Array.from({ length: count }, (_, i) => Math.fround(Math.sin(i * 12.9898 + seed) * 16384));
    const [x, y] = [numbers(32 * 64, 1), numbers(64 * 32, 2)];
    assert.ok(errorOf(split, 32, 64, 32, x, y) < 2 ** -21);
    const single = tileOf({ promoted: 2, columns: 32 });
    assert.ok(errorOf(single, 32, 64, 32, x, y) > 2 ** -15, "one part is much worse");
  });
});

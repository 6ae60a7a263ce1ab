/** What is the same everywhere is reduced without a loop: against loops over all copies. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { simpler } from "../../../src/compiler/rewrite/simplify.js";
import type { DType, Scalar } from "../../../src/core/dtype.js";
import { castNode, scalarNode } from "../../../src/graph/build.js";
import type { Node } from "../../../src/graph/node.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import { constant } from "../../../src/graph/primitives/leaf.js";
import { expand } from "../../../src/graph/primitives/movement.js";
import { reducePrimitives } from "../../../src/graph/primitives/reduce.js";
import { REDUCE_OPS, reductionOf } from "../../../src/graph/reduction.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, nowhere, stored, storedAs } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

const full = (value: Scalar, dtype: DType, ...shape: number[]): Node => scalarNode(value, dtype, nowhere, shape);
const simplified = (node: Node): Node | null => simpler(node, node.inputs);
const dtypeOf = (op: (typeof REDUCE_OPS)[number]): DType =>
  reductionOf(op).kinds.includes("float") ? "f32" : reductionOf(op).kinds.includes("int") ? "i32" : "bool";

for (const op of REDUCE_OPS) {
  const dtype = dtypeOf(op);
  const value = dtype === "bool" ? true : 3;

  test(`${op} of a constant is a constant, and of none the identity`, () => {
    for (const [shape, axes] of [
      [[4, 2], [0]],
      [
        [4, 2],
        [0, 1],
      ],
      [[0, 2], [0]],
    ] as const) {
      const node = make(reducePrimitives[op], [full(value, dtype, ...shape)], { axes });
      const simple = simplified(node)!;
      assert.equal(simple.primitive, constant);
      assert.deepEqual([simple.shape, simple.dtype], [node.shape, node.dtype]);
      assert.deepEqual(plainValues([simple], new Map()), plainValues([node], new Map()));
    }
  });

  test(`${op} of what was repeated reduces it once, or not at all`, () => {
    const x = storedAs(dtype, 1, 3, 1);
    const values = dtype === "bool" ? [1, 0, 1] : [2, 3, -1];
    const node = make(reducePrimitives[op], [make(expand, [x], { shape: [5, 3, 4] })], { axes: [0, 1] });
    const simple = simplified(node);
    if (!simple) return;
    assert.deepEqual(plainValues([simple], new Map([[x, values]])), plainValues([node], new Map([[x, values]])));
    assert.deepEqual(simple.shape, node.shape);
  });
}

test("a sum over a repeated axis is a multiple of the sum over what is not", () => {
  const x = stored(6, 1);
  const node = g.sum(make(expand, [x], { shape: [6, 100] }), [1]);
  const simple = simplified(node)!;
  assert.equal(simple.primitive, E.mul);
  assert.equal(simple.inputs[0]!.inputs[0], x, "it looks at x as it is");
  const long = g.sum(make(expand, [stored(1, 6)], { shape: [100, 6] }), [1]);
  assert.equal(simplified(long), null, "the axis that was repeated is kept");
  const ofOne = g.sum(make(expand, [stored(1, 1)], { shape: [5, 1] }), [1]);
  assert.equal(simplified(ofOne), null, "one copy is none too many");
});

test("half floats, which cannot hold the count, and products, which would be powers, stay as they are", () => {
  for (const dtype of ["f16", "bf16"] as const) {
    assert.equal(simplified(g.sum(make(expand, [storedAs(dtype, 1)], { shape: [5000] }), [0])), null);
  }
  assert.equal(
    simplified(make(reducePrimitives.product, [make(expand, [stored(1)], { shape: [5] })], { axes: [0] })),
    null,
  );
  assert.ok(
    simplified(make(reducePrimitives.max, [make(expand, [storedAs("f16", 1)], { shape: [5] })], { axes: [0] })),
  );
});

test("sums of 64-bit integers are exact, and wrap", () => {
  const simple = simplified(g.sum(full(2n ** 62n, "i64", 6), [0]))!;
  assert.equal(simple.params.value, BigInt.asIntN(64, 6n * 2n ** 62n));
  const narrow = simplified(g.sum(full(200, "u8", 3), [0]))!;
  assert.equal(narrow.params.value, 600 % 256);
});

test("a cast of a constant is the constant, as its own dtype held it", () => {
  const simple = simplified(castNode(full(0.1, "f16", 2), "f64"))!;
  assert.equal(simple.params.value, 0.0999755859375);
  assert.deepEqual([simple.dtype, simple.shape], ["f64", [2]]);
});

test("complex numbers, and what is neither constant nor repeated, are left to others", () => {
  assert.equal(simplified(g.sum(full({ re: 1, im: 2 }, "c64", 3), [0])), null);
  assert.equal(simplified(g.sum(stored(3), [0])), null);
  assert.equal(simplified(g.neg(full(1, "f32", 3))), null);
  assert.equal(simpler(stored(3), []), null);
});

test("a comparison of constants is a constant, as its dtype holds them, and a constant condition takes its side", () => {
  const cases = [["less", true, false], ["lessEqual", true, true], ["greater", false, false], ["greaterEqual", false, true]] as const; // biome-ignore format: a row
  for (const [name, ofSmaller, ofEqual] of cases) {
    for (const [a, b, want] of [
      [1, 2, ofSmaller],
      [2, 2, ofEqual],
      [Number.NaN, 2, false],
    ] as const) {
      // biome-ignore format: a row
      // biome-ignore lint/performance/noDynamicNamespaceImportAccess: the primitives by their names
      const simple = simplified(make(E[name], [full(a, "f32", 3), g.broadcast(full(b, "f32"), [3])]))!;
      assert.deepEqual(
        [simple.primitive, simple.params.value, simple.dtype],
        [constant, want, "bool"],
        `${name}(${a}, ${b})`,
      );
    }
  }
  // 0.1 and the f32 nearest to it are the same f32.
  const rounded = simplified(g.less(full(0.1, "f32", 3), full(Math.fround(0.1), "f32", 3)))!;
  assert.equal(rounded.params.value, false);
  const [x, y] = [stored(3), stored(3)];
  assert.equal(simplified(g.where(full(true, "bool", 3), x, y)), x);
  assert.equal(simplified(g.where(full(false, "bool", 3), x, y)), y);
  assert.equal(simplified(g.where(g.less(x, 1), x, y)), null);
});

test("a quotient by a power of two is the product with its reciprocal, of constants a constant; others stay", () => {
  const x = storedAs("f32", 3);
  const simple = simplified(g.div(x, full(-8, "f32", 3)))!;
  assert.deepEqual([simple.primitive, simple.inputs[0], simple.inputs[1]!.params.value], [E.mul, x, -0.125]);
  assert.equal(simplified(g.div(x, g.broadcast(full(2 ** 126, "f32"), [3])))!.inputs[1]!.params.value, 2 ** -126);
  const third = simplified(g.div(full(1, "f32", 3), full(3, "f32", 3)))!;
  assert.deepEqual([third.primitive, Math.fround(Number(third.params.value))], [constant, Math.fround(1 / 3)]);
  for (const by of [3, 0, 2 ** 127, Infinity, Number.NaN]) assert.equal(simplified(g.div(x, full(by, "f32", 3))), null);
  assert.equal(simplified(g.div(storedAs("f16", 3), full(2 ** 15, "f16", 3))), null, "1 / 2^15 is subnormal");
  assert.equal(simplified(g.div(storedAs("bf16", 3), full(4, "bf16", 3)))!.primitive, E.mul);
});

/** What becomes of products of matrices: tiles, parts, and what is stored before they load it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { productRewriter } from "../../../src/compiler/rewrite/products.js";
import { cpuProfile, gpuProfile } from "../../../src/compiler/target/profile.js";
import type { DType } from "../../../src/core/dtype.js";
import { castNode } from "../../../src/graph/build.js";
import type { Node } from "../../../src/graph/node.js";
import { dot } from "../../../src/graph/primitives/dot.js";
import { any, sum } from "../../../src/graph/primitives/reduce.js";
import { g } from "../../../src/graph/vocabulary.js";
import { storedAs } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

const { tiles } = gpuProfile;
const matrices = (m: number, k: number, n: number, dtype: DType = "f32") =>
  [storedAs(dtype, 1, m, k), storedAs(dtype, 1, k, n)] as const;

test("a large product stays one, with its tile; a small one is left to others", () => {
  const rewriter = productRewriter(tiles);
  const [a, b] = matrices(2048, 2048, 2048);
  const made = rewriter.rewrite({}, [a, b])!;
  assert.equal(made.primitive, dot);
  assert.deepEqual(made.inputs, [a, b]);
  assert.ok(made.params.tile);
  assert.equal(rewriter.rewrite({}, matrices(4, 4, 4)), null);
});

const TILE = { kind: "registers", rows: 2, columns: 2 } as const;

/** A product in parts, of however many there shall be. */
const inParts = (inputs: readonly Node[], parts: number): Node =>
  productRewriter({ ...tiles, forced: { tile: TILE, parts } }).rewrite({}, inputs)!;

test("a long summation in parts, whole or not, adds up to the product", () => {
  for (const [m, k, n, parts] of [
    [3, 12, 2, 3],
    [2, 11, 3, 4],
  ] as const) {
    const [a, b] = matrices(m, k, n);
    const values = (size: number) => Array.from({ length: size }, (_, i) => ((i * 5) % 7) - 3);
    const given = new Map([
      [a, values(m * k)],
      [b, values(k * n)],
    ]);
    const made = inParts([a, b], parts);
    assert.notEqual(made.primitive, dot);
    assert.deepEqual(plainValues([made], given), plainValues([g.dot(a, b)], given));
  }
});

test("partial results of half floats are f32; those of bools are joined by or", () => {
  const half = inParts(matrices(2, 12, 2, "f16"), 3);
  assert.equal(half.dtype, "f16");
  assert.deepEqual([half.inputs[0]!.primitive, half.inputs[0]!.dtype], [sum, "f32"]);
  const truth = inParts(matrices(2, 12, 2, "bool"), 3);
  assert.equal(truth.primitive, any);
});

test("what is dear to compute is stored before tiles load it again and again; what is cheap, or in memory, is not", () => {
  const [a, b] = matrices(2048, 2048, 2048);
  const storedFor = (left: Node, right: Node) => {
    const rewriter = productRewriter(tiles);
    rewriter.rewrite({}, [left, right]);
    return [...rewriter.stored];
  };
  const dear = g.exp(g.exp(a));
  assert.deepEqual(storedFor(dear, b), [dear]);
  assert.deepEqual(storedFor(g.permute(dear, [0, 2, 1]), b), [dear], "behind movement, before it moves");
  assert.deepEqual(storedFor(g.neg(a), b), []);
  assert.deepEqual(storedFor(a, b), []);
});

test("bytes over a number, which a product loads several times, are stored on a CPU and computed by the tiles of a GPU", () => {
  const pixels = g.div(castNode(storedAs("u8", 1, 128, 784), "f32"), 255);
  const weights = storedAs("f32", 1, 784, 2048);
  const storedBy = (profile: typeof tiles): Node[] => {
    const rewriter = productRewriter(profile);
    rewriter.rewrite({}, [pixels, weights]);
    return [...rewriter.stored];
  };
  assert.deepEqual(storedBy(cpuProfile.tiles), [pixels]);
  assert.deepEqual(storedBy(tiles), []);
});

test("of rows by their weights the weights are stored, where they are what costs", () => {
  const [a, b] = matrices(64, 4096, 64);
  const weights = g.exp(storedAs("f32", 1, 4096, 1));
  const storedFor = (right: Node, profile = cpuProfile.tiles) => {
    const rewriter = productRewriter(profile);
    rewriter.rewrite({}, [a, right]);
    return [...rewriter.stored];
  };
  const repeated = g.broadcast(weights, [1, 4096, 64]);
  assert.deepEqual(storedFor(g.mul(b, repeated)), [weights]);
  const dear = g.mul(g.exp(b), repeated);
  assert.deepEqual(storedFor(dear), [dear], "the rest is dear, too");
});

test("an operand that is loaded often is cast to its narrow dtype once, before; not where it is loaded a few times", () => {
  const castsOf = (m: number, k: number, n: number, profile = tiles) => {
    const rewriter = productRewriter(profile);
    const weights = castNode(storedAs("f32", n, k), "bf16");
    rewriter.rewrite({}, [storedAs("bf16", 1, m, k), g.reshape(g.permute(weights, [1, 0]), [1, k, n])]);
    return [...rewriter.stored].filter((node) => node === weights).length;
  };
  assert.equal(castsOf(8192, 768, 3072), 1);
  assert.equal(castsOf(128, 768, 3072), 0, "once or twice");
  assert.equal(castsOf(8192, 768, 3072, { ...tiles, kind: "registers" }), 0, "on a software device");
});

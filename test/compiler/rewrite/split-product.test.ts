/** Powers of two around a product of f32 in f16 parts: they change nothing, and bring every row and column into reach of f16. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { productRewriter } from "../../../src/compiler/rewrite/products.js";
import { splitProduct } from "../../../src/compiler/rewrite/split-product.js";
import { gpuProfile } from "../../../src/compiler/target/profile.js";
import type { MatrixTile } from "../../../src/compiler/target/tile-profile.js";
import { type Node, pendingInOrder } from "../../../src/graph/node.js";
import { dot } from "../../../src/graph/primitives/dot.js";
import { g } from "../../../src/graph/vocabulary.js";
import { storedAs } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

const [m, k, n] = [4, 3, 5];
const matrices = () => [storedAs("f32", 1, m, k), storedAs("f32", 1, k, n)] as const;

/** The operands of the inner product, and the result. */
function computed(x: readonly number[], y: readonly number[]) {
  const [a, b] = matrices();
  const given = new Map([
    [a, [...x]],
    [b, [...y]],
  ]);
  const entering: number[][] = [];
  const result = splitProduct(a, b, (left, right) => {
    const whole = [left, right].map((parts) => g.add(...(parts.map((part) => g.cast(part, "f32")) as [Node, Node])));
    entering.push(...whole.map((node) => plainValues([node], given)[0] as number[]));
    return g.dot(...(whole as [Node, Node]));
  });
  return { entering, found: plainValues([result], given)[0] as number[] };
}

const values = (count: number, scale: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => Math.fround((1 + ((i * 7) % 5) / 8) * (i % 2 ? -1 : 1) * scale(i)));
const product = (x: readonly number[], y: readonly number[]) =>
  Array.from({ length: m * n }, (_, at) => {
    const [row, column] = [Math.floor(at / n), at % n];
    let sum = 0;
    for (let i = 0; i < k; i++) sum += x[row * k + i]! * y[i * n + column]!;
    return sum;
  });

describe("scaled products", () => {
  const hostile: Record<string, readonly [(i: number) => number, (i: number) => number]> = {
    ones: [() => 1, () => 1],
    "rows and columns 2^±40 apart": [(i) => 2 ** (40 - 20 * Math.floor(i / k)), (i) => 2 ** (20 * (i % n) - 40)],
    "the largest against the smallest": [() => 2 ** 127, () => 2 ** -126],
    "a result near the largest f32": [() => 2 ** 63, () => 2 ** 62],
    denormal: [() => 2 ** -140, () => 2 ** 100],
    zeros: [() => 0, () => 3],
  };
  for (const [name, [left, right]] of Object.entries(hostile)) {
    test(`${name}: operands reach 2^14, stay below 2^16, and the result is that of f32`, () => {
      const [x, y] = [values(m * k, left), values(k * n, right)];
      const { entering, found } = computed(x, y);
      for (const operand of entering) for (const value of operand) assert.ok(Math.abs(value) < 2 ** 16);
      if (left(0) > 2 ** -100) for (const value of entering[0]!) assert.ok(value === 0 || Math.abs(value) >= 2 ** 12);
      const exact = product(x, y);
      found.forEach((value, i) => {
        assert.ok(Math.abs(value - exact[i]!) <= 2 ** -20 * Math.abs(exact[i]!), `${value} for ${exact[i]}`);
      });
    });
  }

  test("a row with an infinity is not finite, the others are right", () => {
    const x = values(m * k, () => 1);
    x[0] = Number.POSITIVE_INFINITY;
    const y = values(k * n, () => 1);
    const { found } = computed(x, y);
    const exact = product(x, y);
    found.forEach((value, i) => {
      if (i < n) assert.ok(!Number.isFinite(value));
      else assert.ok(Math.abs(value - exact[i]!) < 1e-5);
    });
  });
});

describe("the precision of a product", () => {
  const shapes = (["f16", "bf16"] as const).map((operand) => ({ operand, rows: 16, columns: 16, depth: 16 }));
  const tiles = { ...gpuProfile.tiles, sharedBytes: 49152, matrices: { subgroupSize: 32, shapes } };
  const tileAt = (precision?: string, profile = tiles) => {
    const made = productRewriter(profile).rewrite(precision ? { precision } : {}, [
      storedAs("f32", 1, 512, 512),
      storedAs("f32", 1, 512, 512),
    ])!;
    const found = pendingInOrder([made]).find(({ primitive }) => primitive === dot)!;
    return found.params.tile as MatrixTile;
  };

  test("highest stays with plain lanes, high splits into f16, fast rounds to bf16", () => {
    assert.equal(tileAt().kind, "shared");
    const high = tileAt("high");
    assert.deepEqual([high.kind, high.parts, high.fragment.operand], ["matrix", 2, "f16"]);
    assert.ok(high.promoted * high.depth <= 64 && high.promoted > 0, "sums are promoted every 64 at least");
    const fast = tileAt("fast");
    assert.deepEqual([fast.kind, fast.parts, fast.fragment.operand], ["matrix", 1, "bf16"]);
  });

  test("a device without matrix units computes all in f32", () => {
    for (const precision of ["high", "fast"])
      assert.equal(tileAt(precision, gpuProfile.tiles as typeof tiles).kind, "shared");
  });
});

/** A lane's part of reductions in one loop, interpreted: over walks of every form, until a bound is met, and over axes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Kernel, type Value, walkStatements } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { inPairs, LaneReductions } from "../../../src/compiler/lower/lane-reductions.js";
import { planWalk } from "../../../src/compiler/lower/lane-walk.js";
import { Lowering } from "../../../src/compiler/lower/lowering.js";
import { constantExpr } from "../../../src/core/index-expr.js";
import { dataOf, encodeValues } from "../../../src/core/storage.js";
import type { Node } from "../../../src/graph/node.js";
import { neg } from "../../../src/graph/primitives/elementwise.js";
import { reducePrimitives } from "../../../src/graph/primitives/reduce.js";
import { type Reduction, reductionAt } from "../../../src/graph/reads.js";
import type { ReduceOp } from "../../../src/graph/reduction.js";
import { interpretKernel } from "../../support/kernel-interpreter.js";
import { make, stored } from "../../support/nodes.js";

const numbers = (count: number) => Array.from({ length: count }, (_, i) => ((i * 37) % 23) - 11);

interface Run {
  readonly lanes?: number;
  readonly gate?: (k: KernelBuilder) => Value;
}

/** Totals of each lane, and the kernel. `compute` writes the part that is tested. */
function totals(
  x: Node,
  nodes: readonly Node[],
  compute: (reductions: LaneReductions, lowering: Lowering) => readonly Value[],
  { lanes = 1, gate }: Run = {},
): { readonly found: number[][]; readonly kernel: Kernel } {
  const k = new KernelBuilder("totals", 1, lanes);
  const tiling = { lanes, width: 1, unroll: 1, elementsPerLane: 2 };
  const group = {
    results: nodes.map((node) => ({ node, rowAxes: [] })),
    tiling,
    rowsPerThread: 1,
    isLoaded: ({ storage }: Node) => storage !== null,
  };
  const lowering = new Lowering(k, group, { division: "native" });
  const arithmetic = { k, exponential: (value: Value) => value, inPairs };
  const reductions: Reduction[] = nodes.map((node) => {
    if (node.primitive.kind !== "reduce") throw new Error("no reduction");
    return reductionAt(lowering.space, node, node.primitive.op, []);
  });
  const parts = compute(new LaneReductions(lowering, arithmetic, reductions, gate?.(k) ?? null), lowering);
  const outs = parts.map(() => k.buffer("f32", true));
  parts.forEach((part, i) => {
    k.store(outs[i]!, k.lane, part, false);
  });
  const kernel = k.finish();
  const results = parts.map(() => new Uint8Array(4 * lanes));
  const values = x.shape.reduce((a, b) => a * b, 1);
  interpretKernel(kernel, [encodeValues(numbers(values), "f32", "test"), ...results]);
  return { found: results.map((bytes) => [...dataOf(bytes, "f32")].map(Number)), kernel };
}

const reduced = (op: ReduceOp, x: Node, params: Record<string, unknown> = {}) =>
  make(reducePrimitives[op], [x], { axes: x.shape.map((_, axis) => axis), ...params });

const loopsOf = ({ body }: Kernel): number => {
  let count = 0;
  walkStatements(body, ({ kind }) => {
    if (kind === "loop") count++;
  });
  return count;
};

test("values are combined with their neighbours, then pairs with pairs", () => {
  const join = (a: string, b: string) => `(${a}${b})`;
  assert.equal(inPairs(["a", "b", "c", "d", "e"], join), "(((ab)(cd))e)");
  assert.equal(inPairs(["a"], join), "a");
});

test("a sum and a maximum in one loop, whatever the extent: whole rounds, what is left after them, and a bounded rest", () => {
  for (const extent of [1, 2, 5, 64, 67, 300]) {
    for (const lanes of [1, 4]) {
      const x = stored(extent);
      const { found } = totals(
        x,
        [reduced("sum", x), reduced("max", x)],
        (reductions, { space, lane }) =>
          reductions.over(planWalk(space, lane, extent, { lanes, width: 1, unroll: 2, elementsPerLane: 2 })),
        { lanes },
      );
      const values = numbers(extent);
      const [sums, largest] = found as [number[], number[]];
      assert.equal(
        sums.reduce((a, b) => a + b, 0),
        values.reduce((a, b) => a + b, 0),
        `${extent} over ${lanes} lanes`,
      );
      assert.equal(Math.max(...largest), Math.max(...values), `${extent} over ${lanes} lanes`);
    }
  }
});

test("lanes that have no element keep the identity", () => {
  const x = stored(2);
  const { found } = totals(
    x,
    [reduced("max", x)],
    (reductions, { space, lane }) =>
      reductions.over(planWalk(space, lane, 2, { lanes: 4, width: 1, unroll: 1, elementsPerLane: 2 })),
    { lanes: 4 },
  );
  assert.deepEqual(found[0], [...numbers(2), -Infinity, -Infinity]);
});

test("a loop that may end does so when every reduction has met an element below its bound", () => {
  const x = stored(20);
  const falling = make(neg, [x]);
  const least = [-8.5, -2].map((endsBelow) => make(reducePrimitives.min, [falling], { axes: [0], endsBelow }));
  const { found, kernel } = totals(x, least, (reductions) => reductions.untilFound(20));
  const values = numbers(20).map((value) => -value);
  const first = values.findIndex((value) => value < -8.5);
  const soFar = Math.min(...values.slice(0, first + 1));
  assert.ok(soFar > Math.min(...values), "smaller ones follow");
  assert.deepEqual(found, [[soFar], [soFar]]);
  const ends: boolean[] = [];
  walkStatements(kernel.body, (statement) => {
    if (statement.kind === "loop") ends.push(statement.exit !== null);
  });
  assert.deepEqual(ends, [true]);
});

test("several axes: a loop for each of them", () => {
  const x = stored(3, 4, 5);
  const { found, kernel } = totals(x, [reduced("sum", x), reduced("max", x)], (reductions) =>
    reductions.overAxes([3, 4, 5]),
  );
  const values = numbers(60);
  assert.equal(
    found[0]![0],
    values.reduce((a, b) => a + b, 0),
  );
  assert.equal(found[1]![0], Math.max(...values));
  assert.equal(loopsOf(kernel), 3);
});

test("under a gate that is false nothing outside memory is read", () => {
  const x = stored(6);
  const walk = { lanes: 1, width: 1, unroll: 1, elementsPerLane: 0 };
  const { found } = totals(
    x,
    [reduced("sum", x)],
    (reductions, { space }) => reductions.over(planWalk(space, constantExpr(0), 6, walk)),
    { gate: (k) => k.compare("eq", k.row, k.constant("i32", 0)) },
  );
  assert.equal(
    found[0]![0],
    numbers(6).reduce((a, b) => a + b, 0),
  );
});

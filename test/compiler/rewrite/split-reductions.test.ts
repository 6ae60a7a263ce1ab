/** Reductions in two steps: when, into how many parts, and that they compute the same. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { splitReductions } from "../../../src/compiler/rewrite/split-reductions.js";
import type { SplitProfile } from "../../../src/compiler/target/profile.js";
import type { DType } from "../../../src/core/dtype.js";
import type { Node } from "../../../src/graph/node.js";
import { cast } from "../../../src/graph/primitives/elementwise.js";
import { pad } from "../../../src/graph/primitives/movement.js";
import { reducePrimitives } from "../../../src/graph/primitives/reduce.js";
import { REDUCE_OPS, reductionOf } from "../../../src/graph/reduction.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, stored, storedAs } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

const WISH: SplitProfile = { parallelism: 64, lanes: 4, leastPerThread: 2, leastExtent: 16 };

/** What stands for the node after the rewrite. */
const split = (node: Node, wish: SplitProfile = WISH): Node => splitReductions([node], new Set(), wish).roots[0]!;

const isSplit = ({ inputs: [input] }: Node): boolean => input!.primitive.kind === "reduce";

test("every reduction computes the same in two steps, also where the parts do not come out even", () => {
  for (const op of REDUCE_OPS) {
    const { kinds } = reductionOf(op);
    const dtype: DType = kinds.includes("int") ? "i32" : "bool";
    for (const [shape, axes] of [
      [[37], [0]],
      [[3, 41], [1]],
      [[41, 3], [0]],
      [
        [5, 7, 6],
        [0, 2],
      ],
    ] as const) {
      const x = storedAs(dtype, ...shape);
      const size = shape.reduce<number>((a, b) => a * b, 1);
      const values: number[] = [];
      for (let i = 0; i < size; i++) values.push(dtype === "bool" ? Number(i % 3 !== 0) : ((i * 7) % 5) - 2);
      const given = new Map([[x, values]]);
      const want = plainValues([make(reducePrimitives[op], [x], { axes })], given);
      const node = split(make(reducePrimitives[op], [x], { axes }));
      assert.equal(isSplit(node), true, `${op} of [${shape}]`);
      assert.deepEqual(plainValues([node], given), want, `${op} of [${shape}] over [${axes}]`);
    }
  }
});

test("short ones, and ones with results enough to keep the device busy, stay one step", () => {
  assert.equal(isSplit(split(g.sum(stored(15), [0]))), false);
  assert.equal(isSplit(split(g.sum(stored(16), [0]))), true);
  assert.equal(
    isSplit(split(g.sum(stored(64, 64), [1]))),
    false,
    "64 rows of four lanes are as many threads as there are",
  );
  assert.equal(isSplit(split(g.sum(stored(4, 64), [1]))), true);
});

test("there are as many parts as the device has room for", () => {
  const partsOf = (node: Node) => split(node).inputs[0]!.shape.at(-1);
  assert.equal(partsOf(g.sum(stored(1000), [0])), WISH.parallelism / WISH.lanes);
  assert.equal(partsOf(g.sum(stored(2, 1000), [1])), WISH.parallelism / WISH.lanes / 2);
});

test("components that a thread computes together count as one, and chunks of equal lengths are preferred", () => {
  const wish = { ...WISH, parallelism: 60 };
  const partial = (node: Node) => split(node, wish).inputs[0]!.shape;
  assert.deepEqual(partial(g.sum(g.neg(stored(10, 600, 3)), [1])), [6, 10, 3], "chunks come first");
  assert.deepEqual(partial(g.sum(stored(10, 600, 3), [1])), [2, 10, 3], "what is only loaded is not computed together");
  assert.deepEqual(partial(g.sum(g.neg(stored(10, 605, 3)), [1])), [5, 10, 3], "five divide 605");
  assert.equal(isSplit(split(g.sum(g.neg(stored(600, 0)), [0]), wish)), true, "of no results, too");
});

test("a thread by itself has no less to do than what goes over the parts", () => {
  const {
    inputs: [partial],
  } = split(g.sum(stored(100, 2), [0])) as unknown as { inputs: [Node] };
  assert.ok(partial.shape[0]! <= Math.sqrt(100));
});

test("partial results of half floats are kept as f32, so that the result is rounded once", () => {
  const node = split(g.sum(storedAs("f16", 1000), [0]));
  assert.equal(node.dtype, "f16");
  const [partial] = node.inputs as [Node];
  assert.equal(partial.dtype, "f32");
  let source = partial;
  while (source.primitive !== cast) [source] = source.inputs as [Node];
  assert.equal(source.inputs[0]!.dtype, "f16");
});

test("what does not come out even is filled up with what changes nothing", () => {
  let source = split(make(reducePrimitives.min, [stored(37)], { axes: [0] }));
  while (source.primitive !== pad) [source] = source.inputs as [Node];
  assert.equal(source.params.value, Infinity);
});

test("a loop is never longer than 32 bits count", () => {
  const many = 2 ** 33;
  const wish = { ...WISH, leastExtent: Infinity };
  const node = split(make(reducePrimitives.max, [storedAs("u8", many)], { axes: [0] }), wish);
  const rounds = (each: Node): number[] => {
    if (each.primitive.kind !== "reduce") return [];
    const [input] = each.inputs as [Node];
    const extent = (each.params.axes as number[]).reduce((product, axis) => product * input.shape[axis]!, 1);
    return [extent, ...each.inputs.flatMap((one) => rounds(one))];
  };
  const found = rounds(node);
  assert.equal(found.length, 2);
  assert.ok(Math.max(...found) <= 2 ** 30, String(found));
});

test("the given graph stays as it is, and nodes to be stored are those of the new one", () => {
  const doubled = g.add(stored(1000), stored(1000));
  const total = g.sum(doubled, [0]);
  const after = splitReductions([total], new Set([doubled, total]), WISH);
  assert.equal(isSplit(total), false);
  assert.deepEqual(total.inputs, [doubled]);
  const [root] = after.roots as [Node];
  assert.equal(isSplit(root), true);
  assert.equal(after.stored.size, 2);
  assert.equal(after.stored.has(root), true);
  let source = root;
  while (source.primitive !== doubled.primitive) [source] = source.inputs as [Node];
  assert.equal(after.stored.has(source), true);
  const short = g.sum(stored(15), [0]);
  const asked = new Set([short]);
  assert.deepEqual(splitReductions([short], asked, WISH), { roots: [short], stored: asked });
});

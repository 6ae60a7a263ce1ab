/** Passes of a function of a thread, one at a time and with decisions made by hand; interpreted, against plain loops. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { flatColumns, nestedColumns, wholeOf } from "../../../src/compiler/inline/element-survey.js";
import type { InlineResult } from "../../../src/compiler/inline/inline.js";
import { type Pass, PassWriter } from "../../../src/compiler/inline/passes.js";
import { arrayPlace, dataPlace, type Place, Scratch } from "../../../src/compiler/inline/place.js";
import { type Kernel, type Value, walkStatements } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { dataOf, encodeValues } from "../../../src/core/storage.js";
import { makePlaceholder } from "../../../src/graph/function.js";
import type { Node } from "../../../src/graph/node.js";
import { reducePrimitives } from "../../../src/graph/primitives/reduce.js";
import { g } from "../../../src/graph/vocabulary.js";
import { interpretKernel } from "../../support/kernel-interpreter.js";
import { make, nowhere } from "../../support/nodes.js";

const placeholder = (...shape: number[]) => makePlaceholder({ shape, dtype: "f32", device: nowhere });
const sizeOf = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);
const numbers = (count: number) => Array.from({ length: count }, (_, i) => ((i * 5) % 7) - 2);

interface Choices {
  readonly lanes?: number;
  readonly isWrittenOut?: boolean;
  readonly isNested?: boolean;
  /** Results that are wanted as values. */
  readonly asValues?: readonly Node[];
}

/**
 * Writes passes in turn into a kernel of one row. `input` is in memory; each node of `kept` gets an array, into which passes
 * write it and later ones read it. Returns the array of the last one, and the values that were asked for.
 */
function run(input: Node, passes: readonly Pass[], kept: readonly Node[], choices: Choices = {}) {
  const { lanes = 1, isWrittenOut = false, isNested = false, asValues = [] } = choices;
  const k = new KernelBuilder("passes", 1, lanes);
  const places = new Map<Node, Place>([[input, dataPlace(k, "f32")]]);
  for (const node of kept) places.set(node, arrayPlace(k, "f32", sizeOf(node.shape)));
  const stored = new Set<Node>([input]);
  const writer = new PassWriter({ k, settings: { division: "native" }, scratch: new Scratch(k) }, places, {
    isStored: (node) => stored.has(node),
    isWrittenOut: () => isWrittenOut,
    columnsOf: isNested ? nestedColumns : flatColumns,
    maxUnrolled: 4,
  });
  const values = new Map<Node, Value>();
  const resultOf = (node: Node): InlineResult => (asValues.includes(node) ? "value" : places.get(node)!);
  for (const pass of passes) {
    writer.write(pass, resultOf, values);
    const written = pass.kind === "elements" ? pass.stretches.map(({ node }) => node) : [nodeOf(pass)];
    for (const node of written) if (places.has(node)) stored.add(node);
  }
  const shown = [...kept.slice(-1).flatMap((node) => elementsOf(k, node, places)), ...values.values()];
  const out = k.buffer("f32", true);
  shown.forEach((value, at) => {
    k.store(out, k.constant("i32", at), value, true);
  });
  const kernel = k.finish();
  const bytes = encodeValues(new Array(shown.length).fill(Number.NaN), "f32", "test");
  const given = encodeValues(numbers(sizeOf(input.shape)), "f32", "test");
  interpretKernel(
    kernel,
    kernel.buffers.map(({ isWritten }) => (isWritten ? bytes : given)),
  );
  return { found: [...dataOf(bytes, "f32")].map((x) => Number(x) + 0), kernel };
}

const nodeOf = (pass: Exclude<Pass, { kind: "elements" }>): Node =>
  pass.kind === "sums" ? pass.node : pass.stretch.node;

const elementsOf = (k: KernelBuilder, node: Node, places: ReadonlyMap<Node, Place>): Value[] =>
  Array.from({ length: sizeOf(node.shape) }, (_, i) => places.get(node)!.load(k.constant("i32", i)));

const loopsOf = ({ body }: Kernel): number[] => {
  const extents: number[] = [];
  walkStatements(body, (statement) => {
    if (statement.kind === "loop") extents.push(statement.extent);
  });
  return extents;
};

describe("elements one by one", () => {
  const x = placeholder(6);
  const [squares, total] = [g.square(x), g.sum(x, [0])];
  const values = numbers(6);
  const sum = values.reduce((a, b) => a + b, 0);

  test("results go to their places, or are values; no loop is written for what is written out", () => {
    const pass: Pass = { kind: "elements", stretches: [wholeOf(squares), wholeOf(total)], wide: [] };
    const { found, kernel } = run(x, [pass], [squares], { asValues: [total], isWrittenOut: true });
    assert.deepEqual(found, [...values.map((v) => v * v), sum]);
    assert.deepEqual(loopsOf(kernel), []);
  });

  test("sums of one extent share one loop", () => {
    const second = g.sum(g.square(x), [0]);
    const pass: Pass = { kind: "elements", stretches: [wholeOf(total), wholeOf(second)], wide: [] };
    const { found, kernel } = run(x, [pass], [], { asValues: [total, second] });
    assert.deepEqual(found, [sum, values.reduce((a, b) => a + b * b, 0)]);
    assert.deepEqual(loopsOf(kernel), [6]);
  });

  test("of several lanes the first one stores, and wide results are shared by all", () => {
    const wide = g.add(g.square(x), g.unreduce(total, [6], [0]));
    const pass: Pass = { kind: "elements", stretches: [wholeOf(squares)], wide: [wide] };
    const { found } = run(x, [pass], [squares, wide], { lanes: 4 });
    assert.deepEqual(
      found,
      values.map((v) => v * v + sum),
    );
    // Two lanes that store the same element would race: the interpreter refuses that.
    assert.deepEqual(
      run(x, [{ ...pass, wide: [] }], [squares], { lanes: 4 }).found,
      values.map((v) => v * v),
    );
  });
});

describe("columns", () => {
  const x = placeholder(4, 3);
  const doubled = g.add(x, x);

  for (const lanes of [1, 4]) {
    test(`a stretch in a loop, from where it begins and no further, ${lanes} lanes`, () => {
      const parts = [
        { node: doubled, from: 0, count: 2 },
        { node: doubled, from: 2, count: 7 },
        { node: doubled, from: 9, count: 3 },
      ];
      const passes = parts.map((stretch): Pass => ({ kind: "columns", stretch }));
      const want = numbers(12).map((v) => 2 * v);
      assert.deepEqual(run(x, passes, [doubled], { lanes }).found, want);
    });
  }

  test("a loop for each axis where decisions say so", () => {
    const pass: Pass = { kind: "columns", stretch: wholeOf(doubled) };
    const { found, kernel } = run(x, [pass], [doubled], { isNested: true });
    assert.deepEqual(
      found,
      numbers(12).map((v) => 2 * v),
    );
    assert.deepEqual(loopsOf(kernel), [4, 3]);
  });

  test("a stretch of no elements writes nothing", () => {
    const whole: Pass = { kind: "columns", stretch: wholeOf(doubled) };
    const none: Pass = { kind: "columns", stretch: { node: doubled, from: 3, count: 0 } };
    assert.equal(
      loopsOf(run(x, [whole, none], [doubled]).kernel).length,
      loopsOf(run(x, [whole], [doubled]).kernel).length,
    );
  });

  test("a stretch of one element needs one sum: that of its place", () => {
    const rows = placeholder(4, 6);
    const totals = g.sum(rows, [1]);
    const pass: Pass = { kind: "columns", stretch: { node: totals, from: 2, count: 1 } };
    assert.deepEqual(loopsOf(run(rows, [pass], [totals]).kernel), [6]);
  });

  test("what an earlier pass stored is loaded, not computed again", () => {
    const exp = g.exp(x);
    const next = g.add(exp, exp);
    const passes = [exp, next].map((node): Pass => ({ kind: "columns", stretch: wholeOf(node) }));
    const { kernel } = run(x, passes, [exp, next]);
    const again = run(x, passes.slice(1), [next]).kernel;
    const statements = (of: Kernel) => {
      let count = 0;
      walkStatements(of.body, () => void count++);
      return count;
    };
    const once = statements(run(x, passes.slice(0, 1), [exp]).kernel);
    assert.ok(statements(kernel) < once + statements(again), "the second pass has no exponential");
  });
});

describe("sums side by side", () => {
  /** Sums over the first axis of [2, terms, neighbours], or their other reduction. */
  const reduced = (neighbours: number, op: "sum" | "max" = "sum") => {
    const x = placeholder(2, 5, neighbours);
    const values = numbers(10 * neighbours);
    const total = make(reducePrimitives[op], [x], { axes: [1] });
    const want = Array.from({ length: 2 * neighbours }, (_, at) => {
      const [row, column] = [Math.floor(at / neighbours), at % neighbours];
      const terms = [0, 1, 2, 3, 4].map((i) => values[(row * 5 + i) * neighbours + column]!);
      return op === "sum" ? terms.reduce((a, b) => a + b, 0) : Math.max(...terms);
    });
    const { found, kernel } = run(x, [{ kind: "sums", node: total }], [total]);
    assert.deepEqual(found, want, `${op} of ${neighbours} neighbours`);
    return loopsOf(kernel);
  };

  test("a few in registers: one loop over their terms for each row", () => {
    assert.deepEqual(reduced(3), [2, 5]);
    assert.deepEqual(reduced(7), [2, 5]);
  });

  test("many in memory: neighbours in the inner loop, first emptied, then added to", () => {
    assert.deepEqual(reduced(8), [2, 8, 5, 8]);
  });

  test("another reduction begins with its own identity", () => {
    reduced(3, "max");
    reduced(9, "max");
  });
});

test("a value that has no place is refused by name", () => {
  const x = placeholder(4);
  const k = new KernelBuilder("passes", 1);
  const writer = new PassWriter({ k, settings: { division: "native" }, scratch: new Scratch(k) }, new Map(), {
    isStored: (node) => node === x,
    isWrittenOut: () => false,
    columnsOf: flatColumns,
    maxUnrolled: 4,
  });
  const pass: Pass = { kind: "elements", stretches: [wholeOf(g.square(x))], wide: [] };
  assert.throws(() => writer.write(pass, () => "value"), /has no place/);
});

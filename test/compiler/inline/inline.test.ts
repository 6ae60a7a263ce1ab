/** Functions of a thread: a graph written into a kernel, for rows of one lane and of several, against the interpreter. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inline, isForLanes } from "../../../src/compiler/inline/inline.js";
import { dataPlace, Scratch } from "../../../src/compiler/inline/place.js";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import type { DType } from "../../../src/core/dtype.js";
import { GraphFunction, makePlaceholder } from "../../../src/graph/function.js";
import type { Node } from "../../../src/graph/node.js";
import { g } from "../../../src/graph/vocabulary.js";
import { runKernel } from "../../support/kernels.js";
import { nowhere } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";
import { sizeOf } from "../../support/plain-views.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

interface Parameter {
  readonly shape: readonly number[];
  readonly dtype: DType;
}

/** A function of one number, as a kernel of one row that stores it, and the number it has to be. */
function numberOf(parameters: readonly Parameter[], f: (...inputs: Node[]) => Node, lanes: number) {
  const nodes = parameters.map(({ shape, dtype }) => makePlaceholder({ shape, dtype, device: nowhere }));
  const fn = new GraphFunction(nodes, [f(...nodes)]);
  const k = new KernelBuilder("inlined", 1, lanes);
  const places = nodes.map(({ dtype }) => dataPlace(k, dtype));
  const to = k.buffer("f32", true);
  const scratch = new Scratch(k);
  const [value] = inline({ k, settings: { division: "corrected" }, scratch }, fn, places, ["value"]);
  k.store(to, k.constant("i32", 0), value!, true);
  const kernel: Kernel = k.finish();
  const values = nodes.map(({ shape }) => Array.from({ length: sizeOf(shape) }, (_, i) => (i * 5) % 7));
  const [want] = plainValues(fn.results, new Map(nodes.map((node, i) => [node, values[i]!])));
  const memory = [
    ...values.map((list, i) => (parameters[i]!.dtype === "i32" ? Int32Array.from(list) : Float32Array.from(list))),
    new Float32Array(1),
    ...scratch.buffers.map(({ elements }) => new Float32Array(elements)),
  ];
  return { kernel, memory, at: nodes.length, want: Number(want![0]) };
}

describeOnTensorDevices("a function of a thread", (device) => {
  const lanes = device === "cpu" ? [1] : [1, 8];

  function check(title: string, parameters: readonly Parameter[], f: (...inputs: Node[]) => Node): void {
    for (const count of lanes) {
      const { kernel, memory, at, want } = numberOf(parameters, f, count);
      const after = runKernel(device, kernel, memory as Float32Array[]);
      assert.equal(after[at]![0], want, `${title}, ${count} lanes`);
    }
  }

  test("adds up what it is given, in one pass or several", () => {
    const x = { shape: [40], dtype: "f32" } as const;
    check("a sum", [x], (a) => g.sum(a, [0]));
    check("sums of one another", [x], (a) => g.sum(g.square(g.sub(a, g.unreduce(g.sum(a, [0]), [40], [0]))), [0]));
    check(
      "a product of matrices",
      [
        { shape: [1, 6, 12], dtype: "f32" },
        { shape: [1, 12, 5], dtype: "f32" },
      ],
      (a, b) => g.sum(g.square(g.dot(a, b)), [0, 1, 2]),
    );
  });

  test("takes elements of sums at positions that it reads, short or long", () => {
    for (const [rows, length, count] of [
      [20, 3, 50],
      [3, 4, 6],
      [7, 20, 90],
      [7, 100, 30],
    ] as const) {
      const parameters = [
        { shape: [rows, length], dtype: "f32" },
        { shape: [count], dtype: "i32" },
      ] as const;
      check(`sums of ${length} taken ${count} times`, parameters, (x, positions) =>
        g.sum(g.take(g.sum(x, [1]), positions, 0), [0]),
      );
    }
  });
});

test("a sum that is taken more often than it has elements is kept in memory of the row, one taken less is not", () => {
  const arraysOf = (rows: number, count: number) => {
    const parameters = [
      { shape: [rows, 20], dtype: "f32" },
      { shape: [count], dtype: "i32" },
    ] as const;
    const taken = (x: Node, positions: Node) => g.sum(g.take(g.sum(x, [1]), positions, 0), [0]);
    return numberOf(parameters, taken as (...inputs: Node[]) => Node, 1).kernel.arrays.length;
  };
  assert.equal(arraysOf(300, 200), 0);
  assert.equal(arraysOf(7, 300), 1);
});

test("lanes can share what goes over elements, and not what goes step by step", () => {
  const x = makePlaceholder({ shape: [9], dtype: "f32", device: nowhere });
  assert.equal(isForLanes(new GraphFunction([x], [g.sum(g.exp(x), [0])])), true);
  assert.equal(isForLanes(new GraphFunction([x], [g.cumulate(x, { axis: 0, op: "sum" })])), false);
});

/** What goes step by step inside a function of a thread, run as a kernel of one row, against loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { computeType } from "../../../src/compiler/elements/elements.js";
import { inline } from "../../../src/compiler/inline/inline.js";
import { columnPlace, dataPlace, Scratch } from "../../../src/compiler/inline/place.js";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import type { DType } from "../../../src/core/dtype.js";
import { GraphFunction, makePlaceholder } from "../../../src/graph/function.js";
import type { Node } from "../../../src/graph/node.js";
import { cumulate } from "../../../src/graph/primitives/cumulate.js";
import { cholesky } from "../../../src/graph/primitives/linalg/triangular.js";
import { reshape } from "../../../src/graph/primitives/movement/arrangement.js";
import { runKernel } from "../../support/kernels.js";
import { make, nowhere } from "../../support/nodes.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

/** A kernel of one row that computes a function of one vector. */
function kernelOf(dtype: DType, size: number, f: (x: Node) => Node): Kernel {
  const x = makePlaceholder({ shape: [size], dtype, device: nowhere });
  const k = new KernelBuilder("inlined", 1);
  const from = dataPlace(k, dtype);
  const to = columnPlace(k, k.buffer(dtype, true), computeType(dtype), k.constant("i32", 0));
  inline(
    { k, settings: { division: "corrected" }, scratch: new Scratch(k) },
    new GraphFunction([x], [f(x)]),
    [from],
    [to],
  );
  return k.finish();
}

describeOnTensorDevices("inside a function of a thread", (device) => {
  const values = [3, 65533, 1, 7, 65000, 2];

  test("running totals of narrow integers are those of their width", () => {
    const running = (op: string, isReverse = false, isExclusive = false) => {
      const kernel = kernelOf("u16", values.length, (x) =>
        make(cumulate, [x], { axis: 0, op, isReverse, isExclusive }),
      );
      const [, result] = runKernel(device, kernel, [Uint16Array.from(values), new Uint16Array(values.length)]);
      return [...result];
    };
    assert.deepEqual(running("max"), [3, 65533, 65533, 65533, 65533, 65533]);
    assert.deepEqual(running("max", true, true), [65533, 65000, 65000, 65000, 2, 0]);
    assert.deepEqual(running("min", false, true), [65535, 3, 3, 1, 1, 1]);
    const sums = values.map((_, i) => values.slice(0, i + 1).reduce((total, x) => total + x) % 65536);
    assert.deepEqual(running("sum"), sums);
  });

  test("a Cholesky factor is NaN from a pivot of zero on, as the routine's is", () => {
    const kernel = kernelOf("f32", 4, (x) =>
      make(reshape, [make(cholesky, [make(reshape, [x], { shape: [2, 2] })])], { shape: [4] }),
    );
    const factor = (given: number[]) => [
      ...runKernel(device, kernel, [Float32Array.from(given), new Float32Array(4)])[1]!,
    ];
    assert.deepEqual(factor([4, 2, 2, 2]), [2, 0, 1, 1]);
    assert.deepEqual(factor([1, 2, 2, 4]), [1, 0, 2, Number.NaN]);
    assert.deepEqual(factor([0, 0, 0, 1]), [Number.NaN, 0, Number.NaN, Number.NaN]);
  });
});

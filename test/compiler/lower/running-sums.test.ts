/** Sums of exponentials in the loop that finds the largest exponent: one loop before the columns, and the values of two. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Kernel, walkStatements } from "../../../src/compiler/ir/ir.js";
import { lowerGroup } from "../../../src/compiler/lower/lower-group.js";
import type { Node } from "../../../src/graph/node.js";
import { max } from "../../../src/graph/primitives/reduce.js";
import { g } from "../../../src/graph/vocabulary.js";
import { type Tensor, tensor, valueAndGrad } from "../../../src/index.js";
import { runKernel } from "../../support/kernels.js";
import { make, stored } from "../../support/nodes.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

const stretched = (reduced: Node, x: Node): Node => g.unreduce(reduced, x.shape, [1]);
const powersOf = (x: Node, shift: Node): Node => g.exp(g.sub(x, stretched(shift, x)));
const largestOf = (x: Node): Node => make(max, [x], { axes: [1] });

function kernelOf(result: Node, lanes: number, elementsPerLane = 4) {
  return lowerGroup(
    {
      results: [{ node: result, rowAxes: [0] }],
      tiling: { lanes, width: 4, unroll: 2, elementsPerLane },
      rowsPerThread: 1,
      isLoaded: ({ storage }) => storage !== null,
    },
    "tested",
    { division: "corrected" },
  );
}

/** Loops of a kernel that are not inside others. */
const loopsOf = (kernel: Kernel): number => kernel.body.filter(({ kind }) => kind === "loop").length;

test("a long row is gone over once for the maximum and the sum, and twice where the sum is of something else", () => {
  const x = stored(2, 4096);
  const sums = (shift: Node) => kernelOf(g.sum(powersOf(x, shift), [1]), 32).kernel;
  assert.equal(loopsOf(sums(largestOf(x))), 1);
  assert.equal(loopsOf(sums(g.mul(largestOf(x), 1))), 1, "of a function of the maximum, too");
  assert.equal(loopsOf(sums(largestOf(g.neg(x)))), 2, "the maximum is not that of the exponents");
  assert.equal(
    loopsOf(kernelOf(g.sum(powersOf(x, largestOf(x)), [1]), 1).kernel),
    2,
    "a lane alone reads from its cache",
  );
  const short = stored(2, 256);
  assert.equal(loopsOf(kernelOf(g.sum(powersOf(short, largestOf(short)), [1]), 32, 8).kernel), 0, "held in registers");
  const other = g.sum(g.square(g.sub(x, stretched(largestOf(x), x))), [1]);
  assert.equal(loopsOf(kernelOf(g.add(other, g.sum(powersOf(x, largestOf(x)), [1])), 32).kernel), 2);
});

test("the sum is scaled only where the shift rises, in a branch", () => {
  const x = stored(2, 4096);
  let branches = 0;
  walkStatements(kernelOf(g.sum(powersOf(x, largestOf(x)), [1]), 32).kernel.body, ({ kind }) => {
    if (kind === "branch") branches++;
  });
  assert.equal(branches, 1);
});

const rows: Readonly<Record<string, (i: number, length: number) => number>> = {
  "rising by much": (i) => i * 3,
  "falling by much": (i, length) => (length - i) * 3,
  "far below zero": (i) => -1e30 + (i % 7) * 1e23,
  "near the largest float": (i) => 3.4e38 * Math.sin(i),
  "-infinity but for one": (i) => (i === 77 ? -500 : -Infinity),
  "all -infinity": () => -Infinity,
  "-infinity in half the lanes": (i) => (i % 2 ? -Infinity : -1000 + (i % 5)),
  "with +infinity": (i) => (i === 300 ? Infinity : i),
  "with NaN": (i) => (i === 1000 ? Number.NaN : i % 11),
  plain: (i) => Math.sin(i * 1.7) * 20,
};

/** In f64, as in two loops. `isHeld`: an infinite maximum is not subtracted. */
function expected(row: readonly number[], isHeld: boolean): number {
  const largest = row.some(Number.isNaN) ? Number.NaN : Math.max(...row);
  const shift = isHeld && !(Math.abs(largest) < Infinity) ? 0 : largest;
  return row.reduce((sum, x) => sum + Math.exp(x - shift), 0);
}

describeOnTensorDevices("a running sum", (device) => {
  const lanes = device === "cpu" ? 1 : 8;
  for (const [name, valueAt] of Object.entries(rows)) {
    test(`of a row that is ${name} is what two loops give`, () => {
      for (const length of [1003, 2048]) {
        const x = stored(1, length);
        const largest = largestOf(x);
        const held = g.where(g.less(g.abs(largest), Infinity), largest, 0);
        for (const [shift, isHeld] of [
          [largest, false],
          [held, true],
        ] as const) {
          const result = g.sum(powersOf(x, shift), [1]);
          const { kernel, buffers } = kernelOf(result, lanes);
          const row = Float32Array.from({ length }, (_, i) => valueAt(i, length));
          const memory = buffers.map((node) => (node === x ? row : new Float32Array(1)));
          const found = runKernel(device, kernel, memory)[buffers.indexOf(result)]![0] as number;
          const want = expected([...row], isHeld);
          const isClose = Object.is(found, want) || Math.abs(found - want) <= 1e-5 * Math.abs(want);
          assert.ok(isClose, `${length}, ${isHeld}: ${found}, not ${want}`);
        }
      }
    });
  }

  test("cross-entropy over long rows, with its gradient, is right in both ways of writing it", async () => {
    const [count, classes] = [5, 9001];
    const logits = Array.from({ length: count * classes }, (_, i) => Math.sin(i * 0.37) * 9);
    const picked = [0, 9000, 17, -1, 4500];
    const labels = tensor(picked, { dtype: "i32", device }).reshape(count, 1);
    const written: readonly ((x: Tensor) => Tensor)[] = [
      (x) =>
        x
          .sub(x.logsumexp({ axis: 1, keepDims: true }))
          .takeAlongAxis(labels, { axis: 1 })
          .mean()
          .neg(),
      (x) =>
        x
          .logsumexp({ axis: 1 })
          .sub(x.takeAlongAxis(labels, { axis: 1 }).reshape(count))
          .mean(),
    ];
    const row = (i: number) => logits.slice(i * classes, (i + 1) * classes);
    const at = picked.map((position) => (position + classes) % classes);
    const totals = at.map((_, i) => row(i).reduce((sum, x) => sum + Math.exp(x), 0));
    const loss = at.reduce((sum, label, i) => sum + Math.log(totals[i]!) - row(i)[label]!, 0) / count;
    for (const of of written) {
      const [value, slopes] = valueAndGrad(of)(tensor(logits, { device }).reshape(count, classes));
      assert.ok(Math.abs((await value.item()) - loss) < 1e-4 * loss);
      const found = await slopes.data();
      for (let i = 0; i < count * classes; i++) {
        const [r, c] = [Math.floor(i / classes), i % classes];
        const want = (Math.exp(logits[i]!) / totals[r]! - (c === at[r] ? 1 : 0)) / count;
        assert.ok(Math.abs((found[i] as number) - want) < 1e-6, `${r}, ${c}: ${found[i]}, not ${want}`);
      }
    }
  });
});

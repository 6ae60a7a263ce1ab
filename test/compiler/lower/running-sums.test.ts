/** Sums in the loop that finds the number they depend on (the maximum, the mean): one loop over a long row, the values of two. */
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

function kernelOf(result: Node, lanes: number, elementsPerLane = 4, isReadAgain = false) {
  return lowerGroup(
    {
      isReadAgain,
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

const squaresOf = (x: Node, shift: Node): Node => g.square(g.sub(x, stretched(shift, x)));
const meanOf = (x: Node): Node => g.mul(g.sum(x, [1]), 1 / x.shape[1]!);

test("squared deviations from the mean run along with the sum, for a lane alone where rows are in no cache", () => {
  const x = stored(2, 4096);
  const loops = (result: Node, lanes: number, isReadAgain: boolean) =>
    loopsOf(kernelOf(result, lanes, 4, isReadAgain).kernel);
  const total = g.sum(squaresOf(x, meanOf(x)), [1]);
  assert.equal(loops(total, 32, false), 1);
  assert.equal(loops(total, 1, true), 1);
  assert.equal(loops(total, 1, false), 2);
  const deviation = g.sub(x, stretched(meanOf(x), x));
  assert.equal(loops(g.sum(g.mul(deviation, deviation), [1]), 32, false), 1, "written as a product");
  assert.equal(loops(g.sum(g.mul(g.square(deviation), deviation), [1]), 32, false), 2, "a third moment");
  const ofOthers = g.sum(squaresOf(x, meanOf(g.neg(x))), [1]);
  assert.equal(loops(ofOthers, 32, false), 2, "the mean is not that of the elements");
});

/** Rows, and the deviations of their elements from a shift: most of them finite, and some that overflow. */
const spreads: Readonly<Record<string, (i: number, length: number) => number>> = {
  plain: (i) => Math.sin(i * 1.7),
  "far from zero": (i) => 1e6 + Math.round(8 * Math.sin(i * 1.7)) / 8,
  "begun by an outlier": (i) => (i === 0 ? 1e6 : Math.sin(i * 1.7)),
  "ended by an outlier": (i, length) => (i === length - 1 ? 1e6 : Math.sin(i * 1.7)),
  graded: (i, length) => 2 ** ((20 * i) / length) * Math.sin(i * 1.7),
  "a ramp": (i) => i + Math.sin(i * 1.7),
  "in two halves": (i, length) => (i < length / 2 ? 0 : 1e5) + Math.sin(i * 1.7),
  "of large numbers whose squares overflow": (i) => 1e30 * Math.sin(i * 1.7),
  "near the largest float": (i) => (i % 2 ? 3e38 : -3e38),
  "with +infinity": (i) => (i === 300 ? Infinity : i),
  "begun by -infinity": (i) => (i === 0 ? -Infinity : i),
  "with NaN": (i) => (i === 1000 ? Number.NaN : i % 11),
};

/** Σ (x - mean)² in f64; infinite where that is too large for f32, as two loops have it. */
function squaredDeviations(row: readonly number[]): number {
  const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
  return Math.fround(row.reduce((sum, x) => sum + (x - mean) ** 2, 0));
}

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

  for (const [name, valueAt] of Object.entries(spreads)) {
    test(`of squared deviations of a row that is ${name} is what two loops give`, () => {
      // 9001 is more than a block of a lane alone; neither odd length can be taken in vectors.
      for (const [length, each] of [
        [1003, lanes],
        [2048, lanes],
        [1003, 1],
        [9001, 1],
      ] as const) {
        // biome-ignore format: a row
        const x = stored(1, length);
        const row = Float32Array.from({ length }, (_, i) => valueAt(i, length));
        const mean = row.reduce((sum, value) => sum + value, 0) / length;
        // A number that follows from the sum, and is the mean: rounding of the sum is no matter of this test.
        const sum = g.sum(x, [1]);
        const shift = Number.isFinite(mean) ? g.where(g.equal(sum, 0.123), sum, Math.fround(mean)) : sum;
        const result = g.sum(squaresOf(x, shift), [1]);
        const { kernel, buffers } = kernelOf(result, each, 4, true);
        assert.equal(loopsOf(kernel) >= 1, true);
        const memory = buffers.map((node) => (node === x ? row : new Float32Array(1)));
        const found = runKernel(device, kernel, memory)[buffers.indexOf(result)]![0] as number;
        const want = squaredDeviations([...row]);
        const isClose = Object.is(found, want) || Math.abs(found / want - 1) <= 2e-6;
        assert.ok(isClose, `${length}, ${each} lanes: ${found}, not ${want}`);
      }
    });
  }

  test("variance of long columns and rows is right in every dtype, with its gradient", async () => {
    const [length, count] = [700, 96];
    for (const dtype of ["f32", "f64", "f16", "bf16"] as const) {
      const x = tensor(
        Array.from({ length: length * count }, (_, i) => Math.sin(i * 0.37) * 3 + (i % count)),
        { dtype, device },
      );
      const given = [...(await x.cast("f64").data())] as number[];
      const columns = Array.from({ length: count }, (_, j) => given.filter((_, i) => i % count === j));
      const columnMeans = columns.map((column) => column.reduce((sum, v) => sum + v, 0) / length);
      const want = columns.map((c, j) => c.reduce((sum, v) => sum + (v - columnMeans[j]!) ** 2, 0) / (length - 1));
      const narrow = dtype === "f16" ? 1e-3 : dtype === "bf16" ? 8e-3 : dtype === "f32" ? 2e-6 : 1e-13;
      const tall = x.reshape(length, count);
      for (const [of, axis] of [
        [tall, 0],
        [tall.T.realize(), 1],
      ] as const) {
        // biome-ignore format: a row
        const [value, slopes] = valueAndGrad((y: Tensor) => y.cast("f64").variance({ axis, correction: 1 }).sum())(of);
        const found = await of.variance({ axis, correction: 1 }).cast("f64").data();
        found.forEach(
          (v, j) => void assert.ok(Math.abs((v as number) / want[j]! - 1) <= narrow, `${dtype}, ${axis}, ${j}`),
        );
        const all = want.reduce((sum, v) => sum + v, 0);
        assert.ok(Math.abs(Number(await value.item()) / all - 1) < 1e-12);
        const slope = Number(await (axis === 0 ? slopes : slopes.T).at(3, 5).cast("f64").item());
        const expectedSlope = (2 * (columns[5]![3]! - columnMeans[5]!)) / (length - 1);
        assert.ok(
          Math.abs(slope - expectedSlope) <= 2 * narrow * Math.abs(expectedSlope) + 1e-15,
          `${slope}, not ${expectedSlope}`,
        );
      }
    }
  });

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

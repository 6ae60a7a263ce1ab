/** Scattering against loops: every op and dtype, duplicates, places outside, the fast and the deterministic way. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, DTypeError, ShapeError } from "../../../src/core/errors.js";
import type { Backend } from "../../../src/runtime/backend.js";
import { describeGpu, vulkanBackend } from "../../../src/runtime/open.js";
import { backendOf, storedNode } from "../../../src/tensor/build.js";
import { arange, backendFor, explain, Tensor, tensor, zeros } from "../../../src/tensor/index.js";
import type { UpdateOp } from "../../../src/tensor/methods/scatter.js";
import { vulkanEngineOf } from "../../support/engines.js";
import { randomFrom } from "../../support/random.js";
import {
  count,
  describeOnTensorDevices,
  expectTensor,
  flatIndex,
  inDType,
  indicesOf,
  numbersOf,
  type Plain,
  realDTypes,
  sampleValues,
  toTensor,
  viewsOf,
} from "../../support/tensors.js";

const combine: Record<UpdateOp, (old: number, value: number) => number> = {
  set: (_, value) => value,
  add: (old, value) => old + value,
  mul: (old, value) => old * value,
  min: (old, value) => (Number.isNaN(old) || Number.isNaN(value) ? Number.NaN : Math.min(old, value)),
  max: (old, value) => (Number.isNaN(old) || Number.isNaN(value) ? Number.NaN : Math.max(old, value)),
};
const ops = Object.keys(combine) as UpdateOp[];

/** One after another, along axis 1 of three. */
function scattered(x: Plain, positions: readonly number[], updates: Plain, op: UpdateOp): Plain {
  const values = [...x.values];
  const n = x.shape[1]!;
  for (const index of indicesOf(updates.shape)) {
    const place = positions[index[1]!]!;
    const counted = place < 0 ? place + n : place;
    if (counted < 0 || counted >= n) continue;
    const at = flatIndex(x.shape, index.with(1, counted));
    values[at] = combine[op](values[at]!, updates.values[flatIndex(updates.shape, index)]!);
  }
  return { shape: x.shape, values };
}

describeOnTensorDevices("scatter", (device) => {
  const positions = [0, 4, 4, -1, 9, -9, 2, 4];
  for (const dtype of realDTypes) {
    test(`${ops.join(", ")} into ${dtype}`, () => {
      // Small whole numbers, so that sums and products are exact in every dtype and in any order.
      const x = { shape: [2, 5, 3], values: sampleValues("i32", 30, 41).map((v) => Math.abs(v % 3)) };
      const updates = { shape: [2, 8, 3], values: sampleValues("i32", 48, 42).map((v) => Math.abs(v % 4)) };
      const places = tensor(positions, { dtype: "i32" });
      for (const op of ops) {
        const got = toTensor(x, dtype).scatter(places, toTensor(updates, dtype), { axis: 1, op });
        expectTensor(got, scattered(x, positions, updates, op), dtype, undefined, op);
      }
    });
  }

  test("narrow integers wrap; min and max let NaN win; -0 and infinities", () => {
    const twice = tensor([0, 0], { dtype: "i32" });
    assert.deepEqual(tensor([100], { dtype: "i8" }).scatter(twice, 100, { op: "add" }).arraySync(), [44]);
    assert.deepEqual(
      tensor([1, 5])
        .scatter(twice, tensor([Number.NaN, 0]), { op: "max" })
        .arraySync(),
      [Number.NaN, 5],
    );
    assert.deepEqual(
      tensor([1, 5])
        .scatter(twice, tensor([-Infinity, 0]), { op: "min" })
        .arraySync(),
      [-Infinity, 5],
    );
    assert.deepEqual(tensor([true, false]).scatter(twice.add(1), true).arraySync(), [true, true]);
    assert.deepEqual(
      tensor([true, false])
        .scatter(twice, tensor([true, false]), { op: "min" })
        .arraySync(),
      [false, false],
    );
  });

  for (const dtype of ["f32", "f64"] as const) {
    test(`sums of ${dtype} in order are the sums of a loop, the same in every run`, () => {
      const random = randomFrom(43);
      const n = 1000;
      const places = Array.from({ length: n }, () => random.below(41) - 3);
      const values = Array.from({ length: n }, () => inDType((random.below(2000) - 1000) / 7, dtype));
      const want = new Array<number>(37).fill(0);
      places.forEach((place, i) => {
        const counted = place < 0 ? place + 37 : place;
        if (counted < 37) want[counted]! += values[i]!;
      });
      const [at, updates] = [tensor(places, { dtype: "i32" }), toTensor({ shape: [n], values }, dtype)];
      const sums = () => zeros([37], { dtype }).scatter(at, updates, { op: "add", deterministic: true });
      const tolerance = { absolute: dtype === "f32" ? 0.05 : 1e-10 };
      expectTensor(sums(), { shape: [37], values: want }, dtype, tolerance, "in order");
      assert.deepEqual(numbersOf(sums()), numbersOf(sums().add(0)));
      const fast = zeros([37], { dtype }).scatter(at, updates, { op: "add" });
      expectTensor(fast, { shape: [37], values: want }, dtype, tolerance, "fast");
    });
  }

  test("deterministic sums add the updates among themselves first, and use no atomics", () => {
    // Next to 1e8, f32 are 8 apart: what is added one by one is lost.
    const at = tensor(new Int32Array(100).fill(1));
    const start = tensor([5, 1e8]);
    const isInOrder = { op: "add", deterministic: true } as const;
    assert.deepEqual(numbersOf(start.scatter(at, 1, isInOrder)), [5, Math.fround(1e8 + 100)]);
    assert.match(explain(start.scatter(at, 1, { op: "add" })), /scatter add/);
    assert.doesNotMatch(explain(start.scatter(at, 1, isInOrder)), /scatter add/);
    assert.doesNotMatch(explain(start.addAt(at, 1, { deterministic: true })), /scatter add/);
    const weights = tensor(new Float32Array(100));
    assert.doesNotMatch(explain(at.bincount({ weights, length: 2, deterministic: true })), /scatter add/);
  });

  test("deterministic sums and products of rows, with places outside", () => {
    const x = { shape: [1, 4, 5], values: sampleValues("f32", 20, 44) };
    const updates = { shape: [1, 6, 5], values: sampleValues("i32", 30, 45).map((v) => v % 3) };
    const places = [3, 0, 3, 7, -1, 0];
    for (const op of ["add", "mul", "set", "min"] as const) {
      const got = toTensor(x, "f32").scatter(tensor(places, { dtype: "i32" }), toTensor(updates, "f32"), {
        axis: 1,
        op,
        deterministic: true,
      });
      expectTensor(got, scattered(x, places, updates, op), "f32", { relative: 1e-6 }, op);
    }
  });

  test("positions of any shape, values that broadcast, views", () => {
    const plain = { shape: [3, 4], values: sampleValues("f32", 12, 46) };
    const places = tensor(
      [
        [0, 3],
        [3, 1],
      ],
      { dtype: "i64" },
    );
    const want = plain.values.map((v, i) => v + [1, 1, 0, 2][i % 4]!);
    for (const { name, x } of viewsOf(plain, "f32")) {
      const got = x.scatter(places, 1, { axis: -1, op: "add" });
      expectTensor(got, { shape: [3, 4], values: want }, "f32", undefined, name);
    }
    assert.deepEqual(
      zeros([2, 2])
        .scatter(tensor([3], { dtype: "i32" }), 5)
        .arraySync(),
      [
        [0, 0],
        [0, 5],
      ],
    );
  });

  test("of several values for one place the last wins, of a hundred thousand", () => {
    const places = Array.from({ length: 100000 }, (_, i) => (i * 7) % 13);
    const got = zeros([13]).scatter(tensor(places, { dtype: "i32" }), arange(100000).cast("f32"));
    const want = new Array<number>(13);
    places.forEach((place, i) => {
      want[place] = i;
    });
    assert.deepEqual(numbersOf(got), want);
  });

  test("putAlongAxis writes where takeAlongAxis reads", () => {
    const x = arange(12).reshape(3, 4);
    const places = tensor(
      [
        [3, 0],
        [1, 1],
        [-1, 9],
      ],
      { dtype: "i32" },
    );
    const got = x.putAlongAxis(
      places,
      tensor(
        [
          [-1, -2],
          [-3, -4],
          [-5, -6],
        ],
        { dtype: "i32" },
      ),
      { axis: 1 },
    );
    assert.deepEqual(got.arraySync(), [
      [-2, 1, 2, -1],
      [4, -4, 6, 7],
      [8, 9, 10, -5],
    ]);
    const summed = x.putAlongAxis(tensor([[2, 2, 0, 5]], { dtype: "i32" }), 100, { axis: 0, op: "add" });
    assert.deepEqual(summed.arraySync(), [
      [0, 1, 102, 3],
      [4, 5, 6, 7],
      [108, 109, 10, 11],
    ]);
  });

  test("scatterNd and gatherNd by index vectors, of elements and of blocks", () => {
    const x = arange(24).reshape(2, 3, 4);
    const vectors = tensor(
      [
        [0, 1],
        [1, -1],
        [5, 0],
        [0, 1],
      ],
      { dtype: "i32" },
    );
    const got = x.scatterNd(vectors, tensor([100, 200, 300, 400], { dtype: "i32" }).expandDims(1), { op: "add" });
    const want = Array.from({ length: 24 }, (_, i) => i + (i >= 4 && i < 8 ? 500 : i >= 20 ? 200 : 0));
    assert.deepEqual(numbersOf(got), want);
    assert.deepEqual(x.gatherNd(vectors.at("0:2")).arraySync(), [
      [4, 5, 6, 7],
      [20, 21, 22, 23],
    ]);
    assert.deepEqual(x.gatherNd(tensor([[1, 2, 3]], { dtype: "i32" })).arraySync(), [23]);
    const single = x.scatterNd(tensor([1, 2, 3], { dtype: "i32" }), -1);
    assert.equal(numbersOf(single)[23], -1);
    assert.equal(count(single.shape), 24);
  });

  test("no kernel copies into another shape, and what was computed for it alone is changed itself", () => {
    const places = tensor([0, 3, 3], { dtype: "i32" }).realize();
    const values = tensor([1, 2, 3]).realize();
    const x = tensor([0, 1, 2, 3]).realize();
    const kernelsOf = (...nodes: Tensor[]) => {
      const { steps } = backendFor(device).plan(nodes.map(({ node }) => node));
      return steps.map((step) => (step.kind === "kernel" ? step.kernel.name.split("[")[0] : step.kind));
    };
    const into = (start: Tensor) => start.addAt(places, values);
    assert.deepEqual(kernelsOf(into(x)), ["where", "scatter copy", "scatter add"]);
    assert.deepEqual(kernelsOf(into(x.reshape(2, 2).reshape(4))), ["where", "scatter copy", "scatter add"]);
    assert.ok(!kernelsOf(into(zeros([4]))).includes("scatter copy"));
    assert.ok(!kernelsOf(into(into(x.exp()))).includes("scatter copy"));
    const shared = x.add(1);
    assert.ok(kernelsOf(into(shared), shared).includes("scatter copy"));
  });

  test("what others need is left as it is", () => {
    const places = tensor([0, 3, 3], { dtype: "i32" });
    const values = tensor([1, 2, 3]);
    const want = { before: [1, 2, 3, 4], after: [2, 2, 3, 9] };
    const x = tensor([0, 1, 2, 3]).realize();
    const both = () => {
      const before = x.add(1);
      return { before, after: before.addAt(places, values) };
    };
    const asked = both();
    backendOf(asked.after.node).realize([asked.after.node, asked.before.node]);
    assert.deepEqual([asked.before.arraySync(), asked.after.arraySync()], [want.before, want.after]);
    const fused = both();
    assert.deepEqual(fused.after.sub(fused.before).arraySync(), [1, 0, 0, 5]);
    const other = both();
    assert.deepEqual(other.after.sub(other.before.reshape(2, 2).sum({ axis: 0 }).sum()).arraySync(), [-8, -8, -7, -1]);
    const twice = x.add(1);
    assert.deepEqual(twice.addAt(tensor([0, 1, 2, 3], { dtype: "i32" }), twice).arraySync(), [2, 4, 6, 8]);
    const views = both().after;
    const shapes = [views.reshape(2, 2), views.reshape(4, 1), views];
    backendOf(views.node).realize(shapes.map(({ node }) => node));
    for (const view of shapes) assert.deepEqual(numbersOf(view), want.after);
    assert.deepEqual(numbersOf(x), [0, 1, 2, 3]);
  });

  test("nothing into something, something into nothing", () => {
    const none = tensor([], { shape: [0], dtype: "i32" });
    assert.deepEqual(arange(3).scatter(none, none).arraySync(), [0, 1, 2]);
    assert.deepEqual(zeros([0, 2]).scatter(tensor([0], { dtype: "i32" }), 1, { axis: 0 }).shape, [0, 2]);
    assert.deepEqual(arange(3).set(none, 5).arraySync(), [0, 1, 2]);
  });

  test("misuse", () => {
    const at = tensor([0], { dtype: "i32" });
    assert.throws(() => zeros([2]).scatter(tensor([0.5]), 1), { name: DTypeError.name, message: /scatter: positions/ });
    assert.throws(() => zeros([2]).scatter(at, 1, { op: "sub" as UpdateOp }), {
      name: ArgumentError.name,
      message: /"sub"/,
    });
    assert.throws(() => zeros([2]).scatter(at, tensor([1, 2])), { name: ShapeError.name, message: /scatter, values/ });
    assert.throws(() => tensor([true]).scatter(at, true, { op: "add" }), DTypeError);
    assert.throws(() => zeros([2, 2]).putAlongAxis(at, 1, { axis: 0 }), ShapeError);
    assert.throws(() => zeros([2]).scatterNd(tensor([[0, 1]], { dtype: "i32" }), 1), ShapeError);
  });
});

/** Many updates of few places, so that they meet; whole numbers, so that their order does not matter. */
for (const atomicFloats of [["f32", "f64"], []] as const) {
  const how = atomicFloats.length > 0 ? "the device's own atomics" : "exchanges";
  describeOnTensorDevices(`sums of floats by ${how}`, (device) => {
    if (device === "cpu") return; // It has one way.
    for (const dtype of ["f32", "f64"] as const) {
      test(dtype, (context) => {
        const engine = vulkanEngineOf(device);
        const bits = dtype === "f32" ? 32 : 64;
        const isOffered = engine.plan.features.includes(`shaderBufferFloat${bits}AtomicAdd`);
        if (atomicFloats.length > 0 && !isOffered) return context.skip(`the device has none for ${dtype}`);
        const backend = vulkanBackend("vulkan", engine, {
          gpu: { ...describeGpu(engine), atomicFloats: [...atomicFloats] },
        });
        const on = (values: readonly number[], as: "i32" | "f32" | "f64") => {
          const array = as === "i32" ? Int32Array : as === "f32" ? Float32Array : Float64Array;
          const bytes = new Uint8Array(array.from(values).buffer);
          return new Tensor(storedNode(backend as unknown as Backend, bytes, [values.length], as));
        };
        const random = randomFrom(17);
        const places = Array.from({ length: 5000 }, () => random.below(9) - 1);
        const values = places.map(() => random.below(100) - 50);
        const want = new Array<number>(8).fill(3);
        // -1 is the last place; 8 of nine places are inside as they are.
        places.forEach((place, i) => {
          want[place < 0 ? 7 : place]! += values[i]!;
        });
        const got = on(new Array(8).fill(3), dtype).addAt(on(places, "i32"), on(values, dtype));
        assert.deepEqual(numbersOf(got), want);
      });
    }
  });
}

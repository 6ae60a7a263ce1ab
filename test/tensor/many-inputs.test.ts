/**
 * Expressions of very many tensors: sums, stacks and concatenations take a time that grows with their number, not with its
 * square, and come out right for every axis, dtype and size of the parts.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../src/core/dtype.js";
import { concat, stack, type Tensor, tensor } from "../../src/tensor/index.js";
import { scan } from "../../src/transforms/control.js";
import { grad } from "../../src/transforms/grad.js";
import { jit } from "../../src/transforms/jit.js";
import { vmap } from "../../src/transforms/vmap.js";
import { randomFrom } from "../support/random.js";
import {
  count,
  describeOnTensorDevices,
  expectTensor,
  numbersOf,
  type Plain,
  plainOf,
  read,
  toTensor,
} from "../support/tensors.js";

/** Compiled as one kernel, 500 took lavapipe half a minute on a busy machine and 2000 hours; now 2000 take two seconds. */
const MOST_SECONDS = 60;

function inTime(what: string, body: () => void): void {
  const start = performance.now();
  body();
  const seconds = (performance.now() - start) / 1000;
  assert.ok(seconds < MOST_SECONDS, `${what} took ${seconds.toFixed(0)} s`);
}

const rows = (n: number, length: number): Tensor[] =>
  Array.from({ length: n }, (_, i) => tensor(Float32Array.from({ length }, (_, j) => i + j)));

function inPairs(xs: readonly Tensor[]): Tensor {
  let rest = xs;
  while (rest.length > 1) {
    rest = rest.flatMap((x, i) => (i % 2 === 1 ? [] : [rest[i + 1] ? x.add(rest[i + 1]!) : x]));
  }
  return rest[0]!;
}

function joined(parts: readonly Plain[], axis: number): Plain {
  const starts = parts.map((_, i) => parts.slice(0, i).reduce((sum, { shape }) => sum + shape[axis]!, 0));
  const total = parts.reduce((sum, { shape }) => sum + shape[axis]!, 0);
  return plainOf(parts[0]!.shape.with(axis, total), (index) => {
    const which = starts.findLastIndex((start, i) => start <= index[axis]! && parts[i]!.shape[axis]! > 0);
    return read(parts[which]!, index.with(axis, index[axis]! - starts[which]!));
  });
}

const partsOf = (shapes: readonly (readonly number[])[]): Plain[] =>
  shapes.map((shape, which) => ({
    shape,
    values: Array.from({ length: count(shape) }, (_, i) => (7 * which + 3 * i) % 97),
  }));

describeOnTensorDevices("many inputs", () => {
  for (const n of [500, 2000]) {
    test(`sums, stacks and concatenations of ${n} tensors`, () => {
      const length = 20;
      const xs = rows(n, length);
      const sums = { shape: [length], values: Array.from({ length }, (_, j) => (n * (n - 1)) / 2 + n * j) };
      const all = { shape: [n, length], values: xs.flatMap((_, i) => Array.from({ length }, (_, j) => i + j)) };
      inTime("a chain of sums", () =>
        expectTensor(
          xs.reduce((sum, x) => sum.add(x)),
          sums,
          "f32",
        ),
      );
      inTime("a chain from the other end", () =>
        expectTensor(
          xs.reduceRight((sum, x) => x.add(sum)),
          sums,
          "f32",
        ),
      );
      inTime("sums of sums", () => expectTensor(inPairs(xs), sums, "f32"));
      inTime("a stack", () => expectTensor(stack(xs), all, "f32"));
      inTime("a concatenation", () => expectTensor(concat(xs), { ...all, shape: [n * length] }, "f32"));
      inTime("the sum of a stack", () => expectTensor(stack(xs).sum({ axis: 0 }), sums, "f32"));
      const doubled = { ...all, values: all.values.map((value) => 2 * value) };
      inTime("a stack of what is computed", () => expectTensor(stack(xs.map((x) => x.mul(2))), doubled, "f32"));
    });
  }

  test("along every axis, of parts of any length, some empty, some large", () => {
    const random = randomFrom(5);
    for (const axis of [0, 1, 2]) {
      const shapes = Array.from({ length: 40 }, (_, i) => [3, 2, 5].with(axis, i === 20 ? 7000 : random.below(5)));
      const parts = partsOf(shapes);
      const tensors = parts.map((part) => toTensor(part, "f32"));
      expectTensor(concat(tensors, { axis }), joined(parts, axis), "f32", undefined, `axis ${axis}`);
    }
  });

  for (const dtype of ["bool", "u8", "i16", "f16", "bf16", "i64", "f64", "c64"] as const satisfies readonly DType[]) {
    test(`parts of ${dtype}`, () => {
      const shapes = Array.from({ length: 30 }, (_, i) => [2, 1 + (i % 3)]);
      const parts = partsOf(shapes).map(({ shape, values }) => ({
        shape,
        values: dtype === "bool" ? values.map((value) => value % 2) : values,
      }));
      const whole = joined(parts, 1);
      if (dtype === "c64") {
        const x = concat(
          parts.map((part) => toTensor(part, "f32").cast("c64").mul({ re: 1, im: 2 })),
          { axis: 1 },
        );
        const both = whole.values.flatMap((value) => [value, 2 * value]);
        assert.deepEqual(numbersOf(x), both);
        return;
      }
      const x = concat(
        parts.map((part) => toTensor(part, dtype)),
        { axis: 1 },
      );
      expectTensor(x, whole, dtype);
    });
  }

  test("views, and the same tensor many times", () => {
    const x = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    const parts = Array.from({ length: 24 }, (_, i) => (i % 3 === 0 ? x : i % 3 === 1 ? x.flip() : x.T.reshape(2, 3)));
    const plain = (values: number[]): Plain => ({ shape: [2, 3], values });
    const known = [plain([1, 2, 3, 4, 5, 6]), plain([6, 5, 4, 3, 2, 1]), plain([1, 4, 2, 5, 3, 6])];
    expectTensor(
      concat(parts, { axis: 1 }),
      joined(
        parts.map((_, i) => known[i % 3]!),
        1,
      ),
      "f32",
    );
  });

  test("inside jit, vmap, scan and gradients", () => {
    const xs = rows(20, 3);
    const f = (...parts: Tensor[]) => concat(parts).mul(2);
    const wanted = { shape: [60], values: xs.flatMap((_, i) => [0, 1, 2].map((j) => 2 * (i + j))) };
    expectTensor(jit(f)(...xs), wanted, "f32", undefined, "jit");
    // As a whole result, which is written in parts.
    const halves = { ...wanted, values: wanted.values.map((value) => value / 2) };
    expectTensor(jit((...parts: Tensor[]) => concat(parts))(...xs), halves, "f32", undefined, "jit, in parts");
    const batched = vmap((x: Tensor) => stack(Array.from({ length: 20 }, (_, i) => x.add(i))))(tensor([0, 10]));
    const values = [0, 10].flatMap((x) => Array.from({ length: 20 }, (_, i) => x + i));
    expectTensor(batched, { shape: [2, 20], values }, "f32", undefined, "vmap");
    const slope = grad((x: Tensor) =>
      stack(Array.from({ length: 20 }, (_, i) => x.mul(i)))
        .square()
        .sum(),
    )(tensor([1, 2]));
    // d/dx Σ (i·x)² = 2x·Σ i² = 2x·2470
    expectTensor(slope, { shape: [2], values: [4940, 9880] }, "f32", undefined, "grad");
    const [last] = scan(
      (carry: Tensor) => {
        const all = stack(Array.from({ length: 20 }, (_, i) => carry.mul(i)));
        return [all.sum({ axis: 0 }).div(190).add(1), all] as [Tensor, Tensor];
      },
      tensor([0, 1]),
      null,
      { length: 3 },
    );
    expectTensor(last as Tensor, { shape: [2], values: [3, 4] }, "f32", undefined, "scan");
  });
});

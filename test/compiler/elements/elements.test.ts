/** The arithmetic of elements at the corners that targets leave open: division by zero, overflow, shifts, casts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { computeType, type Element, elementOps } from "../../../src/compiler/elements/elements.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { castScalar } from "../../../src/core/cast.js";
import { DTYPES, type DType, type Scalar } from "../../../src/core/dtype.js";
import { dataOf, elementAt, encodeValues, viewBytes } from "../../../src/core/storage.js";
import type { ElementOps } from "../../../src/graph/element-ops.js";
import { runKernel } from "../../support/kernels.js";

/** Runs an operation on one row per pair of operands, on the CPU. */
function results(
  dtype: DType,
  pairs: readonly (readonly [Scalar, Scalar])[],
  apply: (ops: ElementOps<Element>, a: Element, b: Element) => Element,
): Scalar[] {
  const k = new KernelBuilder("elements", pairs.length);
  const sources = [k.buffer(dtype, false), k.buffer(dtype, false)];
  const [a, b] = sources.map((source) => ({ dtype, value: k.load(source, k.row, computeType(dtype)) }));
  const made = apply(elementOps(k, { division: "native" }), a!, b!);
  const target = k.buffer(made.dtype, true);
  k.store(target, k.row, made.value);
  const columns = [0, 1].map((side) =>
    encodeValues(
      pairs.map((pair) => pair[side]!),
      dtype,
      "test",
    ),
  );
  const room = new Uint8Array(pairs.length * DTYPES[made.dtype].bytes);
  const out = runKernel("cpu", k.finish(), [columns[0]!, columns[1]!, room])[2]!;
  const data = dataOf(viewBytes(out), made.dtype);
  return pairs.map((_, i) => elementAt(data, made.dtype, i) as Scalar);
}

describe("integers", () => {
  test("division by zero gives zero, and truncates towards zero elsewhere", () => {
    const pairs = [
      [7, 0],
      [-7, 2],
      [7, -2],
      [7, -1],
    ] as const;
    assert.deepEqual(
      results("i32", pairs, (ops, a, b) => ops.div(a, b)),
      [0, -3, -3, -7],
    );
  });

  test("the least number divided by -1 wraps to itself", () => {
    for (const dtype of ["i8", "i32"] as const) {
      const least = Number(DTYPES[dtype].min);
      assert.deepEqual(
        results(dtype, [[least, -1]], (ops, a, b) => ops.div(a, b)),
        [least],
      );
      assert.deepEqual(
        results(dtype, [[least, -1]], (ops, a, b) => ops.rem(a, b)),
        [0],
      );
    }
  });

  test("narrow sums and products wrap at their width", () => {
    assert.deepEqual(
      results("i8", [[100, 100]], (ops, a, b) => ops.add(a, b)),
      [-56],
    );
    assert.deepEqual(
      results("u16", [[300, 300]], (ops, a, b) => ops.mul(a, b)),
      [90000 % 65536],
    );
  });

  test("shifts by the width or more give 0, or the sign", () => {
    const shifted = (direction: "left" | "right") => (ops: ElementOps<Element>, a: Element, b: Element) =>
      ops.shift(direction, a, b);
    assert.deepEqual(
      results(
        "u32",
        [
          [5, 32],
          [5, 31],
        ],
        shifted("left"),
      ),
      [0, 2 ** 31],
    );
    assert.deepEqual(
      results(
        "i8",
        [
          [-3, 8],
          [-3, 1],
        ],
        shifted("right"),
      ),
      [-1, -2],
    );
  });

  test("powers are repeated products; negative exponents give 0", () => {
    const power = (ops: ElementOps<Element>, a: Element, b: Element) => ops.power(a, b);
    assert.deepEqual(
      results(
        "i32",
        [
          [3, 5],
          [-2, 3],
          [2, 33],
          [3, -1],
          [0, 0],
        ],
        power,
      ),
      [243, -8, 0, 0, 1],
    );
  });
});

test("casts follow the rules of core/cast.ts: wrap, saturate, NaN to 0", () => {
  const values = [-1.5, 300.7, -300.7, 1e20, -1e20, Number.NaN, Infinity, 0.49, -0.49];
  for (const to of ["i8", "u8", "i32", "u32", "i64", "bool", "f16"] as const) {
    const got = results(
      "f32",
      values.map((value) => [value, 0]),
      (ops, a) => ops.cast(a, to),
    );
    const want = values.map((value) => castScalar(Math.fround(value), "f32", to));
    assert.deepEqual(got, want, to);
  }
});

test("NaN wins in min and max, on either side", () => {
  for (const op of ["min", "max"] as const) {
    const got = results(
      "f32",
      [
        [Number.NaN, 1],
        [1, Number.NaN],
        [2, 3],
      ],
      (ops, a, b) => ops[op](a, b),
    );
    assert.deepEqual(got, [Number.NaN, Number.NaN, op === "min" ? 2 : 3]);
  }
});

describe("quotients by a constant", () => {
  test("a power of two is multiplied by instead, with the same bits; other divisors stay", () => {
    const values = [1, -3.7, 1e-45, 3e-39, 5e-324, 1e300, 3.4e38, 0, -0, Infinity, -Infinity, Number.NaN];
    for (const dtype of ["f32", "f64"] as const) {
      const pairs = values.map((value) => [castScalar(value, "f64", dtype), 0] as const);
      for (const divisor of [256, -2, 0.125, 1, 2 ** 100, 2 ** -100, 3, 2 ** 101]) {
        const found = results(dtype, pairs, (ops, a) => ops.div(a, ops.constant(dtype, divisor)));
        const want = pairs.map(([value]) => castScalar(Number(value) / divisor, "f64", dtype));
        assert.deepEqual(found, want, `${dtype} / ${divisor}`);
      }
    }
    const dividing = (divisor: number) => {
      const k = new KernelBuilder("quotient", 1);
      const x = { dtype: "f32", value: k.load(k.buffer("f32", false), k.row, "f32") } as const;
      return elementOps(k, { division: "native" }).div(
        x,
        elementOps(k, { division: "native" }).constant("f32", divisor),
      );
    };
    assert.deepEqual([256, -0.5, 3, 2 ** 101].map((divisor) => dividing(divisor).value.op), ["mul", "mul", "div", "div"]); // biome-ignore format: one row
  });
});

/** What is computed four at a time: decided from the kernel alone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { canTakeTurns, planVectors } from "../../../../src/compiler/emit/wasm/vector-plan.js";
import type { IRType, Value } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import type { DType } from "../../../../src/core/dtype.js";
import { runKernel } from "../../../support/kernels.js";

type Write = (k: KernelBuilder, source: number, target: number) => void;

function plan(write: Write, dtype: DType = "f32") {
  const k = new KernelBuilder("planned", 64);
  write(k, k.buffer(dtype, false), k.buffer(dtype, true));
  const kernel = k.finish();
  const { isRowVector, loops } = planVectors(kernel);
  return isRowVector ? "rows" : loops.size > 0 ? "rounds" : "none";
}

const doubled =
  (type: IRType): Write =>
  (k, source, target) => {
    const x = k.load(source, k.row, type);
    k.store(target, k.row, k.binary("add", x, x));
  };

/** The sum of a row of 16, whose elements are neighbours along the row (or a stride apart). */
const summed =
  (stride: number, start = 0): Write =>
  (k, source, target) => {
    const i = (value: number) => k.constant("i32", value);
    const [sum] = k.loop(16, [k.constant("f32", start)], (at, [total]) => {
      const index = k.binary("add", k.binary("mul", k.row, i(16)), k.binary("mul", at, i(stride)));
      return [k.binary("add", total!, k.load(source, index, "f32"))];
    });
    k.store(target, k.row, sum!);
  };

/** Two neighbours of a row, exchanged, each to the power `times` + 1. */
const powers =
  (type: "f32" | "f64", times: number): Write =>
  (k, source, target) => {
    const place = (by: number) => k.binary("add", k.binary("mul", k.row, k.constant("i32", 2)), k.constant("i32", by));
    for (const by of [0, 1]) {
      const x = k.load(source, place(1 - by), type);
      let product = x;
      for (let i = 0; i < times; i++) product = k.binary("mul", product, x);
      k.store(target, place(by), product);
    }
  };

describe("four rows at once", () => {
  test("where they are neighbours in memory", () => assert.equal(plan(doubled("f32")), "rows"));
  test("also of half floats, which are computed as f32", () => assert.equal(plan(doubled("f32"), "f16"), "rows"));
  test("of f64, as two vectors, of bools and of narrow integers", () => {
    assert.equal(plan(doubled("f64"), "f64"), "rows");
    for (const dtype of ["u8", "i8", "i16", "u16"] as const) assert.equal(plan(doubled("i32"), dtype), "rows");
    const turned: Write = (k, source, target) => k.store(target, k.row, k.unary("not", k.load(source, k.row, "bool")));
    assert.equal(plan(turned, "bool"), "rows");
  });
  test("not of f64 where most of what is computed has no vectors", () => {
    const remainders: Write = (k, source, target) => {
      const x = k.load(source, k.row, "f64");
      k.store(target, k.row, k.convert("f64", k.binary("irem", k.convert("i32", x), k.row)));
    };
    assert.equal(plan(remainders, "f64"), "none");
  });
  test("nor of integers of 64 bits", () => assert.equal(plan(doubled("i64"), "i64"), "none"));
  test("nor where a store is gated", () => {
    const gated: Write = (k, source, target) => {
      const x = k.load(source, k.row, "f32");
      k.store(target, k.row, x, true, k.compare("gt", x, k.constant("f32", 0)));
    };
    assert.equal(plan(gated), "none");
  });
  test("nor where rows store a stride apart, unless much is computed in between", () => {
    for (const type of ["f32", "f64"] as const) {
      assert.equal(plan(powers(type, 1), type), "none");
      assert.equal(plan(powers(type, 8), type), "rows");
    }
  });
  test("that are loaded and stored a stride apart are what they are one by one, also those left over", () => {
    for (const [type, Numbers] of [
      ["f32", Float32Array],
      ["f64", Float64Array],
    ] as const) {
      const k = new KernelBuilder("powers", 7);
      powers(type, 8)(k, k.buffer(type, false), k.buffer(type, true));
      const numbers = Numbers.from(Array.from({ length: 14 }, (_, i) => (i % 4) - 1));
      const [, found] = runKernel("cpu", k.finish(), [numbers, new Numbers(14)]);
      const wanted = Array.from({ length: 7 }, (_, row) => [numbers[2 * row + 1]! ** 9, numbers[2 * row]! ** 9]);
      assert.deepEqual([...found!], [...Numbers.from(wanted.flat())], type);
    }
  });
});

/** Rounds that add a number to two places of an array, `distance` apart. */
const inTwoPlaces =
  (distance: number): Write =>
  (k, source, target) => {
    const i = (value: number) => k.constant("i32", value);
    const array = k.array("f32", 64);
    k.loop(32, [], (at) => {
      const places = [at, k.binary("add", at, i(distance))];
      const numbers = places.map((place) => k.get(array, place));
      places.forEach((place, which) => {
        k.set(array, place, k.binary("add", numbers[which]!, k.load(source, at, "f32")));
      });
      return [];
    });
    k.store(target, k.row, k.get(array, i(0)), true, k.compare("gt", k.row, i(0)));
  };

describe("four rounds at once", () => {
  test("that write in two places far apart, but not in two that later rounds come upon", () => {
    assert.equal(plan(inTwoPlaces(20)), "rounds");
    assert.equal(plan(inTwoPlaces(3)), "none");
    assert.equal(plan(inTwoPlaces(12)), "none");
  });
  // -0 changes no sum; 0 would turn a sum of -0 into 0.
  test("of a sum along memory that begins with -0", () => assert.equal(plan(summed(1, -0)), "rounds"));
  test("but not if it begins with another number, which would count four times", () => {
    assert.notEqual(plan(summed(1, 5)), "rounds");
  });
});

test("short bodies without loops take turns, long ones do not", () => {
  const body = (length: number) => {
    const k = new KernelBuilder("body", 8);
    let x = k.convert("f32", k.row);
    for (let i = 0; i < length; i++) x = k.binary("mul", x, k.constant("f32", 1 + 1 / (i + 2)));
    k.store(k.buffer("f32", true), k.row, x);
    return k.finish().body;
  };
  assert.ok(canTakeTurns(body(20)));
  assert.ok(!canTakeTurns(body(200)));
});

describe("rounds that read and write the same array", () => {
  /** A kernel with a branch, and a loop that copies from an index to another of one array, as far as both are told. */
  const copies = (at: (k: KernelBuilder, i: Value, turn: Value) => readonly [from: Value, to: Value]) => {
    const k = new KernelBuilder("copies", 1);
    const [from, to] = [k.buffer("f64", false), k.buffer("f64", true)];
    const array = k.array("f64", 400);
    k.loop(3, [], (turn) => {
      k.loop(100, [], (i) => {
        const [read, written] = at(k, i, turn);
        k.set(array, written, k.binary("add", k.get(array, read), k.load(from, i, "f64")));
        return [];
      });
      return [];
    });
    k.when(k.compare("gt", k.get(array, k.constant("i32", 0)), k.constant("f64", 0)), () => {
      k.store(to, k.constant("i32", 0), k.constant("f64", 1));
      return [];
    });
    return planVectors(k.finish()).loops.size;
  };
  const further = (k: KernelBuilder, i: Value, by: number) => k.binary("add", i, k.constant("i32", by));

  test("at the same place, or at one they have passed, are computed together", () => {
    assert.equal(
      copies((_, i) => [i, i]),
      1,
    );
    assert.equal(
      copies((k, i) => [further(k, i, 1), i]),
      1,
    );
    assert.equal(
      copies((k, i) => [i, further(k, i, 16)]),
      1,
    );
  });
  test("and not where a round reads what one before it wrote, of four vectors that take turns", () => {
    for (const by of [1, 2, 3, 4, 8, 15]) {
      assert.equal(
        copies((k, i) => [i, further(k, i, by)]),
        0,
      );
    }
  });
  test("halves that take turns are apart, whichever is read", () => {
    const inHalf = (k: KernelBuilder, half: Value, i: Value, size: number) =>
      k.binary("add", k.binary("mul", half, k.constant("i32", size)), i);
    const turns = (size: number) => (k: KernelBuilder, i: Value, turn: Value) => {
      const half = k.binary("and", turn, k.constant("i32", 1));
      return [inHalf(k, half, i, size), inHalf(k, k.binary("sub", k.constant("i32", 1), half), i, size)] as const;
    };
    assert.equal(copies(turns(100)), 1);
    // Halves of three elements overlap.
    assert.equal(copies(turns(3)), 0);
  });
});

test("a loop that reads what it wrote some rounds before computes what one round after another does", () => {
  for (const by of [1, 3, 4, 5, 8, 12, 15, 16, 20]) {
    for (const rounds of [40, 100]) {
      const k = new KernelBuilder("recurrence", 1);
      const [from, to] = [k.buffer("f32", false), k.buffer("f32", true)];
      const array = k.array("f32", 128);
      const i = (value: number) => k.constant("i32", value);
      k.loop(128, [], (at) => {
        k.set(array, at, k.load(from, at, "f32"));
        return [];
      });
      k.loop(rounds, [], (at) => {
        k.set(array, k.binary("add", at, i(by)), k.binary("add", k.get(array, at), k.constant("f32", 1)));
        return [];
      });
      k.loop(128, [], (at) => {
        k.store(to, at, k.get(array, at));
        return [];
      });
      // A branch, so that only loops are taken as vectors.
      k.when(k.compare("lt", k.get(array, i(0)), k.constant("f32", -1)), () => {
        k.store(to, i(0), k.constant("f32", 0));
        return [];
      });
      const numbers = Float32Array.from({ length: 128 }, (_, at) => at);
      const expected = [...numbers];
      for (let at = 0; at < rounds; at++) expected[at + by] = (expected[at] as number) + 1;
      const [, found] = runKernel("cpu", k.finish(), [numbers, new Float32Array(128)]);
      assert.deepEqual([...found!], expected, `${by} apart, ${rounds} rounds`);
    }
  }
});

/** Places: where the values of a function inside a kernel lie. Each is written and read by kernels that run on the CPU. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  arrayPlace,
  columnPlace,
  dataPlace,
  type Place,
  Scratch,
  shifted,
} from "../../../src/compiler/inline/place.js";
import type { Value } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { UnsupportedError } from "../../../src/core/errors.js";
import { runKernel } from "../../support/kernels.js";

const ROWS = 3;
const i32 = (k: KernelBuilder, value: number): Value => k.constant("i32", value);

/** Runs a kernel over ROWS rows that stores one number per row; `scratch` gives the sizes of further buffers. */
function run(
  write: (k: KernelBuilder) => Value,
  data: readonly (Float32Array | Int32Array)[] = [],
): { out: number[]; memory: readonly (Float32Array | Int32Array)[] } {
  const k = new KernelBuilder("places", ROWS);
  const out = k.buffer("f32", true);
  k.store(out, k.row, write(k));
  const memory = runKernel("cpu", k.finish(), [new Float32Array(ROWS), ...data] as Float32Array[]);
  return { out: [...memory[0]!], memory: memory.slice(1) };
}

test("data are the same for all rows, loads may go anywhere, and nobody stores there", () => {
  let place: Place | undefined;
  const { out } = run(
    (k) => {
      place = dataPlace(k, "f32");
      return k.binary("add", place.load(i32(k, 2)), place.load(k.row));
    },
    [Float32Array.of(1, 10, 100)],
  );
  assert.deepEqual(out, [101, 110, 200]);
  assert.throws(() => place?.store(null as never, null as never), /only read/);
});

test("an array belongs to its row, and a gate keeps its elements as they are", () => {
  const { out } = run((k) => {
    const place = arrayPlace(k, "f32", 2);
    place.store(i32(k, 0), k.convert("f32", k.row));
    place.store(i32(k, 1), k.constant("f32", 100));
    place.store(i32(k, 1), k.constant("f32", 7), k.compare("eq", k.row, i32(k, 1)));
    return k.binary("add", place.load(i32(k, 0)), place.load(i32(k, 1)));
  });
  assert.deepEqual(out, [100, 8, 102]);
});

test("an element of a column has its rows side by side", () => {
  const { out, memory } = run(
    (k) => {
      const place = columnPlace(k, k.buffer("f32", true), "f32", i32(k, 1));
      place.store(i32(k, 0), k.convert("f32", k.row));
      place.store(i32(k, 2), k.constant("f32", 9), k.compare("ne", k.row, i32(k, 1)));
      return k.binary("add", place.load(i32(k, 0)), place.load(i32(k, 2)));
    },
    [new Float32Array(4 * ROWS).fill(-1)],
  );
  assert.deepEqual(out, [9, 0, 11]);
  assert.deepEqual([...memory[0]!], [-1, -1, -1, 0, 1, 2, -1, -1, -1, 9, -1, 9]);
});

describe("bools are kept as whole numbers and come back as bools", () => {
  const check = (make: (k: KernelBuilder) => Place, data: readonly Int32Array[]) => {
    const { out, memory } = run((k) => {
      const place = make(k);
      place.store(i32(k, 0), k.compare("lt", k.row, i32(k, 2)));
      const loaded = place.load(i32(k, 0));
      assert.equal(loaded.type, "bool");
      return k.select(loaded, k.constant("f32", 1), k.constant("f32", 0));
    }, data);
    assert.deepEqual(out, [1, 1, 0]);
    return memory;
  };
  test("in arrays", () => {
    check((k) => arrayPlace(k, "bool", 1), []);
  });
  test("in columns", () => {
    const memory = check((k) => columnPlace(k, k.buffer("i32", true), "bool", i32(k, 0)), [new Int32Array(ROWS)]);
    assert.deepEqual([...memory[0]!], [1, 1, 0]);
  });
});

test("a shifted place begins at another element, for loads, stores and their gates", () => {
  const { out } = run((k) => {
    const whole = arrayPlace(k, "f32", 4);
    for (let i = 0; i < 4; i++) whole.store(i32(k, i), k.constant("f32", 10 ** i));
    const part = shifted(k, whole, i32(k, 2));
    part.store(i32(k, 1), k.constant("f32", 5), k.compare("eq", k.row, i32(k, 0)));
    return k.binary("add", part.load(i32(k, 0)), whole.load(i32(k, 3)));
  });
  assert.deepEqual(out, [105, 1100, 1100]);
});

describe("scratch memory", () => {
  test("is an array up to 256 elements, then a stretch of a buffer of its type, which all stretches share", () => {
    const k = new KernelBuilder("scratch", ROWS);
    const scratch = new Scratch(k);
    scratch.place("f32", 256);
    assert.deepEqual(scratch.buffers, []);
    scratch.place("f32", 257);
    scratch.place("f64", 300);
    scratch.place("f32", 1000);
    assert.deepEqual(scratch.buffers, [
      { slot: 0, dtype: "f32", elements: 1257 },
      { slot: 1, dtype: "f64", elements: 300 },
    ]);
  });

  test("of bools shares the buffer of whole numbers", () => {
    const scratch = new Scratch(new KernelBuilder("scratch", ROWS));
    scratch.place("bool", 300);
    scratch.place("i32", 400);
    assert.deepEqual(scratch.buffers, [{ slot: 0, dtype: "i32", elements: 700 }]);
  });

  test("lies apart for each value", () => {
    const { out } = run(
      (k) => {
        const scratch = new Scratch(k);
        const [a, b] = [scratch.place("f32", 257), scratch.place("f32", 257)];
        a.store(i32(k, 256), k.constant("f32", 1));
        b.store(i32(k, 0), k.constant("f32", 20));
        return k.binary("add", a.load(i32(k, 256)), b.load(i32(k, 0)));
      },
      [new Float32Array(514 * ROWS)],
    );
    assert.deepEqual(out, [21, 21, 21]);
  });

  test("is refused to complex numbers, and a value without elements has a place all the same", () => {
    const scratch = new Scratch(new KernelBuilder("scratch", ROWS));
    assert.throws(() => scratch.place("c64", 2), UnsupportedError);
    assert.doesNotThrow(() => scratch.place("f32", 0));
  });
});

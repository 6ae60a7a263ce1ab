/** What a kernel computes in one loop and again in a later one: computed once where that pays, and right all the same. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Kernel, type Value, walkStatements } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { keepRepeatedValues } from "../../../src/compiler/lower/repeated-values.js";
import { kernelsOf } from "../../../src/compiler/program/program.js";
import { type Tensor, tensor } from "../../../src/index.js";
import { backendOf } from "../../../src/tensor/build.js";
import { runKernel } from "../../support/kernels.js";

const ROOM = 1 << 16;

type Float = "f32" | "f64";

interface Shape {
  readonly rows: number;
  /** Extents of the loops, outermost first. */
  readonly extents: readonly number[];
  readonly type?: Float;
  /** Steps from x to f(x). */
  readonly work?: number;
  /** Elements of a column lie side by side, not those of a row. */
  readonly isAcross?: boolean;
}

/** ((x · 0.9 + 1) · 0.9 + 1) …: every step is two operations, and rounds. */
const powers = (x: number, work: number, round: (x: number) => number): number => {
  let y = x;
  for (let i = 0; i < work; i++) y = round(round(y * round(0.9)) + 1);
  return y;
};

/** y = f(x) · (the largest f of the row), in two nests of loops. */
function scaled({ rows, extents, type = "f32", work = 6, isAcross = false }: Shape): Kernel {
  const k = new KernelBuilder("scaled", rows);
  const [source, target] = [k.buffer(type, false), k.buffer(type, true)];
  const i = (value: number) => k.constant("i32", value);
  const columns = extents.reduce((product, extent) => product * extent, 1);
  const placeOf = (indices: readonly Value[]): Value => {
    const column = indices.reduce((at, index, depth) =>
      k.binary("add", k.binary("mul", at, i(extents[depth]!)), index),
    );
    return isAcross
      ? k.binary("add", k.binary("mul", column, i(rows)), k.row)
      : k.binary("add", k.binary("mul", k.row, i(columns)), column);
  };
  const powersOf = (place: Value): Value => {
    let y = k.load(source, place, type);
    for (let n = 0; n < work; n++) {
      y = k.binary("add", k.binary("mul", y, k.constant(type, 0.9)), k.constant(type, 1));
    }
    return y;
  };
  const over = (
    initial: readonly Value[],
    body: (place: Value, state: readonly Value[]) => readonly Value[],
    outer: readonly Value[] = [],
  ): readonly Value[] =>
    outer.length === extents.length
      ? body(placeOf(outer), initial)
      : k.loop(extents[outer.length]!, initial, (index, state) => over(state, body, [...outer, index]));
  const [largest] = over([k.constant(type, Number.NEGATIVE_INFINITY)], (place, [soFar]) => [
    k.binary("max", soFar!, powersOf(place)),
  ]);
  over([], (place) => {
    k.store(target, place, k.binary("mul", powersOf(place), largest!));
    return [];
  });
  return k.finish();
}

function inputsOf({ rows, extents, type = "f32" }: Shape): Float32Array | Float64Array {
  const length = rows * extents.reduce((product, extent) => product * extent, 1);
  const values = Array.from({ length }, (_, at) => Math.sin(at * at));
  return type === "f32" ? new Float32Array(values) : new Float64Array(values);
}

/** The same by the definition. The product by a maximum is rounded once, so every bit is known. */
function expected(shape: Shape): Float32Array | Float64Array {
  const { rows, extents, type = "f32", work = 6, isAcross = false } = shape;
  const round = type === "f32" ? Math.fround : (x: number) => x;
  const columns = extents.reduce((product, extent) => product * extent, 1);
  const values = inputsOf(shape).map((x) => powers(x, work, round));
  const rowOf = (at: number) => (isAcross ? at % rows : Math.floor(at / columns));
  const largest = new Array<number>(rows).fill(Number.NEGATIVE_INFINITY);
  values.forEach((value, at) => {
    largest[rowOf(at)] = Math.max(largest[rowOf(at)]!, value);
  });
  return values.map((value, at) => value * largest[rowOf(at)]!);
}

/** Loads from memory, and reads from arrays. */
function countOf(kernel: Kernel): { loads: number; reads: number; writes: number } {
  const count = { loads: 0, reads: 0, writes: 0 };
  walkStatements(kernel.body, (statement) => {
    if (statement.kind === "let" && statement.value.op === "load") count.loads++;
    if (statement.kind === "read") count.reads++;
    if (statement.kind === "write") count.writes++;
  });
  return count;
}

describe("keepRepeatedValues", () => {
  const cases: Readonly<Record<string, Shape>> = {
    "a row of whole vectors": { rows: 3, extents: [1024] },
    "a row of odd length": { rows: 5, extents: [131] },
    "a row shorter than a vector": { rows: 7, extents: [3] },
    "loops in loops": { rows: 3, extents: [5, 67] },
    "three of them": { rows: 2, extents: [2, 3, 20] },
    "rows that lie across": { rows: 70, extents: [33], isAcross: true },
    "an odd number of those": { rows: 7, extents: [3, 9], isAcross: true },
    doubles: { rows: 3, extents: [50], type: "f64" },
  };
  for (const [name, shape] of Object.entries(cases)) {
    test(`computes f(x) once and reads it once more: ${name}`, () => {
      const plain = scaled(shape);
      const kept = keepRepeatedValues(plain, ROOM);
      assert.deepEqual(countOf(plain), { loads: 2, reads: 0, writes: 0 });
      assert.deepEqual(countOf(kept), { loads: 1, reads: 1, writes: 1 });
      const size = shape.extents.reduce((product, extent) => product * extent, 1);
      assert.deepEqual(kept.arrays, [{ type: shape.type ?? "f32", size }]);
      const inputs = inputsOf(shape);
      for (const kernel of [plain, kept]) {
        const [, results] = runKernel("cpu", kernel, [inputs, inputs.map(() => Number.NaN)]);
        assert.deepEqual(results, expected(shape));
      }
    });
  }

  const same: Readonly<Record<string, () => Kernel>> = {
    "what is soon computed": () => scaled({ rows: 3, extents: [64], work: 2 }),
    "what does not fit": () => scaled({ rows: 3, extents: [ROOM / 4 + 1] }),
    "a loop that runs alone": () => {
      const k = new KernelBuilder("alone", 3);
      const target = k.buffer("f32", true);
      const [sum] = k.loop(9, [k.constant("f32", 0)], (i, [soFar]) => [k.binary("add", soFar!, k.convert("f32", i))]);
      k.store(target, k.row, sum!);
      return k.finish();
    },
  };
  for (const [name, make] of Object.entries(same)) {
    test(`leaves a kernel as it is: ${name}`, () => {
      const kernel = make();
      assert.equal(keepRepeatedValues(kernel, ROOM), kernel);
    });
  }

  test("rounds of loops that may end early, or are of another number, are not the same", () => {
    const twice = (extent: number, endsEarly: boolean): Kernel => {
      const k = new KernelBuilder("twice", 1);
      const [source, target] = [k.buffer("f32", false), k.buffer("f32", true)];
      const after = (rounds: number, exits: boolean) =>
        k.loop(
          rounds,
          [k.constant("f32", 0)],
          (i, [sum]) => {
            let y = k.load(source, i, "f32");
            for (let n = 0; n < 10; n++) y = k.binary("mul", y, y);
            return [k.binary("add", sum!, y)];
          },
          exits ? { exitWhen: ([sum]) => k.compare("gt", sum!, k.constant("f32", 1)) } : {},
        )[0]!;
      k.store(target, k.constant("i32", 0), k.binary("sub", after(16, endsEarly), after(extent, false)));
      return k.finish();
    };
    for (const kernel of [twice(16, true), twice(17, false)]) assert.equal(keepRepeatedValues(kernel, ROOM), kernel);
    assert.equal(keepRepeatedValues(twice(16, false), ROOM).arrays.length, 1);
  });

  test("lanes that share a row have no such arrays", () => {
    const kernel: Kernel = { ...scaled({ rows: 4, extents: [64] }), lanes: 4 };
    assert.equal(keepRepeatedValues(kernel, ROOM), kernel);
  });
});

describe("on the CPU", () => {
  const softmaxOf = (x: number[]): number[] => {
    const largest = Math.max(...x);
    const total = x.reduce((sum, each) => sum + Math.exp(each - largest), 0);
    return x.map((each) => Math.exp(each - largest) / total);
  };
  /** A sum down columns takes one element after the other: its error grows with them. */
  const LIMITS = { f32: 4e-6, f64: 1e-12 } as const;
  const check = async (y: Tensor, rows: readonly number[][], at: (row: number, column: number) => number) => {
    const limit = LIMITS[y.dtype as keyof typeof LIMITS];
    const values = await y.cast("f64").data();
    for (const [r, row] of rows.entries()) {
      for (const [c, right] of softmaxOf(row).entries()) {
        const value = values[at(r, c)]!;
        assert.ok(Math.abs(value - right) <= limit * right, `row ${r}, column ${c}: ${value}; ${right} is right`);
      }
    }
  };
  /** Their differences are exact. */
  const numbers = (rows: number, columns: number): number[][] =>
    Array.from({ length: rows }, (_, r) =>
      Array.from({ length: columns }, (_, c) => Math.round(8192 * Math.sin(r + c * c)) / 1024),
    );

  for (const dtype of ["f32", "f64"] as const) {
    for (const [rows, columns, isKept] of [
      [5, 1000, true],
      [4, 4099, true],
      [4, 6001, true],
      [4, 36864, false],
    ] as const) {
      test(`a softmax of ${dtype}, ${rows}×${columns}, along either axis`, async () => {
        const x = numbers(rows, columns);
        const along = tensor(x, { dtype, device: "cpu" }).softmax();
        const kernels = kernelsOf(backendOf(along.node).plan([along.node]).steps);
        assert.equal(kernels.length, 1);
        const { arrays } = kernels[0]!.kernel;
        assert.equal(arrays.length > 0, isKept);
        await check(along, x, (r, c) => r * columns + c);
        const across = tensor(x, { dtype, device: "cpu" }).T.softmax({ axis: 0 });
        await check(across, x, (r, c) => c * rows + r);
        const copied = tensor(
          x[0]!.map((_, c) => x.map((row) => row[c]!)),
          { dtype, device: "cpu" },
        );
        await check(copied.softmax({ axis: 0 }), x, (r, c) => c * rows + r);
      });
    }
  }

  test("a NaN anywhere makes its row NaN, and no other", async () => {
    for (const place of [0, 1, 5, 63, 64, 66]) {
      const x = numbers(3, 67);
      x[1]![place] = Number.NaN;
      const y = tensor(x, { device: "cpu" }).softmax();
      const isNan = ((await y.array()) as number[][]).map((row) => row.map(Number.isNaN));
      assert.deepEqual(
        isNan,
        [false, true, false].map((is) => new Array(67).fill(is)),
      );
    }
  });
});

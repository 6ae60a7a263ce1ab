/** The kernel of running totals, interpreted in each of its roles, for one thread and for lanes that share a row. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { walkStatements } from "../../../src/compiler/ir/ir.js";
import {
  type Cumulation,
  type Cut,
  cumulateKernel,
  PER_LANE,
  type Role,
  sizesOf,
} from "../../../src/compiler/routines/cumulate-kernel.js";
import type { DType } from "../../../src/core/dtype.js";
import { dataOf, encodeValues } from "../../../src/core/storage.js";
import { interpretKernel } from "../../support/kernel-interpreter.js";

const task = (shape: readonly number[], changes: Partial<Cumulation> = {}): Cumulation => ({
  ...{ op: "sum", dtype: "i32", shape, axis: 0, isReverse: false, isExclusive: false, hasSegments: false },
  ...changes,
});
const elements: Role = { stores: "elements", startsFrom: null, nothing: 0 };
/** One chunk of the whole axis for a thread, and for four lanes: their chunks are whole rounds. */
const alone = (extent: number): Cut => ({ chunks: 1, chunkLength: extent, lanes: 1 });
const shared = (extent: number): Cut => ({ chunks: 1, chunkLength: Math.ceil(extent / ROUND) * ROUND, lanes: LANES });
const LANES = 4;
const ROUND = LANES * PER_LANE;

const numbers = (count: number) => Array.from({ length: count }, (_, i) => ((i * 37) % 19) - 9);

/** The numbers that a kernel writes: into one buffer, or into two of as many elements. */
function written(
  of: Cumulation,
  cut: Cut,
  role: Role,
  inputs: readonly (readonly number[])[],
  size: number,
): number[][] {
  const kernel = cumulateKernel(of, cut, role, { division: "native" });
  const memory = kernel.buffers.map(({ dtype, isWritten }, i) =>
    isWritten ? new Uint8Array(4 * size) : encodeValues(inputs[i]!, dtype, "test"),
  );
  interpretKernel(kernel, memory);
  return kernel.buffers.flatMap(({ dtype, isWritten }, i) =>
    isWritten ? [[...dataOf(memory[i]!, dtype as DType)].map(Number)] : [],
  );
}

type Combine = (a: number, b: number) => number;
const COMBINE = { sum: (a, b) => a + b, max: Math.max, product: (a, b) => a * b } satisfies Record<string, Combine>;
const NOTHING = { sum: 0, max: -(2 ** 31), product: 1 };

/** Totals of one row, from the definition. `segments` restart them. */
function totals(
  row: readonly number[],
  { op, isReverse, isExclusive }: Pick<Cumulation, "op" | "isReverse" | "isExclusive">,
  segments: readonly number[] = row.map(() => 0),
): number[] {
  const which = op as keyof typeof COMBINE;
  return row.map((_, at) => {
    const isCounted = (i: number) => {
      const isUpTo = isReverse ? i >= at : i <= at;
      return isUpTo && !(isExclusive && i === at) && segments[i] === segments[at];
    };
    return row.filter((_, i) => isCounted(i)).reduce((a, b) => COMBINE[which](a, b), NOTHING[which]);
  });
}

describe("every element's total", () => {
  for (const [name, cutOf] of [
    ["a thread", alone],
    ["lanes", shared],
  ] as const) {
    test(`${name}: forwards and back, with the element and without, in extents that rounds do not divide`, () => {
      for (const extent of [1, 5, 16, 37]) {
        const values = numbers(3 * extent);
        for (const isReverse of [false, true]) {
          for (const isExclusive of [false, true]) {
            const own = task([3, extent], { axis: 1, isReverse, isExclusive });
            const [got] = written(own, cutOf(extent), elements, [values], values.length);
            const rows = [0, 1, 2].map((row) => values.slice(row * extent, (row + 1) * extent));
            assert.deepEqual(
              got,
              rows.flatMap((row) => totals(row, own)),
              `${extent}${isReverse ? ", from the end" : ""}${isExclusive ? ", without the element" : ""}`,
            );
          }
        }
      }
    });

    test(`${name}: totals restart where a segment begins`, () => {
      const values = numbers(37);
      const segments = values.map((_, i) => (i < 3 ? 0 : i < 4 ? 1 : i < 21 ? 2 : 3));
      for (const isExclusive of [false, true]) {
        const own = task([37], { hasSegments: true, isExclusive });
        const [got] = written(own, cutOf(37), elements, [values, segments], 37);
        assert.deepEqual(got, totals(values, own, segments));
      }
    });

    test(`${name}: other reductions than sums`, () => {
      const values = numbers(21).map((x) => (x % 3 === 0 ? 1 : x > 0 ? 2 : -1));
      for (const op of ["max", "product"] as const) {
        const [got] = written(task([21], { op }), cutOf(21), { ...elements, nothing: NOTHING[op] }, [values], 21);
        assert.deepEqual(got, totals(values, task([21], { op })), op);
      }
    });
  }

  test("many lanes, several rounds: the next elements are loaded ahead", () => {
    const [lanes, extent] = [64, 3 * 64 * PER_LANE - 5];
    const cut: Cut = { chunks: 1, chunkLength: 3 * lanes * PER_LANE, lanes };
    const values = numbers(extent).map((x) => Math.sign(x) || 1);
    for (const op of ["sum", "max", "product"] as const) {
      for (const isExclusive of [false, true]) {
        const own = task([extent], { op, isExclusive });
        const [got] = written(own, cut, { ...elements, nothing: NOTHING[op] }, [values], extent);
        assert.deepEqual(got, totals(values, own), `${op}${isExclusive ? ", without the element" : ""}`);
      }
    }
  });

  test("an axis with others behind it", () => {
    const values = numbers(2 * 5 * 3);
    const own = task([2, 5, 3], { axis: 1 });
    assert.deepEqual(sizesOf(own), { outer: 2, extent: 5, inner: 3 });
    const [got] = written(own, alone(5), elements, [values], values.length);
    const want = values.map((_, at) => {
      const [block, place, within] = [Math.floor(at / 15), Math.floor(at / 3) % 5, at % 3];
      return Array.from({ length: place + 1 }, (_, i) => values[block * 15 + i * 3 + within]!).reduce((a, b) => a + b);
    });
    assert.deepEqual(got, want);
  });
});

describe("an axis in chunks", () => {
  /** Three chunks of an axis; the last one is ragged. */
  const cuts: readonly Cut[] = [
    { chunks: 3, chunkLength: 16, lanes: 1 },
    { chunks: 3, chunkLength: ROUND, lanes: LANES },
  ];
  const extent = 41;
  const values = numbers(extent);
  const chunk = (at: number) => values.slice(at * 16, (at + 1) * 16);
  const sumOf = (list: readonly number[]) => list.reduce((a, b) => a + b, 0);

  test("totals of chunks, in their order from the end as well", () => {
    for (const cut of cuts) {
      const role: Role = { stores: "totals", startsFrom: null, nothing: 0 };
      assert.deepEqual(written(task([extent]), cut, role, [values], 3), [[0, 1, 2].map((at) => sumOf(chunk(at)))]);
      const backwards = values.toReversed();
      assert.deepEqual(written(task([extent], { isReverse: true }), cut, role, [values], 3), [
        [0, 1, 2].map((at) => sumOf(backwards.slice(at * 16, (at + 1) * 16))),
      ]);
    }
  });

  test("with segments, the total of a chunk is that of its last segment, and says which", () => {
    const segments = values.map((_, i) => (i < 10 ? 0 : 1));
    for (const cut of cuts) {
      const role: Role = { stores: "totals", startsFrom: null, nothing: 0 };
      const [sums, last] = written(task([extent], { hasSegments: true }), cut, role, [values, segments], 3);
      assert.deepEqual(sums!.slice(0, 2), [sumOf(values.slice(10, 16)), sumOf(chunk(1))]);
      assert.deepEqual(last!.slice(0, 2), [1, 1]);
    }
  });

  test("totals before each chunk come from the chunks before it, and carry their segments", () => {
    const role: Role = { stores: "totalsSoFar", startsFrom: null, nothing: 0 };
    const own = task([3], { isExclusive: true });
    for (const cut of [alone(3), shared(3)]) {
      assert.deepEqual(written(own, cut, role, [[5, 7, 9]], 3), [[0, 5, 12]]);
      const segmented = written(
        { ...own, hasSegments: true },
        cut,
        role,
        [
          [5, 7, 9],
          [0, 1, 1],
        ],
        3,
      );
      // Which segment it is decides later whether a total counts.
      assert.deepEqual(segmented, [
        [0, 5, 7],
        [-1, 0, 1],
      ]);
    }
  });

  test("totals of several rows have segments of their own", () => {
    const role: Role = { stores: "totalsSoFar", startsFrom: null, nothing: 0 };
    const own = task([2, 3], { axis: 1, isExclusive: true, hasSegments: true });
    const inputs = [
      [5, 7, 9, 1, 2, 3],
      [0, 0, 0, 0, 1, 1],
    ];
    for (const cut of [alone(3), shared(3)]) {
      const [sums] = written(own, cut, role, inputs, 6);
      assert.deepEqual(sums, [0, 5, 12, 0, 1, 2]);
    }
  });

  test("elements continue from the total before their chunk", () => {
    const role: Role = { stores: "elements", startsFrom: "before", nothing: 0 };
    const before = [0, 1, 2].map((at) => sumOf(values.slice(0, at * 16)));
    for (const cut of cuts) {
      for (const isExclusive of [false, true]) {
        const own = task([extent], { isExclusive });
        assert.deepEqual(written(own, cut, role, [values, before], extent), [totals(values, own)]);
      }
    }
  });
});

test("an axis of no elements is a kernel of no rows", () => {
  assert.equal(cumulateKernel(task([4, 0], { axis: 1 }), alone(1), elements, { division: "native" }).rows, 0);
});

describe("the end of the axis, and the totals before a chunk", () => {
  for (const isReverse of [false, true]) {
    for (const extent of [64, 60, 61, 16, 3]) {
      test(`${extent} elements ${isReverse ? "from the end" : "from the start"}`, () => {
        const of = task([2, extent], { axis: 1, isReverse });
        const x = numbers(2 * extent);
        const [got] = written(of, shared(extent), elements, [x], 2 * extent);
        assert.deepEqual(got, [...totals(x.slice(0, extent), of), ...totals(x.slice(extent), of)]);
      });
    }
  }

  test("neighbours at the end of an axis of whole vectors share one gate, so that they are one access", () => {
    const gatesOf = (extent: number): number => {
      const gates = new Set<unknown>();
      const { body } = cumulateKernel(task([extent]), shared(extent), elements, { division: "native" });
      walkStatements(body, (statement) => {
        if (statement.kind === "store") gates.add(statement.gate);
      });
      return gates.size;
    };
    assert.equal(gatesOf(60), 1);
    assert.equal(gatesOf(61), PER_LANE);
  });

  for (const op of ["sum", "max", "product"] as const) {
    for (const isExclusive of [false, true]) {
      test(`a chunk starts from the ${op} of all before it, ${isExclusive ? "without" : "with"} the element`, () => {
        const chunks = 20;
        const extent = chunks * ROUND - 5;
        const of = task([2, extent], { axis: 1, op, isExclusive });
        const cut: Cut = { chunks, chunkLength: ROUND, lanes: LANES };
        const x = numbers(2 * extent).map((value) => (op === "product" ? (value % 2 === 0 ? 1 : -1) : value));
        const rows = [x.slice(0, extent), x.slice(extent)];
        const combine: Combine = (a, b) => COMBINE[op](a, b);
        const sums = rows.flatMap((row) =>
          Array.from({ length: chunks }, (_, c) =>
            row.slice(c * ROUND, (c + 1) * ROUND).reduce((a, b) => combine(a, b), NOTHING[op]),
          ),
        );
        const role: Role = { stores: "elements", startsFrom: "totals", nothing: NOTHING[op] };
        const [got] = written(of, cut, role, [x, sums], 2 * extent);
        assert.deepEqual(
          got,
          rows.flatMap((row) => totals(row, of)),
        );
      });
    }
  }
});

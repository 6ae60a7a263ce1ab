/**
 * The sweep over the table of reductions, and over what is made of them, against plain loops: every set of axes up to rank
 * 4, extents at which vectors, their tails, lanes and splitting in two steps begin, all dtypes, views as inputs, one value
 * everywhere, running totals. Values are small multiples of 1/4, whose sums a float holds exactly in any order, so that sums
 * are compared exactly however they were associated.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { roundTo } from "../../src/core/cast.js";
import { DTYPE_NAMES, DTYPES, type DType, isFloat } from "../../src/core/dtype.js";
import { type CumulateOp, cumulate } from "../../src/graph/primitives/cumulate.js";
import { reducePrimitives } from "../../src/graph/primitives/reduce.js";
import { REDUCE_OPS, type ReduceOp, type ReductionEntry, reductionOf } from "../../src/graph/reduction.js";
import { derive, reshapeNode, scalarNode } from "../../src/tensor/build.js";
import { backendFor, type ReduceOptions, Tensor } from "../../src/tensor/index.js";
import { elementOracle, type Value, wrapped } from "../support/element-oracle.js";
import { flatAt, forEachIndex, sizeOf, tensorOf, type ViewKind, valuesOf, viewOf } from "../support/plain-views.js";
import { type Random, randomFrom } from "../support/random.js";
import { testDevices } from "../support/tensors.js";

const devices = testDevices();
const skip = devices.length === 0 ? "missing: a device for tensors" : false;

/** By the names that users have for them. */
const inTable = new Map<string, ReduceOp>(REDUCE_OPS.map((op) => [reductionOf(op).called ?? op, op]));
const entryOf = (how: string): ReductionEntry => reductionOf(inTable.get(how)!);
const reductions: readonly string[] = [...inTable.keys(), "mean", "variance", "logsumexp"];

/** What a reduction of these values is, by a loop in doubles or bigints. */
function oracle(how: string, line: readonly Value[], dtype: DType, result: DType): Value {
  const isWhole = !isFloat(dtype);
  switch (how) {
    case "sum":
    case "prod": {
      const start = how === "sum" ? 0 : 1;
      if (isWhole) {
        const total = line.reduce<bigint>((t, x) => (how === "sum" ? t + BigInt(x) : t * BigInt(x)), BigInt(start));
        return wrapped(total, result);
      }
      return roundTo(
        result,
        line.reduce<number>((t, x) => (how === "sum" ? t + Number(x) : t * Number(x)), start),
      );
    }
    case "max":
    case "min": {
      if (line.some((x) => Number.isNaN(x))) return Number.NaN;
      return line.reduce((best, x) => ((how === "max" ? x > best : x < best) ? x : best));
    }
    case "all":
      return Number(line.every((x) => x !== 0 && x !== 0n));
    case "any":
      return Number(line.some((x) => x !== 0 && x !== 0n));
    case "mean": {
      const mean = line.reduce<number>((t, x) => t + Number(x), 0) / line.length;
      return roundTo(result, result === "f64" ? mean : Math.fround(mean));
    }
    case "variance": {
      const mean = line.reduce<number>((t, x) => t + Number(x), 0) / line.length;
      return line.reduce<number>((t, x) => t + (Number(x) - mean) ** 2, 0) / line.length;
    }
    case "logsumexp": {
      const largest = line.reduce<number>((best, x) => Math.max(best, Number(x)), -Infinity);
      if (!Number.isFinite(largest)) return largest;
      return Math.log(line.reduce<number>((t, x) => t + Math.exp(Number(x) - largest), 0)) + largest;
    }
    default:
      return byEntry(entryOf(how), line, result);
  }
}

/** The elementwise operation of the table, from one element to the next. */
function byEntry({ elementwise, identity }: ReductionEntry, line: readonly Value[], dtype: DType): Value {
  const combine = elementOracle(elementwise, [dtype, dtype], dtype);
  const first = DTYPES[dtype].bits === 64 && !isFloat(dtype) ? BigInt(identity(dtype)) : Number(identity(dtype));
  return line.reduce<Value>((total, x) => combine(total, x), first);
}

/** Relative error allowed of what is not exact, for up to 64 numbers; it grows with how many are summed in a row. */
const relative: Partial<Record<DType, number>> = {
  f8e4m3: 2 ** -2,
  f8e5m2: 2 ** -1,
  f16: 2 ** -9,
  bf16: 2 ** -6,
  f32: 2 ** -20,
  f64: 2 ** -48,
};

/** By the method of that name; by the primitive, where there is none. */
function reduceTensor(x: Tensor, how: string, options: ReduceOptions & { readonly axis: readonly number[] }): Tensor {
  if (how in x) return (x[how as "sum"] as (options: ReduceOptions) => Tensor).call(x, options);
  const reduced = derive(reducePrimitives[inTable.get(how)!], x.node, { axes: options.axis });
  const kept = x.shape.map((extent, axis) => (options.axis.includes(axis) ? 1 : extent));
  return new Tensor(options.keepDims ? reshapeNode(reduced, kept) : reduced);
}

interface Line {
  readonly values: Value[];
}

function expectReduced(
  x: Tensor,
  values: readonly Value[],
  how: string,
  axes: readonly number[],
  keepDims: boolean,
): void {
  const { shape, dtype, device } = x;
  const what = `${how} of ${dtype} [${shape}] over [${axes}] on ${device}`;
  const result = reduceTensor(x, how, { axis: [...axes], keepDims });
  const kept = shape.map((extent, axis) => (axes.includes(axis) ? 1 : extent));
  const wanted = keepDims ? kept : shape.filter((_, axis) => !axes.includes(axis));
  assert.deepEqual(result.shape, wanted, what);
  const lines: Line[] = Array.from({ length: sizeOf(kept) }, () => ({ values: [] }));
  forEachIndex(shape, (index, flat) => {
    const at = index.map((i, axis) => (axes.includes(axis) ? 0 : i));
    lines[flatAt(kept, at)]!.values.push(values[flat]!);
  });
  const got = valuesOf(result);
  lines.forEach(({ values: line }, i) => {
    const want = oracle(how, line, dtype, result.dtype);
    const value = got[i]!;
    if (Object.is(value, want) || (value === 0 && want === 0)) return;
    const isExact = how !== "variance" && how !== "logsumexp";
    const scale = Math.max(Math.abs(Number(want)), how === "variance" ? 1e-3 : 1) * Math.max(1, line.length / 64);
    const allowed = (relative[result.dtype as DType] ?? 0) * scale;
    if (!isExact && Math.abs(Number(value) - Number(want)) <= allowed) return;
    assert.fail(`${what}: element ${i} is ${value}, not ${want}`);
  });
}

/** Multiples of 1/4 up to 10; factors whose products stay small; truth that is not always the same. */
function sample(how: string, dtype: DType, random: Random, index: number): Value {
  const { kind, signed } = DTYPES[dtype];
  if (kind === "bool") return random.below(2);
  if (how === "all" || how === "any")
    return wrapped(BigInt((random.below(40) === 0) === (how === "any") ? 1 : 0), "i32");
  if (how === "prod") {
    if (kind === "float") return index % 16 === 3 ? 2 : index % 16 === 9 ? 0.5 : signed && random.below(2) ? -1 : 1;
    return wrapped(BigInt(random.below(7) + 1), dtype);
  }
  if (kind === "float") return roundTo(dtype, (random.below(81) - 40) / 4);
  return wrapped(BigInt(random.below(40) - (signed ? 20 : 0)), dtype);
}

function valuesFor(how: string, shape: readonly number[], dtype: DType, random: Random): Value[] {
  const values = Array.from({ length: sizeOf(shape) }, (_, i) => sample(how, dtype, random, i));
  const isWide = dtype === "i64" || dtype === "u64";
  return isWide ? values.map((value) => BigInt(value)) : values;
}

const dtypes: readonly DType[] = [
  "f32",
  "i32",
  "f64",
  "u8",
  "bool",
  "f16",
  "i64",
  "bf16",
  "u32",
  "i8",
  "u64",
  "i16",
  "u16",
  "f8e4m3",
  "i4",
  "f8e5m2",
  "u2",
  "u4",
  "i2",
];

/** A dtype the reduction takes, the next in turn. */
function dtypeFor(how: string, turn: number, among = dtypes): DType {
  for (let i = turn; ; i++) {
    const dtype = among[i % among.length]!;
    if ((how === "max" || how === "min") && dtype === "bool") continue;
    if (!(how in Tensor.prototype) && !entryOf(how).kinds.includes(DTYPES[dtype].kind)) continue;
    return dtype;
  }
}

/** The real dtypes that an entry of the table takes by itself. */
const dtypesOf = ({ kinds }: ReductionEntry): DType[] =>
  DTYPE_NAMES.filter((dtype) => DTYPES[dtype].kind !== "complex" && kinds.includes(DTYPES[dtype].kind));

describe("reductions over every set of axes", { skip }, () => {
  const shapes = [[], [5], [3, 4], [1, 9], [2, 3, 4], [33, 2, 2], [2, 3, 2, 5], [4, 1, 3, 8]];
  for (const how of reductions) {
    test(`${how} over every set of axes up to rank 4`, () => {
      let turn = how.length;
      for (const shape of shapes) {
        for (let set = 0; set < 2 ** shape.length; set++, turn++) {
          const axes = shape.map((_, axis) => axis).filter((axis) => set & (1 << axis));
          const dtype = dtypeFor(how, turn);
          for (const device of devices) {
            // Drivers take long to compile: each gets every other set.
            if (device !== "cpu" && turn % 2 === 1) continue;
            const random = randomFrom(turn);
            const kind: ViewKind = random.pick(["whole", "permuted", "flipped", "sliced", "broadcast", "reshaped"]);
            const { x, values } = viewOf(kind, valuesFor(how, shape, dtype, random), shape, dtype, device, random);
            expectReduced(x, values, how, axes, turn % 3 === 0);
          }
        }
      }
    });
  }

  test("of nothing: sums are 0, products 1, all is true, any is false; max and min refuse", () => {
    for (const device of devices) {
      for (const [shape, axes] of [
        [[0], [0]],
        [[3, 0], [1]],
        [
          [0, 4, 2],
          [0, 2],
        ],
        [[3, 0], [0]],
      ] as const) {
        const x = tensorOf([], shape, "f32", device);
        for (const how of ["sum", "prod", "all", "any"] as const) expectReduced(x, [], how, axes, false);
        for (const how of inTable.keys()) {
          if (how in x) continue;
          expectReduced(tensorOf([], shape, dtypesOf(entryOf(how))[0]!, device), [], how, axes, false);
        }
        const isEmpty = axes.some((axis) => shape[axis] === 0);
        if (isEmpty) assert.throws(() => x.max({ axis: [...axes] }), /no elements/);
        else assert.equal(x.max({ axis: [...axes] }).size, 0);
      }
    }
  });

  test("a NaN anywhere is the largest and the smallest; infinities and both zeros are numbers", () => {
    for (const device of devices) {
      for (const dtype of ["f32", "f64", "f16"] as const) {
        for (const length of [1, 5, 33, 257]) {
          const random = randomFrom(length);
          const values = valuesFor("max", [length], dtype, random);
          values[random.below(length)] = Number.NaN;
          const x = tensorOf(values, [length], dtype, device);
          expectReduced(x, values, "max", [0], false);
          expectReduced(x, values, "min", [0], false);
        }
        const ends = [-Infinity, 3, Infinity, -0, 0];
        expectReduced(tensorOf(ends, [5], dtype, device), ends, "max", [0], false);
        expectReduced(tensorOf(ends, [5], dtype, device), ends, "min", [0], false);
        const low = [-Infinity, -Infinity];
        expectReduced(tensorOf(low, [2], dtype, device), low, "max", [0], false);
        expectReduced(tensorOf(low, [2], dtype, device), low, "logsumexp", [0], false);
      }
    }
  });
});

describe("reductions of one value everywhere", { skip }, () => {
  for (const [how, op] of inTable) {
    test(`${how} of a number, and of a tensor that was stretched`, () => {
      for (const dtype of dtypesOf(reductionOf(op))) {
        const reduced = (x: Tensor, axes: readonly number[]) =>
          valuesOf(new Tensor(derive(reducePrimitives[op], x.node, { axes })));
        const random = randomFrom(dtype.length);
        for (const device of devices) {
          for (const shape of [[2], [3], [2, 5], [8, 1, 3]]) {
            const [value] = valuesFor(how, [1], dtype, random);
            const [own, other] = valuesFor(how, [2], dtype, random);
            const count = sizeOf(shape);
            const constant = new Tensor(scalarNode(plainOf(value!, dtype), dtype, backendFor(device), shape));
            const line = new Array<Value>(count).fill(value!);
            const all = shape.map((_, axis) => axis);
            const what = `${dtype} [${shape}] on ${device}`;
            assert.deepEqual(reduced(constant, all), [oracle(how, line, dtype, dtype)], `a number, ${what}`);
            // [2, 1, …] stretched to [2, …], reduced over all and over what it was stretched to.
            const pair = tensorOf([own!, other!], [2, ...shape.map(() => 1)], dtype, device).broadcastTo([2, ...shape]);
            const lines = [own!, other!].map((each) => new Array<Value>(count).fill(each));
            const behind = shape.map((_, axis) => axis + 1);
            const each = lines.map((copies) => oracle(how, copies, dtype, dtype));
            assert.deepEqual(reduced(pair, behind), each, `stretched, ${what}`);
            assert.deepEqual(
              reduced(pair, [0, ...behind]),
              [oracle(how, lines.flat(), dtype, dtype)],
              `whole, ${what}`,
            );
          }
        }
      }
    });
  }
});

const plainOf = (value: Value, dtype: DType): Value | boolean => (dtype === "bool" ? value !== 0 : value);

describe("running totals of every reduction of numbers", { skip }, () => {
  for (const [how, op] of inTable) {
    const taken = dtypesOf(reductionOf(op)).filter((dtype) => dtype !== "bool");
    if (taken.length === 0) continue;
    test(`of ${how}, along memory and across it, whole and without the element itself`, () => {
      taken.forEach((dtype, turn) => {
        const extent = [20000, 5, 700, 60][turn % 4]!;
        const [shape, axis] = turn % 3 === 0 ? [[2, extent], 1] : [[extent, 3], 0];
        const isReverse = turn % 5 > 2;
        const values = valuesFor(how, shape, dtype, randomFrom(extent));
        for (const device of devices) {
          for (const isExclusive of [false, true]) {
            const x = tensorOf(values, shape, dtype, device);
            const params = { axis, op: op satisfies CumulateOp, isReverse, isExclusive };
            const got = valuesOf(new Tensor(derive(cumulate, x.node, params)));
            const want = runningLoop(how, values, shape, axis, dtype, { isReverse, isExclusive });
            const at = got.findIndex((value, i) => !Object.is(value, want[i]));
            const what = `${dtype} [${shape}] along ${axis}${isReverse ? ", from the end" : ""} on ${device}`;
            if (at >= 0) assert.fail(`${what}: element ${at} is ${got[at]}, not ${want[at]}`);
          }
        }
      });
    });
  }
});

/** Totals one after another, of floats in doubles; the oracle of a pair is that of the reduction. */
function runningLoop(
  how: string,
  values: readonly Value[],
  shape: readonly number[],
  axis: number,
  dtype: DType,
  { isReverse, isExclusive }: { readonly isReverse: boolean; readonly isExclusive: boolean },
): Value[] {
  const result = new Array<Value>(values.length);
  const extent = shape[axis]!;
  const wide = isFloat(dtype) ? "f64" : dtype;
  const held = (total: Value) => (isFloat(dtype) ? roundTo(dtype, total) : total);
  forEachIndex(shape.with(axis, 1), (start) => {
    let total: Value | null = null;
    for (let i = 0; i < extent; i++) {
      const at = flatAt(shape, start.with(axis, isReverse ? extent - 1 - i : i));
      const next: Value = total === null ? values[at]! : oracle(how, [total, values[at]!], wide, wide);
      result[at] = held(isExclusive ? (total ?? byEntry(entryOf(how), [], dtype)) : next);
      total = next;
    }
  });
  return result;
}

describe("reductions of every length", { skip }, () => {
  const extents = [1, 3, 4, 5, 7, 8, 9, 31, 33, 255, 257, 1024, 8192, 70001];
  /** Where the reduced axis lies. */
  const layouts: readonly ((n: number) => { readonly shape: number[]; readonly axes: number[] })[] = [
    (n) => ({ shape: [n], axes: [0] }),
    (n) => ({ shape: [n, 3], axes: [0] }),
    (n) => ({ shape: [3, n], axes: [1] }),
    (n) => ({ shape: [2, n, 2], axes: [1] }),
    (n) => ({ shape: [2, n, 2], axes: [0, 1, 2] }),
  ];
  for (const extent of extents) {
    test(`of ${extent} elements, along memory and across it`, () => {
      layouts.forEach((layout, which) => {
        const { shape, axes } = layout(extent);
        const isLarge = extent > 10000;
        reductions.forEach((how, i) => {
          if ((i + which + extent) % (isLarge ? 4 : 2) !== 0) return;
          // A product of that many whole numbers is slow in bigints, and a power of two says nothing.
          if (isLarge && how === "prod" && which > 0) return;
          const dtype = dtypeFor(how, i + which, isLarge ? ["f32", "i32", "f16", "f64"] : dtypes);
          for (const device of devices) {
            if (device !== "cpu" && !isLarge && (i + which) % 4 > 1) continue;
            const random = randomFrom(extent + i);
            const values = valuesFor(how, shape, dtype, random);
            expectReduced(tensorOf(values, shape, dtype, device), values, how, axes, false);
          }
        });
      });
    });
  }

  test("the mean of many large f16 and bf16 numbers does not overflow on the way", () => {
    for (const device of devices) {
      for (const dtype of ["f16", "bf16"] as const) {
        const values = new Array<Value>(140002).fill(1000);
        const x = tensorOf(values, [140002], dtype, device);
        assert.equal(x.mean().itemSync(), 1000, `${dtype} on ${device}`);
        assert.equal(
          x
            .sub(x.mean({ keepDims: true }))
            .abs()
            .max()
            .itemSync(),
          0,
          `deviation of ${dtype} on ${device}`,
        );
        assert.equal(x.variance().itemSync(), 0, `variance of ${dtype} on ${device}`);
      }
    }
  });

  test("sums of a fused expression, split or not, and used again by every element", () => {
    for (const device of devices) {
      for (const [rows, columns] of [
        [1, 70001],
        [5, 8192],
        [300, 37],
        [70001, 2],
      ] as const) {
        const random = randomFrom(rows);
        const values = valuesFor("sum", [rows, columns], "f32", random) as number[];
        const x = tensorOf(values, [rows, columns], "f32", device);
        const share = x.abs().sub(x.abs().sum({ axis: 1, keepDims: true }));
        const got = valuesOf(share);
        for (let row = 0; row < rows; row++) {
          let sum = 0;
          for (let column = 0; column < columns; column++) sum += Math.abs(values[row * columns + column]!);
          for (let column = 0; column < columns; column++) {
            const want = Math.abs(values[row * columns + column]!) - sum;
            if (got[row * columns + column] !== want) {
              assert.fail(
                `[${rows}, ${columns}] on ${device}: row ${row}: ${got[row * columns + column]}, not ${want}`,
              );
            }
          }
        }
      }
    }
  });
});

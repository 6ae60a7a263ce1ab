/**
 * Operations that are made of others, with random arguments and every dtype, against plain loops: what the op sweep is to
 * primitives. Whole numbers are compared exactly, in bigints where f64 would not do.
 */
import { test } from "node:test";
import { DTYPES, type DType, isFloat } from "../../src/core/dtype.js";
import { arange, backendFor, eye, linspace, type Tensor, tensor, tri } from "../../src/tensor/index.js";
import { type Random, randomFrom } from "../support/random.js";
import {
  alongAxis,
  count,
  describeOnTensorDevices,
  dropAxis,
  expectTensor,
  floatDTypes,
  inDType,
  integerDTypes,
  type Plain,
  plainOf,
  read,
  realDTypes,
  type Tolerance,
} from "../support/tensors.js";

interface Outcome {
  readonly got: Tensor;
  readonly want: Plain;
  /** That of the operands unless told. */
  readonly dtype?: DType;
  readonly tolerance?: Tolerance;
}

interface Sweep {
  readonly dtypes: readonly DType[];
  readonly run: (random: Random, dtype: DType) => Outcome;
}

const ROUNDS = 6;

const vector = (values: readonly number[]): Plain => ({ shape: [values.length], values });
const upTo = (random: Random, low: number, high: number): number => low + random.below(high - low + 1);
const whenFloat = (dtype: DType, tolerance: Tolerance): Tolerance | undefined =>
  isFloat(dtype) ? tolerance : undefined;
/** A unit in the last place, of numbers up to `size`. */
const ulp = (dtype: DType, size = 0): Tolerance => ({
  relative: DTYPES[dtype].epsilon,
  absolute: size * DTYPES[dtype].epsilon,
});

/** The ends of what a dtype holds, as far as f64 counts exactly and a difference does too. */
function rangeOf(dtype: DType): readonly [number, number] {
  if (isFloat(dtype)) return [-1000, 1000];
  const { min, max } = DTYPES[dtype];
  return [Math.max(Number(min), -(2 ** 50)), Math.min(Number(max), 2 ** 50)];
}

/** Numbers of a dtype: small ones, any, and the ends. */
function numberOf(random: Random, dtype: DType): number {
  const [low, high] = rangeOf(dtype);
  if (isFloat(dtype)) return inDType((random.below(2 ** 32) / 2 ** 31 - 1) * 2 ** upTo(random, -3, 9), dtype);
  const small = Math.max(low, upTo(random, -9, 9));
  return random.pick([small, small, low + Math.floor((random.below(2 ** 32) / 2 ** 32) * (high - low)), low, high]);
}

const numbersOf = (random: Random, dtype: DType, size: number): number[] =>
  Array.from({ length: size }, () => numberOf(random, dtype));

function operand(random: Random, dtype: DType, least = 1, rank = upTo(random, least, 4)): { x: Tensor; plain: Plain } {
  const shape = Array.from({ length: rank }, () => upTo(random, 1, 5));
  const plain = { shape, values: numbersOf(random, dtype, count(shape)) };
  return { plain, x: tensor(plain.values, { dtype, shape }) };
}

/** Results of bigints, cut to the width of the dtype. */
function wrapped(value: bigint, dtype: DType): number {
  const { kind, bits } = DTYPES[dtype];
  return Number(kind === "int" ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value));
}

function floorOf(a: bigint, b: bigint): bigint {
  if (b === 0n) return 0n;
  return a / b - (a % b !== 0n && a % b < 0n !== b < 0n ? 1n : 0n);
}

/** Pairs of numbers, and what becomes of each pair. */
function paired(random: Random, dtype: DType, of: (a: number, b: number) => number) {
  const pairs = Array.from({ length: 40 }, () => [numberOf(random, dtype), numberOf(random, dtype)] as const);
  const kept = isFloat(dtype) ? pairs.filter(([a, b]) => b !== 0 && a !== 0 && Math.abs(a / b) < 200) : pairs;
  const [a, b] = [0, 1].map((side) =>
    tensor(
      kept.map((pair) => pair[side]!),
      { dtype },
    ),
  );
  return { a: a!, b: b!, want: vector(kept.map(([x, y]) => of(x, y))) };
}

const isKept = { triu: (d: number, offset: number) => d >= offset, tril: (d: number, offset: number) => d <= offset };

function triangle(name: "triu" | "tril"): Sweep {
  return {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const { x, plain } = operand(random, dtype, 2);
      const offset = upTo(random, -6, 6);
      const want = plainOf(plain.shape, (index) => {
        const [row, column] = index.slice(-2) as [number, number];
        return isKept[name](column - row, offset) ? read(plain, index) : 0;
      });
      return { got: x[name](offset), want };
    },
  };
}

/** Where a padded axis of n elements reads, going step by step. */
function walked(mode: "edge" | "reflect" | "symmetric" | "wrap", at: number, n: number): number {
  if (mode === "edge") return Math.min(Math.max(at, 0), n - 1);
  if (mode === "wrap") return ((at % n) + n) % n;
  let place = at;
  while (n > 1 && (place < 0 || place >= n)) {
    const isRepeated = mode === "symmetric" ? 1 : 0;
    place = place < 0 ? -place - isRepeated : 2 * (n - 1) - place + isRepeated;
  }
  return n === 1 ? 0 : place;
}

const sweeps: Record<string, Sweep> = {
  arange: {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const { signed } = DTYPES[dtype];
      const step = upTo(random, 1, 7) * (signed ? random.pick([1, -1]) : 1);
      const start = signed ? upTo(random, -50, 50) : upTo(random, 0, 50);
      const length = upTo(random, 0, 9);
      const stop = start + length * step - (length > 0 ? random.below(Math.abs(step)) * Math.sign(step) : 0);
      const want = vector(Array.from({ length }, (_, i) => start + i * step));
      return { got: arange(start, stop, step, { dtype }), want };
    },
  },
  "arange of fractions": {
    dtypes: floatDTypes,
    run: (random, dtype) => {
      const [start, step] = [numberOf(random, "f64"), (1 + random.below(1000)) / 977];
      const length = upTo(random, 1, 300);
      const want = vector(Array.from({ length }, (_, i) => inDType(start + i * step, dtype)));
      return { got: arange(start, start + (length - 0.5) * step, step, { dtype }), want, tolerance: ulp(dtype) };
    },
  },
  linspace: {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const [start, stop] = [numberOf(random, dtype), numberOf(random, dtype)];
      const [length, endpoint] = [upTo(random, 0, 200), random.below(2) === 0];
      const gaps = Math.max(1, endpoint ? length - 1 : length);
      const whole = (i: number) =>
        Number(BigInt(start) + floorOf(BigInt(i) * (BigInt(stop) - BigInt(start)), BigInt(gaps)));
      const real = (i: number) => inDType(start + (i * (stop - start)) / gaps, dtype);
      const want = vector(Array.from({ length }, (_, i) => (isFloat(dtype) ? real(i) : whole(i))));
      const got = linspace(start, stop, length, { dtype, endpoint });
      return { got, want, tolerance: whenFloat(dtype, { ...ulp(dtype), absolute: 1e-12 }) };
    },
  },
  "eye and tri": {
    dtypes: [...realDTypes, "bool"],
    run: (random, dtype) => {
      const [rows, columns, offset] = [upTo(random, 0, 6), upTo(random, 0, 6), upTo(random, -8, 8)];
      const isEye = random.below(2) === 0;
      const want = plainOf([rows, columns], ([i, j]) =>
        Number(isEye ? j! - i! === offset : isKept.tril(j! - i!, offset)),
      );
      return { got: (isEye ? eye : tri)(rows, columns, { dtype, offset }), want };
    },
  },
  triu: triangle("triu"),
  tril: triangle("tril"),
  diagonal: {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const { x, plain } = operand(random, dtype, 2, 2);
      const offset = upTo(random, -6, 6);
      const [rows, columns] = plain.shape as [number, number];
      const places = Array.from({ length: rows }, (_, i) => [i, i + offset]).filter(([, j]) => j! >= 0 && j! < columns);
      return { got: x.diagonal({ offset }), want: vector(places.map((index) => read(plain, index))) };
    },
  },
  "diagonalMatrix and putDiagonal": {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const { x, plain } = operand(random, dtype, 1, 1);
      const offset = upTo(random, -4, 4);
      const extent = plain.shape[0]! + Math.abs(offset);
      const old = random.below(2) === 0 ? 0 : 3;
      const want = plainOf([extent, extent], ([i, j]) => (j! - i! === offset ? plain.values[Math.min(i!, j!)]! : old));
      const filled = tensor(new Array(extent * extent).fill(old), { dtype, shape: [extent, extent] });
      return { got: old === 0 ? x.diagonalMatrix(offset) : filled.putDiagonal(x, { offset }), want };
    },
  },
  oneHot: {
    dtypes: integerDTypes,
    run: (random, dtype) => {
      const { x, plain } = operand(random, dtype);
      const [classes, rank] = [upTo(random, 0, 8), plain.shape.length];
      const [at, kind] = [random.below(rank + 1), random.pick(["f32", "i8", "bool", "u64"] as const)];
      const want = plainOf(plain.shape.toSpliced(at, 0, classes), (index) =>
        Number(read(plain, index.toSpliced(at, 1)) === index[at]),
      );
      const axis = random.pick([at, at - rank - 1]);
      return { got: x.oneHot(classes, { axis, dtype: kind }), want, dtype: kind };
    },
  },
  floorDivide: {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const { a, b, want } = paired(random, dtype, (x, y) =>
        isFloat(dtype) ? Math.floor(x / y) : wrapped(floorOf(BigInt(x), BigInt(y)), dtype),
      );
      return { got: a.floorDivide(b), want, tolerance: whenFloat(dtype, { absolute: 0 }) };
    },
  },
  remainder: {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const { a, b, want } = paired(random, dtype, (x, y) => {
        if (isFloat(dtype)) return inDType(x - y * Math.floor(x / y), dtype);
        return y === 0 ? 0 : wrapped(BigInt(x) - BigInt(y) * floorOf(BigInt(x), BigInt(y)), dtype);
      });
      return { got: a.remainder(b), want, tolerance: whenFloat(dtype, ulp(dtype, 2 ** 10)) };
    },
  },
  "pow of integers": {
    dtypes: integerDTypes,
    run: (random, dtype) => {
      const { plain, x } = operand(random, dtype);
      const exponents = plain.values.map(() => random.below(60));
      const known = random.below(40);
      const isKnown = random.below(2) === 0;
      const exponent = isKnown ? known : tensor(exponents, { dtype, shape: plain.shape });
      const values = plain.values.map((v, i) => wrapped(BigInt(v) ** BigInt(isKnown ? known : exponents[i]!), dtype));
      return { got: x.pow(exponent), want: { shape: plain.shape, values } };
    },
  },
  isClose: {
    dtypes: integerDTypes,
    run: (random, dtype) => {
      const atol = random.pick([0, 1, 2.5, 100]);
      const { a, b, want } = paired(random, dtype, (x, y) => Number(Math.abs(x - y) <= atol));
      return { got: a.isClose(b, { atol, rtol: 0 }), want, dtype: "bool" };
    },
  },
  "histogram between edges": {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const { x, plain } = operand(random, dtype);
      const bins = Array.from({ length: upTo(random, 2, 6) }, () => numberOf(random, dtype)).sort((a, b) => a - b);
      const last = bins.length - 2;
      const values = bins.slice(1).map((high, i) => {
        const isIn = (v: number) => v >= bins[i]! && (v < high || (i === last && v === high));
        return plain.values.filter(isIn).length;
      });
      return { got: x.histogram({ bins }).counts, want: vector(values), dtype: "i32" };
    },
  },
  "histogram of equal bins": {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const { x, plain } = operand(random, dtype);
      const [low, high, bins] = [upTo(random, -20, 5), upTo(random, 6, 20), upTo(random, 1, 9)];
      const compared = isFloat(dtype) ? dtype : "f64";
      const edges = Array.from({ length: bins + 1 }, (_, i) =>
        inDType(i === bins ? high : i * ((high - low) / bins) + low, compared),
      );
      const values = edges.slice(1).map((to, i) => {
        const isIn = (v: number) => v >= edges[i]! && (v < to || (i === bins - 1 && v === to));
        return plain.values.filter(isIn).length;
      });
      return { got: x.histogram({ bins, range: [low, high] }).counts, want: vector(values), dtype: "i32" };
    },
  },
  searchSorted: {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const sorted = numbersOf(random, dtype, upTo(random, 1, 12)).sort((a, b) => a - b);
      const wanted = [...numbersOf(random, dtype, 9), ...sorted.slice(0, 3)];
      const side = random.pick(["left", "right"] as const);
      const before = (v: number) => sorted.filter((s) => s < v || (side === "right" && s === v)).length;
      const got = tensor(sorted, { dtype }).searchSorted(wanted, { side });
      return { got, want: vector(wanted.map(before)), dtype: "i32" };
    },
  },
  median: {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const { x, plain } = operand(random, dtype);
      const axis = random.below(plain.shape.length);
      const result = isFloat(dtype) ? dtype : "f32";
      const middle = (line: number[]) => {
        const sorted = [...line].sort((a, b) => a - b);
        const half = sorted.length / 2;
        return [inDType((sorted[Math.floor(half)]! + sorted[Math.ceil(half) - 1]!) / 2, result)];
      };
      const want = dropAxis(alongAxis(plain, axis, middle), axis);
      return { got: x.median({ axis }), want, dtype: result, tolerance: ulp(result) };
    },
  },
  "pad with what is there": {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const { x, plain } = operand(random, dtype, 1, upTo(random, 1, 3));
      const mode = random.pick(["edge", "reflect", "symmetric", "wrap"] as const);
      const amounts = plain.shape.map(() => [upTo(random, 0, 7), upTo(random, 0, 7)] as const);
      const shape = plain.shape.map((n, axis) => n + amounts[axis]![0] + amounts[axis]![1]);
      const want = plainOf(shape, (index) =>
        read(
          plain,
          index.map((i, axis) => walked(mode, i - amounts[axis]![0], plain.shape[axis]!)),
        ),
      );
      return { got: x.pad(amounts, { mode }), want };
    },
  },
  "roll, repeat and tile": {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const { x, plain } = operand(random, dtype);
      const axis = random.below(plain.shape.length);
      const n = plain.shape[axis]!;
      const amount = upTo(random, 1, 4);
      const [got, length, from] = random.pick([
        [x.roll(amount, { axis }), n, (i: number) => (i - amount + 4 * n) % n],
        [x.repeat(amount, { axis }), n * amount, (i: number) => Math.floor(i / amount)],
        [x.tile(plain.shape.map((_, i) => (i === axis ? amount : 1))), n * amount, (i: number) => i % n],
      ] as const);
      return {
        got,
        want: plainOf(plain.shape.with(axis, length), (index) => read(plain, index.with(axis, from(index[axis]!)))),
      };
    },
  },
  diff: {
    dtypes: realDTypes,
    run: (random, dtype) => {
      const { x, plain } = operand(random, dtype);
      const axis = random.below(plain.shape.length);
      const less = (a: number, b: number) =>
        isFloat(dtype) ? inDType(a - b, dtype) : wrapped(BigInt(a) - BigInt(b), dtype);
      const want = alongAxis(plain, axis, (line) => line.slice(1).map((v, i) => less(v, line[i]!)));
      return { got: x.diff({ axis }), want };
    },
  },
};

describeOnTensorDevices("composed operations", (device) => {
  const { hasDoubles } = backendFor(device);
  for (const [name, { dtypes, run }] of Object.entries(sweeps)) {
    for (const dtype of dtypes) {
      // Whole numbers are rounded on the way to a histogram where there is no f64.
      const skip = !hasDoubles && (dtype === "f64" || name.startsWith("histogram")) && `${device} has no f64`;
      test(`${name} of ${dtype}`, { skip }, () => {
        for (let round = 0; round < ROUNDS; round++) {
          const { got, want, dtype: result = dtype, tolerance } = run(randomFrom(1000 * round + name.length), dtype);
          expectTensor(got, want, result, tolerance, `${name}, round ${round}`);
        }
      });
    }
  }
});

/**
 * Narrow dtypes do not depend on what is fused: every operation's result is rounded, or wrapped, to its dtype where it
 * stands. Random programs are computed fused, compiled by `jit`, and operation by operation with each result in memory; all
 * must have the same bits, and each operation must be what a plain interpreter makes of its operands.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTYPES, type DType } from "../../src/core/dtype.js";
import { pendingInOrder } from "../../src/graph/node.js";
import { backendFor, fromBytes, type Tensor, tensor, where } from "../../src/tensor/index.js";
import { grad } from "../../src/transforms/grad.js";
import { jit } from "../../src/transforms/jit.js";
import { type Random, randomFrom } from "../support/random.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

const narrowDTypes = ["f16", "bf16", "i8", "u8", "i16", "u16"] as const;
type Narrow = (typeof narrowDTypes)[number];

const isFloat = (dtype: DType): dtype is "f16" | "bf16" | "f32" => DTYPES[dtype].kind === "float";

// ------------------------------------------------------------------------------------------------ the interpreter

const formats = {
  f16: { fractionBits: 10, least: -14, most: 15 },
  bf16: { fractionBits: 7, least: -126, most: 127 },
  f32: { fractionBits: 23, least: -126, most: 127 },
} as const;

/** The number of a format nearest to a double, ties to even, by IEEE 754's definition: powers of two divide exactly. */
function toFloat(x: number, dtype: keyof typeof formats): number {
  if (x === 0 || !Number.isFinite(x)) return x;
  const { fractionBits, least, most } = formats[dtype];
  let exponent = Math.max(least, Math.min(most + 1, Math.floor(Math.log2(Math.abs(x)))));
  // Math.log2 may be off by one next to a power of two.
  while (exponent > least && 2 ** exponent > Math.abs(x)) exponent--;
  while (exponent <= most && 2 ** (exponent + 1) <= Math.abs(x)) exponent++;
  const unit = 2 ** (exponent - fractionBits);
  const whole = Math.floor(Math.abs(x) / unit);
  const rest = Math.abs(x) / unit - whole;
  const up = rest > 0.5 || (rest === 0.5 && whole % 2 === 1) ? 1 : 0;
  const rounded = (whole + up) * unit;
  return Math.sign(x) * (rounded >= 2 ** (most + 1) ? Infinity : rounded);
}

/** The number that 16 bits stand for, by IEEE 754's definition. */
function numberOf(code: number, dtype: "f16" | "bf16"): number {
  const { fractionBits, least, most } = formats[dtype];
  const exponent = (code & 0x7fff) >> fractionBits;
  const fraction = (code & (2 ** fractionBits - 1)) / 2 ** fractionBits;
  const sign = code & 0x8000 ? -1 : 1;
  if (exponent === 2 * most + 1) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** least : (1 + fraction) * 2 ** (exponent - most));
}

/** The low bits of a whole number. */
function toWhole(x: number, dtype: DType): number {
  const { bits, kind } = DTYPES[dtype];
  const low = ((x % 2 ** bits) + 2 ** bits) % 2 ** bits;
  return kind === "int" && low >= 2 ** (bits - 1) ? low - 2 ** bits : low;
}

const held = (x: number, dtype: DType): number => (isFloat(dtype) ? toFloat(x, dtype) : toWhole(x, dtype));

/** A float as an integer: without its fraction, held inside the range; NaN is 0. */
function saturated(x: number, dtype: DType): number {
  const { min, max } = DTYPES[dtype];
  return Number.isNaN(x) ? 0 : Math.max(Number(min), Math.min(Number(max), Math.trunc(x)));
}

function halfToEven(x: number): number {
  const floor = Math.floor(x);
  if (x - floor !== 0.5) return Math.round(x);
  return floor % 2 === 0 ? floor : floor + 1;
}

// ------------------------------------------------------------------------------------------------ operations

const ROWS = 5;
const COLUMNS = 37;

/** An operation of a program: what it is to the library, and what it makes of plain numbers, before rounding or wrapping. */
interface Operation {
  readonly arity: number;
  apply(a: Tensor, b: Tensor, c: Tensor): Tensor;
  values(a: readonly number[], b: readonly number[], c: readonly number[]): readonly number[];
  /** A function of the math library: its f32 may be off by two units, and with it what that is rounded to. */
  readonly isFunction?: boolean;
}

type Elementwise = (a: number, b: number, c: number) => number;

const operation = (arity: number, apply: Operation["apply"], element: Elementwise): Operation => ({
  arity,
  apply,
  values: (a, b, c) => a.map((x, i) => element(x, b[i] as number, c[i] as number)),
});

/** The same for all elements of a row. */
const ofRows = (apply: (x: Tensor) => Tensor, element: (row: readonly number[]) => number): Operation => ({
  arity: 1,
  apply: (x) => apply(x).broadcastTo([ROWS, COLUMNS]),
  values: (x) =>
    x.map((_, i) => {
      const start = i - (i % COLUMNS);
      return element(x.slice(start, start + COLUMNS));
    }),
});

const plain: readonly Operation[] = [
  operation(
    2,
    (a, b) => a.add(b),
    (a, b) => a + b,
  ),
  operation(
    2,
    (a, b) => a.sub(b),
    (a, b) => a - b,
  ),
  operation(
    2,
    (a, b) => a.mul(b),
    (a, b) => a * b,
  ),
  operation(
    2,
    (a, b) => a.maximum(b),
    (a, b) => Math.max(a, b),
  ),
  operation(
    2,
    (a, b) => a.minimum(b),
    (a, b) => Math.min(a, b),
  ),
  operation(
    1,
    (a) => a.neg(),
    (a) => -a,
  ),
  operation(1, (a) => a.abs(), Math.abs),
  operation(
    1,
    (a) => a.square(),
    (a) => a * a,
  ),
  operation(
    1,
    (a) => a.mul(3),
    (a) => 3 * a,
  ),
  operation(
    3,
    (a, b, c) => where(a.less(b), b, c),
    (a, b, c) => (a < b ? b : c),
  ),
  { arity: 1, apply: (a) => a.flip(), values: (a) => [...a].reverse() },
  ofRows(
    (x) => x.max({ axis: 1, keepDims: true }),
    (row) => Math.max(...row),
  ),
];

const sum = (row: readonly number[]): number => row.reduce((total, x) => total + x, 0);

const wholeOperations: readonly Operation[] = [
  ...plain,
  operation(
    2,
    (a, b) => a.floorDivide(b),
    (a, b) => (b === 0 ? 0 : Math.floor(a / b)),
  ),
  operation(
    2,
    (a, b) => a.bitwiseXor(b),
    (a, b) => a ^ b,
  ),
  operation(
    1,
    (a) => a.bitwiseNot(),
    (a) => ~a,
  ),
  operation(
    1,
    (a) => a.leftShift(3),
    (a) => 8 * a,
  ),
  operation(
    1,
    (a) => a.rightShift(1),
    (a) => a >> 1,
  ),
  ofRows((x) => x.sum({ axis: 1, keepDims: true }).cast(x.dtype), sum),
];

function floatOperations(dtype: "f16" | "bf16"): readonly Operation[] {
  const tenth = toFloat(0.1, dtype);
  /** Eighths between -4 and 4: sums of them are exact in f32, in any order, and too long for the narrow dtype. */
  const coarse = (x: number) => halfToEven(8 * Math.max(-4, Math.min(4, Number.isNaN(x) ? 1 : x))) / 8;
  const coarsened = (x: Tensor) => where(x.isNaN(), 1, x).clip(-4, 4).mul(8).round().div(8);
  const fn = (apply: Operation["apply"], element: Elementwise): Operation => ({
    ...operation(1, apply, element),
    isFunction: true,
  });
  return [
    ...plain,
    ...plain.slice(0, 3),
    operation(
      2,
      (a, b) => a.div(b),
      (a, b) => a / b,
    ),
    operation(
      1,
      (a) => a.reciprocal(),
      (a) => 1 / a,
    ),
    operation(
      1,
      (a) => a.abs().sqrt(),
      (a) => Math.sqrt(Math.abs(a)),
    ),
    operation(
      1,
      (a) => a.mul(0.1),
      (a) => tenth * a,
    ),
    operation(
      1,
      (a) => a.add(0.1),
      (a) => tenth + a,
    ),
    operation(1, (a) => a.floor(), Math.floor),
    operation(
      1,
      (a) => a.relu(),
      (a) => (a <= 0 ? 0 : a),
    ),
    // There and back through f32, where the sum of two is exact and rounded only on the way back.
    operation(
      2,
      (a, b) => a.cast("f32").add(b.cast("f32")).cast(dtype),
      (a, b) => a + b,
    ),
    operation(
      1,
      (a) => a.cast("i8").cast(dtype),
      (a) => saturated(a, "i8"),
    ),
    ofRows(
      (x) => coarsened(x).sum({ axis: 1, keepDims: true }),
      (row) => sum(row.map(coarse)),
    ),
    {
      arity: 2,
      // Products of matrices are added up in f32, too.
      apply: (a, b) =>
        coarsened(a).matmul(coarsened(b).T).sum({ axis: 1, keepDims: true }).broadcastTo([ROWS, COLUMNS]),
      values: (a, b) => {
        const row = (x: readonly number[], i: number) => x.slice(i * COLUMNS, (i + 1) * COLUMNS).map(coarse);
        const product = (i: number, j: number) => {
          const right = row(b, j);
          return toFloat(sum(row(a, i).map((x, k) => x * (right[k] as number))), dtype);
        };
        const rows = Array.from({ length: ROWS }, (_, i) => i);
        const sums = rows.map((i) => sum(rows.map((j) => product(i, j))));
        return a.map((_, i) => sums[Math.floor(i / COLUMNS)] as number);
      },
    },
    fn((a) => a.tanh(), Math.tanh),
    fn(
      (a) => a.sigmoid(),
      (x) => 1 / (1 + Math.exp(-x)),
    ),
    fn(
      (a) => a.minimum(4).exp(),
      (x) => Math.exp(Math.min(x, 4)),
    ),
    fn(
      (a) => a.abs().rsqrt(),
      (x) => 1 / Math.sqrt(Math.abs(x)),
    ),
  ];
}

// ------------------------------------------------------------------------------------------------ programs

interface Step {
  readonly operation: Operation;
  readonly operands: readonly [number, number, number];
}

interface Program {
  readonly dtype: Narrow;
  readonly leaves: readonly (readonly number[])[];
  readonly steps: readonly Step[];
}

function anyValue(random: Random, dtype: Narrow): number {
  if (!isFloat(dtype)) return toWhole(random.below(65536), dtype);
  if (random.below(40) === 0) {
    return toFloat(random.pick([0, -0, Infinity, -Infinity, Number.NaN, 1e-7, 60000]), dtype);
  }
  return toFloat((random.below(2 ** 20) / 2 ** 20 - 0.5) * 2 ** (random.below(9) - 2), dtype);
}

function randomProgram(random: Random, dtype: Narrow, length: number): Program {
  const operations = isFloat(dtype) ? floatOperations(dtype) : wholeOperations;
  const leaves = Array.from({ length: 3 }, () => Array.from({ length: ROWS * COLUMNS }, () => anyValue(random, dtype)));
  const steps = Array.from({ length }, (_, i): Step => {
    // Mostly what was made last, so that programs grow deep.
    const operand = () => Math.max(0, leaves.length + i - 1 - random.below(random.below(3) === 0 ? 12 : 3));
    return { operation: random.pick(operations), operands: [operand(), operand(), operand()] };
  });
  return { dtype, leaves, steps };
}

const leavesOf = ({ leaves, dtype }: Program): Tensor[] =>
  leaves.map((values) => tensor([...values], { dtype, shape: [ROWS, COLUMNS] }));

/** The values after every step. `each` sees them as they are made. */
function build({ steps }: Program, leaves: readonly Tensor[], each: (made: Tensor) => void = () => {}): Tensor[] {
  const values = [...leaves];
  for (const { operation, operands } of steps) {
    const [a, b, c] = operands.map((at) => values[at] as Tensor) as [Tensor, Tensor, Tensor];
    const made = operation.apply(a, b, c);
    each(made);
    values.push(made);
  }
  return values.slice(leaves.length);
}

/** Puts everything a tensor is computed from into memory, node by node. */
function realizeEach(x: Tensor): void {
  for (const node of pendingInOrder([x.node])) backendFor(x.device).realize([node]);
}

/** Which zero is the larger is left open, so the interpreter knows but one. */
const isSame = (a: number, b: number): boolean => Object.is(a, b) || (a === 0 && b === 0);

function expectSame(got: readonly number[], wanted: readonly number[], what: string): void {
  got.forEach((value, i) => {
    if (!Object.is(value, wanted[i])) assert.fail(`${what}: element ${i} is ${value}, not ${wanted[i]}`);
  });
}

/** Whether a function's value is right: rounded from an f32 that is off by two units at most. */
function isNear(value: number, exact: number, dtype: Narrow): boolean {
  const slack = Math.abs(exact) * 2 ** -22;
  return [exact, exact - slack, exact + slack].some((x) => isSame(held(x, dtype), value));
}

/** Each step against the interpreter, which goes on from the library's own operands. */
function checkSteps({ steps, leaves, dtype }: Program, made: readonly (readonly number[])[], what: string): void {
  const values = [...leaves, ...made];
  steps.forEach(({ operation, operands }, step) => {
    const [a, b, c] = operands.map((at) => values[at] as readonly number[]);
    const wanted = operation.values(a as number[], b as number[], c as number[]);
    (made[step] as readonly number[]).forEach((value, i) => {
      const exact = wanted[i] as number;
      const isRight = operation.isFunction ? isNear(value, exact, dtype) : isSame(value, held(exact, dtype));
      const text = `${what}: step ${step}, ${operation.apply}, element ${i} is ${value}, not ${held(exact, dtype)}`;
      if (!isRight) assert.fail(`${text} of ${[a, b, c].map((x) => x?.[i])}`);
    });
  });
}

function checkProgram(program: Program, what: string): void {
  const stepByStep = build(program, leavesOf(program), realizeEach).map(numbersOf);
  checkSteps(program, stepByStep, what);
  const wanted = stepByStep.slice(-3);
  const fused = build(program, leavesOf(program)).slice(-3);
  backendFor((fused[0] as Tensor).device).realize(fused.map(({ node }) => node));
  const compiled = jit((...leaves: Tensor[]) => build(program, leaves).slice(-3))(...leavesOf(program));
  wanted.forEach((values, i) => {
    expectSame(numbersOf(fused[i] as Tensor), values, `${what}, fused, result ${i}`);
    expectSame(numbersOf(compiled[i] as Tensor), values, `${what}, jit, result ${i}`);
  });
}

describeOnTensorDevices("narrow dtypes", (device) => {
  for (const dtype of narrowDTypes) {
    const count = device === "cpu" ? 100 : 6;
    test(`${count} programs in ${dtype}: fused is as step by step is as on paper`, () => {
      for (let seed = 1; seed <= count; seed++) {
        checkProgram(randomProgram(randomFrom(seed), dtype, 8 + 8 * (seed % 3)), `${dtype}, seed ${seed}`);
      }
    });
  }

  for (const dtype of ["f16", "bf16"] as const) {
    test(`every ${dtype} is read as the number it is, and between two of them the nearer is written, or the even one`, () => {
      const codes = Array.from({ length: 65536 }, (_, code) => code);
      const numbers = codes.map((code) => numberOf(code, dtype));
      const all = fromBytes(new Uint8Array(Uint16Array.from(codes).buffer), [65536], dtype);
      expectSame(numbersOf(all.flip()), [...numbers].reverse(), "moved");
      expectSame(numbersOf(all.cast("f32")), numbers, "as f32");
      // The middle between neighbours is an f32, and so are the numbers next to it.
      const middles = numbers.flatMap((x, code) => {
        const middle = (x + (numbers[code + 1] as number)) / 2;
        return Number.isFinite(middle) ? [middle, middle * (1 - 2 ** -22), middle * (1 + 2 ** -22)] : [];
      });
      const inF32 = middles.map(Math.fround).filter((x) => Math.abs(x) >= 2 ** -120);
      const wanted = inF32.map((x) => toFloat(x, dtype));
      expectSame(numbersOf(tensor(Float32Array.from(inF32)).cast(dtype)), wanted, "written");
      expectSame(numbersOf(tensor(Float32Array.from(inF32)).cast(dtype).cast("f32")), wanted, "rounded");
    });
  }

  test("a sum is rounded before it is multiplied", async () => {
    const x = tensor([2048, 2048], { dtype: "f16" });
    // 2049 is no f16; ties go to even.
    assert.deepEqual(await x.add(1).mul(2).array(), [4096, 4096]);
    assert.deepEqual(await tensor([256], { dtype: "bf16" }).add(1).sub(256).array(), [0]);
  });

  test("overflow is infinite at once, and stays so", async () => {
    const x = tensor([60000, -60000, 65519, 65520], { dtype: "f16" });
    assert.deepEqual(await x.mul(2).div(4).array(), [Infinity, -Infinity, Infinity, Infinity]);
    assert.deepEqual(await tensor([65519, 65520]).cast("f16").cast("f32").array(), [65504, Infinity]);
  });

  for (const dtype of ["f16", "bf16"] as const) {
    test(`gradients in ${dtype} do not depend on what is fused`, () => {
      const f = (x: Tensor, y: Tensor) => x.mul(y).add(0.1).tanh().mul(x.sigmoid()).div(y.square().add(1)).exp().sum();
      const random = randomFrom(7);
      const leaf = () => {
        const values = Array.from({ length: ROWS * COLUMNS }, () => toFloat(random.below(4096) / 1024 - 2, dtype));
        return tensor(values, { dtype, shape: [ROWS, COLUMNS] });
      };
      const [x, y] = [leaf(), leaf()];
      const slopes = grad(f, { argument: [0, 1] });
      const apart = slopes(x, y);
      apart.forEach(realizeEach);
      const wanted = apart.map(numbersOf);
      const [fused, compiled] = [slopes(x, y), jit(slopes)(x, y)];
      wanted.forEach((values, i) => {
        expectSame(numbersOf(fused[i] as Tensor), values, `fused, operand ${i}`);
        expectSame(numbersOf(compiled[i] as Tensor), values, `jit, operand ${i}`);
      });
    });
  }
});

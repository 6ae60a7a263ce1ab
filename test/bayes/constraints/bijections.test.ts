/**
 * Every constraint: the way there and back, the stretching of space against the determinant of a Jacobian by finite
 * differences, and what lies inside. Values are of f64 on the CPU; a few of f32 on every device.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tensorOf } from "../../../src/bayes/arguments/argument.js";
import type { Constraint } from "../../../src/bayes/constraints/index.js";
import * as constraints from "../../../src/bayes/constraints/index.js";
import { type Tensor, tensor } from "../../../src/tensor/index.js";
import { grad } from "../../../src/transforms/grad.js";
import { randomFrom } from "../../support/random.js";
import { count, describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const on = (values: number[], shape: readonly number[]): Tensor =>
  tensor(values, { dtype: "f64", device: "cpu", shape });

interface Case {
  readonly name: string;
  readonly constraint: Constraint;
  /** Of one value. */
  readonly shape: readonly number[];
  /** Which elements of a value are coordinates; all unless told. */
  readonly coordinates?: (index: number) => boolean;
  /** Whether densities are those on a surface, whose area is stretched, not on coordinates. */
  readonly isSurface?: boolean;
}

const below = (n: number, diagonal: boolean) => (index: number) => {
  const [row, column] = [Math.floor(index / n), index % n];
  return diagonal ? column <= row : column < row;
};

const cases: readonly Case[] = [
  { name: "real", constraint: constraints.real, shape: [] },
  { name: "positive", constraint: constraints.positive, shape: [] },
  { name: "positiveSoftplus", constraint: constraints.positiveSoftplus, shape: [] },
  { name: "nonNegative", constraint: constraints.nonNegative, shape: [] },
  { name: "above", constraint: constraints.above(-2.5), shape: [] },
  { name: "below", constraint: constraints.below(4), shape: [] },
  { name: "interval", constraint: constraints.interval(-1, 5), shape: [] },
  {
    name: "interval by tensors",
    constraint: constraints.interval(on([0, 2, -1], [3]), on([1, 7, 0], [3])),
    shape: [3],
  },
  { name: "unitInterval", constraint: constraints.unitInterval, shape: [] },
  { name: "angle", constraint: constraints.angle, shape: [] },
  { name: "affine", constraint: constraints.affine(100, -15), shape: [] },
  { name: "affine by tensors", constraint: constraints.affine(0, on([0.1, 20], [2])), shape: [2] },
  { name: "ordered", constraint: constraints.ordered, shape: [5] },
  { name: "ordered, one", constraint: constraints.ordered, shape: [1] },
  { name: "ordered, long", constraint: constraints.ordered, shape: [40] },
  { name: "positiveOrdered", constraint: constraints.positiveOrdered, shape: [4] },
  { name: "simplex of 2", constraint: constraints.simplex, shape: [2], coordinates: (i) => i < 1 },
  { name: "simplex of 6", constraint: constraints.simplex, shape: [6], coordinates: (i) => i < 5 },
  {
    name: "correlationCholesky of 2",
    constraint: constraints.correlationCholesky,
    shape: [2, 2],
    coordinates: below(2, false),
  },
  {
    name: "correlationCholesky of 4",
    constraint: constraints.correlationCholesky,
    shape: [4, 4],
    coordinates: below(4, false),
  },
  {
    name: "covarianceCholesky of 3",
    constraint: constraints.covarianceCholesky,
    shape: [3, 3],
    coordinates: below(3, true),
  },
  { name: "covarianceMatrix of 1", constraint: constraints.covarianceMatrix, shape: [1, 1] },
  {
    name: "covarianceMatrix of 4",
    constraint: constraints.covarianceMatrix,
    shape: [4, 4],
    coordinates: below(4, true),
  },
  { name: "sumToZero of 2", constraint: constraints.sumToZero, shape: [2], isSurface: true },
  { name: "sumToZero of 5", constraint: constraints.sumToZero, shape: [5], isSurface: true },
  { name: "sumToZero of 40", constraint: constraints.sumToZero, shape: [40], isSurface: true },
];

/** The areas and angles between the rows of a matrix. */
const gram = (rows: readonly number[][]): number[][] =>
  rows.map((a) => rows.map((b) => a.reduce((sum, value, i) => sum + value * b[i]!, 0)));

/** Free numbers for several values: from -2 to 2. */
function freeNumbers(size: number, seed: number): number[] {
  const random = randomFrom(seed);
  return Array.from({ length: size }, () => random.below(4001) / 1000 - 2);
}

/** log |det| by elimination. */
function logDeterminant(rows: number[][]): number {
  let total = 0;
  rows.forEach((_, k) => {
    const pivot = rows
      .slice(k)
      .reduce((best, row, i) => (Math.abs(row[k]!) > Math.abs(rows[best]![k]!) ? k + i : best), k);
    [rows[k], rows[pivot]] = [rows[pivot]!, rows[k]!];
    total += Math.log(Math.abs(rows[k]![k]!));
    for (const row of rows.slice(k + 1)) {
      const share = row[k]! / rows[k]![k]!;
      for (let j = k; j < rows.length; j++) row[j]! -= share * rows[k]![j]!;
    }
  });
  return total;
}

describe("bijections", () => {
  for (const { name, constraint, shape, coordinates = () => true, isSurface } of cases) {
    const { freeShape, forward, inverse } = constraint.bijection!;
    const perValue = freeShape(shape);
    const dim = count(perValue);
    const values = 4;
    const free = freeNumbers(values * dim, dim + 1);
    const forwardOf = (numbers: number[]) => {
      const many = numbers.length / dim;
      return forward(on(numbers, [many, ...perValue]), [many, ...shape]);
    };

    test(`${name}: values lie inside, and lead back to the free numbers`, () => {
      const { value } = forwardOf(free);
      assert.deepEqual(value.shape, [values, ...shape]);
      assert.ok(numbersOf(constraint.holds(value)).every(Boolean));
      const back = inverse(value);
      assert.deepEqual(back.shape, [values, ...perValue]);
      numbersOf(back).forEach((u, i) => {
        assert.ok(Math.abs(u - free[i]!) < 1e-9, `${u}, not ${free[i]}`);
      });
    });

    test(`${name}: the log-Jacobian is that of finite differences`, () => {
      const step = 2 ** -16;
      const { value, logJacobian } = forwardOf(free);
      const events = shape.length - constraint.eventRank;
      const axes = Array.from({ length: events }, (_, i) => i + 1);
      const perNumber = tensorOf(logJacobian, value).broadcastTo([values, ...shape.slice(0, events)]);
      const found = numbersOf(perNumber.sum({ axis: axes }));
      for (let v = 0; v < values; v++) {
        const own = free.slice(v * dim, (v + 1) * dim);
        const moved = own.flatMap((_, j) => [1, -1].flatMap((sign) => own.with(j, own[j]! + sign * step)));
        const reached = numbersOf(forwardOf(moved).value);
        const size = count(shape);
        const jacobian = own.map((_, j) =>
          Array.from({ length: size }, (_, i) => i)
            .filter(coordinates)
            .map((i) => (reached[2 * j * size + i]! - reached[(2 * j + 1) * size + i]!) / (2 * step)),
        );
        const expected = isSurface ? logDeterminant(gram(jacobian)) / 2 : logDeterminant(jacobian);
        assert.ok(Math.abs(found[v]! - expected) < 1e-7, `${found[v]}, not ${expected}`);
      }
    });
  }

  test("every constraint with a bijection is among the cases", () => {
    const named = new Set(cases.map(({ name }) => name.split(/[ ,]/)[0]));
    for (const [name, made] of Object.entries(constraints)) {
      const constraint = typeof made === "function" ? (made as (...a: number[]) => Constraint)(0, 1) : made;
      if (constraint.bijection && name !== "unitVector") assert.ok(named.has(name), name);
    }
  });
});

describe("unit vectors", () => {
  const { forward, inverse } = constraints.unitVector.bijection!;
  test("are free vectors over their length, which a standard normal density keeps in bounds", () => {
    const { value, logJacobian } = forward(on([3, -4, 0.5, 0, 0, -2], [2, 3]), [2, 3]);
    const [first, second] = [Math.hypot(3, -4, 0.5), 2];
    const expected = [3 / first, -4 / first, 0.5 / first, 0, 0, -1];
    numbersOf(value).forEach((x, i) => {
      assert.ok(Math.abs(x - expected[i]!) < 1e-15);
    });
    const heights = numbersOf(logJacobian as Tensor);
    [first, second].forEach((length, i) => {
      assert.ok(Math.abs(heights[i]! + (length * length) / 2) < 1e-12);
    });
    assert.ok(numbersOf(constraints.unitVector.holds(value)).every(Boolean));
    assert.deepEqual(numbersOf(forward(inverse(value), [2, 3]).value).length, 6);
  });
});

describe("known values of transforms", () => {
  test("the simplex of two is logit p = √2·u, as in CmdStan", () => {
    const { value } = constraints.simplex.bijection!.forward(on([0.7], [1]), [2]);
    const p = 1 / (1 + Math.exp(-Math.SQRT2 * 0.7));
    assert.ok(Math.abs(numbersOf(value)[0]! - p) < 1e-15);
  });

  test("numbers that sum to zero are those of Helmert's contrasts, as in Stan", () => {
    const [u, v] = [0.7, -1.3];
    const { value } = constraints.sumToZero.bijection!.forward(on([u, v], [2]), [3]);
    const [a, b] = [u / Math.sqrt(2), v / Math.sqrt(6)];
    [a + b, -a + b, -2 * b].forEach((x, i) => {
      assert.ok(Math.abs(numbersOf(value)[i]! - x) < 1e-15);
    });
  });

  test("a correlation factor of two holds tanh(u) and what is left of the row", () => {
    const { value } = constraints.correlationCholesky.bijection!.forward(on([0.3], [1]), [2, 2]);
    const z = Math.tanh(0.3);
    const expected = [1, 0, z, Math.sqrt(1 - z * z)];
    numbersOf(value).forEach((x, i) => {
      assert.ok(Math.abs(x - expected[i]!) < 1e-15);
    });
  });

  test("far out, values and gradients stay finite", () => {
    for (const { name, constraint, shape } of cases) {
      const { freeShape, forward } = constraint.bijection!;
      for (const far of [-40, 40]) {
        const free = on(new Array(count(freeShape(shape))).fill(far), freeShape(shape));
        const total = (u: Tensor): Tensor => {
          const { value, logJacobian } = forward(u, shape);
          return tensorOf(logJacobian, value).sum();
        };
        assert.ok(Number.isFinite(total(free).itemSync() as number), `${name} at ${far}`);
        assert.ok(numbersOf(grad(total)(free)).every(Number.isFinite), `the gradient of ${name} at ${far}`);
      }
    }
  });
});

describe("what lies inside", () => {
  const { NaN: nan } = Number;
  const table: readonly (readonly [Constraint, number[], boolean[], number[]?])[] = [
    [constraints.real, [0, -1e300, nan, Infinity], [true, true, false, false]],
    [constraints.positive, [1, 0, -1, nan, Infinity], [true, false, false, false, false]],
    [constraints.nonNegative, [0, -1e-300], [true, false]],
    [constraints.above(2), [2, 1.9, nan], [true, false, false]],
    [constraints.below(2), [2, 2.1, -Infinity], [true, false, false]],
    [constraints.interval(0, 2), [0, 2, 2.1, nan], [true, true, false, false]],
    [constraints.unitInterval, [0.5, 0, 1], [true, false, false]],
    [constraints.zeroOrOne, [0, 1, 0.5, 2, nan], [true, true, false, false, false]],
    [constraints.count, [0, 7, -1, 1.5, Infinity], [true, true, false, false, false]],
    [constraints.countUpTo(3), [3, 4, -1], [true, false, false]],
    [constraints.countsOf(3), [1, 2, 0, 1, 1, 0, 4, -1, 0], [true, false, false], [3, 3]],
    [constraints.ordered, [1, 2, 3, 1, 1, 2], [true, false], [2, 3]],
    [constraints.positiveOrdered, [1, 2, -1, 2], [true, false], [2, 2]],
    [constraints.simplex, [0.2, 0.8, 0.3, 0.8, -0.1, 1.1], [true, false, false], [3, 2]],
    [constraints.unitVector, [0.6, 0.8, 1, 1], [true, false], [2, 2]],
    [constraints.correlationCholesky, [1, 0, 0.6, 0.8, 1, 0.1, 0.6, 0.8, 1, 0, 1, 1], [true, false, false], [3, 2, 2]],
    [constraints.covarianceCholesky, [2, 0, 7, 3, 2, 0, 7, -3], [true, false], [2, 2, 2]],
    [
      constraints.covarianceMatrix,
      [2, 1, 1, 3, 2, 1, 0.9, 3, 1, 2, 2, 1, nan, 0, 0, 1],
      [true, false, false, false],
      [4, 2, 2],
    ],
    [
      constraints.sumToZero,
      [1, 2, -3, 1, 2, -2.99, 0, 0, 0, nan, 0, 0, Infinity, -Infinity, 0],
      [true, false, true, false, false],
      [5, 3],
    ],
  ];
  for (const [constraint, values, expected, shape = [values.length]] of table) {
    test(`${constraint.name}: ${constraint.description}`, () => {
      assert.deepEqual(numbersOf(constraint.holds(on(values, shape))).map(Boolean), expected);
    });
  }
});

describeOnTensorDevices("bijections in f32", (device) => {
  test("equal those in f64 to its precision", () => {
    for (const { name, constraint, shape } of cases) {
      if (/tensors/.test(name)) continue;
      const { freeShape, forward } = constraint.bijection!;
      const free = freeNumbers(count(freeShape(shape)), 3);
      const single = forward(tensor(free, { dtype: "f32", device, shape: freeShape(shape) }), shape);
      const double = forward(on(free, freeShape(shape)), shape);
      assert.equal(single.value.dtype, "f32");
      const exact = numbersOf(double.value);
      numbersOf(single.value).forEach((x, i) => {
        assert.ok(Math.abs(x - exact[i]!) < 2e-6 * Math.max(1, Math.abs(exact[i]!)), `${name}: ${x}, not ${exact[i]}`);
      });
    }
  });
});

/**
 * Gradients of log densities by arguments that are vectors or matrices, against differences of the log density itself in f64.
 * Arguments are made from free numbers, so that each of them, moved a little, is one still.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  categorical,
  categoricalLogits,
  dirichlet,
  lkjCholesky,
  mixture,
  multinomial,
  mvNormal,
  normal,
  type RandomVariable,
} from "../../../src/bayes/index.js";
import { key } from "../../../src/random/key.js";
import { setDefaultDevice, type Tensor, tensor } from "../../../src/tensor/index.js";
import { grad } from "../../../src/transforms/grad.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { makerOf } from "./cases.js";
import { argumentsFor, sweptNames } from "./rule-arguments.js";

before(() => setDefaultDevice("cpu"));

const shares = (u: Tensor): Tensor => u.exp().div(u.exp().sum());
/** A lower triangle with a positive diagonal, of six numbers. */
function factorOf(u: Tensor): Tensor {
  const place = (row: number, column: number) =>
    f64([0, 1, 2].map((i) => [0, 1, 2].map((j) => Number(i === row && j === column))));
  const element = (at: number, row: number, column: number) =>
    place(row, column).mul(row === column ? u.at(at).exp() : u.at(at));
  return element(0, 0, 0)
    .add(element(1, 1, 0))
    .add(element(2, 1, 1))
    .add(element(3, 2, 0))
    .add(element(4, 2, 1))
    .add(element(5, 2, 2));
}
/** A positive definite matrix, of the same. */
const matrixOf = (u: Tensor): Tensor => factorOf(u).matmul(factorOf(u).T);

const three = [0.3, -0.7, 0.4];
const six = [0.2, 0.5, -0.3, -0.4, 0.1, 0.3];
const rows = f64([
  [0.4, -1.2, 0.7],
  [1.5, 0.3, -0.6],
]);
const centre = [0.1, -0.2, 0.3];

/** Free numbers, what they make, and where its log density is looked at. */
const cases: Readonly<Record<string, readonly [number[], (u: Tensor) => RandomVariable, Tensor]>> = {
  "dirichlet by its concentration": [
    three,
    (u) => dirichlet(u.exp()),
    f64([
      [0.2, 0.5, 0.3],
      [0.1, 0.1, 0.8],
    ]),
  ],
  "categorical by its probabilities": [three, (u) => categorical(shares(u)), f64([0, 2, 2, 1])],
  "categoricalLogits by its logits": [three, (u) => categoricalLogits(u), f64([0, 2, 2, 1])],
  "multinomial by its probabilities": [
    three,
    (u) => multinomial(7, shares(u)),
    f64([
      [2, 4, 1],
      [0, 0, 7],
    ]),
  ],
  "mixture by its weights": [
    three,
    (u) => mixture(shares(u), [normal(-1, 0.5), normal(0, 1), normal(2, 0.7)]),
    f64([-1.3, 0.2, 1.9, 5]),
  ],
  "mixture by the places of its parts": [
    three,
    (u) => mixture(f64([0.2, 0.5, 0.3]), [normal(u.at(0), 0.5), normal(u.at(1), 1), normal(u.at(2), u.at(0).exp())]),
    f64([-1.3, 0.2, 1.9, 5]),
  ],
  "mvNormal by its mean": [three, (u) => mvNormal(u, { covariance: matrixOf(f64(six)) }), rows],
  "mvNormal by its covariance": [six, (u) => mvNormal(centre, { covariance: matrixOf(u) }), rows],
  "mvNormal by its cholesky factor": [six, (u) => mvNormal(centre, { cholesky: factorOf(u) }), rows],
  "mvNormal by its precision": [six, (u) => mvNormal(centre, { precision: matrixOf(u) }), rows],
  "lkjCholesky by its concentration": [
    [0.4],
    (u) => lkjCholesky(2, u.at(0).exp()),
    f64([
      [1, 0],
      [0.6, 0.8],
    ]),
  ],
};

describe("gradients are the slopes of the log density", () => {
  for (const [title, [start, make, x]] of Object.entries(cases)) {
    test(title, () => {
      const density = (u: Tensor): Tensor => make(u).distribution.logDensity(x).sum();
      const at = (numbers: readonly number[]): number => Number(density(f64([...numbers])).itemSync());
      const found = numbersOf(grad(density)(f64(start)));
      assert.ok(found.some((slope) => Math.abs(slope) > 0.01));
      start.forEach((_, i) => {
        const moved = (by: number) => at(start.map((value, j) => (j === i ? value + by : value)));
        const central = (h: number) => (moved(h) - moved(-h)) / (2 * h);
        // Extrapolated: the error is of order h⁴.
        const slope = (4 * central(2 ** -10) - central(2 ** -9)) / 3;
        assert.ok(Math.abs(found[i]! - slope) < 1e-8 * (1 + Math.abs(slope)), `number ${i}: ${found[i]}, not ${slope}`);
      });
    });
  }
});

describeOnTensorDevices("gradients by all arguments in f32 are those in f64 on the CPU", (device) => {
  /** Values to look at: draws of the distribution itself. */
  const drawnFrom = (name: string, args: readonly unknown[]): number[] =>
    numbersOf(makerOf(name)(...args).distribution.sample(key(8, { device: "cpu" }), [4], { dtype: "f32" }));

  for (const name of sweptNames) {
    test(name, () => {
      const [args] = argumentsFor(name) as [readonly (number | number[])[]];
      const { parameters = [], eventShape } = makerOf(name)(...args).distribution;
      // Whole numbers have no slope, and probabilities only together.
      const free = args.flatMap((_, i) => {
        const { rule } = parameters[i]!;
        return rule.isValid(0.5) && !(rule.joint && rule.within) ? [i] : [];
      });
      const values = drawnFrom(name, args);
      for (const i of free) {
        const slopes = (dtype: "f32" | "f64", where: string): number[] => {
          const on = (numbers: number | number[], shape?: number[]) => tensor(numbers, { dtype, device: where, shape });
          const x = on(values, [4, ...eventShape]);
          const density = (v: Tensor): Tensor =>
            makerOf(name)(...args.map((arg, j) => (j === i ? v : on(arg))))
              .distribution.logDensity(x)
              .sum();
          return numbersOf(grad(density)(on(args[i]!)));
        };
        const expected = slopes("f64", "cpu");
        for (const [e, found] of slopes("f32", device).entries()) {
          const size = Math.max(1, ...expected.map(Math.abs));
          assert.ok(Math.abs(found - expected[e]!) < 2e-4 * size, `by argument ${i}: ${found}, not ${expected[e]}`);
        }
      }
    });
  }
});

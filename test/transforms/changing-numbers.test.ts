/**
 * Numbers in the bodies of loops and choices that change from call to call: a few programs for all of them, with the results of programs
 * that have them built in, as those in jitted functions have.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cond,
  forLoop,
  full,
  grad,
  hessian,
  jit,
  jvp,
  scan,
  switchCase,
  Tensor,
  tensor,
  vmap,
  whileLoop,
  withDevice,
  zeros,
} from "../../src/index.js";
import { workOf } from "../support/jit-check.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

const xs = () => tensor([0.5, -1.2, 2]).realize();
const w = () => tensor([[1, 2], [-1, 0.5]]).realize(); // biome-ignore format: a matrix
/** A recurrence that depends on weights and a number. */
const recurrence = (n: number) => (weights: Tensor) =>
  scan((s: Tensor, x: Tensor) => [s.mul(n).add(weights.sum().mul(x)).tanh(), s], tensor(0.1), xs())[0] as Tensor;
const choice = (n: number) => (x: Tensor) =>
  cond(
    x.sum().greater(n),
    (a: Tensor) => a.mul(n).sum(),
    (a: Tensor) => a.sub(n).square().sum(),
    x,
  );

const WORK: Readonly<Record<string, (n: number) => unknown>> = {
  scan: (n) => scan((s: Tensor, x: Tensor) => [s.mul(n).add(x), s.mul(x).sub(n)], tensor(0.3), xs()),
  "a while loop": (n) =>
    whileLoop(
      ({ i, s }: { i: Tensor; s: Tensor }) => i.less(5).logicalAnd(s.less(1e3 * n)) as Tensor,
      ({ i, s }) => ({ i: i.add(1) as Tensor, s: s.mul(1 + n) as Tensor }),
      { i: tensor(0, { dtype: "i32" }) as Tensor, s: tensor(1) as Tensor },
    ),
  "loops in loops": (n) =>
    forLoop(0, 3, (_, a: Tensor) => forLoop(0, 2, (_j, b: Tensor) => b.mul(n).add(1) as Tensor, a), tensor([1, 2])),
  cond: (n) => choice(n)(xs()),
  switchCase: (n) =>
    switchCase(
      tensor(1, { dtype: "i32" }),
      [(a: Tensor) => a.mul(n), (a: Tensor) => a.add(full([3], n)), (a: Tensor) => a],
      xs(),
    ),
  "whole numbers": (n) =>
    scan((s: Tensor) => [s.add(Math.round(n * 3)), s], tensor(0, { dtype: "i64" }) as Tensor, null, { length: 3 }),
  "many of one number": (n) => forLoop(0, 2, (_, a: Tensor) => a.add(full([1000], n)) as Tensor, zeros([1000])),
  exponents: (n) =>
    grad(
      (v: Tensor) => scan((s: Tensor, x: Tensor) => [s.add(v.mul(x).pow(n).sum()), s], tensor(0), xs())[0] as Tensor,
    )(w()),
  "a gradient": (n) => grad(recurrence(n))(w()),
  "a gradient of a choice": (n) => grad(choice(n))(w()),
  "a Hessian": (n) => hessian(recurrence(n))(tensor([0.2, -0.1])),
  vmap: (n) => vmap(recurrence(n))(w()),
  "a choice for each": (n) => vmap(choice(n))(w()),
  jvp: (n) => jvp(recurrence(n), [w()], [w()]),
};

const NUMBERS = [2, 3, 0.5, -1, 4, 2.5, 7, 3];

const listOf = (value: unknown): number[] =>
  value instanceof Tensor ? numbersOf(value) : Object.values(value as object).flatMap(listOf);

describeOnTensorDevices("numbers in bodies that change", (device) => {
  for (const [title, work] of Object.entries(WORK)) {
    test(`${title}: a few programs, and the results of each number built in`, () => {
      withDevice(device, () => {
        const before = workOf(device).compiled;
        const found = NUMBERS.map((n) => listOf(work(n)));
        const compiled = workOf(device).compiled - before;
        assert.ok(compiled <= 5, `${compiled} programs`);
        NUMBERS.forEach((n, i) => {
          assert.deepEqual(found[i], listOf(jit(() => work(n) as Tensor)()), `with ${n}`);
        });
      });
    });
  }

  test("a function that is jitted keeps its numbers, and so do complex exponents", () => {
    withDevice(device, () => {
      const f = jit((x: Tensor) => scan((s: Tensor) => [s.mul(3), null], x, null, { length: 4 })[0] as Tensor);
      assert.equal(f(tensor(1)).itemSync(), 81);
      const z = tensor([{ re: 1, im: 2 }]);
      const powers = [2, 3, 2].map((n) => forLoop(0, 1, (_, a: Tensor) => a.pow(n) as Tensor, z as Tensor));
      // Exact by multiplication, not by logarithms.
      assert.deepEqual(powers.map((p) => Array.from(p.dataSync() as Float32Array)), [[-3, 4], [-11, -2], [-3, 4]]); // biome-ignore format: rows
    });
  });

  test("a number far along in a list of others is told apart from them", () => {
    withDevice(device, () => {
      const build = (numbers: readonly number[]) =>
        forLoop(0, 2, (_, a: Tensor) => numbers.reduce((x, n) => x.mul(n).add(1) as Tensor, a), tensor([1]));
      const plain = (numbers: readonly number[]) => [0, 1].reduce((a) => numbers.reduce((x, n) => x * n + 1, a), 1);
      for (const numbers of [
        [1, 2, 3],
        [1, 2, 4],
        [1, 2, 5],
        [2, 2, 5],
        [1, 2, 3],
        [1, 0, 5],
        [1, -0, 5],
      ]) {
        // biome-ignore format: rows
        assert.deepEqual(numbersOf(build(numbers)), [plain(numbers)]);
      }
    });
  });
});

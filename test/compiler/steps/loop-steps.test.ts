/**
 * The steps of loops, against loops in JavaScript: carries that take turns, sequences from either end, and rounds that are
 * sent off before it is known whether they are wanted. The bodies turn their carry over, so that no loop fits one kernel.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compile } from "../../../src/compiler/compile.js";
import { FLAG_BYTES, kernelsOf, type Step } from "../../../src/compiler/program/program.js";
import { makePlaceholder } from "../../../src/graph/function.js";
import { cond, scan, Tensor, whileLoop } from "../../../src/index.js";
import { tensorOn, withProfile } from "../../support/forced-tiles.js";
import { asKernel, codelessTarget } from "../../support/targets.js";
import { numbersOf } from "../../support/tensors.js";

const WIDTH = 3;
const numbered = (count: number) => Array.from({ length: count }, (_, i) => ((i * 7) % 11) - 5);

for (const runsAhead of [false, true]) {
  describe(`on a device that ${runsAhead ? "runs ahead" : "waits for the test of a loop"}`, () => {
    const backend = withProfile("cpu", () => ({ runsAhead }));
    const given = (values: readonly number[], ...shape: number[]) =>
      tensorOn(backend, { shape, values: [...values] }, "f32");
    const stepsOf = (...tensors: Tensor[]) => backend.plan(tensors.map(({ node }) => node)).steps;

    for (const length of [0, 1, 2, 5]) {
      for (const reverse of [false, true]) {
        test(`a scan of ${length} rounds ${reverse ? "from the end" : "from the start"}`, () => {
          const [start, rows] = [numbered(WIDTH), numbered(length * WIDTH)];
          const step = (c: Tensor, x: Tensor) => [c.flip(0).mul(2).add(x), c.sub(x)] as const;
          const [last, all] = scan(step, given(start, WIDTH), given(rows, length, WIDTH), { reverse });
          let carry = start;
          const want: number[][] = [];
          for (let i = 0; i < length; i++) {
            const at = reverse ? length - 1 - i : i;
            const row = rows.slice(WIDTH * at, WIDTH * (at + 1));
            want[at] = carry.map((c, k) => c - row[k]!);
            carry = [...carry].reverse().map((c, k) => 2 * c + row[k]!);
          }
          assert.deepEqual(numbersOf(last), carry);
          assert.deepEqual(numbersOf(all as Tensor), want.flat());
        });
      }
    }

    test("a stacked result that nobody reads is not computed", () => {
      const step = (c: Tensor, x: Tensor) => [c.flip(0).add(x), c.exp()] as const;
      const [last, all] = scan(step, given(numbered(WIDTH), WIDTH), given(numbered(12), 4, WIDTH));
      const names = (steps: readonly Step<unknown>[]) => kernelsOf(steps).map(({ kernel: { name } }) => name);
      assert.ok(names(stepsOf(last, all as Tensor)).some((name) => name.includes("exp")));
      assert.ok(!names(stepsOf(last)).some((name) => name.includes("exp")));
    });

    // Of rounds that are sent off together there are 4, then 8, 16, 32, and 64 from then on.
    for (const rounds of [0, 1, 3, 4, 5, 12, 130]) {
      test(`a loop that ends after ${rounds} rounds`, () => {
        const limit = given([rounds]);
        const [count, turned] = whileLoop(
          ([n]: readonly [Tensor, Tensor]) => n.less(limit),
          ([n, c]: readonly [Tensor, Tensor]) => [n.add(1), c.flip(0).add(1)] as const,
          [given([0]), given(numbered(WIDTH), WIDTH)] as const,
        );
        const [a, b, c] = numbered(WIDTH) as [number, number, number];
        const order = rounds % 2 === 0 ? [a, b, c] : [c, b, a];
        assert.deepEqual(numbersOf(count), [rounds]);
        assert.deepEqual(
          numbersOf(turned),
          order.map((value) => value + rounds),
        );
      });
    }

    test("a round that is not wanted computes nothing", () => {
      const loop = stepsOf(
        whileLoop(
          (c: Tensor) => c.sum().less(9),
          (c: Tensor) => c.flip(0).mul(2),
          given([1, 2], 2),
        ),
      ).find(({ kind }) => kind === "while");
      assert.ok(loop?.kind === "while");
      const flags = (steps: readonly Step<unknown>[]) =>
        kernelsOf(steps).flatMap(({ kernel: { gate }, slots }) => (gate ? [slots[gate.buffer]!.offset ?? 0] : []));
      // The test of a round stands behind the flag of the round before, its kernels behind its own.
      assert.deepEqual(new Set(flags(loop.test)), new Set(runsAhead ? [0] : []));
      assert.deepEqual(new Set(flags(loop.steps)), new Set(runsAhead ? [FLAG_BYTES] : []));
    });

    test("a loop in a branch that is not taken does not run, and one in the branch taken does", () => {
      for (const isTaken of [0, 1]) {
        const once = (x: Tensor) =>
          whileLoop(
            (c: Tensor) => c.sum().less(50),
            (c: Tensor) => c.flip(0).mul(2),
            x,
          );
        const result = cond(given([isTaken]).greater(0), once, (x: Tensor) => x.neg(), given([1, 2, 4], 3));
        assert.deepEqual(numbersOf(result), isTaken ? [32, 16, 8] : [-1, -2, -4]);
      }
    });

    test("a loop that goes on too long says so", () => {
      const endless = whileLoop(
        (c: Tensor) => c.sum().less(1e9),
        (c: Tensor) => c.flip(0),
        given([1, 2], 2),
        { maxRounds: 10 },
      );
      assert.throws(() => numbersOf(endless), /still held after 10 rounds/);
    });
  });
}

test("a while loop is refused in a program that is to be recorded", () => {
  const argument = makePlaceholder({ shape: [2], dtype: "f32", device: withProfile("cpu", () => ({})) });
  const result = whileLoop(
    (c: Tensor) => c.sum().less(9),
    (c: Tensor) => c.flip(0).mul(2),
    new Tensor(argument) as Tensor,
  );
  const compiled = (recordable: { readonly isFixedLeaf: readonly boolean[] } | null) =>
    compile([result.node], [argument], codelessTarget(), asKernel, recordable);
  assert.ok(compiled(null).steps.some(({ kind }) => kind === "while"));
  assert.throws(() => compiled({ isFixedLeaf: [false] }), /cannot be recorded/);
});

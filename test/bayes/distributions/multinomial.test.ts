/**
 * Multinomial draws against closed forms: probabilities of all outcomes, moments, certain and impossible classes; and that
 * more classes are no more code.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { multinomial } from "../../../src/bayes/distributions/index.js";
import type { Step } from "../../../src/compiler/program/program.js";
import { type Key, key, split } from "../../../src/random/key.js";
import { backendFor, tensor } from "../../../src/tensor/index.js";
import { jit } from "../../../src/transforms/jit.js";
import { vmap } from "../../../src/transforms/vmap.js";
import { expectFrequencies, expectMoments } from "../../support/goodness-of-fit.js";
import { lgamma } from "../../support/special-functions.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const N = 5000;

/** The draws, one list each. */
function rowsOf(numbers: readonly number[], classes: number): number[][] {
  return Array.from({ length: numbers.length / classes }, (_, i) => numbers.slice(i * classes, (i + 1) * classes));
}

const totalOf = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);

/** Every way to share out n trials. */
function outcomes(n: number, classes: number): number[][] {
  if (classes === 1) return [[n]];
  return Array.from({ length: n + 1 }, (_, k) => outcomes(n - k, classes - 1).map((rest) => [k, ...rest])).flat();
}

function probabilityOf(counts: readonly number[], p: readonly number[]): number {
  const logs = counts.map((k, i) => (k === 0 ? 0 : k * Math.log(p[i]!)) - lgamma(k + 1));
  return Math.exp(lgamma(totalOf(counts) + 1) + totalOf(logs));
}

function kernelsIn(steps: readonly Step<unknown>[]): number {
  return totalOf(steps.map((step) => (step.kind === "kernel" ? 1 : kernelsIn(step.steps))));
}

describeOnTensorDevices("multinomial draws", (device) => {
  for (const [n, p] of [
    [1, [0.1, 0.2, 0.3, 0.4]],
    [3, [0.2, 0.5, 0.3]],
    [4, [0.5, 0, 0.25, 0.25, 0]],
  ] as const) {
    test(`all outcomes of ${n} trials with probabilities ${p} come up as often as they should`, () => {
      const all = outcomes(n, p.length);
      const drawn = rowsOf(numbersOf(multinomial(n, [...p]).distribution.sample(key(n), [N])), p.length);
      const seen = all.map((outcome) => drawn.filter((counts) => counts.join() === outcome.join()).length);
      assert.equal(totalOf(seen), N, "every draw is an outcome");
      expectFrequencies(
        seen,
        all.map((outcome) => probabilityOf(outcome, p)),
        `multinomial(${n}, ${p})`,
      );
    });
  }

  for (const n of [60, 1e6]) {
    test(`of ${n} trials have the mean, variance and covariance of theirs`, () => {
      const p = [0.05, 0.15, 0.5, 0.3];
      const drawn = rowsOf(numbersOf(multinomial(n, p).distribution.sample(key(5), [N])), p.length);
      for (const counts of drawn) assert.equal(totalOf(counts), n);
      const moments = (of: (counts: readonly number[]) => number, chance: number, what: string) => {
        const variance = n * chance * (1 - chance);
        const kurtosis = 3 + (1 - 6 * chance * (1 - chance)) / variance;
        expectMoments(drawn.map(of), { mean: n * chance, variance, kurtosis }, what);
      };
      p.forEach((chance, i) => {
        moments((counts) => counts[i]!, chance, `class ${i} of ${n}`);
      });
      // Two classes together are binomial too, which they are only if their covariance is right.
      moments((counts) => counts[0]! + counts[2]!, p[0]! + p[2]!, `classes 0 and 2 of ${n}`);
      moments((counts) => counts[1]! + counts[2]!, p[1]! + p[2]!, `classes 1 and 2 of ${n}`);
    });
  }

  test("classes without probability never come up, and a certain one always", () => {
    const draw = (n: number, p: number[]) =>
      rowsOf(numbersOf(multinomial(n, p).distribution.sample(key(8), [50])), p.length);
    for (const n of [0, 1, 7, 1e6]) {
      for (const counts of draw(n, [1, 0, 0])) assert.deepEqual(counts, [n, 0, 0]);
      for (const counts of draw(n, [0, 0, 1])) assert.deepEqual(counts, [0, 0, n]);
      for (const counts of draw(n, [0, 1, 0])) assert.deepEqual(counts, [0, n, 0]);
      // 0.1 + 0.2 + 0.7 is not 1 in floats.
      for (const counts of draw(n, [0.1, 0, 0.2, 0.7, 0])) {
        assert.deepEqual([counts[1], counts[4], totalOf(counts)], [0, 0, n]);
      }
    }
    assert.deepEqual(draw(4, [1])[0], [4]);
  });

  test("trials and probabilities are tensors that broadcast", () => {
    const trials = tensor([[0], [5], [1000]], { dtype: "i32" });
    const rows = tensor([
      [0.2, 0.3, 0.5],
      [1, 0, 0],
    ]);
    const drawn = multinomial(trials, rows).distribution.sample(key(2));
    assert.deepEqual([drawn.dtype, drawn.shape], ["i32", [3, 2, 3]]);
    assert.deepEqual(numbersOf(drawn.sum({ axis: -1 })), [0, 0, 5, 5, 1000, 1000]);
    assert.deepEqual(numbersOf(drawn.at(":", 1, 0)), [0, 5, 1000]);
    assert.deepEqual(multinomial(trials, rows).distribution.sample(key(2), [4, 3, 2]).shape, [4, 3, 2, 3]);
  });

  test("are the same for a key, also under jit and vmap", () => {
    const draw = (own: Key, p: number[]) => multinomial(tensor([3, 200]), p).distribution.sample(own);
    const p = [0.1, 0.4, 0.2, 0.3];
    const keys = split(key(4), 3);
    const each = keys.map((own) => numbersOf(draw(own, p)));
    assert.deepEqual(
      each,
      keys.map((own) => numbersOf(draw(own, p))),
    );
    assert.notDeepEqual(each[0], each[1]);
    const together = (own: Key) => vmap((one: Key) => draw(one, p))(split(own, [3]));
    assert.deepEqual(numbersOf(together(key(4))), each.flat());
    assert.deepEqual(numbersOf(jit(together)(key(4))), each.flat());
  });

  test("forty classes are one program of as many kernels as three", () => {
    const backend = backendFor(device);
    const sample = (classes: number) =>
      multinomial(9, tensor(new Array<number>(classes).fill(1 / classes))).distribution.sample(key(0), [7]);
    const few = kernelsIn(backend.plan([sample(3).node]).steps);
    const many = sample(40);
    assert.equal(kernelsIn(backend.plan([many.node]).steps), few);
    // What runs computes what is left of the trials, too.
    const before = backend.counters.compiled;
    many.dataSync();
    assert.equal(backend.counters.compiled - before, 1);
  });
});

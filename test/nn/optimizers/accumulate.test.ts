import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor, tensor } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

const { accumulate, applyUpdates, adam, muon } = optimizers;

describeOnTensorDevices("accumulate", (device) => {
  for (const [name, make] of [
    ["adam", () => adam(0.1)],
    ["muon", () => muon(0.1)],
  ] as const) {
    test(`${name} on the mean of three gradients, once in three steps`, async () => {
      const at = (values: number[]) => ({ w: tensor(values, { device }).reshape(2, 2) });
      const parts = [
        [1, 2, 3, 4],
        [0, 1, 0, 2],
        [2, 0, 3, 3],
        [4, 4, 1, 0],
        [1, 1, 1, 2],
        [1, 4, 1, 1],
      ];
      const mean = (from: number) =>
        [0, 1, 2, 3].map((i) => (parts[from]![i]! + parts[from + 1]![i]! + parts[from + 2]![i]!) / 3);
      type P = { w: Tensor };
      const run = async (optimizer: optimizers.Optimizer, gradients: readonly number[][]) => {
        let params: P = at([1, 2, 3, 4]);
        let state = optimizer.init(params);
        const found: number[][] = [];
        const step = jit((p: P, s: typeof state, g: P): [P, typeof state] => {
          const [updates, next] = optimizer.update(g, s, p);
          return [applyUpdates(p, updates), next];
        });
        for (const g of gradients) {
          [params, state] = step(params, state, at(g));
          found.push([...(await params.w.data())]);
        }
        return found;
      };
      const [small, large] = [await run(accumulate(make(), 3), parts), await run(make(), [mean(0), mean(3)])];
      assert.deepEqual(
        [small[0], small[1]],
        [
          [1, 2, 3, 4],
          [1, 2, 3, 4],
        ],
      );
      assert.deepEqual([small[3], small[4]], [small[2], small[2]]);
      for (const [a, b] of [
        [small[2], large[0]],
        [small[5], large[1]],
      ] as const) {
        a!.forEach((value, i) => {
          assert.ok(Math.abs(value - b![i]!) < 2e-6, `${a} for ${b}`);
        });
      }
    });
  }
});

test("steps count by what they say; those that count nothing may hold anything, and none at all is no gradient", async () => {
  const device = "cpu";
  const params = { w: tensor([0], { device }) };
  const optimizer = accumulate(optimizers.sgd(1), 3);
  const moveAfter = async (steps: readonly [gradient: number, count: number][]): Promise<number> => {
    let state = optimizer.init(params);
    let updates = params;
    for (const [gradient, count] of steps) {
      const extras = { count: tensor(count, { device }) };
      [updates, state] = optimizer.update({ w: tensor([gradient], { device }) }, state, params, extras);
    }
    return Number(await updates.w.item());
  };
  assert.equal(await moveAfter([[1, 2], [5, 1], [Number.NaN, 0]]), Math.fround(-7 / 3)); // biome-ignore format: a row
  assert.equal(await moveAfter([[1, 0], [5, 0], [3, 0]]) + 0, 0); // biome-ignore format: a row
  // An accumulation inside another one hears of the sums.
  const nested = accumulate(accumulate(optimizers.sgd(1), 2), 2);
  let state = nested.init(params);
  let updates = params;
  for (const [gradient, count] of [[1, 1], [3, 1], [8, 4], [8, 2]] as const) // biome-ignore format: a row
    [updates, state] = nested.update({ w: tensor([gradient], { device }) }, state, params, { count });
  assert.equal(await updates.w.item(), -6.5);
});

test("misuse is refused by name", () => {
  assert.throws(() => accumulate(adam(), 0), {
    message: /accumulate: the number of steps is a whole number from 1 on/,
  });
  const params = { w: tensor([1, 2]) };
  const optimizer = accumulate(adam(), 2);
  assert.throws(() => optimizer.update(params, optimizer.init(params), params, { count: tensor([1, 2]) }), {
    message: /accumulate: the count of a step is one number, not a tensor of shape \[2\]/,
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tensor } from "../../../src/index.js";
import { optimizers, schedules } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

const { chain, clip, clipByNorm, clipByGlobalNorm, centralize, addDecayedWeights, addNoise, globalNorm, scale } =
  optimizers;
const { scaleBySchedule, scaleByPlateau, zeroNaNs, sgd } = optimizers;

describeOnTensorDevices("transforms of gradients", (device) => {
  const at = (values: number[], shape = [values.length]) => tensor(values, { device }).reshape(shape);
  const params = () => ({ a: at([1, 2]), b: at([3]) });

  /** The updates of some steps with the same gradients. */
  const run = async (transform: optimizers.Optimizer, gradients: { a: Tensor; b: Tensor }, steps = 1) => {
    let state = transform.init(params());
    const found: number[][][] = [];
    for (let i = 0; i < steps; i++) {
      const [updates, next] = transform.update(gradients, state, params());
      found.push([[...(await updates.a.data())], [...(await updates.b.data())]]);
      state = next;
    }
    return found;
  };

  test("clip elements and norms, each or of all together", async () => {
    const gradients = { a: at([3, -4]), b: at([12]) };
    assert.deepEqual(await run(clip(3.5), gradients), [[[3, -3.5], [3.5]]]);
    assert.deepEqual(await run(clipByNorm(10), gradients), [[[3, -4], [10]]]);
    const [[a, b]] = (await run(clipByGlobalNorm(6.5), gradients)) as [[number[], number[]]];
    for (const [i, value] of [1.5, -2, 6].entries()) assert.ok(Math.abs([...a, ...b][i]! - value) < 1e-6);
    assert.deepEqual(await run(clipByGlobalNorm(13.5), gradients), [[[3, -4], [12]]]);
    const none = { a: at([0, 0]), b: at([0]) };
    assert.deepEqual(await run(chain(clipByNorm(1), clipByGlobalNorm(1)), none), [[[0, 0], [0]]]);
    assert.equal(await globalNorm(gradients).item(), 13);
  });

  test("scale by numbers, tensors and schedules, and add decayed weights where the mask says", async () => {
    const gradients = { a: at([1, 0]), b: at([1]) };
    assert.deepEqual(await run(scale(at([4], [])), gradients), [[[4, 0], [4]]]);
    assert.deepEqual(await run(scaleBySchedule(schedules.linear(1, 0, 2)), gradients, 3), [
      [[1, 0], [1]],
      [[0.5, 0], [0.5]],
      [[0, 0], [0]],
    ]);
    assert.deepEqual(await run(addDecayedWeights(0.5, { mask: (path) => path === "a" }), gradients), [[[1.5, 1], [1]]]);
    assert.deepEqual(await run(zeroNaNs(), { a: at([NaN, 7]), b: at([Infinity]) }), [[[0, 7], [Infinity]]]);
  });

  test("centre matrices by columns, kernels by outputs, and leave vectors", async () => {
    const tree = { m: at([1, 2, 3, 6], [2, 2]), k: at([1, 3, 5, 9], [2, 1, 2]), v: at([1, 2]) };
    const [updates] = centralize().update(tree, {}, tree);
    assert.deepEqual(await updates.m.array(), [
      [-1, -2],
      [1, 2],
    ]);
    assert.deepEqual(await updates.k.array(), [[[-1, 1]], [[-2, 2]]]);
    assert.deepEqual(await updates.v.array(), [1, 2]);
  });

  test("follow the loss: the scale falls when it does", async () => {
    const transform = chain(sgd(1), scaleByPlateau({ factor: 0.5, patience: 1 }));
    let state = transform.init(params());
    const found: number[] = [];
    for (const value of [3, 2, 2, 2, 2, 2, 1]) {
      const [updates, next] = transform.update({ a: at([1, 1]), b: at([1]) }, state, params(), {
        value: at([value], []),
      });
      found.push((await updates.b.data())[0] as number);
      state = next;
    }
    assert.deepEqual(found, [-1, -1, -1, -0.5, -0.5, -0.25, -0.25]);
  });
});

test("gradients of bf16 become updates in f32; those of f16 do not overflow in a norm", async () => {
  const params = { w: tensor([300, 400], { dtype: "f16", device: "cpu" }) };
  const [updates] = clipByGlobalNorm(5).update(params, {}, params);
  assert.equal(updates.w.dtype, "f32");
  assert.deepEqual(Array.from(await updates.w.data(), Math.round), [3, 4]);
});

test("noise for each parameter is another one", async () => {
  const transform = addNoise(random.key(0, { device: "cpu" }), { eta: 1 });
  const params = { a: tensor([0, 0], { device: "cpu" }), b: tensor([0, 0], { device: "cpu" }) };
  const [updates] = transform.update(params, transform.init(params), params);
  assert.notDeepEqual(await updates.a.data(), await updates.b.data());
});

test("misuse is refused by name", () => {
  for (const [name, make] of Object.entries({ clip, clipByNorm, clipByGlobalNorm })) {
    assert.throws(() => make(0), {
      name: "ArgumentError",
      message: new RegExp(`^${name}: the limit is a number above 0, not 0`),
    });
  }
  assert.throws(() => scaleBySchedule(2 as never), { message: /scaleBySchedule: takes a schedule/ });
  assert.throws(() => scale("x" as never), { message: /scale: the factor is a finite number/ });
  const w = { w: tensor([1]) };
  assert.throws(() => scaleByPlateau().update(w, scaleByPlateau().init(w), w), {
    message: /scaleByPlateau: it follows the loss/,
  });
  assert.throws(() => globalNorm({}), { message: /globalNorm: the tree has no tensors/ });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, type Tensor, tensor } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

const { masterWeights, lossScale, applyUpdates, sgd, adam } = optimizers;
type P = { w: Tensor };

describeOnTensorDevices("mixed precision", (device) => {
  test("updates smaller than a rounding of bf16 add up in the master weights", async () => {
    const run = async (optimizer: optimizers.Optimizer) => {
      let params: P = { w: tensor([1, -2], { dtype: "bf16", device }) };
      let state = optimizer.init(params);
      const step = jit(
        (p: P, s: typeof state): [P, typeof state] => {
          const [updates, next] = optimizer.update({ w: p.w.mul(0).add(1).cast("bf16") as Tensor }, s, p);
          return [applyUpdates(p, updates), next];
        },
        { donate: [0, 1] },
      );
      for (let i = 0; i < 64; i++) [params, state] = step(params, state);
      assert.equal(params.w.dtype, "bf16");
      return [...(await params.w.cast("f32").data())];
    };
    assert.deepEqual(await run(sgd(2 ** -10)), [1, -2]);
    assert.deepEqual(await run(masterWeights(sgd(2 ** -10))), [1 - 1 / 16, -2 - 1 / 16]);
  });

  test("an infinite gradient changes nothing and halves the scale; good steps in a row double it", async () => {
    const optimizer = lossScale(sgd(1, { momentum: 0.5 }), { initial: 8, every: 2 });
    let params: P = { w: tensor([1, 2], { device }) };
    let state = optimizer.init(params);
    const step = jit((p: P, s: typeof state, x: Tensor): [P, typeof state] => {
      const loss = (q: P) => optimizer.scaleLoss(q.w.mul(x).sum(), s);
      const [updates, next] = optimizer.update(grad(loss)(p), s, p);
      return [applyUpdates(p, updates), next];
    });
    const found: unknown[] = [];
    for (const x of [
      [1, 1],
      [Infinity, 1],
      [1, 1],
      [1, 1],
      [NaN, 1],
    ]) {
      [params, state] = step(params, state, tensor(x, { device }));
      found.push([
        ...(await params.w.data()),
        await (state.scale as Tensor).item(),
        await (state.good as Tensor).item(),
      ]);
    }
    const [a, b, c] = [
      [0, 1],
      [-1.5, -0.5],
      [-3.25, -2.25],
    ] as const;
    assert.deepEqual(found, [
      [...a, 8, 1],
      [...a, 4, 0],
      [...b, 4, 1],
      [...c, 8, 0],
      [...c, 4, 0],
    ]);
  });

  test("is stuck where gradients are not finite although nothing is scaled, and only there", async () => {
    const stuck = async (initial: number, every: number, x: number): Promise<boolean> => {
      const optimizer = lossScale(sgd(1), { initial, every });
      const before = optimizer.init({ w: tensor([1], { device }) });
      const [, after] = optimizer.update({ w: tensor([x], { device }) }, before, { w: tensor([1], { device }) });
      return (await optimizer.isStuck(before, after).item()) as boolean;
    };
    assert.equal(await stuck(1, 5, Infinity), true);
    assert.equal(await stuck(0.5, 5, Number.NaN), true);
    assert.equal(await stuck(2, 5, Infinity), false);
    assert.equal(await stuck(1, 5, 3), false);
    assert.equal(await stuck(1, 1, 3), false);
  });
});

test("gradients of f16 are kept in range by the scale, and averages are in f32", async () => {
  const optimizer = masterWeights(adam(0.5));
  const params = { w: tensor([1], { dtype: "f16", device: "cpu" }) };
  const state = optimizer.init(params) as never as { master: P; inner: { mean: P } };
  assert.deepEqual([state.master.w.dtype, state.inner.mean.w.dtype], ["f32", "f32"]);
  const scaled = lossScale(sgd(2 ** 30), { initial: 2 ** 15 });
  const first = scaled.init(params);
  const tiny = (p: typeof params) =>
    p.w
      .mul(2 ** -15)
      .mul(2 ** -15)
      .sum();
  const [lost] = sgd(2 ** 30).update(grad(tiny)(params), {}, params);
  assert.equal(await lost.w.abs().sum().item(), 0);
  const loss = (p: typeof params) =>
    scaled
      .scaleLoss(p.w.sum(), first)
      .mul(2 ** -15)
      .mul(2 ** -15);
  const [kept] = scaled.update(grad(loss)(params), first, params);
  assert.deepEqual(await kept.w.array(), [-1]);
});

test("misuse is refused by name", () => {
  assert.throws(() => masterWeights({} as never), { message: /masterWeights: takes optimisers/ });
  assert.throws(() => lossScale(sgd(1), { initial: 0 }), {
    message: /lossScale: the first scale is a finite number above 0/,
  });
  assert.throws(() => lossScale(sgd(1)).update({ w: tensor([1]) }, {}, { w: tensor([1]) }), {
    message: /lossScale: the state has no "scale"/,
  });
});

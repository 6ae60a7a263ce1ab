import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor, tensor } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { loss, type Params, paramsOn } from "./trajectories.js";

const { lbfgs } = optimizers;

/** Rosenbrock's function in four dimensions: one valley, its minimum at ones. */
const valley = ({ x }: { x: Tensor }): Tensor => {
  const [a, b] = [x.at("0:3"), x.at("1:4")];
  return b.sub(a.square()).square().mul(100).add(a.sub(1).square()).sum() as Tensor;
};

describeOnTensorDevices("L-BFGS", (device) => {
  test("finds the minimum of a quadratic and of a valley in one compiled program", async () => {
    // SciPy's L-BFGS-B takes 99 steps here for a gradient of 1e-3.
    const run = jit((p: Params<Tensor>) => lbfgs().minimize(loss, p, { tolerance: 1e-2, steps: 120 }));
    const found = run(paramsOn(device, "f32"));
    assert.ok((await found.slope.item()) <= 1e-2, `a slope of ${await found.slope.item()}`);
    for (const value of await found.params.x.data()) assert.ok(Math.abs(value - 1) < 2e-2, String(value));
  });
});

test("in f64 the gradient falls to 1e-9 within the steps of other implementations", async () => {
  const x = tensor([-1.2, 1, -1.2, 1], { dtype: "f64", device: "cpu" });
  const found = lbfgs().minimize(valley, { x }, { tolerance: 1e-9, steps: 100 });
  assert.ok((await found.slope.item()) <= 1e-9);
  for (const value of await found.params.x.data()) assert.ok(Math.abs(value - 1) < 1e-8, String(value));
  const steps = await found.steps.item();
  assert.ok(steps > 5 && steps < 60, `${steps} steps`);
});

test("steps by hand never go up, and a quadratic in n dimensions ends as conjugate gradients do", async () => {
  const scales = tensor([1, 10, 100], { dtype: "f64", device: "cpu" });
  const bowl = (p: { x: Tensor }) => p.x.square().mul(scales).sum() as Tensor;
  const optimizer = lbfgs({ memory: 5 });
  let params = { x: tensor([1, 1, 1], { dtype: "f64", device: "cpu" }) };
  let state = optimizer.init(params);
  let last = await bowl(params).item();
  const step = jit((p: typeof params, s: typeof state) => optimizer.step(bowl, p, s));
  for (let i = 0; i < 20; i++) {
    const [next, after, value] = step(params, state);
    const now = await value.item();
    assert.ok(now <= last * (1 + 1e-12), `${now} after ${last}`);
    assert.ok(Math.abs(now - (await bowl(next).item())) <= 1e-15 + 1e-9 * now);
    [params, state, last] = [next, after, now];
  }
  assert.ok(last < 1e-15, String(last));
});

test("a jitted step of long history reads values that were computed while its graph was built", async () => {
  const valley = ({ x }: { x: Tensor }) => {
    const [p, q] = [x.at(0), x.at(1)];
    return p.sub(1).square().add(q.sub(p.square()).square().mul(100));
  };
  const optimizer = lbfgs({ memory: 10 });
  const params = { x: tensor([-1.2, 1], { device: "cpu" }) };
  const step = jit((p: typeof params, s: ReturnType<typeof optimizer.init>) => optimizer.step(valley, p, s));
  const state = optimizer.init(params);
  const eager = await optimizer.step(valley, params, state)[2].item();
  for (let i = 0; i < 2; i++) assert.equal(await step(params, state)[2].item(), eager);
});

test("a function without a lower point ends at once, where it began", async () => {
  const found = lbfgs({ evaluations: 4 }).minimize((p: { x: Tensor }) => p.x.mul(NaN).sum(), {
    x: tensor([2], { device: "cpu" }),
  });
  assert.deepEqual(await found.params.x.array(), [2]);
  assert.equal(await found.steps.item(), 0);
});

test("misuse is refused by name", () => {
  const params = { x: tensor([1, 2], { device: "cpu" }) };
  assert.throws(() => lbfgs({ memory: 0 }), { message: /lbfgs: the memory is a whole number from 1 on/ });
  assert.throws(() => lbfgs().minimize(((p: typeof params) => p.x) as never, params), {
    name: "ShapeError",
    message: /lbfgs: the function gives one number in a tensor, not a tensor of shape \[2\]/,
  });
  assert.throws(() => lbfgs({ memory: 3 }).step((p) => p.x.sum(), params, lbfgs().init(params)), {
    message: /lbfgs: the history of the state is \[10, 2\], these parameters need \[3, 2\]/,
  });
  assert.throws(() => lbfgs().minimize(3 as never, params), { message: /lbfgs: takes a function, not 3/ });
});

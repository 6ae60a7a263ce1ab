/** Long functions and long loops under the transforms: no stack runs out, nothing is compiled again, memory stays flat. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { VulkanDevice } from "../../src/engines/vulkan/device.js";
import { grad, jit, jvp, type Tensor, tensor, tree, valueAndGrad, vmap, zeros } from "../../src/index.js";
import { backendFor } from "../../src/tensor/index.js";
import { engineOf } from "../support/engines.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

const MiB = 1024 * 1024;

function reservedBytes(device: string): number {
  const engine = engineOf(device);
  return "memory" in engine && "reservedBytes" in engine.memory
    ? engine.memory.reservedBytes
    : (engine as VulkanDevice).stats().reservedBytes;
}

const isNear = (got: number, want: number, tolerance: number) =>
  assert.ok(Math.abs(got - want) <= tolerance * Math.abs(want), `${got} is not ${want}`);

describeOnTensorDevices("functions of 10,000 operations", (device) => {
  const FACTOR = 1.0003;
  const OPERATIONS = 10_000;
  const chain = (x: Tensor) => {
    let y = x;
    for (let i = 0; i < OPERATIONS / 2; i++) y = y.mul(FACTOR).sub(0.25);
    return y.sum();
  };
  // Every step multiplies the slope by the factor.
  const slope = FACTOR ** (OPERATIONS / 2);

  test("have gradients, in a few programs", () => {
    const { counters } = backendFor(device);
    const before = counters.compiled;
    const gradient = grad(chain)(tensor([1, 2, 3], { dtype: "f64" }));
    for (const value of numbersOf(gradient)) isNear(value, slope, 1e-11);
    assert.ok(counters.compiled - before <= 12, `${counters.compiled - before} programs`);
  });

  test("have second derivatives", () => {
    const second = grad((x: Tensor) => grad((y: Tensor) => chain(y.square()))(x).sum());
    for (const value of numbersOf(second(tensor([1, 2], { dtype: "f64" })))) isNear(value, 2 * slope, 1e-11);
  });

  test("are pushed forward and vectorised", () => {
    const x = tensor([1, 2, 3], { dtype: "f64" });
    isNear(numbersOf(jvp(chain, [x], [x])[1])[0]!, 6 * slope, 1e-11);
    const rows = numbersOf(vmap(grad(chain))(x.reshape(3, 1)));
    for (const value of rows) isNear(value, slope, 1e-11);
  });
});

describeOnTensorDevices("2,000 steps of gradient descent, written as a plain loop", (device) => {
  const STEPS = 2000;
  // y = 2a - 3b + 1: the loss has its minimum, zero, there.
  const inputs = Array.from({ length: 32 }, (_, i) => [Math.sin(i), Math.cos(3 * i)]);
  const outputs = inputs.map(([a, b]) => [2 * a! - 3 * b! + 1]);

  function train(afterStep: (loss: Tensor) => void): Record<"weight" | "bias", Tensor> {
    const [x, y] = [tensor(inputs), tensor(outputs)];
    const loss = (p: { weight: Tensor; bias: Tensor }) => x.matmul(p.weight).add(p.bias).sub(y).square().mean();
    let params: Record<"weight" | "bias", Tensor> = { weight: zeros([2, 1]), bias: zeros([1]) };
    for (let i = 0; i < STEPS; i++) {
      const [value, gradient] = valueAndGrad(loss)(params);
      params = tree.map((p, g) => p.sub(g.mul(0.1)), params, gradient);
      afterStep(value);
    }
    return params;
  }

  for (const [what, isRead] of [
    ["that reads the loss", true],
    ["that reads nothing", false],
  ] as const) {
    test(`${what}: compiled once, memory flat`, () => {
      const { counters } = backendFor(device);
      const compiled: number[] = [];
      const kernels: number[] = [];
      const reserved: number[] = [];
      const losses: number[] = [];
      const { weight, bias } = train((loss) => {
        if (isRead) losses.push(loss.itemSync() as number);
        compiled.push(counters.compiled);
        kernels.push(counters.kernels);
        reserved.push(reservedBytes(device));
      });
      assert.equal(compiled.at(-1), compiled[3], "the programs of the first steps serve all others");
      const perStep = (kernels.at(-1)! - kernels[3]!) / (STEPS - 4);
      assert.ok(perStep <= 12, `${perStep} kernels a step`);
      assert.ok(
        reserved.at(-1)! - reserved[100]! <= 64 * MiB,
        `memory grew from ${reserved[100]} to ${reserved.at(-1)}`,
      );
      if (isRead) {
        assert.ok(losses.at(-1)! < 1e-10 && losses[0]! > 1, `${losses[0]} to ${losses.at(-1)}`);
      }
      const found = [...numbersOf(weight), ...numbersOf(bias)];
      [2, -3, 1].forEach((want, i) => {
        isNear(found[i]!, want, 1e-4);
      });
    });
  }
});

describeOnTensorDevices("a jitted function called with 300 shapes", (device) => {
  test("keeps the kernels of the programs it keeps, and a few more", () => {
    const engine = engineOf(device);
    const size = () => {
      const stats = engine.stats();
      return "kernels" in stats ? stats.kernels : stats.pipelines;
    };
    const f = jit((x: Tensor) => x.mul(2).add(1), { maxPrograms: 4 });
    const of = (n: number) => numbersOf(f(tensor(new Float32Array(n))))[n - 1];
    const before = size();
    let most = 0;
    for (let n = 1; n <= 300; n++) {
      assert.equal(of(n), 1);
      most = Math.max(most, size());
    }
    assert.ok(most - before < 300, `${most - before} kernels`);
    engine.collect();
    // 64 kernels last asked for are kept in any case, and 4 programs have one each.
    assert.ok(size() <= before + 68, `${size()} kernels, ${before} before`);
    assert.equal(of(1), 1, "one whose kernel is gone is compiled again");
  });
});

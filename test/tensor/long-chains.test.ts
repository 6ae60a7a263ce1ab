/**
 * Long chains of operations, which are computed before anyone asks for them: what is deep in one and used again and again
 * is computed a few times at most, not at every use.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { backendFor, type Tensor, tensor } from "../../src/tensor/index.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

/** x → x / 2 + 1, so often: nears 2. */
function halved(x: Tensor, times: number): Tensor {
  let result = x;
  for (let i = 0; i < times; i++) result = result.mul(0.5).add(1);
  return result;
}

describeOnTensorDevices("long chains", (device) => {
  const { counters } = backendFor(device);

  test("a value near the end of a chain that is used many times is stored at its second use", () => {
    const x = tensor([3, 10]);
    const deep = halved(x.add(0), 98);
    let sum: Tensor = deep;
    const before = counters.compiled;
    for (let k = 1; k <= 30; k++) sum = sum.add(deep.sub(k).maximum(0).mul(2).add(1).mul(0.5));
    assert.deepEqual(numbersOf(sum), [18, 18]); // 2 + 1.5 and 29 halves
    assert.ok(counters.compiled - before <= 4, `${counters.compiled - before} programs`);
  });

  test("a loop that carries several values forwards stays with few programs for each stretch", () => {
    let [a, b, c]: Tensor[] = [tensor([1, 2]), tensor([2, 3]), tensor([4, 5])] as Tensor[];
    const before = counters.compiled;
    const rounds = 105;
    for (let i = 0; i < rounds; i++) [a, b, c] = [b!.add(c!).mul(0.5), a!.add(c!).mul(0.5), a!.add(b!).mul(0.5)];
    for (const value of [a, b, c]) {
      for (const [i, mean] of [7 / 3, 10 / 3].entries()) assert.ok(Math.abs(numbersOf(value!)[i]! - mean) < 1e-4);
    }
    assert.ok(counters.compiled - before <= 12, `${counters.compiled - before} programs of ${6 * rounds} operations`);
  });

  test("what was computed on the way and is broadcast later is stored as it was", () => {
    const deep = halved(tensor([[4], [8]]), 99);
    const before = counters.kernels;
    let sum: Tensor = deep.broadcastTo([2, 3]).add(0);
    for (let k = 0; k < 20; k++) sum = sum.add(deep.broadcastTo([2, 3]).mul(2).sub(1).mul(0.5));
    assert.deepEqual(numbersOf(sum), new Array(6).fill(32));
    assert.ok(counters.kernels - before <= 8, `${counters.kernels - before} kernels`);
  });
});

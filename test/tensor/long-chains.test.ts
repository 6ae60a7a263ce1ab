/**
 * Long chains of operations, which are computed before anyone asks for them: what is deep in one and used again and again
 * is computed a few times at most, not at every use.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { backendFor, type Tensor, tensor } from "../../src/tensor/index.js";
import { grad } from "../../src/transforms/grad.js";
import { isOddWord } from "../support/cube-free.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

/** x → x / 2 + 1, so often: nears 2. Written in two ways, so that no rounds repeat. */
function halved(x: Tensor, times: number): Tensor {
  let result = x;
  for (let i = 0; i < times; i++) result = isOddWord(i) ? result.mul(0.5).add(1) : result.add(2).mul(0.5);
  return result;
}

describeOnTensorDevices("long chains", (device) => {
  const { counters } = backendFor(device);

  test("a value near the end of a chain that is used many times is stored at its second use", () => {
    const x = tensor([3, 10]);
    const deep = halved(x.add(0), 98);
    let sum: Tensor = deep;
    const before = counters.compiled;
    for (let k = 1; k <= 30; k++) {
      const above = deep.sub(k).maximum(0);
      sum = sum.add(isOddWord(k) ? above.mul(2).add(1).mul(0.5) : above.add(0.5));
    }
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

  test("the gradient of a chain of 250 operations is one program that computes each value once", () => {
    const chain = (x: Tensor) => halved(x, 125).square().sum();
    const slope = 2 * 2 * 0.5 ** 125;
    const before = { ...counters };
    assert.ok(Math.abs(numbersOf(grad(chain)(tensor([3, 10])))[0]! / slope - 1) < 1e-4);
    assert.equal(counters.compiled - before.compiled, 1);
    assert.ok(counters.kernels - before.kernels <= 8, `${counters.kernels - before.kernels} kernels`);
  });

  test("the work of a gradient grows with the length of its chain, also where that is computed in parts", () => {
    const kernelsFor = (count: number): number => {
      const chain = (x: Tensor) => {
        let at = x;
        for (let i = 0; i < count; i++) at = i % 10 === 0 ? at.sin() : at.neg();
        return at.sum();
      };
      const before = counters.kernels;
      const [slope] = numbersOf(grad(chain)(tensor([0.1])));
      let [at, want] = [0.1, 1];
      for (let i = 0; i < count; i++) {
        want *= i % 10 === 0 ? Math.cos(at) : -1;
        at = i % 10 === 0 ? Math.sin(at) : -at;
      }
      assert.ok(Math.abs(slope! / want - 1) < 1e-3, `${slope} for ${want}`);
      return counters.kernels - before;
    };
    const [short, long] = [kernelsFor(1100), kernelsFor(2200)];
    assert.ok(long <= 3 * short, `${short} kernels for 1100 operations, ${long} for 2200`);
  });

  test("what was computed on the way and is broadcast later is stored as it was", () => {
    const deep = halved(tensor([[4], [8]]), 99);
    const before = counters.kernels;
    let sum: Tensor = deep.broadcastTo([2, 3]).add(0);
    for (let k = 0; k < 20; k++) {
      const wide = deep.broadcastTo([2, 3]);
      sum = sum.add(isOddWord(k) ? wide.mul(2).sub(1).mul(0.5) : wide.sub(0.5));
    }
    assert.deepEqual(numbersOf(sum), new Array(6).fill(32));
    assert.ok(counters.kernels - before <= 8, `${counters.kernels - before} kernels`);
  });
});

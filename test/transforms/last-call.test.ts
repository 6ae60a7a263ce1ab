/** Calls one after another: a jitted function takes the short way only where the call is like the one before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, type Tensor, tensor, tree, vmap } from "../../src/index.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

describeOnTensorDevices("calls one after another", () => {
  test("forms may alternate: shapes, dtypes, structures, numbers and tensors", () => {
    const f = jit((p: { x: Tensor; y?: Tensor | null }) => p.x.mul(2).add(p.y ?? 1));
    const x = tensor([1, 2]);
    const expected: [unknown, number[]][] = [
      [{ x }, [3, 5]],
      [{ x, y: null }, [3, 5]],
      [{ x, y: tensor([10, 20]) }, [12, 24]],
      [{ y: tensor([10, 20]), x }, [12, 24]],
      [{ x, y: 7 }, [9, 11]],
      [{ x: tensor([4]) }, [9]],
      [{ x: tensor([4], { dtype: "i32" }) }, [9]],
      [{ x: 4 }, [9]],
    ];
    for (let round = 0; round < 3; round++) {
      for (const [args, result] of expected) {
        for (let again = 0; again < 2; again++) assert.deepEqual(numbersOf(f(args as { x: Tensor })), result);
      }
    }
    assert.equal(f.programs, 8);
  });

  test("static arguments that change, inside or as a whole, change the program", () => {
    const f = jit((x: Tensor, options: { times: number }, name: string) => x.mul(options.times).add(name.length), {
      static: [1, 2],
    });
    const options = { times: 2 };
    const x = tensor([1, 2]);
    assert.deepEqual(numbersOf(f(x, options, "ab")), [4, 6]);
    options.times = 3;
    assert.deepEqual(numbersOf(f(x, options, "ab")), [5, 8]);
    const g = jit((y: Tensor, name: string) => y.add(name.length), { static: 1 });
    for (const name of ["a", "a", "bcd", "bcd", "a"])
      assert.deepEqual(numbersOf(g(x, name)), [1 + name.length, 2 + name.length]);
  });

  test("static leaves that change change the program, too", () => {
    const f = jit((p: { x: Tensor; isDouble: boolean }) => (p.isDouble ? p.x.mul(2) : p.x));
    const x = tensor([1, 2]);
    for (const isDouble of [true, true, false, false, true]) {
      assert.deepEqual(numbersOf(f({ x, isDouble })), isDouble ? [2, 4] : [1, 2]);
    }
  });

  test("a call inside a transform becomes part of it, also after the same call outside", () => {
    const f = jit((x: Tensor) => x.square().sum());
    const x = tensor([1, 2, 3]);
    assert.equal(f(x).itemSync(), 14);
    assert.deepEqual(numbersOf(grad(f)(x)), [2, 4, 6]);
    assert.equal(f(x).itemSync(), 14);
    assert.deepEqual(
      numbersOf(
        vmap(f)(
          tensor([
            [1, 2, 3],
            [0, 1, 0],
          ]),
        ),
      ),
      [14, 1],
    );
    const outer = jit((y: Tensor) => f(y.add(1)));
    assert.equal(outer(x).itemSync(), 29);
    assert.equal(outer(x).itemSync(), 29);
  });

  test("instances of registered classes are told apart by their data", () => {
    class Layer {
      constructor(
        readonly w: Tensor,
        readonly times: number,
      ) {}
    }
    tree.registerClass(Layer, {
      name: "Layer",
      children: ({ w }) => ({ w }),
      data: ({ times }) => times,
      rebuild: ({ w }, times) => new Layer(w as Tensor, times),
    });
    const f = jit((layer: Layer) => layer.w.mul(layer.times));
    for (const times of [2, 2, 3, 3, 2]) {
      assert.deepEqual(numbersOf(f(new Layer(tensor([1, 2]), times) as never)), [times, 2 * times]);
    }
  });

  test("donated arguments are given away in every call, and a tensor given twice in none", () => {
    const step = jit((w: Tensor, g: Tensor) => w.sub(g), { donate: 0 });
    const g = tensor([1, 1]);
    let w: Tensor = tensor([5, 6]);
    for (let i = 0; i < 4; i++) {
      const before = w;
      w = step(w, g);
      assert.throws(() => before.shape, { name: "DisposedError" });
    }
    assert.deepEqual(numbersOf(w), [1, 2]);
    const both = tensor([3, 4]);
    assert.deepEqual(numbersOf(step(both, both)), [0, 0]);
  });
});

test("a jitted function keeps no argument of the last call alive", async () => {
  if (!globalThis.gc) return;
  const f = jit((x: Tensor) => x.add(1));
  let x: Tensor | null = tensor([1]);
  const seen = new WeakRef(x);
  f(x);
  f(x);
  x = null;
  for (let i = 0; i < 10 && seen.deref(); i++) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc();
  }
  assert.equal(seen.deref(), undefined);
});

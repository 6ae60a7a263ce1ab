/** Printing shows the corners of large tensors, and computes and reads no more than these. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { arange, grad, random, type Tensor, tensor, zeros } from "../../../src/index.js";
import { backendFor } from "../../../src/tensor/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

describeOnTensorDevices("printing", (device) => {
  /** What printing a tensor reads, in bytes, and how many kernels it runs. */
  function costOf(x: Tensor): { text: string; bytes: number; kernels: number } {
    const backend = backendFor(device);
    const { readSync } = backend;
    const before = backend.counters.kernels;
    let bytes = 0;
    backend.readSync = (storage) => {
      bytes += storage.byteLength;
      return readSync.call(backend, storage);
    };
    try {
      const text = inspect(x);
      return { text, bytes, kernels: backend.counters.kernels - before };
    } finally {
      backend.readSync = readSync;
    }
  }

  test("a large lazy tensor is computed at its corners only, and stays lazy", () => {
    const x = arange(1e6).reshape(1000, 1000);
    const { text, bytes, kernels } = costOf(x);
    assert.match(text, /\[ *0, +1, +2, \.\.\., +997, +998, +999\]/);
    assert.match(text, /\[999000, 999001, 999002, \.\.\., 999997, 999998, 999999\]\]/);
    assert.match(text, /shape \[1000, 1000\], i32/);
    assert.equal(bytes, 6 * 6 * 4);
    assert.equal(kernels, 1);
    assert.equal(x.node.storage, null);
  });

  test("what no memory holds can be printed", () => {
    const { text, bytes } = costOf(arange(2 ** 40, { dtype: "i64" }));
    assert.match(text, /^Tensor\(\[ +0, +1, +2, \.\.\., 1099511627773,\s+1099511627774, 1099511627775\]/);
    assert.equal(bytes, 6 * 8);
  });

  test("of a computed tensor only the corners are read, and it can still be freed", () => {
    const x = arange(15000).reshape(5000, 3).mul(-7).add(3).realize();
    assert.ok(x.isOnlyHolder);
    const { text, bytes, kernels } = costOf(x);
    assert.equal(bytes, 6 * 3 * 4);
    assert.equal(kernels, 1);
    assert.ok(x.isOnlyHolder);
    const shown = text.split("shape")[0]!.match(/-?\d+/g)!.map(Number);
    const rule = (i: number) => 3 - 7 * i;
    assert.deepEqual(shown, [...Array(9).keys(), ...Array.from(Array(9), (_, i) => 14991 + i)].map(rule));
  });

  test("work that the elements share is done once, and kept", () => {
    const x = random.normal(random.key(0), [2000, 4]).sum({ axis: 1 });
    assert.equal(costOf(x).bytes, 6 * 4);
    assert.notEqual(x.node.storage, null);
    assert.equal(costOf(x).kernels, 1);
  });

  test("small tensors are shown whole", () => {
    assert.equal(
      inspect(tensor([[1, 2], [3, 4.5]])), // biome-ignore format: a matrix
      `Tensor([[1. , 2. ],\n        [3. , 4.5]], shape [2, 2], f32, ${tensor(0).device})`,
    );
    assert.match(inspect(zeros([0, 3])), /^Tensor\(\[\], shape \[0, 3\], f32/);
    assert.match(inspect(tensor(true)), /^Tensor\(true, shape \[\], bool/);
    const gone = tensor([1]);
    gone.dispose();
    assert.equal(inspect(gone), "Tensor { disposed }");
  });

  test("inside a function that is being differentiated", () => {
    let text = "";
    const slope = grad((x: Tensor) => {
      const y = x.square();
      text = inspect(y);
      return y.sum();
    })(arange(2000, { dtype: "f32" }));
    assert.match(text, /3\.996001e\+06/);
    assert.equal(slope.at(-1).itemSync(), 3998);
  });
});

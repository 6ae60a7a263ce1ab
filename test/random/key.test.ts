/** The generator and its keys: known answers of Random123 and JAX, and a plain implementation of the paper. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as random from "../../src/random/index.js";
import { backendFor, type Tensor, tensor, threefry } from "../../src/tensor/index.js";
import { scan } from "../../src/transforms/control.js";
import { jit } from "../../src/transforms/jit.js";
import { vmap } from "../../src/transforms/vmap.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { type Pair, threefryOracle } from "../support/threefry-oracle.js";

const words = (...values: number[]) => tensor(values, { dtype: "u32" });
const scrambled = (key: Pair, counter: Pair): number[] => {
  const [k0, k1, c0, c1] = [...key, ...counter].map((value) => words(value)) as [never, never, never, never];
  const [first, second] = (["first", "second"] as const).map((word) => threefry([k0, k1], [c0, c1], word));
  return [first!.dataSync()[0]!, second!.dataSync()[0]!];
};

/** kat_vectors of the Random123 distribution, threefry2x32 with 20 rounds: key, counter, result. */
const KNOWN: readonly (readonly [Pair, Pair, Pair])[] = [
  [
    [0, 0],
    [0, 0],
    [0x6b200159, 0x99ba4efe],
  ],
  [
    [0xffffffff, 0xffffffff],
    [0xffffffff, 0xffffffff],
    [0x1cb996fc, 0xbb002be7],
  ],
  [
    [0x13198a2e, 0x03707344],
    [0x243f6a88, 0x85a308d3],
    [0xc4923a9c, 0x483df7a0],
  ],
];

describeOnTensorDevices("threefry2x32", () => {
  test("known answers of Random123", () => {
    for (const [key, counter, result] of KNOWN) {
      assert.deepEqual(scrambled(key, counter), result);
      assert.deepEqual(threefryOracle(key, counter), result, "the oracle");
    }
  });

  test("bits are the folded words of each element's number, at any shape", () => {
    const key = random.key(123456789n * 987654321n);
    const [k0, k1] = key.dataSync() as Uint32Array;
    for (const shape of [[], [1], [7], [3, 5], [2, 1, 13], [0], [4, 0]]) {
      const size = shape.reduce((product, extent) => product * extent, 1);
      const expected = Array.from({ length: size }, (_, i) => threefryOracle([k0!, k1!], [0, i]));
      const bits = random.bits(key, shape);
      assert.deepEqual(bits.shape, shape);
      assert.deepEqual(
        [...bits.dataSync()],
        expected.map(([a, b]) => (a ^ b) >>> 0),
      );
      const bytes = random.bits(key, shape, { dtype: "u8" });
      assert.deepEqual(
        [...bytes.dataSync()],
        expected.map(([a, b]) => (a ^ b) & 255),
      );
      const wide = random.bits(key, shape, { dtype: "u64" });
      assert.deepEqual(
        [...wide.dataSync()],
        expected.map(([a, b]) => (BigInt(a) << 32n) | BigInt(b)),
      );
    }
  });
});

describeOnTensorDevices("keys", () => {
  test("a key is the seed in two words", () => {
    assert.deepEqual([...random.key(42).dataSync()], [0, 42]);
    assert.deepEqual([...random.key(2n ** 40n + 7n).dataSync()], [256, 7]);
    assert.deepEqual([...random.key(-1).dataSync()], [0xffffffff, 0xffffffff]);
    assert.throws(() => random.key(1.5), /random\.key: the seed 1\.5 is no whole number/);
  });

  test("split gives the keys that JAX gives", () => {
    const keys = random.split(random.key(42)).map((key) => [...key.dataSync()]);
    // jax.random.split(jax.random.key(42)), as in JAX's documentation since threefry is partitionable (0.5)
    assert.deepEqual(keys, [
      [1832780943, 270669613],
      [64467757, 2916123636],
    ]);
  });

  test("split and foldIn are the words of the number under the key", () => {
    const key = random.key(7);
    const expected = Array.from({ length: 5 }, (_, i) => [...threefryOracle([0, 7], [0, i])]);
    assert.deepEqual(
      random.split(key, 5).map((each) => [...each.dataSync()]),
      expected,
    );
    assert.deepEqual([...random.foldIn(key, 3).dataSync()], expected[3]);
    assert.deepEqual([...random.foldIn(key, tensor(3, { dtype: "i32" })).dataSync()], expected[3]);
    const last = random.foldIn(key, 2 ** 32 - 1);
    assert.deepEqual([...last.dataSync()], [...threefryOracle([0, 7], [0, 2 ** 32 - 1])]);
    assert.deepEqual(random.split(key, 0), []);
  });

  test("split of a shape has the keys of split of a count in one tensor", () => {
    const key = random.key(11);
    const expected = Array.from({ length: 6 }, (_, i) => [...threefryOracle([0, 11], [0, i])]);
    const grid = random.split(key, [2, 3]);
    assert.deepEqual([grid.dtype, grid.shape], ["u32", [2, 3, 2]]);
    assert.deepEqual([...grid.dataSync()], expected.flat());
    assert.deepEqual([...random.split(key, [4]).dataSync()], expected.slice(0, 4).flat());
    assert.deepEqual([...random.split(key, []).dataSync()], expected[0]);
    assert.deepEqual(random.split(key, [0]).shape, [0, 2]);
  });

  test("a thousand keys in one tensor are made by one kernel, and vmap draws with each", () => {
    const key = random.key(12);
    const { counters } = backendFor();
    const before = counters.kernels;
    const keys = random.split(key, [1000]);
    keys.dataSync();
    assert.equal(counters.kernels - before, 1);
    const drawn = vmap((own: random.Key) => random.normal(own, [3]))(keys);
    assert.deepEqual(drawn.shape, [1000, 3]);
    for (const i of [0, 1, 999]) {
      const own = words(...threefryOracle([0, 12], [0, i]));
      assert.deepEqual([...drawn.at(i).dataSync()], [...random.normal(own, [3]).dataSync()]);
    }
  });

  test("scan goes along a tensor of keys, and jit makes one", () => {
    const walk = (key: random.Key) => {
      const step = (x: Tensor, own: random.Key) => [x.add(random.uniform(own)), null] as const;
      return scan(step, tensor(0, { dtype: "f32" }), random.split(key, [5]))[0];
    };
    const alone = random.split(random.key(3), 5).map((own) => random.uniform(own).itemSync());
    const expected = alone.reduce((sum, u) => Math.fround(sum + u), 0);
    assert.equal(walk(random.key(3)).itemSync(), expected);
    assert.equal(jit(walk)(random.key(3)).itemSync(), expected);
  });

  test("several keys in the place of one are refused with what to write", () => {
    const key = random.key(0);
    const draw = (own: random.Key) => random.normal(own);
    assert.throws(() => vmap(draw)(random.split(key, 3) as never), /random\.split\(key, \[n\]\)/);
    assert.throws(() => draw(random.split(key, [3])), /u32 of shape \[3, 2\]\. Draw with each of these keys by vmap/);
    assert.throws(() => random.split(key, [2.5]), /random\.split/);
    assert.throws(() => random.split(key, -1), /random\.split: the count of keys/);
  });

  test("a loop that folds in its step compiles once", () => {
    const key = random.key(1);
    const draw = (step: number) => random.uniform(random.foldIn(key, step), [4]).dataSync();
    draw(0);
    const { counters } = backendFor();
    const before = counters.compiled;
    const seen = new Set([1, 2, 3, 4].map((step) => draw(step).join()));
    assert.equal(counters.compiled, before);
    assert.equal(seen.size, 4);
  });

  test("keys made of numbers need no kernel, and are those that the device makes", () => {
    const { counters } = backendFor();
    const key = random.key(2n ** 63n + 12345678901n);
    const unknown = tensor([...key.dataSync()], { dtype: "u32" });
    const numbers = [0, 1, 255, 256, 2 ** 31, 2 ** 32 - 1];
    const folded = (from: random.Key) => numbers.map((each) => [...random.foldIn(from, each).dataSync()]);
    const before = counters.kernels;
    const here = [...folded(key), ...random.split(random.foldIn(key, 5), 3).map((each) => [...each.dataSync()])];
    assert.equal(counters.kernels, before);
    const there = [
      ...folded(unknown),
      ...random.split(random.foldIn(unknown, 5), 3).map((each) => [...each.dataSync()]),
    ];
    assert.ok(counters.kernels >= before + there.length);
    assert.deepEqual(here, there);
  });

  test("inside jit a key that is an argument is computed with, and one of numbers is the same", () => {
    const draw = (key: random.Key) => random.uniform(random.foldIn(random.split(key)[1]!, 7), [4]);
    const [of3, of4] = [random.key(3), random.key(4)];
    const fast = jit(draw);
    for (const key of [of3, of4]) assert.deepEqual(fast(key).dataSync(), draw(key).dataSync());
    assert.deepEqual(jit(() => draw(random.key(3)))().dataSync(), draw(of3).dataSync());
  });

  test("drawing from each of many keys compiles once", () => {
    const keys = random.split(random.key(2), 40);
    keys[0]!.dataSync();
    random.uniform(keys[1]!, [3]).dataSync();
    const { counters } = backendFor();
    const before = counters.compiled;
    const seen = new Set(keys.slice(2).map((key) => random.uniform(key, [3]).dataSync().join()));
    assert.equal(counters.compiled, before);
    assert.equal(seen.size, 38);
  });

  test("many splits in a row", () => {
    let [x, y] = [0, 9];
    let key = random.key(9);
    for (let i = 0; i < 100; i++) {
      key = random.split(key)[0]!;
      [x, y] = threefryOracle([x, y], [0, 0]);
    }
    assert.deepEqual([...key.dataSync()], [x, y]);
  });

  test("misuse is explained", () => {
    assert.throws(() => random.split(tensor([1, 2]) as never), {
      name: "ArgumentError",
      message: "random.split: the first argument is a key, as random.key(seed) makes, not f32 of shape [2].",
    });
    assert.throws(() => random.uniform(3 as never), /the first argument is a key, as random\.key\(seed\) makes, not 3/);
    assert.throws(() => random.split(random.key(0), -1), /the count of keys is a whole number from 0 on, not -1/);
    assert.throws(() => random.foldIn(random.key(0), -1), /no whole number from 0/);
    assert.throws(() => random.bits(random.key(0), [2], { dtype: "f32" as never }), /u8, u16, u32 or u64, not f32/);
    assert.throws(() => random.uniform(random.key(0), [2], { dtype: "i32" }), /i32 is no float/);
    assert.throws(() => random.uniform(random.key(0), [-1]), /-1/);
  });
});

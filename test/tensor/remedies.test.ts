/** Mistakes whose remedy the message writes out: calls in the form of other libraries, and tensors in place of values. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import {
  ArgumentError,
  arange,
  full,
  jit,
  ones,
  onesLike,
  setDefaultDevice,
  type Tensor,
  tensor,
  zeros,
  zerosLike,
} from "../../src/index.js";

before(() => setDefaultDevice("cpu"));

/** As JavaScript calls it, past the types. */
const loose = <F>(f: F) => f as unknown as (...args: unknown[]) => unknown;
const x = () => tensor([[1, 2, 3], [4, 5, 6]]); // biome-ignore format: a matrix

function refuses(mistakes: Readonly<Record<string, readonly [() => unknown, string]>>): void {
  for (const [what, [use, message]] of Object.entries(mistakes)) {
    test(what, () => assert.throws(use, { name: "ArgumentError", message }));
  }
}

describe("calls in another form", () => {
  const last = "stands where options do, which come last, as an object; write";
  refuses({
    "zeros(2, 3)": [() => loose(zeros)(2, 3), "zeros: a shape of several axes is a list; write zeros([2, 3])."],
    "ones(2, 3, 4)": [() => loose(ones)(2, 3, 4), "ones: a shape of several axes is a list; write ones([2, 3, 4])."],
    "full(2, 3, 7)": [() => loose(full)(2, 3, 7), "full: a shape of several axes is a list; write full([2, 3], 7)."],
  });
  test("a number that fits several options names all of them", () => {
    const use = (call: (x: Tensor) => unknown) => () => call(x());
    assert.throws(
      use((x) => x.norm(1 as never)),
      { message: `norm: 1 ${last} { axis: 1 } or { order: 1 }.` },
    );
    assert.throws(
      use((x) => x.norm(Infinity as never)),
      { message: `norm: Infinity ${last} { order: Infinity }.` },
    );
    assert.throws(
      use((x) => x.std(1 as never)),
      { message: `std: 1 ${last} { axis: 1 } or { correction: 1 }.` },
    );
    assert.throws(
      use((x) => x.sum(1 as never)),
      { message: `sum: 1 ${last} { axis: 1 }.` },
    );
  });
  test("one number is a shape of one axis", () => {
    assert.deepEqual([zeros(3).shape, ones(0).shape, full(2, 7).arraySync()], [[3], [0], [7, 7]]);
  });
  test("arange takes numbers", () => {
    const message = 'arange: takes numbers, not 3n; write 3 and pass { dtype: "i64" } for bigints.';
    assert.throws(() => arange(3n as never), { name: "ArgumentError", message });
    assert.throws(() => arange(0, 3n as never), { name: "ArgumentError", message });
    assert.deepEqual([...arange(3, { dtype: "i64" }).dataSync()], [0n, 1n, 2n]);
  });
  test("a function as the callback of an array's method", () => {
    const message =
      "zerosLike: takes one argument, but also got 0, [a Tensor, a Tensor], as array methods pass them; " +
      "write xs.map((x) => zerosLike(x)).";
    assert.throws(() => [x(), x()].map(loose(zerosLike)), { name: "ArgumentError", message });
    assert.deepEqual([x(), x()].map((each) => onesLike(each).shape), [[2, 3], [2, 3]]); // biome-ignore format: one line
  });
});

test("bigints are never rounded in silence", () => {
  const mixed = tensor([9007199254740993n, 2]);
  assert.equal(mixed.dtype, "i64");
  assert.deepEqual([...(mixed.dataSync() as BigInt64Array)], [9007199254740993n, 2n]);
  assert.throws(() => tensor([9007199254740993n, 2.5]), {
    name: "DTypeError",
    message: "tensor: bigints beside 2.5: a float would round them; pass { dtype }, or give whole numbers only.",
  });
  assert.deepEqual([...tensor([3n, 2.5], { dtype: "f64" }).dataSync()], [3, 2.5]);
});

test("an index that was left out is no whole axis", () => {
  for (const nothing of [undefined, null] as never[]) {
    assert.throws(() => x().at(nothing), /^ArgumentError: at: index 0 is (undefined|null); write ":" for a whole axis/);
    for (const update of ["set", "addAt", "mulAt", "minAt", "maxAt"] as const) {
      assert.throws(() => x()[update](nothing, 7), { name: "ArgumentError", message: /index 0 is (undefined|null)/ });
    }
  }
});

describe("a tensor in place of its value", () => {
  test("its text is unmistakably none", () => {
    assert.equal(`${x()}`, "Tensor(shape [2, 3], f32, cpu; read it with data())");
    assert.equal(`${tensor(7)}`, "Tensor(shape [], f32, cpu; read its value with item())");
    let traced = "";
    jit((y: Tensor) => {
      traced = `${y}`;
      return y.add(1);
    })(x());
    assert.equal(traced, "Tensor(shape [2, 3], f32, cpu; traced)");
  });

  test("it cannot be cloned or sent, and says what can", () => {
    const message = /^A tensor cannot be cloned or sent to another thread: .* Send await x\.data\(\) with x\.shape/;
    assert.throws(() => structuredClone(x()), { name: "ArgumentError", message });
    assert.throws(() => structuredClone({ deep: [x().add(1)] }), { name: "ArgumentError", message });
    const { port1, port2 } = new MessageChannel();
    assert.throws(() => port1.postMessage(x()), { name: "ArgumentError", message });
    port1.close();
    port2.close();
  });

  test("comparisons and arithmetic name the methods, where and cond", () => {
    const one = tensor(1) as unknown as number;
    const message =
      /^A tensor is no JavaScript number: .*a\.greater\(b\) for a > b; in place of if, .*where\(.*cond\(\)/;
    for (const use of [() => one > 0, () => one + 1, () => -one, () => Math.max(one, 2)]) {
      // biome-ignore format: one line
      assert.throws(use, (error) => error instanceof ArgumentError && message.test(error.message));
    }
  });
});

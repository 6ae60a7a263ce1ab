/** Mistakes whose remedy the message writes out: calls in the form of other libraries, and tensors in place of values. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import {
  ArgumentError,
  arange,
  full,
  jit,
  meshgrid,
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
  test("meshgrid takes a list", () => {
    const message = "meshgrid: takes a list of vectors; write meshgrid([x, y]).";
    assert.throws(() => loose(meshgrid)(x(), x()), { name: "ArgumentError", message });
  });
  test("arange takes numbers", () => {
    const message = 'arange: takes numbers, not 3n; write 3 and pass { dtype: "i64" } for bigints.';
    assert.throws(() => arange(3n as never), { name: "ArgumentError", message });
    assert.throws(() => arange(0, 3n as never), { name: "ArgumentError", message });
    assert.deepEqual([...arange(3, { dtype: "i64" }).dataSync()], [0n, 1n, 2n]);
  });
  test("a function as the callback of an array's method", () => {
    const message =
      "zerosLike: takes 2 arguments at most, but also got [a Tensor, a Tensor], as array methods pass them; " +
      "write xs.map((x) => zerosLike(x)).";
    assert.throws(() => [x(), x()].map(loose(zerosLike)), { name: "ArgumentError", message });
    assert.deepEqual([x(), x()].map((each) => onesLike(each).shape), [[2, 3], [2, 3]]); // biome-ignore format: one line
  });
});

describe("the axis is an option, but of methods that are about axes an argument", () => {
  const last = "stands where options do, which come last, as an object; write { axis: 0 }.";
  const places = [[0, 1, 0]];
  refuses({
    "roll(1, 0)": [() => x().roll(1, 0 as never), `roll: 0 ${last}`],
    "repeat(2, 0)": [() => x().repeat(2, 0 as never), `repeat: 0 ${last}`],
    "take([0], 0)": [() => x().take([0], 0 as never), `take: 0 ${last}`],
    "takeAlongAxis(p, 0)": [() => x().takeAlongAxis(places, 0 as never), `takeAlongAxis: 0 ${last}`],
    "takeAlongAxis(p)": [
      () => loose(x().takeAlongAxis.bind(x()))(places),
      "takeAlongAxis: name the axis, as in { axis: 0 }.",
    ],
    "takeAlongAxis(p, {})": [
      () => x().takeAlongAxis(places, {} as never),
      "takeAlongAxis: name the axis, as in { axis: 0 }.",
    ],
    "putAlongAxis(p, 5, 0)": [
      () => x().putAlongAxis(places, 5, 0 as never),
      "putAlongAxis: 0 stands where options do, which come last, as an object; write { axis: 0 }.",
    ],
    "putAlongAxis(p, 5, 0, { op })": [
      () => loose(x().putAlongAxis.bind(x()))(places, 5, 0, { op: "add" }),
      "putAlongAxis: takes 3 arguments at most, but also got an object; put 0 into it by name, as { axis: 0 } for an axis.",
    ],
    "sum(0, { keepDims })": [
      () => loose(x().sum.bind(x()))(0, { keepDims: true }),
      "sum: takes one argument, but also got an object; put 0 into it by name, as { axis: 0 } for an axis.",
    ],
    "flip({ axis: 1 })": [
      () => x().flip({ axis: 1 } as never),
      "flip: the axis is an argument of its own, no option; write flip(1).",
    ],
    "squeeze({ axis: [0] })": [
      () => x().squeeze({ axis: [0] } as never),
      "squeeze: the axis is an argument of its own, no option; write squeeze([0]).",
    ],
    "expandDims({})": [
      () => x().expandDims({} as never),
      "expandDims: the axis is an argument of its own, no option; write expandDims(0).",
    ],
  });

  test("the right forms", () => {
    assert.deepEqual(x().roll(1, { axis: 1 }).arraySync(), [[3, 1, 2], [6, 4, 5]]); // biome-ignore format: one line
    assert.deepEqual(x().repeat(2, { axis: 0 }).shape, [4, 3]);
    assert.deepEqual(
      x()
        .takeAlongAxis([[1, 0, 1]], { axis: 0 })
        .arraySync(),
      [[4, 2, 6]],
    );
    assert.deepEqual(x().putAlongAxis(places, 9, { axis: 0, op: "max" }).arraySync(), [[9, 2, 9], [4, 9, 6]]); // biome-ignore format: one line
    assert.deepEqual([x().flip(0), x().squeeze(), x().expandDims(0)].map(({ rank }) => rank), [2, 2, 3]); // biome-ignore format: one line
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

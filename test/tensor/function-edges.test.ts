/** Edges of the functions of NumPy and the array API, worked out by hand: nothing, one element, extremes, dtypes, refusals. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../src/core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../src/core/errors.js";
import * as pumice from "../../src/index.js";
import { arange, grad, jit, type Tensor, tensor, vmap, zeros } from "../../src/index.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

const bf16 = (values: number[]): Tensor<"bf16"> => tensor(values, { dtype: "bf16" });

describeOnTensorDevices("functions of two operands", () => {
  test("a number may come first, and takes the dtype of the tensor", () => {
    const whole = tensor([1, 2, 4], { dtype: "u8" });
    const results: Readonly<Record<string, readonly [Tensor, DType, readonly number[]]>> = {
      sub: [pumice.sub(5, whole), "u8", [4, 3, 1]],
      div: [pumice.div(1, whole), "f32", [1, 0.5, 0.25]],
      pow: [pumice.pow(3, whole), "u8", [3, 9, 81]],
      "sub of a fraction": [pumice.sub(0.5, whole), "f32", [-0.5, -1.5, -3.5]],
      quotient: [pumice.quotient(9, whole), "u8", [9, 4, 2]],
      mod: [pumice.mod(7, whole), "u8", [0, 1, 3]],
      "less than what the dtype does not hold": [pumice.less(-1, whole), "bool", [1, 1, 1]],
      "sub of a bool": [pumice.sub(1, tensor([true, false])), "i32", [0, 1]],
    };
    for (const [name, [got, dtype, want]] of Object.entries(results)) {
      assert.equal(got.dtype, dtype, name);
      assert.deepEqual(numbersOf(got), want, name);
    }
    assert.deepEqual(pumice.sub({ re: 0, im: 1 }, tensor([1])).itemSync(), { re: -1, im: 1 });
  });

  test("two numbers, and what is no number, are refused by name", () => {
    assert.throws(
      () => pumice.sub(1, 2 as never),
      /^ArgumentError: sub: neither 1 nor 2 is a tensor; make one of them/,
    );
    assert.throws(
      () => pumice.pow("2" as unknown as number, tensor([1])),
      /^ArgumentError: pow: "2" is neither a tensor nor a number/,
    );
    assert.throws(() => pumice.exp(1 as never), /^ArgumentError: exp: the first argument is a tensor, not 1/);
    assert.throws(
      () => pumice.leftShift(300, tensor([1], { dtype: "u8" })),
      /^DTypeError: leftShift: 300 does not fit u8/,
    );
    assert.throws(() => pumice.subtract(tensor([1, 2]), tensor([1, 2, 3])), /^ShapeError: subtract\b/);
  });

  test("numbers of a jitted function stay weak on either side", () => {
    const f = jit((x: Tensor, n: number) => pumice.sub(n, x));
    const found = f(tensor([1, 2], { dtype: "f16" }), 3);
    assert.deepEqual([found.dtype, ...numbersOf(found)], ["f16", 2, 1]);
  });

  test("the slope of 1 - x is -1, and of 2^x log 2 · 2^x", () => {
    assert.equal(grad((x: Tensor) => pumice.sub(1, x).sum())(tensor(3)).itemSync(), -1);
    const slope = grad((x: Tensor) => pumice.pow(2, x).sum())(tensor(3)).itemSync() as number;
    assert.ok(Math.abs(slope - 8 * Math.LN2) < 1e-6);
  });
});

describeOnTensorDevices("nothing, and one element", () => {
  const none = (shape: number[] = [0]) => zeros(shape);

  test("sums of nothing are 0 and products 1, without NaN too; means are Number.NaN, and extremes an error", () => {
    assert.equal(none().nanSum().itemSync(), 0);
    assert.equal(none().nanProd().itemSync(), 1);
    for (const name of ["nanMean", "nanVariance", "nanStd"] as const)
      assert.ok(Number.isNaN(none()[name]().itemSync()));
    for (const name of ["nanMax", "nanMin", "nanMedian"] as const) {
      assert.throws(() => none()[name](), new RegExp(`^ShapeError: ${name}: no elements`));
    }
    assert.deepEqual(none([2, 0, 3]).nanSum({ axis: 1 }).shape, [2, 3]);
    assert.throws(() => none().quantile(0.5), /^ShapeError: quantile: no elements/);
    assert.deepEqual(none([0, 3]).quantile([0.1, 0.2], { axis: 1 }).shape, [2, 0]);
    assert.deepEqual(tensor(7).quantile([]).shape, [0]);
  });

  test("sets of nothing", () => {
    assert.deepEqual(numbersOf(tensor([1, 2]).isin([])), [0, 0]);
    assert.deepEqual(none([0, 2]).isin([1]).shape, [0, 2]);
    assert.deepEqual(numbersOf(none().union1d([2, 1, 2])), [1, 2]);
    assert.deepEqual(numbersOf(tensor([2, 1]).setdiff1d(none())), [1, 2]);
    assert.equal(tensor([2, 1]).intersect1d(none()).size, 0);
    assert.equal(none().uniqueValues().size, 0);
    const { values, inverse } = none([0, 2]).unique({ axis: 0 });
    assert.deepEqual([values.shape, inverse.shape], [[0, 2], [0]]);
    assert.deepEqual(zeros([3, 0]).unique({ axis: 0 }).values.shape, [1, 0]);
  });

  test("scalars", () => {
    assert.equal(tensor(2.5).quantile(0.3).itemSync(), 2.5);
    assert.deepEqual(tensor(1).nanToNum().shape, []);
    assert.equal(tensor(-0).signbit().itemSync(), true);
    assert.deepEqual(numbersOf(tensor(3).unique().values), [3]);
    assert.equal(tensor(1.26).round({ decimals: 1 }).itemSync(), Math.fround(1.3));
    assert.throws(() => tensor(1).rot90(), /^ShapeError: rot90: takes at least two axes, not \[\]/);
    assert.throws(() => tensor(1).cumulativeSum(), /^ArgumentError: cumulativeSum: \[\] has 0 axes; name one/);
    assert.throws(() => zeros([2, 2]).cumulativeSum(), ArgumentError);
  });

  test("movement of nothing", () => {
    assert.deepEqual(none([0, 3]).rot90().shape, [3, 0]);
    assert.deepEqual(none([2, 0]).split({ sizes: [0, 0] }, { axis: 1 }).map(({ shape }) => shape), [[2, 0], [2, 0]]); // biome-ignore format: one line
    assert.deepEqual(tensor([], { dtype: "i32" }).unravelIndex([2, 3]).map(({ shape }) => shape), [[0], [0]]); // biome-ignore format: one line
    assert.deepEqual(numbersOf(none([2, 0]).vecdot(none([2, 0]))), [0, 0]);
    assert.deepEqual(numbersOf(none([0]).cumulativeProd({ includeInitial: true })), [1]);
    assert.throws(() => none().convolve(tensor([1])), ShapeError);
    assert.throws(() => none().interp([], []), ShapeError);
  });
});

describeOnTensorDevices("extremes and dtypes", () => {
  test("64-bit integers keep all digits where floats would not", () => {
    const large = [2n ** 63n + 1n, 2n ** 63n, 2n ** 63n + 1n];
    const x = tensor(large, { dtype: "u64" });
    assert.deepEqual([...(x.uniqueValues().dataSync() as BigUint64Array)], [2n ** 63n, 2n ** 63n + 1n]);
    assert.deepEqual(numbersOf(x.isin([2n ** 63n])), [0, 1, 0]);
    assert.deepEqual([...(x.partition(0).dataSync() as BigUint64Array)], [2n ** 63n, 2n ** 63n + 1n, 2n ** 63n + 1n]);
    const rounded = tensor([2n ** 53n + 1n, -(2n ** 53n + 7n)], { dtype: "i64" }).round({ decimals: -1 });
    assert.deepEqual([...(rounded.dataSync() as BigInt64Array)], [9007199254740990n, -9007199254741000n]);
  });

  test("integers that round to a multiple outside the dtype wrap, and powers beyond the dtype give 0", () => {
    const x = tensor([255, 250, 249], { dtype: "u8" });
    assert.deepEqual(numbersOf(x.round({ decimals: -1 })), [4, 250, 250]);
    assert.deepEqual(numbersOf(x.round({ decimals: -4 })), [0, 0, 0]);
    assert.deepEqual(numbersOf(tensor([60000], { dtype: "u16" }).round({ decimals: -5 })), [100000 % 65536]);
  });

  test("floats too large to be scaled stay", () => {
    assert.deepEqual(numbersOf(tensor([3e38, -Infinity, 1.5]).round({ decimals: 3 })), [3e38, -Infinity, 1.5].map(Math.fround)); // biome-ignore format: one line
    assert.deepEqual(numbersOf(tensor([3e38, 7]).round({ decimals: 60 })), [3e38, 7].map(Math.fround));
    assert.deepEqual(numbersOf(tensor([3, 7]).round({ decimals: -60 })), [0, 0]);
  });

  test("bf16: neighbours, signs, quantiles and sums beyond what it counts", () => {
    // bf16 has 8 bits: after 1 comes 1 + 2^-7, before it 1 - 2^-8.
    assert.deepEqual(numbersOf(bf16([1, 1, -1]).nextAfter(bf16([2, 0, 0]))), [1 + 2 ** -7, 1 - 2 ** -8, -1 + 2 ** -8]);
    assert.deepEqual(numbersOf(bf16([-0, 2]).signbit()), [1, 0]);
    assert.deepEqual(numbersOf(bf16([3, 0]).copysign(bf16([-1, -0]))), [-3, -0]);
    const median = bf16([1, 2, 4, 8]).quantile(0.5);
    assert.deepEqual([median.dtype, median.itemSync()], ["bf16", 3]);
    assert.equal(pumice.full([1000], 1, { dtype: "bf16" }).nanMean().itemSync(), 1);
    assert.deepEqual(numbersOf(bf16([1, Number.NaN, 3]).nanToNum()), [1, 0, 3]);
    assert.deepEqual(numbersOf(bf16([3, 1, 3]).unique().counts), [1, 2]);
  });

  test("quantiles at an element are that element, also beside an infinite one", () => {
    const x = tensor([1, Infinity, -Infinity]);
    assert.deepEqual(numbersOf(x.quantile([0, 0.5, 1])), [-Infinity, 1, Infinity]);
    assert.equal(tensor([Infinity, Infinity]).quantile(0.3).itemSync(), Infinity);
    assert.ok(Number.isNaN(tensor([1, Number.NaN]).quantile(0).itemSync()));
  });

  test("shares outside 0 to 1, or percent as shares, are refused", () => {
    const x = tensor([1, 2]);
    assert.throws(
      () => x.quantile(50),
      /^ArgumentError: quantile: 50 is no share of the elements; shares go from 0 to 1/,
    );
    assert.throws(() => x.percentile([-1]), /shares go from 0 to 100/);
    assert.throws(() => x.quantile(0.5, { method: "median" as never }), /^ArgumentError: quantile: the option method/);
    assert.throws(() => x.quantile(tensor([1], { dtype: "i32" })), DTypeError);
  });

  test("points of interp outside, and refusals", () => {
    const x = tensor([-1, Number.NaN, 9]);
    assert.deepEqual(numbersOf(x.interp([0, 1], [2, 3])), [2, Number.NaN, 3]);
    assert.throws(() => x.interp([0, 1], [2]), /^ShapeError: interp: points of \[2\] and values of \[1\]/);
    assert.throws(() => x.interp([0, 1], [2, 3], { period: 1, left: 0 }), /^ArgumentError: interp: with a period/);
    assert.throws(() => x.interp([0, 1], [2, 3], { period: 0 }), ArgumentError);
  });

  test("the slope between points is that of the line, and 0 outside", () => {
    const f = (x: Tensor) => x.interp([0, 1, 3], [0, 2, 8]).sum();
    assert.deepEqual(numbersOf(grad(f)(tensor([0.5, 2, -1, 5]))), [2, 3, 0, 0]);
  });

  test("no gradient flows to a NaN", () => {
    assert.deepEqual(numbersOf(grad((x: Tensor) => x.nanMean())(tensor([1, Number.NaN, 3]))), [0.5, 0, 0.5]);
    assert.deepEqual(numbersOf(grad((x: Tensor) => x.nanSum())(tensor([Number.NaN]))), [0]);
  });

  test("vmap over signals and shares", () => {
    const signals = tensor([[1, 2, 3], [0, 1, 0]]); // biome-ignore format: a matrix
    const smoothed = vmap((x: Tensor) => x.convolve(tensor([1, 1]), { mode: "valid" }))(signals);
    assert.deepEqual(numbersOf(smoothed), [3, 5, 1, 1]);
    const each = vmap((x: Tensor, q: Tensor) => x.quantile(q))(signals, tensor([0, 1]));
    assert.deepEqual(numbersOf(each), [1, 1]);
  });
});

describeOnTensorDevices("slices, parts and places", () => {
  test("slices as objects select and write what texts do", () => {
    const x = arange(10);
    for (const [slice, text] of [
      [{ from: 2 }, "2:"],
      [{ to: -3 }, ":-3"],
      [{ step: -2 }, "::-2"],
      [{ from: 7, to: 1, step: -3 }, "7:1:-3"],
      [{ from: 5, to: 5 }, "5:5"],
      [{ from: null, to: 4 }, ":4"],
    ] as const) {
      assert.deepEqual(numbersOf(x.at(slice)), numbersOf(x.at(text)), text);
      assert.deepEqual(numbersOf(x.set(slice, -1)), numbersOf(x.set(text, -1)), text);
      assert.deepEqual(numbersOf(x.addAt(slice, 5)), numbersOf(x.addAt(text, 5)), text);
    }
    assert.deepEqual(numbersOf(x.reshape(2, 5).at([1, 0], { from: 3 })), [8, 9, 3, 4]);
    assert.throws(() => x.at({ from: 0.5 }), /^ArgumentError: at: from of a slice is a whole number, not 0.5/);
    assert.throws(() => x.at({ step: 0 }), /^ArgumentError: at: a slice cannot have step 0/);
    assert.throws(() => x.at({ start: 1 } as never), /a slice such as "1:5" or \{ from: 1, to: 5 \}/);
    assert.throws(() => x.set({ from: 1 } as never), ArgumentError);
  });

  test("sizes add up, and one -1 stands for what is left", () => {
    const x = arange(6);
    assert.deepEqual(x.split({ sizes: [1, -1, 2] }).map(numbersOf), [[0], [1, 2, 3], [4, 5]]); // biome-ignore format: one line
    assert.throws(
      () => x.split({ sizes: [1, 2] }),
      /^ShapeError: split: sizes \[1, 2\] for axis 0 of \[6\]; they add up/,
    );
    assert.throws(() => x.split({ sizes: [-1, -1] }), ShapeError);
    assert.throws(() => x.split({ sizes: [7, -1] }), ShapeError);
    assert.throws(() => x.split({ sizes: [] }), ArgumentError);
  });

  test("batch axes of gather must agree with the indices", () => {
    const x = arange(6).reshape(2, 3);
    assert.deepEqual(numbersOf(x.gather([[[2]], [[0]]], { batchAxes: [0] })), [2, 3]);
    assert.deepEqual(numbersOf(x.gather([[[1]], [[0]], [[1]]], { batchAxes: [1] })), [3, 1, 5]);
    assert.throws(
      () => x.gather([[[2]]], { batchAxes: [0] }),
      /^ShapeError: gather: index vectors of \[1, 1, 1\] for batch/,
    );
    assert.throws(() => x.gather([[[2]], [[0]]], { batchAxes: [0], axes: [0] }), /among axes and among batchAxes/);
  });

  test("places of partition are inside, and positions count from the end", () => {
    assert.throws(
      () => tensor([1, 2]).partition(2),
      /^ArgumentError: partition: place 2 of the 2 elements along axis 0/,
    );
    const [rows, columns] = tensor([-1, 5], { dtype: "i32" }).unravelIndex([2, 3]);
    assert.deepEqual([rows, columns].map((x) => numbersOf(x as Tensor)), [[1, 1], [2, 2]]); // biome-ignore format: one line
  });

  test("NaN: one for unique, distinct for the array API; the last tie may be a NaN", () => {
    const x = tensor([Number.NaN, 1, Number.NaN]);
    assert.deepEqual(numbersOf(x.unique().values), [1, Number.NaN]);
    assert.deepEqual(numbersOf(x.uniqueCounts().counts), [1, 1, 1]);
    assert.deepEqual(numbersOf(x.uniqueInverse().inverse), [1, 0, 2]);
    assert.equal(x.argmax({ tie: "last" }).itemSync(), 2);
    assert.throws(() => x.argmax({ tie: "low" as never }), /^ArgumentError: argmax: the option tie/);
    assert.deepEqual(Object.keys(x.unique({ counts: false, inverse: false })), ["values", "indices"]);
  });
});

test("what dtypes are and how they combine", () => {
  assert.deepEqual(pumice.finfo("f32"), {
    dtype: "f32",
    bits: 32,
    eps: 2 ** -23,
    min: -3.4028234663852886e38,
    max: 3.4028234663852886e38,
    smallestNormal: 2 ** -126,
  });
  assert.equal(pumice.finfo("c128").dtype, "f64");
  assert.deepEqual(pumice.iinfo(tensor([1], { dtype: "i64", device: "cpu" })), {
    dtype: "i64",
    bits: 64,
    min: -(2n ** 63n),
    max: 2n ** 63n - 1n,
  });
  assert.throws(() => pumice.finfo("i32"), /^DTypeError: finfo: i32 holds no floats; iinfo\(\)/);
  assert.throws(() => pumice.iinfo("float32" as never), /write "f32"/);
  assert.equal(pumice.resultType("i8", "u8"), "i16");
  assert.equal(pumice.resultType(tensor([1], { dtype: "u8", device: "cpu" }), 1.5), "f32");
  assert.equal(pumice.resultType("bf16", 2), "bf16");
  assert.throws(() => pumice.resultType(), /^DTypeError: resultType: needs at least one operand/);
  assert.deepEqual([pumice.canCast("i8", "i16"), pumice.canCast("i16", "i8"), pumice.canCast("f64", "c64")], [true, false, false]); // biome-ignore format: one line
  assert.ok(pumice.isDType("bool", "bool") && !pumice.isDType("bool", "numeric"));
  assert.ok(pumice.isDType("u8", ["complex floating", "u8"]) && !pumice.isDType("f16", "integral"));
  assert.throws(
    () => pumice.isDType("u8", "integer" as never),
    /^ArgumentError: isDType: "integer" is neither a dtype nor/,
  );
});

test("asTensor gives a tensor of either, in a dtype and on a device", () => {
  const x = tensor([1, 2], { device: "cpu" });
  const again = pumice.asTensor(x);
  assert.ok(again !== x && again.dtype === "f32" && again.device === "cpu");
  assert.equal(pumice.asTensor(x, { dtype: "i64" }).dtype, "i64");
  assert.deepEqual(pumice.asTensor([[1n]], { device: "cpu" }).shape, [1, 1]);
  assert.throws(() => pumice.asTensor("1" as never), /^ArgumentError: asTensor: "1" is no value/);
  assert.deepEqual(numbersOf(pumice.empty([2], { dtype: "u8", device: "cpu" })), [0, 0]);
  assert.equal(pumice.onesLike(x, { dtype: "bool" }).dtype, "bool");
});

test("powers and ratios: ends are exact, one number is the start, signs must agree", () => {
  const options = { dtype: "f64", device: "cpu" } as const;
  assert.deepEqual(numbersOf(pumice.geomspace(0.3, 0.7, 3, options)).filter((_, i) => i !== 1), [0.3, 0.7]); // biome-ignore format: one line
  assert.deepEqual(numbersOf(pumice.geomspace(5, 9, 1, options)), [5]);
  assert.deepEqual(numbersOf(pumice.logspace(2, 9, 1, options)), [100]);
  assert.throws(() => pumice.geomspace(-1, 1, 3), /^ArgumentError: geomspace: from -1 to 1; both are more than 0/);
  assert.throws(() => pumice.geomspace(0, 1, 3), ArgumentError);
  assert.throws(() => pumice.logspace(0, 1, -1), /^\w+Error: logspace/);
});

test("dtypes by the standard's names, and the defaults", () => {
  const all = pumice.dtypes({ device: "cpu" });
  assert.deepEqual(Object.keys(all).length, 13);
  assert.equal(all.complex128, "c128");
  assert.deepEqual(pumice.dtypes({ device: "cpu", kind: "bool" }), { bool: "bool" });
  assert.deepEqual(pumice.dtypes({ device: "cpu", kind: ["real floating", "complex floating"] }), {
    float32: "f32",
    float64: "f64",
    complex64: "c64",
    complex128: "c128",
  });
  assert.deepEqual(pumice.dtypes({ device: "cpu", kind: [] }), {});
  assert.throws(
    () => pumice.dtypes({ device: "cpu", kind: "integer" as never }),
    /^ArgumentError: dtypes: "integer" is neither a dtype nor a kind; kinds are bool, signed integer/,
  );
  assert.throws(() => pumice.dtypes({ device: "tpu" }), /^DeviceError: dtypes: there is no device "tpu"/);
  const { integral, indexing, ...floats } = pumice.defaultDTypes({ device: "cpu" });
  assert.deepEqual(Object.values(floats), ["f32", "c64"]);
  assert.equal(tensor([1, 2], { device: "cpu" }).dtype, floats["real floating"]);
  assert.equal(pumice.arange(3, { device: "cpu" }).dtype, integral);
  assert.equal(tensor([1, 2], { device: "cpu" }).argmax().dtype, indexing);
  assert.deepEqual(Object.values(pumice.capabilities()), [true, true]);
});

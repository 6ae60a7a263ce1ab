/** Wrong operands, and handles that must not take others along. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { ArgumentError, DTypeError, ShapeError } from "../../src/core/errors.js";
import {
  arange,
  concat,
  einsum,
  eye,
  fromBytes,
  full,
  linspace,
  ones,
  profile,
  random,
  scope,
  setDefaultDevice,
  stack,
  type Tensor,
  tensor,
  tri,
  where,
  withDevice,
  zeros,
} from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

/** As JavaScript calls it, past the types. */
const loose = (value: unknown): never => value as never;

describeOnTensorDevices("misuse", (device) => {
  const x = () => tensor([1, 2]);
  const m = () => arange(6).reshape(2, 3);

  test("what is neither a tensor nor a number is refused by name", () => {
    for (const wrong of [undefined, null, [1], {}, { re: 1 }, new Date()]) {
      assert.throws(() => x().add(wrong as unknown as number), ArgumentError);
    }
    assert.throws(() => x().mul({} as unknown as number), /mul: an object is neither a tensor nor a number/);
    assert.throws(() => tensor([1], { dtype: "float32" as "f32" }), /tensor: "float32" is not a dtype; write "f32"/);
    assert.throws(() => x().cast("int" as "i32"), DTypeError);
  });

  test("messages say what to write instead", () => {
    const cases: readonly (readonly [() => unknown, RegExp])[] = [
      [() => tensor([2n ** 63n]), /^DTypeError: tensor: .*; give \{ dtype: "u64" \}\.$/],
      [() => zeros([2 ** 53]), /^ShapeError: zeros: axis 0 .*; sizes go up to 2\^53 - 1\.$/],
      [() => zeros([-1]), /a size is a whole number, 0 or more\.$/],
      [
        () => fromBytes(new Uint8Array(8), loose({ dtype: "f32", shape: [2] }), loose(undefined)),
        /^ArgumentError: fromBytes: .* stands where the shape does; write fromBytes\(bytes, \[2, 3\], "f32", \{ device \}\)\.$/,
      ],
    ];
    for (const [call, message] of cases) assert.throws(call, message);
  });

  test("what a mode of padding does not use is refused", () => {
    for (const mode of ["edge", "reflect", "symmetric", "wrap"] as const) {
      assert.throws(
        () => x().pad([[1, 1]], { mode, value: 5 }),
        /^ArgumentError: pad: value goes with mode "constant"/,
      );
      assert.throws(() => x().pad([[1, 1]], loose({ mode, interior: [1] })), /pad: interior goes with mode "constant"/);
      assert.deepEqual(x().pad([[1, 1]], loose({ mode, value: undefined })).shape, [4]);
    }
    assert.deepEqual(
      [
        ...x()
          .pad([[1, 0]], { mode: "constant", value: 5 })
          .dataSync(),
      ],
      [5, 1, 2],
    );
  });

  test("complex values are not written into real tensors, of which half would be lost", () => {
    const z = tensor([{ re: 1, im: 2 }]);
    const refused = {
      name: "DTypeError",
      message: /^\w+: c64 values do not fit f32; take their real\(\) or imag\(\)\.$/,
    };
    assert.throws(() => x().set("1:", z), refused);
    assert.throws(() => x().addAt([0], z), refused);
    assert.throws(() => x().scatter([0], z), refused);
    assert.throws(() => x().putAlongAxis([0], z, { axis: 0 }), refused);
    assert.throws(() => x().scatterNd([[0]], z), refused);
    assert.throws(() => eye(2).putDiagonal(z), refused);
    assert.throws(() => x().set(0, { re: 1, im: 2 }), {
      name: "DTypeError",
      message: "set: { re: 1, im: 2 } does not fit f32; cast the tensor first.",
    });
  });

  test("what is no value says so, and not that tensor() would help", () => {
    for (const wrong of [null, undefined, {}, "1", [1, null], [[{}]]]) {
      assert.throws(() => tensor(loose(wrong)), {
        name: "ArgumentError",
        message:
          /^tensor: (null|undefined|an object|"1") is no value; values are numbers, bigints, booleans or \{ re, im \}/,
      });
    }
    assert.throws(
      () => arange(loose(undefined)),
      /^ArgumentError: arange: from NaN; give the numbers, as in arange\(5\)/,
    );
  });

  test("a tensor is neither JSON nor a list, and says what to write", () => {
    assert.throws(() => JSON.stringify({ x: x() }), /^ArgumentError: A tensor is no JSON: write await x\.array\(\)/);
    assert.throws(() => [...loose(x())], /^ArgumentError: A tensor is no list: write x\.unstack\(\)/);
    assert.throws(() => new Float32Array(loose(x())), /A tensor is no list/);
  });

  test("a tensor that was disposed names the operation that it was used in", () => {
    const gone = tensor([1, 2]);
    gone.dispose();
    const uses: Readonly<Record<string, () => unknown>> = {
      add: () => gone.add(1),
      sub: () => x().sub(gone),
      roll: () => gone.roll(1, { axis: 0 }),
      set: () => x().set(0, gone),
      dataSync: () => gone.dataSync(),
      T: () => gone.T,
      shape: () => gone.shape,
      concat: () => concat([x(), gone]),
      where: () => where(true, gone, 1),
      einsum: () => einsum("i,i", x(), gone),
      softmax: () => gone.softmax(),
    };
    for (const [name, use] of Object.entries(uses)) {
      assert.throws(use, { name: "DisposedError", message: `${name}: this tensor was disposed.` });
    }
  });

  test("the values of a tensor that was disposed are refused by name", async () => {
    const gone = tensor([1]);
    gone.dispose();
    for (const name of ["data", "item", "array", "bytes"] as const) {
      await assert.rejects(gone[name](), { name: "DisposedError", message: `${name}: this tensor was disposed.` });
    }
  });

  test("options that do not exist, or stand alone, are refused with what would work", () => {
    const wrong: readonly [() => unknown, RegExp][] = [
      [() => m().sum(loose(0)), /^sum: 0 stands where options do.*write \{ axis: 0 \}\.$/],
      [() => m().sum(loose([0, 1])), /^sum: \[0, 1\] stands where options do.*write \{ axis: \[0, 1\] \}\.$/],
      [() => m().sum(loose(true)), /write \{ keepDims: true \}\.$/],
      [() => m().sum(loose(m())), /^sum: a Tensor stands where options do/],
      [
        () => m().sum(loose({ keepdims: true })),
        /^sum: there is no option "keepdims"; there are axis, keepDims, dtype\.$/,
      ],
      [() => m().mean(loose({ axes: 0 })), /^mean: there is no option "axes"; there are axis, keepDims\.$/],
      [() => m().std(loose({ ddof: 1 })), /^std: there is no option "ddof"; there are axis, keepDims, correction\.$/],
      [() => m().norm(loose({ ord: 1 })), /^norm: there is no option "ord"; there are axis, keepDims, order\.$/],
      [() => m().softmax(loose(0)), /^softmax: 0 stands where options do.*write \{ axis: 0 \}\.$/],
      [() => concat([m(), m()], loose(1)), /^concat: 1 stands where options do.*write \{ axis: 1 \}\.$/],
      [() => zeros([2], loose("f64")), /^zeros: "f64" stands where options do.*write \{ dtype: "f64" \}\.$/],
      [() => zeros([2], loose({ dType: "f64" })), /^zeros: there is no option "dType"; there are dtype, device\.$/],
      [() => m().sum({ axis: loose("0") }), /^sum: the option axis is a number or a list of numbers, not "0"\.$/],
      [() => m().sum({ keepDims: loose(1) }), /^sum: the option keepDims is true or false, not 1\.$/],
      [() => m().set(0, 1, loose({ determinstic: true })), /^set: there is no option "determinstic"; the only one is/],
      [() => random.normal(random.key(0), [2], loose({ mean: 1 })), /^random.normal: there is no option "mean"/],
    ];
    for (const [use, message] of wrong) assert.throws(use, { name: "ArgumentError", message });
  });

  test("values of the wrong kind are refused by the operation that was called", () => {
    const wrong: readonly [() => unknown, RegExp][] = [
      [() => x().matmul(loose(3)), /^matmul: the right operand is a tensor, not 3; tensor\(\) makes one\.$/],
      [() => x().add(loose("2")), /^add: "2" is neither a tensor nor a number/],
      [() => x().add(loose("f32")), /^add: "f32" is neither a tensor nor a number/],
      [() => x().add(loose(undefined)), /^add: undefined is neither/],
      [() => x().logicalAnd(loose("f32")), /^logicalAnd: "f32" is neither/],
      [() => x().bitwiseAnd(1), /^bitwiseAnd: takes bool, int, uint, not f32/],
      [() => tensor(loose(undefined)), /^tensor: undefined is no value/],
      [() => tensor([loose(null)]), /^tensor: null is no value/],
      [() => tensor(loose(["a"])), /^tensor: "a" is no value/],
      [() => tensor([[1], [2, 3]]), /^tensor: ragged arrays: a row of 2 at axis 1, where the first has 1/],
      [() => tensor([[1], 2]), /^tensor: ragged arrays: 2 at axis 1, where the first is a row of 1/],
      [() => tensor([1, [2]]), /^tensor: ragged arrays: a row of 1 at axis 1, where the first is a number/],
      [() => tensor(loose(x())), /^tensor: this is a tensor already; cast\(\)/],
      [() => tensor(loose([x(), x()])), /^tensor: a list of tensors becomes one with stack\(\)/],
      [() => random.normal(random.key(0), loose(3)), /not 3; write \[3\]\.$/],
      [() => full([2], loose("x")), /^full: "x" is neither/],
      [() => zeros(loose("3")), /^zeros: a shape is a list of sizes, as \[2, 3\], not "3"/],
      [() => zeros([-1]), /^zeros: axis 0 of \[-1\] has size -1/],
      [() => zeros([1.5]), /has size 1.5; a size is a whole number/],
      [() => zeros([Number.NaN]), /has size NaN/],
      [() => x().reshape(loose("3")), /^reshape: a shape is a list of sizes/],
      [() => x().at(1.5), /^at: index 1.5 of axis 0 is not a whole number/],
      [() => x().at("a:b"), /^at: "a:b" is not a slice/],
      [() => x().take([0.5]), /^take: a position is a whole number, not 0.5/],
      [() => x().take(tensor([0])), /^take: positions are integers, not f32/],
      [() => x().cast(loose("float32")), /^cast: "float32" is not a dtype; write "f32"/],
      [() => x().cast(loose("torch.int64")), /write "i64"/],
      [() => x().cast(loose("double")), /write "f64"/],
      [() => zeros([2], { device: "cuda" }), /^zeros: there is no device "cuda"; there are: .*cpu/],
      [() => x().to("gpu"), /^to: there is no device "gpu"/],
      [
        () => zeros([2], { device: "vulkan:99" }),
        /^zeros: (there is no device "vulkan:99"; there are: .*cpu|no Vulkan dev)/,
      ],
      [() => x().to("vulkan:99"), /^to: (there is no device "vulkan:99"|no Vulkan device)/],
      [() => random.key(1, { device: "vulkan:99" }), /^random.key: (there is no device "vulkan:99"|no Vulkan device)/],
      [() => setDefaultDevice("vulkan:99"), /^setDefaultDevice: (there is no device "vulkan:99"|no Vulkan device)/],
      [() => withDevice("vulkan:99", () => 1), /^withDevice: (there is no device "vulkan:99"|no Vulkan device)/],
      [() => profile(() => 1, { device: "vulkan:99" }), /^profile: (there is no device "vulkan:99"|no Vulkan device)/],
      [() => concat([]), /^concat: takes a list of one or more tensors, not \[\]/],
      [() => concat(loose(x())), /^concat: takes a list of one or more tensors, not a Tensor/],
      [() => stack([x(), loose([1])]), /^stack: number 1 of the list is a tensor, not \[1\]/],
      [() => stack([x(), tensor([1])]), /^stack: \[2\] and \[1\] differ; all have one shape/],
      [() => tensor([1, 2, 3]).split(2), /^split: axis 0 of \[3\] does not divide into 2 equal parts/],
      [() => einsum("ij->", x()), /^einsum "ij->": "ij" names 2 axes of operand 1, which has 1/],
      [() => einsum(loose(x()), loose("i->")), /^einsum: the first argument, .* is a string, not a Tensor/],
      [() => where(true, 1, 2), /^where: none of its operands is a tensor/],
      [() => x().histogram({ bins: loose("auto") }), /^histogram: "auto" bins; use 1 or more, or give the edges/],
      [() => random.normal(loose(7), [2]), /^random.normal: the first argument is a key, .* not 7/],
      [() => random.gamma(loose(7), 1), /^random.gamma: the first argument is a key/],
    ];
    for (const [use, message] of wrong) assert.throws(use, { message });
  });

  test("a device that PUMICE_DEVICE names and that is not there is told of by the first operation", () => {
    const { href } = new URL("../../src/index.js", import.meta.url);
    const program = `import { zeros } from ${JSON.stringify(href)}; zeros([2]);`;
    const env = { ...process.env, PUMICE_DEVICE: "vulkan:99" };
    const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { env, encoding: "utf8" });
    assert.match(
      stderr,
      /DeviceError: zeros: (there is no device "vulkan:99", which PUMICE_DEVICE names; there are: .*cpu|no Vulkan device)/,
    );
  });

  test("an error names the operation that was called, and not one it is made of", () => {
    const empty = zeros([0]);
    const wrong: readonly [string, () => unknown][] = [
      ["softmax", () => x().softmax({ axis: 3 })],
      ["std", () => x().std({ axis: 3 })],
      ["logsumexp", () => empty.logsumexp({ axis: 3 })],
      ["norm", () => empty.norm({ order: Infinity })],
      ["transpose", () => x().transpose(0, 1)],
      ["topK", () => x().cast("c64").topK(1)],
      ["mod", () => x().cast("c64").mod(2)],
      ["clip", () => x().clip(0, loose("1"))],
      ["argwhere", () => tensor(1).argwhere()],
      ["trace", () => x().trace()],
      ["itemSync", () => x().itemSync()],
      ["maxAt", () => x().cast("c64").maxAt(0, 1)],
      ["tri", () => tri(-1)],
    ];
    for (const [operation, use] of wrong) assert.throws(use, { message: new RegExp(`^${operation}: `) });
  });

  test("arange counts in i32 as far as that goes, and asks for a dtype beyond", () => {
    assert.equal(arange(2 ** 31).dtype, "i32");
    assert.deepEqual(
      [
        ...arange(2 ** 31)
          .at("-2:")
          .dataSync(),
      ],
      [2 ** 31 - 2, 2 ** 31 - 1],
    );
    assert.deepEqual(
      [...arange(-(2 ** 31), 2 ** 31, 2 ** 30).dataSync()],
      [-2, -1, 0, 1].map((i) => i * 2 ** 30),
    );
    assert.deepEqual([...arange(2 ** 40, 0).dataSync()], []);
    assert.equal(arange(2 ** 40, 0).dtype, "i32");
    const refusal = /^arange: .* is more than i32 holds, which whole numbers are unless told; pass \{ dtype: "i64" \}/;
    assert.throws(() => arange(2 ** 31 + 1), { name: "ArgumentError", message: refusal });
    assert.throws(() => arange(-(2 ** 31) - 1, 0), { name: "ArgumentError", message: refusal });
    assert.throws(() => arange(0, -(2 ** 40), -(2 ** 39)), { name: "ArgumentError", message: refusal });
    assert.deepEqual(
      [
        ...arange(2 ** 40, { dtype: "i64" })
          .at("-2:")
          .dataSync(),
      ],
      [2n ** 40n - 2n, 2n ** 40n - 1n],
    );
    assert.deepEqual(
      [
        ...arange(2 ** 32, { dtype: "u32" })
          .at("-1:")
          .dataSync(),
      ],
      [2 ** 32 - 1],
    );
    assert.deepEqual(
      [...arange(2 ** 40, 2 ** 42, 2 ** 40, { dtype: "f32" }).dataSync()],
      [1, 2, 3].map((i) => i * 2 ** 40),
    );
    assert.equal(arange(0, 2 ** 40, 2 ** 39 + 0.5).dtype, "f32");
  });

  test("what has one meaning is taken", () => {
    assert.deepEqual(zeros(3).shape, [3]);
    assert.deepEqual(ones(0).shape, [0]);
    assert.deepEqual([...arange(3, { dtype: "f64" }).dataSync()], [0, 1, 2]);
    assert.equal(arange(3, { dtype: "f64" }).dtype, "f64");
    assert.deepEqual([...arange(1, 3, { dtype: "u8" }).dataSync()], [1, 2]);
    assert.equal(eye(2, { dtype: "i32" }).dtype, "i32");
    assert.equal(tri(2, { dtype: "i32" }).dtype, "i32");
    assert.deepEqual(where(true, x(), 0).arraySync(), [1, 2]);
    assert.deepEqual(where(false, x(), 0).arraySync(), [0, 0]);
    assert.deepEqual(new Uint8Array([0, 1, 1]), fromBytes(new Uint8Array([0, 7, 255]), [3], "bool").dataSync());
    assert.equal(
      fromBytes(new Uint8Array([2, 255]), [2], "bool")
        .sum()
        .itemSync(),
      2,
    );
  });

  test("lists stand for index tensors and masks", () => {
    assert.deepEqual(m().take([1, -1]).arraySync(), [1, 5]);
    assert.deepEqual(m().take([[2], [0]], { axis: 1 }).arraySync(), [[[2], [0]], [[5], [3]]]); // biome-ignore format: one line
    assert.deepEqual(m().take(4).arraySync(), 4);
    assert.deepEqual(
      m()
        .takeAlongAxis([[0], [2]], { axis: 1 })
        .arraySync(),
      [[0], [5]],
    );
    assert.deepEqual(m().at("...", [2, 0]).arraySync(), [[2, 0], [5, 3]]); // biome-ignore format: one line
    assert.deepEqual(m().at([1, 0], [0, 1]).arraySync(), [3, 1]);
    assert.deepEqual(m().at([false, true]).arraySync(), [[3, 4, 5]]);
    assert.deepEqual(m().set([0, 1], [2, 0], 9).arraySync(), [[0, 1, 9], [9, 4, 5]]); // biome-ignore format: one line
    assert.deepEqual(m().addAt([0, 0], 1).arraySync(), [[2, 3, 4], [3, 4, 5]]); // biome-ignore format: one line
    assert.deepEqual(m().scatter([0, 1], 7).arraySync(), [[7, 7, 2], [3, 4, 5]]); // biome-ignore format: one line
    assert.deepEqual(m().gather([[1, 2], [0, 0]]).arraySync(), [5, 0]); // biome-ignore format: one line
    assert.deepEqual(m().gather([[2], [0]], { axes: [1] }).arraySync(), [[2, 5], [0, 3]]); // biome-ignore format: one line
    assert.deepEqual(tensor([1, 3, 5]).searchSorted([0, 3, 9]).arraySync(), [0, 1, 3]);
    assert.deepEqual(
      tensor([1, 2, 2.5, 7])
        .histogram({ bins: [0, 2, 3] })
        .counts.arraySync(),
      [1, 2],
    );
  });

  test("sizes below zero are refused", () => {
    assert.throws(() => eye(-1), ShapeError);
    assert.throws(() => linspace(0, 1, -1), ShapeError);
  });

  test("a result that is its operand again has a handle of its own", () => {
    const whole = tensor([1, 2], { dtype: "i32" });
    const floats = x();
    const results: Tensor[] = [whole.floor(), whole.round(), floats.conj(), floats.real(), floats.to(device)];
    for (const result of results) result.dispose();
    assert.deepEqual([...whole.dataSync()], [1, 2]);
    assert.deepEqual([...floats.dataSync()], [1, 2]);
  });

  test("a result has one handle, so that disposing of it frees its memory", () => {
    const m = tensor([
      [1, 2],
      [3, 4],
    ]);
    const results = [
      m.softmax(),
      m.mean({ axis: 0 }),
      m.variance({ axis: 0 }),
      m.matmul(m),
      m.sort(),
      m.relu(),
      m.roll(1),
    ];
    for (const result of results) assert.equal(result.realize().isOnlyHolder, true);
  });

  test("a shape cannot be changed from outside, and an array given as one can", () => {
    const extents = [2, 3];
    const made = [
      zeros(extents),
      m().reshape(extents),
      zeros([1, 3]).broadcastTo(extents),
      tensor([1, 2, 3, 4, 5, 6], { shape: extents }),
    ];
    extents[0] = 9;
    for (const each of made) {
      assert.deepEqual(each.shape, [2, 3]);
      assert.throws(() => (each.shape as number[]).push(1), TypeError);
      assert.throws(() => {
        (each.shape as number[])[0] = 7;
      }, TypeError);
      assert.deepEqual(each.add(1).shape, [2, 3]);
    }
  });

  test("a scope does not take promises", () => {
    assert.throws(() => scope(async () => x()), /scope: the function returned a promise/);
  });

  test("bitcast shows the bits, of dtypes of one width", () => {
    assert.deepEqual([...tensor([1.5, -0]).bitcast("u32").dataSync()], [0x3fc00000, 0x80000000]);
    assert.deepEqual([...tensor([-1], { dtype: "i16" }).bitcast("u16").dataSync()], [65535]);
    assert.deepEqual([...tensor([1.5, -0], { dtype: "f16" }).bitcast("u16").dataSync()], [0x3e00, 0x8000]);
    assert.deepEqual([...tensor([1.5, -0], { dtype: "bf16" }).bitcast("i16").dataSync()], [0x3fc0, -0x8000]);
    assert.throws(() => x().bitcast("u16"), /bitcast: f32 as u16/);
  });

  test("a constant zero is a number like others", () => {
    assert.deepEqual([...tensor([Number.NaN, Infinity, -1]).mul(0).dataSync()], [Number.NaN, Number.NaN, -0]);
    assert.deepEqual([...tensor([-0]).add(0).dataSync()], [0]);
    for (const dtype of ["f32", "f64", "f16"] as const) {
      const x = tensor([0.5, -2, 0, Number.NaN], { dtype });
      assert.deepEqual([...x.div(0).cast("f32").dataSync()], [Infinity, -Infinity, Number.NaN, Number.NaN]);
      assert.deepEqual([...x.div(0).add(1).cast("f32").dataSync()], [Infinity, -Infinity, Number.NaN, Number.NaN]);
    }
    const quotients = zeros([4]).div(tensor([0, Number.NaN, 1, -1]));
    assert.deepEqual([...quotients.dataSync()], [Number.NaN, Number.NaN, 0, -0]);
    assert.deepEqual(
      [
        ...zeros([1, 2])
          .matmul(tensor([[Number.NaN], [1]]))
          .dataSync(),
      ],
      [Number.NaN],
    );
    assert.deepEqual([...tensor([5]).variance({ correction: 1 }).flatten().dataSync()], [Number.NaN]);
  });
});

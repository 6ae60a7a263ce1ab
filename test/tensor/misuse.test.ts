/** Wrong operands, and handles that must not take others along. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, DTypeError, ShapeError } from "../../src/core/errors.js";
import { eye, linspace, scope, type Tensor, tensor, zeros } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

describeOnTensorDevices("misuse", (device) => {
  const x = () => tensor([1, 2]);

  test("what is neither a tensor nor a number is refused by name", () => {
    for (const wrong of [undefined, null, [1], {}, { re: 1 }, new Date()]) {
      assert.throws(() => x().add(wrong as unknown as number), ArgumentError);
    }
    assert.throws(() => x().mul({} as unknown as number), /mul: an object is neither a tensor nor a number/);
    assert.throws(() => tensor([1], { dtype: "float32" as "f32" }), /tensor: float32 is not a dtype/);
    assert.throws(() => x().cast("int" as "i32"), DTypeError);
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

  test("a scope does not take promises", () => {
    assert.throws(() => scope(async () => x()), /scope: the function returned a promise/);
  });

  test("bitcast shows the bits, of dtypes of one width", () => {
    assert.deepEqual([...tensor([1.5, -0]).bitcast("u32").dataSync()], [0x3fc00000, 0x80000000]);
    assert.deepEqual([...tensor([-1], { dtype: "i16" }).bitcast("u16").dataSync()], [65535]);
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

/** Functions as closed graphs: captured tensors come first, and are computed once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "../../src/index.js";
import { backendFor } from "../../src/tensor/index.js";
import { closed, operationsOf } from "../../src/transforms/closed.js";
import { nowhere } from "../support/nodes.js";
import { numbersOf } from "../support/tensors.js";

const like = { shape: [2], dtype: "f32", device: backendFor("cpu") } as const;

test("parameters are the captured tensors, then the arguments", () => {
  const outside = tensor([3, 4], { device: "cpu" }).add(1);
  const { body, captured } = closed((x, y) => [x.mul(outside), y.add(x)], [like, like]);
  assert.equal(captured.length, 1);
  assert.equal(body.parameters.length, 3);
  assert.equal(body.results.length, 2);
  assert.deepEqual(numbersOf(captured[0]!), [4, 5]);
  // It is in memory already.
  assert.ok(captured[0]!.node.storage);
});

test("a function of its arguments alone captures nothing, wherever they are", () => {
  const { body, captured } = closed((x) => [x.neg()], [{ ...like, device: nowhere as never }]);
  assert.deepEqual([captured.length, body.parameters.length], [0, 1]);
});

test("the function is called once, with placeholders: it cannot read them", () => {
  let calls = 0;
  closed(
    (x) => {
      calls++;
      assert.throws(() => x.dataSync());
      return [x];
    },
    [like],
  );
  assert.equal(calls, 1);
});

test("the operations of a function are the same text for what does the same, and others for other numbers and forms", () => {
  const x = tensor([1, 2], { device: "cpu" });
  const of = (f: (x: Tensor) => Tensor, on: Tensor = x) => operationsOf("test", (own) => [f(own!)], [on]);
  const times = (factor: number) => (own: Tensor) => own.mul(factor).sum() as Tensor;
  assert.equal(of(times(2)), of(times(2)));
  assert.notEqual(of(times(2)), of(times(3)));
  assert.notEqual(
    of(times(2)),
    of((own) => own.sum().mul(2)),
  );
  assert.notEqual(of(times(2)), of(times(2), tensor([1, 2, 3], { device: "cpu" })));
  // A tensor from outside counts by its form.
  const plus = (values: number[] | number[][]) => (own: Tensor) =>
    own.add(tensor(values as number[], { device: "cpu" }).realize()) as Tensor;
  assert.equal(of(plus([1, 2])), of(plus([3, 4])));
  assert.notEqual(of(plus([1, 2])), of(plus([[1, 2]])));
});

/** Functions as closed graphs: captured tensors come first, and are computed once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../src/index.js";
import { backendFor } from "../../src/tensor/index.js";
import { closed } from "../../src/transforms/closed.js";
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

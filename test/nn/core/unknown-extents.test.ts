/** Extents that are null: parameters must not depend on them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tree } from "../../../src/index.js";
import {
  averagePool,
  batchNorm,
  conv,
  dense,
  diagram,
  flatten,
  globalAveragePool,
  initializers,
  layer,
  maxPool,
  sequential,
  summary,
} from "../../../src/nn/index.js";

const key = random.key(0, { device: "cpu" });

test("features that are null are refused by the layer's path", () => {
  assert.throws(() => sequential(dense(3)).init(key, [null, null]), {
    name: "ShapeError",
    message:
      /^dense "dense0": the shape of its parameter "weights" depends on an extent of the input that is null .*give it, as in \[null, 784\]\.$/,
  });
  assert.throws(() => dense(3).init(key, [null, null]), { message: /^dense: the shape of its parameter/ });
});

test("images whose extents are null are refused where a dense layer sees all their places, however far it is behind strides", () => {
  const same = { padding: "same" } as const;
  for (const model of [
    sequential(conv(2, 3), flatten(), dense(2)),
    sequential(conv(2, 3, same), maxPool(2, same), maxPool(2, same), averagePool(4, same), flatten(), dense(2)),
  ]) {
    assert.throws(() => model.init(key, [null, 1, null, null]), {
      name: "ShapeError",
      message: /^dense "dense0": the shape of its parameter "weights"/,
    });
  }
});

test("state counts, too: what is kept for each example needs the batch", () => {
  const last = layer("last", {}, (scope, x: Tensor) => x.add(scope.state("x", x.shape, initializers.zeros)));
  assert.throws(() => last.init(key, [null, 3]), { message: /^last: the shape of its state "x" depends/ });
  assert.deepEqual(last.init(key, [5, 3]).state.x!.shape, [5, 3]);
});

test("models that take images of any extents are initialised and shown, with windows larger than one place", () => {
  const model = sequential(conv(2, 3), batchNorm(), maxPool(2), conv(4, 5), globalAveragePool(), dense(2));
  const { params } = model.init(key, [null, 1, null, null]);
  assert.deepEqual(
    tree.map((x: Tensor) => x.shape, params.dense0 as never),
    { weights: [4, 2], biases: [2] },
  );
  assert.equal(summary(model, [null, 1, null, null]).rows.length, 7);
  assert.match(diagram(model, [null, 1, null, null]), /conv0/);
});

test("initialisers are asked once, whatever extents are tried", () => {
  let count = 0;
  const counted = dense(3, {
    weights: (own, shape, info) => {
      count++;
      return initializers.zeros(own, shape, info);
    },
  });
  sequential(counted).init(key, [null, null, 4]);
  assert.equal(count, 1);
});

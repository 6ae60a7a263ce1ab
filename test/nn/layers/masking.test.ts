/** Masks of tokens, and their way through a model to the layer that uses them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tensor } from "../../../src/index.js";
import * as nn from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const { block, dense, dropout, embedding, layerNorm, lstm, masking, maskOf, sequential } = nn;

describeOnTensorDevices("masking", (device) => {
  const key = random.key(2, { device });
  const ids = (rows: number[][]): Tensor => tensor(rows, { dtype: "i32", device }) as Tensor;
  const padded = ids([[3, 1, 4, 1], [5, 9, 0, 0]]); // biome-ignore format: rows

  test("marks tokens that are not the padding", () => {
    assert.deepEqual(numbersOf(maskOf(padded)), [1, 1, 1, 1, 1, 1, 0, 0]);
    assert.deepEqual(numbersOf(maskOf(padded, { padding: 1 })), [1, 0, 1, 0, 1, 1, 1, 1]);
    assert.equal(maskOf(padded).dtype, "bool");
    const { x, mask } = masking({ padding: 9 }).apply({}, padded);
    assert.equal(x, padded);
    assert.deepEqual(numbersOf(mask), [1, 1, 1, 1, 1, 0, 1, 1]);
  });

  test("a padded sequence gives what the short one gives, through layers that act step by step", () => {
    const model = sequential({
      mask: masking(),
      body: sequential({ table: embedding(10, 3), norm: layerNorm(), wide: dense(4), drop: dropout(0.1) }),
      read: lstm(4),
      head: dense(2),
    });
    const { params } = model.init(key, padded);
    const found = numbersOf(model.apply(params, padded));
    const short = numbersOf(model.apply(params, ids([[5, 9]])));
    const longer = numbersOf(model.apply(params, ids([[3, 1, 4, 1]])));
    for (const [i, value] of [...longer, ...short].entries()) assert.ok(Math.abs(found[i]! - value) < 1e-6, `${found}`);
    // Without the mask the padding is read, too.
    const { mask: _, ...rest } = model.parts;
    const unmasked = numbersOf(sequential(rest).apply(params, padded) as Tensor);
    assert.ok(Math.abs(unmasked[2]! - short[0]!) > 1e-4);
  });

  test("{ x, mask } and { x, lengths } of the caller's go the same way as a block", () => {
    const model = sequential<nn.Sequence>({ table: embedding(10, 3), read: lstm(4) });
    const whole = block({ table: embedding(10, 3), read: lstm(4) }, ({ table, read }, tokens: Tensor) =>
      read({ x: table(tokens), mask: maskOf(tokens) }),
    );
    const { params } = whole.init(key, padded);
    const wanted = numbersOf(whole.apply(params, padded));
    const lengths = tensor([4, 2], { dtype: "i32", device }) as Tensor;
    assert.deepEqual(numbersOf(model.apply(params, { x: padded, mask: maskOf(padded) })), wanted);
    assert.deepEqual(numbersOf(model.apply(params, { x: padded, lengths })), wanted);
  });

  test("reaches attention, too", () => {
    const model = sequential(masking(), embedding(10, 4), nn.transformerEncoder(4, { heads: 2, layers: 1 }));
    const { params } = model.init(key, padded);
    const found = numbersOf(model.apply(params, padded).at(1, ":2"));
    const short = numbersOf(model.apply(params, ids([[5, 9]])));
    for (const [i, value] of found.entries()) {
      assert.ok(Math.abs(value - short[i]!) < 1e-5, `${found}, not ${short}`);
    }
  });
});

test("misuse is refused by name", () => {
  const floats = random.normal(random.key(0, { device: "cpu" }), [2, 3]) as Tensor;
  assert.throws(() => maskOf(floats), { name: "DTypeError", message: /maskOf takes integers.*f32/ });
  assert.throws(() => sequential({ m: masking() }).apply({}, floats), { name: "DTypeError", message: /masking "m"/ });
  assert.throws(() => masking({ pad: 1 } as never), { name: "ArgumentError", message: /masking.*pad/ });
});

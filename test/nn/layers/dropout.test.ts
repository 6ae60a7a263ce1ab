/** Dropouts: what they keep, how often, and that they do nothing unless training. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tensor } from "../../../src/index.js";
import { alphaDropout, dropout, featureAlphaDropout, type Layer, spatialDropout } from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const RATE = 0.3;
const LIMIT = -1.7580993408473766;

describeOnTensorDevices("dropout", (device) => {
  const key = random.key(7, { device });
  const x = random.normal(random.key(1, { device }), [8, 500, 4]);
  const run = (layer: Layer, input: Tensor = x) => numbersOf(layer.apply({}, input, { training: true, key }));

  test("elements are 0 or divided by the share that is kept, as often as told", () => {
    const [before, after] = [numbersOf(x), run(dropout(RATE))];
    const kept = after.filter((value, i) => {
      if (value !== 0) assert.ok(Math.abs(value * (1 - RATE) - before[i]!) < 1e-6 * Math.abs(value));
      return value !== 0;
    }).length;
    const deviation = Math.sqrt(after.length * RATE * (1 - RATE));
    assert.ok(Math.abs(kept - after.length * (1 - RATE)) < 4 * deviation, `${kept} of ${after.length}`);
    assert.deepEqual(run(dropout(RATE)), after, "equal keys drop equal elements");
    assert.notDeepEqual(
      numbersOf(dropout(RATE).apply({}, x, { training: true, key: random.key(8, { device }) })),
      after,
    );
  });

  test("whole channels drop together", () => {
    const after = run(spatialDropout(RATE));
    const dropped = Array.from(
      { length: 8 * 500 },
      (_, i) => after.slice(4 * i, 4 * i + 4).filter((v) => v === 0).length,
    );
    assert.ok(dropped.every((count) => count === 0 || count === 4));
    const count = dropped.filter((each) => each === 4).length;
    assert.ok(Math.abs(count - 4000 * RATE) < 4 * Math.sqrt(4000 * RATE * (1 - RATE)), `${count} of 4000`);
    const last = numbersOf(spatialDropout(RATE, { channels: "last" }).apply({}, x, { training: true, key }));
    assert.ok(
      Array.from(
        { length: 4 },
        (_, c) => new Set(last.filter((_, i) => i < 2000 && i % 4 === c).map((v) => v === 0)).size,
      ).every((n) => n === 1),
    );
  });

  test("alpha dropout keeps mean 0 and variance 1", () => {
    const scale = ((1 - RATE) * (1 + RATE * LIMIT ** 2)) ** -0.5;
    const floor = LIMIT * scale - scale * LIMIT * RATE;
    for (const layer of [alphaDropout(RATE), featureAlphaDropout(RATE)]) {
      const after = run(layer);
      const mean = after.reduce((a, b) => a + b, 0) / after.length;
      const square = after.reduce((a, b) => a + b * b, 0) / after.length;
      assert.ok(Math.abs(mean) < 0.06 && Math.abs(square - 1) < 0.08, `${mean}, ${square}`);
      const dropped = after.filter((value) => Math.abs(value - floor) < 1e-6).length;
      assert.ok(Math.abs(dropped - after.length * RATE) < 8 * Math.sqrt(after.length * RATE), `${dropped}`);
    }
    const channels = run(featureAlphaDropout(RATE));
    const isFloor = (i: number) => Math.abs(channels[i]! - floor) < 1e-6;
    for (let i = 0; i < channels.length; i += 4)
      assert.equal(isFloor(i), isFloor(i + 1) && isFloor(i + 2) && isFloor(i + 3));
  });

  test("nothing happens unless training, at rate 0, and nothing is left at rate 1", () => {
    for (const make of [dropout, spatialDropout, alphaDropout, featureAlphaDropout]) {
      assert.equal(make(RATE).apply({}, x), x);
      assert.equal(make(0).apply({}, x, { training: true }), x);
      assert.ok(run(make(1)).every((value) => value === 0));
      assert.throws(() => make(RATE).apply({}, x, { training: true }), { message: /dropout needs random numbers/ });
      assert.equal(make(RATE).apply({}, x.cast("bf16") as Tensor, { training: true, key }).dtype, "bf16");
      assert.deepEqual(make(RATE).apply({}, x.at("0:0"), { training: true, key }).shape, [0, 500, 4]);
    }
  });
});

test("a rate is a probability", () => {
  for (const [name, make] of Object.entries({ dropout, spatialDropout, alphaDropout, featureAlphaDropout })) {
    for (const wrong of [-0.1, 1.1, Number.NaN]) {
      assert.throws(() => make(wrong), {
        name: "ArgumentError",
        message: new RegExp(`${name}: the rate is a probability`),
      });
    }
  }
  assert.throws(() => spatialDropout(0.1).apply({}, tensor([[1]], { device: "cpu" }), { training: true }), {
    message: /spatialDropout takes/,
  });
});

/** The fans of parameters whose layer does not give them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor } from "../../../src/index.js";
import { initializers, layer, type ParameterInfo, parameterAt } from "../../../src/nn/index.js";
import { numbersOf } from "../../support/tensors.js";

const key = random.key(4, { device: "cpu" });

/** What the initialiser of a parameter of this shape is told. */
function infoOf(shape: readonly number[], fans = {}): ParameterInfo {
  let found: ParameterInfo | undefined;
  const model = layer("own", {}, (scope, x: Tensor) => {
    const spy = (k: random.Key, size: readonly number[], info: ParameterInfo): Tensor => {
      found = info;
      return initializers.zeros(k, size, info);
    };
    scope.parameter("w", shape, spy, fans);
    return x;
  });
  model.init(key, [1]);
  return found as ParameterInfo;
}

test("fans come from the shape, as Keras' compute_fans has them", () => {
  const rows: [shape: number[], fanIn: number, fanOut: number][] = [
    [[], 1, 1],
    [[7], 7, 7],
    [[100, 200], 100, 200],
    [[3, 5, 4, 6], 60, 90],
    [[0, 3], 0, 3],
  ];
  for (const [shape, fanIn, fanOut] of rows) {
    const { fanIn: given, fanOut: results } = infoOf(shape);
    assert.deepEqual([given, results], [fanIn, fanOut], String(shape));
  }
  const { fanIn, fanOut } = infoOf([100, 200], { fanIn: 3 });
  assert.deepEqual([fanIn, fanOut], [3, 200]);
});

test("a matrix of a layer of one's own has the deviation of the papers", () => {
  const wanted = { glorotNormal: 2 / 300, glorotUniform: 2 / 300, heNormal: 2 / 100, lecunUniform: 1 / 100 };
  for (const [name, variance] of Object.entries(wanted)) {
    const make = initializers[name as keyof typeof wanted];
    const own = layer("own", {}, (scope, x: Tensor) => x.matmul(scope.parameter("w", [100, 200], make)));
    const values = numbersOf(parameterAt(own.init(key, [1, 100]).params, "w"));
    const found = values.reduce((sum, value) => sum + value * value, 0) / values.length;
    // The square of a normal draw deviates by √2 of its mean, and there are 20,000: five standard errors.
    assert.ok(Math.abs(found / variance - 1) < (5 * Math.SQRT2) / Math.sqrt(20_000), `${name}: ${found}`);
  }
});

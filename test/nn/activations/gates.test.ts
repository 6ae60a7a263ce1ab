/** gelu, silu, mish and gated linear units. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { activations } from "../../../src/nn/index.js";
import { testAgainstTorch, testCurves } from "../../support/activation-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const { gelu, silu, mish, hardSilu, hardSwish, glu, swiglu, geglu, reglu } = activations;
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const hard = (x: number) => (x * Math.min(Math.max(x + 3, 0), 6)) / 6;

/** Φ(x) by the trapezoidal rule: the density falls so fast that the rule is exact to rounding. */
function normalBelow(x: number): number {
  if (x > 0) return 1 - normalBelow(-x);
  const step = 1 / 128;
  let sum = 0;
  // ∫ φ(x - t) dt over t = exp(u) makes the integrand smooth and flat at both ends.
  for (let u = -40; u < 5; u += step) {
    const t = Math.exp(u);
    sum += t * Math.exp(-((x - t) ** 2) / 2);
  }
  return (sum * step) / Math.sqrt(2 * Math.PI);
}

const tanhGate = (x: number) => sigmoid(2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3));

testCurves({
  gelu: { f: gelu, closed: (x) => x * normalBelow(x), corners: [[0, 0.5]] },
  "gelu tanh": { f: (x) => gelu(x, { approximate: "tanh" }), closed: (x) => x * tanhGate(x), corners: [[0, 0.5]] },
  silu: { f: silu, closed: (x) => x * sigmoid(x), corners: [[0, 0.5]] },
  mish: { f: mish, closed: (x) => x * Math.tanh(softplus(x)) },
  hardSilu: { f: hardSilu, closed: hard },
  hardSwish: { f: hardSwish, closed: hard },
});

testAgainstTorch({
  gelu,
  "gelu tanh": (x) => gelu(x, { approximate: "tanh" }),
  silu,
  mish,
  hardSilu,
  glu,
});

describeOnTensorDevices("tails", () => {
  test("gelu keeps its digits where 1 + erf(x) has none", () => {
    const x = [-3, -5, -7, -9, -11];
    for (const [i, value] of numbersOf(gelu(tensor(x))).entries()) {
      const want = x[i]! * normalBelow(x[i]!);
      assert.ok(Math.abs(value / want - 1) < 2e-5, `gelu(${x[i]}) is ${value}, not ${want}`);
    }
    // In bf16 the six digits of its own form are more than eight bits show.
    for (const [i, value] of numbersOf(gelu(tensor(x).cast("bf16"))).entries()) {
      const want = x[i]! * normalBelow(x[i]!);
      assert.ok(Math.abs(value / want - 1) < 2 ** -8 + 2e-5, `gelu(${x[i]}) in bf16 is ${value}, not ${want}`);
    }
    // The exponent of the gate is about -60 at x = -9: its rounding shows in the fifth digit.
    const near = numbersOf(gelu(tensor(x.slice(0, 4)), { approximate: "tanh" }));
    assert.ok(near.every((value, i) => Math.abs(value / (x[i]! * tanhGate(x[i]!)) - 1) < 3e-5));
  });

  test("±10⁴ give the line and zero, and infinity stays", () => {
    for (const f of [gelu, silu, mish, hardSilu]) assert.deepEqual(numbersOf(f(tensor([Infinity]))), [Infinity]);
    for (const f of [gelu, silu, mish, hardSilu]) {
      assert.deepEqual(numbersOf(f(tensor([-1e4, 1e4]))).map(Math.abs), [0, 1e4], f.name);
    }
  });
});

test("gated linear units multiply the first half by a function of the second", () => {
  const [a, b] = [[1.5, -2], [0.5, -1]] as const; // biome-ignore format: halves
  const x = tensor([[...a, ...b]], { dtype: "f64", device: "cpu" });
  const gates = { glu: sigmoid, swiglu: (v: number) => v * sigmoid(v), geglu: (v: number) => v * normalBelow(v) };
  for (const [name, gate] of Object.entries({ ...gates, reglu: (v: number) => Math.max(v, 0) })) {
    const f = { glu, swiglu, geglu, reglu }[name] as typeof glu;
    for (const y of [f(x), f(x.T, { axis: 0 }).T]) {
      assert.deepEqual(y.shape, [1, 2]);
      numbersOf(y).forEach((value, i) => {
        assert.ok(Math.abs(value - a[i]! * gate(b[i]!)) < 1e-12, `${name}: ${value}`);
      });
    }
  }
  assert.throws(() => swiglu(tensor([1, 2, 3], { device: "cpu" })), {
    name: "ShapeError",
    message: /^swiglu: axis 0 of \[3\] has no two halves/,
  });
  assert.throws(() => gelu(x, { approximate: "erf" as never }), { name: "ArgumentError", message: /"none" or "tanh"/ });
});

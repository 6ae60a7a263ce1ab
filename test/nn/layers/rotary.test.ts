/** Rotary positions and linear biases: against the formulas, written plainly; products depend on distances only. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { arange, random, type Tensor, tensor } from "../../../src/index.js";
import { alibiSlopes, type RotaryOptions, rotary } from "../../../src/nn/index.js";
import { assertNear, assertSlopes } from "../../support/parameter-slopes.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const key = random.key(0, { device: "cpu" });

/** One row, turned as the papers write it. */
function turned(row: readonly number[], position: number, options: RotaryOptions): number[] {
  const { base = 10_000, fraction = 1, interleaved = false, scaling } = options;
  const count = 2 * Math.floor((row.length * fraction) / 2);
  const result = [...row];
  for (let i = 0; i < count / 2; i++) {
    const factor = scaling?.factor ?? 1;
    const wide = scaling?.kind === "ntk" ? base * factor ** (count / (count - 2)) : base;
    let speed = 1 / wide ** ((2 * i) / count);
    if (scaling?.kind === "linear") speed /= factor;
    if (scaling?.kind === "llama3") {
      const { trainedTokens = 8192, lowTurns = 1, highTurns = 4 } = scaling;
      const wavelength = (2 * Math.PI) / speed;
      const smooth = (trainedTokens / wavelength - lowTurns) / (highTurns - lowTurns);
      if (wavelength > trainedTokens / lowTurns) speed /= factor;
      else if (wavelength > trainedTokens / highTurns) speed = (1 - smooth) * (speed / factor) + smooth * speed;
    }
    let strength = 1;
    if (scaling?.kind === "yarn") {
      // As in transformers' modeling_rope_utils: dimensions by the number of their rotations, with a linear ramp between.
      const { trainedTokens = 8192, lowTurns: slow = 1, highTurns: fast = 32 } = scaling;
      const dimension = (turns: number) =>
        (count * Math.log(trainedTokens / (turns * 2 * Math.PI))) / (2 * Math.log(base));
      const [low, high] = [Math.max(Math.floor(dimension(fast)), 0), Math.min(Math.ceil(dimension(slow)), count - 1)];
      const keep = 1 - Math.min(1, Math.max(0, (i - low) / (high - low)));
      speed = (speed / factor) * (1 - keep) + speed * keep;
      strength = 0.1 * Math.log(factor) + 1;
    }
    const [a, b] = interleaved ? [2 * i, 2 * i + 1] : [i, i + count / 2];
    const [cos, sin] = [Math.cos(position * speed), Math.sin(position * speed)];
    result[a] = strength * (row[a]! * cos - row[b]! * sin);
    result[b] = strength * (row[b]! * cos + row[a]! * sin);
  }
  return result;
}

const choices: readonly RotaryOptions[] = [
  {},
  { interleaved: true },
  { base: 500, fraction: 0.5 },
  { fraction: 0.7, interleaved: true },
  { scaling: { kind: "linear", factor: 4 } },
  { scaling: { kind: "ntk", factor: 8 } },
  { base: 50, scaling: { kind: "llama3", factor: 8, trainedTokens: 64, lowTurns: 1, highTurns: 4 } },
  { base: 1000, scaling: { kind: "yarn", factor: 4, trainedTokens: 256 } },
];

describeOnTensorDevices("rotary", (device) => {
  for (const options of choices) {
    test(`${JSON.stringify(options)} is its formula`, async () => {
      const x = random.normal(random.key(1, { device }), [2, 5, 10]);
      const wanted = ((await x.array()) as number[][][]).flatMap((rows) =>
        rows.flatMap((row, i) => turned(row, i + 3, options)),
      );
      const positions = arange(3, 8, 1, { dtype: "i32", device }) as Tensor;
      assertNear(numbersOf(rotary(x, positions, options)), wanted, 1e-5);
    });
  }
});

test("products of turned queries and keys depend on the distance only; gradients are those of differences", () => {
  const [q, k] = [1, 2].map((seed) => random.normal(random.key(seed, { device: "cpu" }), [1, 8], { dtype: "f64" }));
  const score = (at: number, other: number): number => {
    const [a, b] = [at, other].map((position) => tensor([position], { dtype: "i32", device: "cpu" }) as Tensor);
    return numbersOf(rotary(q!, a!).mul(rotary(k!, b!)).sum())[0]!;
  };
  assertNear([score(103, 98)], [score(5, 0)], 1e-12);
  const x = random.normal(key, [3, 6], { dtype: "f64" });
  const places = arange(3, { dtype: "i32", device: "cpu" }) as Tensor;
  const weights = random.normal(random.key(5, { device: "cpu" }), [3, 6], { dtype: "f64" });
  assertSlopes(
    ({ x: given }) =>
      rotary(given as Tensor, places, { fraction: 0.7 })
        .mul(weights)
        .square()
        .sum(),
    { x },
  );
});

test("bf16 turns in f32; wrong arguments are refused by name", () => {
  const x = random.normal(key, [2, 4]);
  const positions = arange(2, { dtype: "i32", device: "cpu" }) as Tensor;
  assert.equal(rotary(x.cast("bf16") as Tensor, positions).dtype, "bf16");
  assert.throws(() => rotary(x, positions, { base: 0 }), { message: /rotary: the base is a positive number/ });
  assert.throws(() => rotary(x, positions, { fraction: 2 }), { message: /rotary: the fraction/ });
  assert.throws(() => rotary(x, positions, { scaling: { kind: "cubic" as "ntk", factor: 2 } }), {
    message: /kind of scaling is "cubic"/,
  });
  assert.throws(() => rotary(x, positions, { scaling: { kind: "ntk", factor: 0 } }), {
    message: /the factor of scaling/,
  });
  assert.throws(() => rotary(x.at(0), positions), {
    name: "ShapeError",
    message: /rotary takes x \[\.\.\., tokens, features\]/,
  });
  assert.throws(() => rotary(x.cast("i32") as Tensor, positions), { name: "DTypeError" });
});

test("slopes of linear biases: halves for eight heads, those of the paper's program for twelve", () => {
  assert.deepEqual(
    alibiSlopes(8),
    [1, 2, 3, 4, 5, 6, 7, 8].map((i) => 2 ** -i),
  );
  assert.deepEqual(alibiSlopes(1), [2 ** -8]);
  assertNear(alibiSlopes(12).slice(8), [2 ** -0.5, 2 ** -1.5, 2 ** -2.5, 2 ** -3.5], 1e-15);
  assert.throws(() => alibiSlopes(0), { message: /alibiSlopes: the number of heads/ });
});

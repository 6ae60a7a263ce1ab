/** Colours against loops over the pixels, hues against Python's colorsys. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jit, random, type Tensor, tensor } from "../../../src/index.js";
import { augment } from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import { augmentCases } from "./cases.js";

const near = (found: readonly number[], wanted: readonly number[], tolerance = 2e-6): void => {
  assert.equal(found.length, wanted.length);
  for (const [i, value] of found.entries())
    assert.ok(Math.abs(value - wanted[i]!) <= tolerance, `${value} at ${i}, wanted ${wanted[i]}`);
};
const cut = (value: number): number => Math.min(1, Math.max(0, value));

describeOnTensorDevices("colours", (device) => {
  const [count, size] = [3, 4];
  const x = random.uniform(random.key(1, { device }), [count, 3, 2, 2]) as Tensor;
  const pixels = numbersOf(x);
  const factors = [0.5, 1.25, 2];
  const given = tensor(factors, { device }) as Tensor;
  const grey = (n: number, p: number): number =>
    0.2989 * pixels[n * 12 + p]! + 0.587 * pixels[n * 12 + 4 + p]! + 0.114 * pixels[n * 12 + 8 + p]!;
  const each = (f: (value: number, n: number, p: number) => number): number[] =>
    pixels.map((value, i) => f(value, Math.floor(i / 12), i % size));
  const last = (f: (images: Tensor) => Tensor): number[] =>
    numbersOf(f(x.permute(0, 2, 3, 1) as Tensor).permute(0, 3, 1, 2) as Tensor);

  test("brightness, contrast and saturation are blends, cut off at black and white", () => {
    const bright = each((value, n) => cut(value * factors[n]!));
    near(numbersOf(augment.adjustBrightness(x, given)), bright);
    near(
      last((images) => augment.adjustBrightness(images, given, { channels: "last" })),
      bright,
    );
    const means = factors.map((_, n) => [0, 1, 2, 3].reduce((sum, p) => sum + grey(n, p) / 4, 0));
    const contrast = each((value, n) => cut(factors[n]! * value + (1 - factors[n]!) * means[n]!));
    near(numbersOf(augment.adjustContrast(x, given)), contrast);
    near(
      last((images) => augment.adjustContrast(images, given, { channels: "last" })),
      contrast,
    );
    const saturated = each((value, n, p) => cut(factors[n]! * value + (1 - factors[n]!) * grey(n, p)));
    near(numbersOf(augment.adjustSaturation(x, given)), saturated);
    near(
      last((images) => augment.adjustSaturation(images, given, { channels: "last" })),
      saturated,
    );
    near(
      numbersOf(augment.adjustBrightness(x.mul(255) as Tensor, 0.5, { range: 255 })),
      each((value) => value * 127.5),
      1e-4,
    );
  });

  test("hues as colorsys moves them", () => {
    for (const { share, colors, moved } of augmentCases().hues) {
      const images = tensor(colors as never, { device }).reshape([colors.length, 3, 1, 1]) as Tensor;
      near(numbersOf(augment.adjustHue(images, share)), moved.flat(), 3e-6);
      const shares = tensor(
        colors.map(() => share),
        { device },
      ) as Tensor;
      near(
        numbersOf(augment.adjustHue(images.permute(0, 2, 3, 1) as Tensor, shares, { channels: "last" })),
        moved.flat(),
        3e-6,
      );
      near(
        numbersOf(augment.adjustHue(images.mul(255) as Tensor, share, { range: 255 })),
        moved.flat().map((value) => 255 * value),
        1e-3,
      );
    }
  });

  test("greys, always and by chance", () => {
    const greys = each((_, n, p) => grey(n, p));
    near(numbersOf(augment.grayscale(x)), greys);
    near(
      last((images) => augment.grayscale(images, { channels: "last" })),
      greys,
    );
    const key = random.key(2, { device });
    assert.deepEqual(numbersOf(augment.randomGrayscale(x, key, { probability: 0 })), pixels);
    near(numbersOf(augment.randomGrayscale(x, key, { probability: 1 })), greys);
  });

  test("colorJitter draws a factor for each image within its range", () => {
    const ones = tensor(new Array(300).fill(0.5), { shape: [100, 3, 1, 1], device }) as Tensor;
    const run = jit((images: Tensor, key: random.Key) =>
      augment.colorJitter(images, key, { brightness: 0.4, contrast: 0.3, saturation: 0.2, hue: 0.1 }),
    );
    const found = numbersOf(run(ones, random.key(3, { device })));
    // Of one grey, only the brightness changes.
    const drawn = found.filter((_, i) => i % 3 === 0).map((value) => value / 0.5);
    assert.ok(drawn.every((factor) => factor >= 0.6 - 1e-5 && factor <= 1.4 + 1e-5));
    assert.equal(new Set(drawn).size, 100);
    near(
      found.filter((_, i) => i % 3 === 1),
      found.filter((_, i) => i % 3 === 0),
    );
    assert.deepEqual(numbersOf(run(ones, random.key(3, { device }))), found);
    assert.deepEqual(numbersOf(augment.colorJitter(x, random.key(0, { device }), {})), pixels);
  });

  test("noise has the deviation that is told, and normalising is per channel", () => {
    const zero = tensor(new Array(4000).fill(0), { shape: [10, 4, 10, 10], device }) as Tensor;
    const noise = numbersOf(augment.gaussianNoise(zero, random.key(4, { device }), { deviation: 0.3 }));
    const variance = noise.reduce((sum, value) => sum + value ** 2, 0) / noise.length;
    assert.ok(Math.abs(variance / 0.09 - 1) < 4 * Math.sqrt(2 / 4000), `${variance}`);
    const [mean, deviation] = [
      [0.1, 0.2, 0.3],
      [1, 2, 4],
    ];
    const wanted = pixels.map((value, i) => (value - mean[Math.floor(i / 4) % 3]!) / deviation[Math.floor(i / 4) % 3]!);
    near(numbersOf(augment.normalize(x, { mean, deviation })), wanted);
    near(
      last((images) => augment.normalize(images, { mean, deviation, channels: "last" })),
      wanted,
    );
    near(
      numbersOf(augment.normalize(x, { mean: 0.5, deviation: 0.5 })),
      pixels.map((value) => 2 * value - 1),
    );
  });

  test("narrow floats are computed in f32 and rounded once", () => {
    const half = x.cast("f16") as Tensor;
    const wide = half.cast("f32") as Tensor;
    for (const f of [
      (images: Tensor) => augment.adjustHue(images, 0.2),
      (images: Tensor) => augment.adjustContrast(images, 0.7),
      (images: Tensor) => augment.normalize(images, { mean: 0.1, deviation: 0.3 }),
    ]) {
      assert.equal(f(half).dtype, "f16");
      assert.deepEqual(numbersOf(f(half)), numbersOf(f(wide).cast("f16") as Tensor));
    }
  });
});

describe("colours refuse", () => {
  const key = random.key(0, { device: "cpu" });
  const x = tensor([1, 2, 3, 4], { shape: [1, 1, 2, 2], device: "cpu" }) as Tensor;
  // biome-ignore format: rows read best
  const cases: [string, () => unknown, RegExp][] = [
    ["one channel", () => augment.adjustHue(x, 0.1), /adjustHue takes images of three channels/],
    ["integers", () => augment.adjustBrightness(x.cast("u8") as Tensor, 2), /takes floating-point images/],
    ["factors of another number", () => augment.adjustBrightness(x, tensor([1, 2], { device: "cpu" })), /factors of \[2\] for 1 images/],
    ["a hue beyond half the circle", () => augment.colorJitter(x, key, { hue: 0.6 }), /the option hue is from 0 to 0\.5/],
    ["a negative range", () => augment.colorJitter(x, key, { brightness: -1 }), /the option brightness is a number from 0 on/],
    ["means of another number", () => augment.normalize(x, { mean: [1, 2], deviation: 1 }), /one for each of 1 channels/],
  ];
  for (const [title, run, message] of cases) test(title, () => assert.throws(run, message));
});

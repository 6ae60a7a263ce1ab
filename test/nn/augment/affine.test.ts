/** Affine maps of images against SciPy's, whose values are in augment-cases.json; the maps that are drawn, by their bounds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jit, random, type Tensor, tensor } from "../../../src/index.js";
import { augment } from "../../../src/nn/index.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";
import { augmentCases } from "./cases.js";

const near = (found: readonly number[], wanted: readonly number[], tolerance: number, what: string): void => {
  assert.equal(found.length, wanted.length);
  for (const [i, value] of found.entries())
    assert.ok(Math.abs(value - wanted[i]!) <= tolerance, `${what}: ${value} at ${i}, wanted ${wanted[i]}`);
};
const flat = (nested: unknown): number[] => (Array.isArray(nested) ? nested.flatMap(flat) : [nested as number]);

describeOnTensorDevices("affine", (device) => {
  const { images, maps, affine, rotations } = augmentCases();
  for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const)) {
    const x = tensor(images as never, { dtype, device }) as Tensor;
    const m = tensor(maps as never, { dtype, device }) as Tensor;

    test(`${dtype}: every method and fill as SciPy's affine_transform, channels first and last`, () => {
      for (const { fill, method, result } of affine) {
        const options = { fill, method, value: 0.25 } as augment.SamplingOptions;
        const tolerance = dtype === "f64" ? 2e-7 : 2e-5;
        near(numbersOf(augment.affine(x, m, options)), flat(result), tolerance, `${fill}, ${method}`);
        const last = augment.affine(x.permute(0, 2, 3, 1) as Tensor, m, { ...options, channels: "last" });
        near(numbersOf(last.permute(0, 3, 1, 2) as Tensor), flat(result), tolerance, `${fill}, ${method}, last`);
      }
    });

    test(`${dtype}: a rotation against the clock as SciPy's rotate`, () => {
      for (const { degrees, result } of rotations) {
        const turned = augment.randomRotation(x, random.key(0, { device }), [degrees, degrees]);
        near(numbersOf(turned), flat(result), dtype === "f64" ? 2e-7 : 2e-5, `${degrees} degrees`);
      }
    });
  }

  test("shifts, zooms and shears of whole pixels are what they say", () => {
    const key = random.key(1, { device });
    const pixels = Array.from({ length: 16 }, (_, i) => i + 1);
    const x = tensor(pixels, { shape: [1, 1, 4, 4], device }) as Tensor;
    const shifted = augment.randomShift(x, key, [
      [0.25, 0.25],
      [-0.5, -0.5],
    ]);
    assert.deepEqual(numbersOf(shifted), [0, 0, 0, 0, 3, 4, 0, 0, 7, 8, 0, 0, 11, 12, 0, 0]);
    // Half the size: results lie at the middles of four pixels.
    const half = numbersOf(augment.randomZoom(x, key, 0.5));
    near([half[5]!, half[6]!, half[9]!, half[10]!], [3.5, 5.5, 11.5, 13.5], 1e-5, "half the size");
    assert.ok(half.every((value, i) => [5, 6, 9, 10].includes(i) || value === 0));
    // At 45 degrees a column leans by one pixel for each row, to the right below the middle.
    const point = tensor([0, 0, 0, 0, 1, 0, 0, 0, 0], { shape: [1, 1, 3, 3], device }) as Tensor;
    const line = tensor([0, 1, 0, 0, 1, 0, 0, 1, 0], { shape: [1, 1, 3, 3], device }) as Tensor;
    near(numbersOf(augment.randomAffine(line, key, { shear: [45, 45] })), [1, 0, 0, 0, 1, 0, 0, 0, 1], 1e-6, "shear");
    const middle = numbersOf(augment.randomAffine(point, key, { degrees: 90, shear: 20 }))[4] as number;
    assert.ok(Math.abs(middle - 1) < 1e-6, `the middle stays, but is ${middle}`);
  });

  test("each image has a map of its own, by the key, within its range; one program does all", () => {
    const x = tensor(
      Array.from({ length: 64 }, (_, i) => i % 8),
      { shape: [1, 1, 8, 8], device },
    ).broadcastTo([40, 1, 8, 8]) as Tensor;
    const run = jit((images: Tensor, key: random.Key) =>
      augment.randomShift(images, key, [0, [0, 0.25]], { fill: "edge" }),
    );
    const [found, again] = [1, 1].map((seed) => numbersOf(run(x, random.key(seed, { device }))));
    assert.deepEqual(found, again);
    assert.notDeepEqual(found, numbersOf(run(x, random.key(2, { device }))));
    // A ramp along columns that moves right by s shows 4 - s at column 4.
    const shifts = Array.from({ length: 40 }, (_, i) => 4 - found![i * 64 + 4]!);
    assert.ok(shifts.every((shift) => shift >= -1e-5 && shift <= 2 + 1e-5));
    assert.equal(new Set(shifts).size, 40);
    const mean = shifts.reduce((sum, shift) => sum + shift, 0) / 40;
    assert.ok(Math.abs(mean - 1) < 4 * (2 / Math.sqrt(12 * 40)), `${mean}`);
  });
});

describe("affine maps refuse", () => {
  const key = random.key(0, { device: "cpu" });
  const x = tensor([1, 2, 3, 4], { shape: [1, 1, 2, 2], device: "cpu" }) as Tensor;
  // biome-ignore format: rows read best
  const cases: [string, () => unknown, RegExp][] = [
    ["images without a batch", () => augment.randomRotation(x.reshape([1, 2, 2]), key, 10), /randomRotation takes images \[batch, channels, height, width\], but the input is \[1, 2, 2\]/],
    ["integers", () => augment.randomRotation(x.cast("u8") as Tensor, key, 10), /randomRotation takes floating-point images.*div\(255\)/],
    ["a zoom of nothing", () => augment.randomZoom(x, key, 0), /zoom is a positive number/],
    ["a range that is none", () => augment.randomRotation(x, key, "10" as never), /degrees is a number or \[low, high\], not "10"/],
    ["a method that is not known", () => augment.randomZoom(x, key, 1, { method: "cubic" as never }), /the option method is "cubic"/],
    ["maps of another shape", () => augment.affine(x, x), /maps of \[1, 1, 2, 2\]; 1 images take \[1, 2, 3\]/],
    ["an option of another function", () => augment.randomZoom(x, key, 1, { degrees: 3 } as never), /there is no option "degrees"/],
    ["no key", () => augment.randomAffine(x, 3 as never, {}), /key/],
  ];
  for (const [title, run, message] of cases) test(title, () => assert.throws(run, message));
});

/** Erased boxes, mixup and cutmix: what is drawn is read back from the results, and everything else follows from it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jit, random, type Tensor, tensor } from "../../../src/index.js";
import { augment } from "../../../src/nn/index.js";
import { expectDistribution } from "../../support/goodness-of-fit.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

/** The bounding box of the marked pixels of an image, and whether they fill it. */
function boxOf(marked: readonly boolean[], height: number, width: number) {
  const rows = [...Array(height).keys()].filter((i) => marked.slice(i * width, (i + 1) * width).some(Boolean));
  const columns = [...Array(width).keys()].filter((j) => rows.some((i) => marked[i * width + j]));
  const area = marked.filter(Boolean).length;
  return { tall: rows.length, wide: columns.length, isBox: area === rows.length * columns.length, area };
}

describeOnTensorDevices("randomErasing", (device) => {
  const [count, height, width] = [120, 16, 12];
  const x = tensor(new Array(count * 2 * height * width).fill(1), {
    shape: [count, 2, height, width],
    device,
  }) as Tensor;

  test("one box of each image, of an area and a form within the ranges, as often as told", () => {
    const options = { probability: 0.75, area: [0.1, 0.3], ratio: [0.5, 2], value: -3 } as const;
    const found = numbersOf(
      jit((images: Tensor, key: random.Key) => augment.randomErasing(images, key, options))(
        x,
        random.key(2, { device }),
      ),
    );
    let erased = 0;
    const places = new Set<string>();
    for (let n = 0; n < count; n++) {
      const [first, second] = [0, 1].map((c) =>
        found.slice((2 * n + c) * height * width, (2 * n + c + 1) * height * width),
      ) as [number[], number[]];
      assert.deepEqual(first, second);
      assert.ok(first.every((value) => value === 1 || value === -3));
      const { tall, wide, isBox, area } = boxOf(
        first.map((value) => value === -3),
        height,
        width,
      );
      if (area === 0) continue;
      erased++;
      places.add(String(first.indexOf(-3)));
      assert.ok(isBox);
      // Extents are rounded to whole pixels.
      assert.ok(
        (tall + 0.5) * (wide + 0.5) >= 0.1 * height * width && (tall - 0.5) * (wide - 0.5) <= 0.3 * height * width,
      );
      assert.ok((tall + 0.5) / (wide - 0.5) >= 0.5 && (tall - 0.5) / (wide + 0.5) <= 2);
    }
    assert.ok(Math.abs(erased - 90) < 4 * Math.sqrt(120 * 0.75 * 0.25), `${erased} of 120`);
    assert.ok(places.size > 30);
  });

  test("noise in the box, channels last, integers", () => {
    const noise = numbersOf(augment.randomErasing(x, random.key(2, { device }), { probability: 1, value: "noise" }));
    const inside = noise.filter((value) => value !== 1);
    assert.ok(inside.length > 1000);
    assert.ok(Math.abs(inside.reduce((sum, value) => sum + value, 0) / inside.length) < 0.2);
    const last = augment.randomErasing(x.permute(0, 2, 3, 1).cast("u8") as Tensor, random.key(2, { device }), {
      channels: "last",
    });
    assert.equal(last.dtype, "u8");
    assert.deepEqual(
      numbersOf(last.permute(0, 3, 1, 2) as Tensor),
      numbersOf(augment.randomErasing(x, random.key(2, { device }))),
    );
  });
});

describeOnTensorDevices("mixup and cutmix", (device) => {
  const count = 60;
  /** Image n is filled with n, and its class is n: what a result is made of can be read from its labels. */
  const labels = tensor(
    Array.from({ length: count }, (_, n) => n),
    { dtype: "i32", device },
  ) as Tensor;
  const filled = (...shape: number[]): Tensor =>
    (labels.cast("f32") as Tensor).reshape([count, ...shape.map(() => 1)]).broadcastTo([count, ...shape]) as Tensor;
  /** The other image of a mix, and the share of the own. */
  const mixOf = (row: readonly number[], n: number) => {
    const other = row.findIndex((value, k) => k !== n && value > 0);
    return { other: other < 0 ? n : other, share: row[n]! };
  };

  test("mixup blends images and labels in one share, drawn from a beta distribution", () => {
    const run = jit((x: Tensor, y: Tensor, key: random.Key) => augment.mixup(x, y, key, { alpha: 1, classes: count }));
    const { x, y } = run(filled(2, 2), labels, random.key(5, { device }));
    const [pixels, soft] = [numbersOf(x), numbersOf(y)];
    const shares: number[] = [];
    const others = new Set<number>();
    for (let n = 0; n < count; n++) {
      const row = soft.slice(n * count, (n + 1) * count);
      assert.ok(Math.abs(row.reduce((sum, value) => sum + value, 0) - 1) < 1e-5);
      const { other, share } = mixOf(row, n);
      others.add(other);
      if (other !== n) shares.push(share);
      const wanted = n * share + other * (1 - share);
      for (const value of pixels.slice(4 * n, 4 * n + 4)) assert.ok(Math.abs(value - wanted) < 1e-3);
    }
    assert.equal(others.size, count);
    // Of alpha 1 shares are uniform.
    expectDistribution(shares, (share) => Math.min(1, Math.max(0, share)), "shares");
  });

  test("cutmix pastes a box, and labels have the shares of the areas", () => {
    const [height, width] = [10, 8];
    const run = jit((x: Tensor, y: Tensor, key: random.Key) => augment.cutmix(x, y, key, { classes: count }));
    const { x, y } = run(filled(1, height, width), labels, random.key(6, { device }));
    const [pixels, soft] = [numbersOf(x), numbersOf(y)];
    let mixed = 0;
    for (let n = 0; n < count; n++) {
      const image = pixels.slice(n * height * width, (n + 1) * height * width);
      const row = soft.slice(n * count, (n + 1) * count);
      const { other } = mixOf(row, n);
      assert.ok(image.every((value) => value === n || value === other));
      const { isBox, area } = boxOf(
        image.map((value) => value !== n),
        height,
        width,
      );
      assert.ok(isBox);
      if (other !== n) assert.ok(Math.abs(row[n]! - (1 - area / (height * width))) < 1e-5, `${row[n]} ${area}`);
      mixed += area > 0 ? 1 : 0;
    }
    assert.ok(mixed > count / 2);
    const last = augment.cutmix(filled(height, width, 1), labels, random.key(6, { device }), {
      classes: count,
      channels: "last",
    });
    assert.deepEqual(numbersOf(last.x.permute(0, 3, 1, 2) as Tensor), pixels);
  });

  test("labels that are distributions are mixed as they are", () => {
    const soft = tensor(
      [
        [1, 0],
        [0.5, 0.5],
        [0, 1],
      ],
      { device },
    ) as Tensor;
    const x = tensor([[0], [1], [2]], { device }) as Tensor;
    const found = augment.mixup(x, soft, random.key(1, { device }));
    // A linear map of x gives these labels, and keeps its form in a blend.
    const [blended, rows] = [numbersOf(found.x), numbersOf(found.y)];
    for (let n = 0; n < 3; n++) assert.ok(Math.abs(rows[2 * n + 1]! - blended[n]! / 2) < 1e-6);
  });
});

describe("mixing refuses", () => {
  const key = random.key(0, { device: "cpu" });
  const x = tensor([1, 2, 3, 4], { shape: [2, 1, 2, 1], device: "cpu" }) as Tensor;
  const y = tensor([0, 1], { dtype: "i32", device: "cpu" }) as Tensor;
  // biome-ignore format: rows read best
  const cases: [string, () => unknown, RegExp][] = [
    ["integer labels without a number of classes", () => augment.mixup(x, y, key), /labels are integers; give the number of classes/],
    ["labels of another number", () => augment.cutmix(x, y.at(":1") as Tensor, key), /images of \[2, 1, 2, 1\] and labels of \[1\]/],
    ["an alpha of zero", () => augment.mixup(x, y, key, { alpha: 0, classes: 2 }), /the option alpha is a positive number/],
    ["an area above the whole", () => augment.randomErasing(x, key, { area: [0.5, 2] }), /the option area is \[from, to\]/],
    ["a value that is none", () => augment.randomErasing(x, key, { value: "black" as never }), /the option value is a number or "noise"/],
  ];
  for (const [title, run, message] of cases) test(title, () => assert.throws(run, message));
});

test("keys are named by their place, and a label that is no class gives NaN", () => {
  const x = tensor([1, 2, 3, 4], { shape: [1, 1, 2, 2], device: "cpu" }) as Tensor;
  const y = tensor([1], { dtype: "i32", device: "cpu" }) as Tensor;
  assert.throws(() => augment.randomErasing(x, 3 as never), /^ArgumentError: randomErasing: the argument key is a key/);
  assert.throws(
    () => augment.randomFlip(x, undefined as never),
    /^ArgumentError: randomFlip: the argument key is a key/,
  );
  assert.throws(
    () => augment.mixup(x, y, 3 as never, { classes: 2 }),
    /^ArgumentError: mixup: the argument key is a key/,
  );
  const key = random.key(0, { device: "cpu" });
  assert.deepEqual(numbersOf(augment.cutmix(x, y, key, { classes: 1 }).y), [Number.NaN]);
  assert.deepEqual(numbersOf(augment.mixup(x, y, key, { classes: 2 }).y), [0, 1]);
});

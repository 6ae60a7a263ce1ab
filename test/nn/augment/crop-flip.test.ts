/** Crops and flips against loops over the pixels. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jit, random, type Tensor, tensor } from "../../../src/index.js";
import { augment } from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

/** The position that each fill reads for one outside, as NumPy's pad describes them; null for the constant. */
const WITHIN: Readonly<Record<augment.FillMode, (i: number, n: number) => number | null>> = {
  constant: (i, n) => (i < 0 || i >= n ? null : i),
  edge: (i, n) => Math.min(Math.max(i, 0), n - 1),
  wrap: (i, n) => ((i % n) + n) % n,
  reflect: (i, n) => {
    let at = i;
    while (at < 0 || at >= n) at = at < 0 ? -at : 2 * (n - 1) - at;
    return at;
  },
  symmetric: (i, n) => {
    let at = i;
    while (at < 0 || at >= n) at = at < 0 ? -at - 1 : 2 * n - 1 - at;
    return at;
  },
};

describeOnTensorDevices("randomCrop", (device) => {
  const [count, channels, height, width] = [24, 2, 4, 5];
  const values = Array.from({ length: count * channels * height * width }, (_, i) => i + 1);

  for (const fill of Object.keys(WITHIN) as augment.FillMode[]) {
    for (const dtype of fill === "constant" ? (["f32", "u16"] as const) : (["f32"] as const)) {
      test(`${fill}, ${dtype}: each crop is a part of its padded image, at a place of its own`, () => {
        const x = tensor(values, { shape: [count, channels, height, width], dtype, device }) as Tensor;
        const key = random.key(3, { device });
        const options = { padding: 2, fill, value: 7 };
        const crop = jit((images: Tensor, own: random.Key) => augment.randomCrop(images, own, [3, 4], options));
        const found = crop(x, key);
        assert.deepEqual([found.dtype, ...found.shape], [dtype, count, channels, 3, 4]);
        const pixels = numbersOf(found);
        const at = (n: number, c: number, i: number, j: number): number => {
          const [row, column] = [WITHIN[fill](i, height), WITHIN[fill](j, width)];
          return row === null || column === null ? 7 : values[((n * channels + c) * height + row) * width + column]!;
        };
        const places = new Set<string>();
        for (let n = 0; n < count; n++) {
          const fitting: string[] = [];
          for (let top = -2; top <= height + 2 - 3; top++) {
            for (let left = -2; left <= width + 2 - 4; left++) {
              const isIt = [...Array(channels * 12).keys()].every((k) => {
                const [c, i, j] = [Math.floor(k / 12), Math.floor((k % 12) / 4), k % 4];
                return pixels[n * channels * 12 + k] === at(n, c, top + i, left + j);
              });
              if (isIt) fitting.push(`${top},${left}`);
            }
          }
          assert.ok(fitting.length >= 1, `crop ${n} is no part of its image`);
          places.add(fitting[0]!);
        }
        assert.ok(places.size > 8, [...places].join(" "));
        // Channels last: the same pixels.
        const last = augment.randomCrop(x.permute(0, 2, 3, 1) as Tensor, key, [3, 4], { ...options, channels: "last" });
        assert.deepEqual(numbersOf(last.permute(0, 3, 1, 2) as Tensor), pixels);
      });
    }
  }

  test("a crop of the whole image is the image", () => {
    const x = tensor(values, { shape: [count, channels, height, width], device }) as Tensor;
    assert.deepEqual(numbersOf(augment.randomCrop(x, random.key(0, { device }), [height, width])), values);
  });
});

describeOnTensorDevices("randomFlip", (device) => {
  test("each image is itself or its mirror image, about as often as told", () => {
    const [count, height, width] = [200, 2, 3];
    const x = tensor(
      Array.from({ length: count * 6 }, (_, i) => i),
      { shape: [count, 1, height, width], dtype: "i32", device },
    ) as Tensor;
    for (const [direction, mirrored] of [
      ["horizontal", [2, 1, 0, 5, 4, 3]],
      ["vertical", [3, 4, 5, 0, 1, 2]],
    ] as const) {
      const found = numbersOf(augment.randomFlip(x, random.key(8, { device }), { direction, probability: 0.25 }));
      let turned = 0;
      for (let n = 0; n < count; n++) {
        const own = found.slice(6 * n, 6 * n + 6).map((value) => value - 6 * n);
        const isTurned = own[0] !== 0;
        assert.deepEqual(own, isTurned ? [...mirrored] : [0, 1, 2, 3, 4, 5]);
        turned += isTurned ? 1 : 0;
      }
      assert.ok(Math.abs(turned - 50) < 4 * Math.sqrt(200 * 0.25 * 0.75), `${turned} of 200`);
      const last = augment.randomFlip(x.permute(0, 2, 3, 1) as Tensor, random.key(8, { device }), {
        direction,
        probability: 0.25,
        channels: "last",
      });
      assert.deepEqual(numbersOf(last.permute(0, 3, 1, 2) as Tensor), found);
    }
  });
});

describe("crops and flips refuse", () => {
  const key = random.key(0, { device: "cpu" });
  const x = tensor([1, 2, 3, 4], { shape: [1, 1, 2, 2], device: "cpu" }) as Tensor;
  // biome-ignore format: rows read best
  const cases: [string, () => unknown, RegExp][] = [
    ["a crop larger than the image", () => augment.randomCrop(x, key, 5, { padding: 1 }), /a crop of 5 pixels from an image of 2 with 1 around it/],
    ["a fill that is not known", () => augment.randomCrop(x, key, 1, { fill: "mirror" as never }), /the option fill is "mirror"/],
    ["a probability above one", () => augment.randomFlip(x, key, { probability: 2 }), /the option probability is a number from 0 to 1/],
    ["a direction that is none", () => augment.randomFlip(x, key, { direction: "diagonal" as never }), /the option direction is "horizontal" or "vertical"/],
    ["channels in the middle", () => augment.randomFlip(x, key, { channels: "middle" as never }), /the option channels is "middle"/],
  ];
  for (const [title, run, message] of cases) test(title, () => assert.throws(run, message));
});

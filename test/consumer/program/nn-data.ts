/** A consumer's program: data of `pumice/nn`. */
import { io, random, type Tensor, tensor } from "pumice";
import * as nn from "pumice/nn";
import { path } from "./folder.js";
import type { Calls } from "./methods.js";

const key = (): random.Key => random.key(0, { device: "cpu" });
const x = (): Tensor =>
  tensor(
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
    { device: "cpu" },
  );

const images = (): Tensor => random.uniform(key(), [2, 3, 4, 4]) as Tensor;
const labels = (): Tensor => tensor([0, 1], { dtype: "i32", device: "cpu" }) as Tensor;
const { augment } = nn;

const augmentCalls: Calls = {
  "augment.affine": () =>
    augment.affine(
      images(),
      tensor(
        [
          [
            [1, 0, 0],
            [0, 1, 0],
          ],
          [
            [1, 0, 1],
            [0, 1, 0],
          ],
        ],
        { device: "cpu" },
      ),
    ),
  "augment.randomAffine": () =>
    augment.randomAffine(images(), key(), { degrees: 10, zoom: [0.9, 1.1], shift: 0.1, shear: 5 }),
  "augment.randomRotation": () => augment.randomRotation(images(), key(), 15, { fill: "edge" }),
  "augment.randomShift": () => augment.randomShift(images(), key(), 0.25),
  "augment.randomZoom": () => augment.randomZoom(images(), key(), [0.8, 1.2], { method: "nearest" }),
  "augment.adjustBrightness": () => augment.adjustBrightness(images(), 1.5),
  "augment.adjustContrast": () => augment.adjustContrast(images(), 0.5),
  "augment.adjustHue": () => augment.adjustHue(images(), 0.1),
  "augment.adjustSaturation": () => augment.adjustSaturation(images(), 0.5),
  "augment.colorJitter": () => augment.colorJitter(images(), key(), { brightness: 0.2, hue: 0.1 }),
  "augment.gaussianNoise": () => augment.gaussianNoise(images(), key(), { deviation: 0.1 }),
  "augment.grayscale": () => augment.grayscale(images()),
  "augment.normalize": () => augment.normalize(images(), { mean: [0.5, 0.5, 0.5], deviation: 0.2 }),
  "augment.randomGrayscale": () => augment.randomGrayscale(images(), key(), { probability: 0.5 }),
  "augment.randomCrop": () => augment.randomCrop(images(), key(), 4, { padding: 1, fill: "reflect" }),
  "augment.randomFlip": () => augment.randomFlip(images(), key(), { direction: "vertical" }),
  "augment.cutmix": (): Tensor => augment.cutmix(images(), labels(), key(), { classes: 2 }).x,
  "augment.mixup": (): Tensor => augment.mixup(images(), labels(), key(), { classes: 2 }).y,
  "augment.randomErasing": () => augment.randomErasing(images(), key(), { value: "noise" }),
};

export const dataCalls: Calls = {
  ...augmentCalls,
  loader: async () => {
    const options: nn.LoaderOptions = { batchSize: 2, shuffle: key(), padLast: true };
    const batches: nn.Loader<{ readonly x: Tensor }> = nn.loader({ x: x() }, options);
    let rows = 0;
    for await (const batch of batches) rows += batch.x.shape[0] as number;
    return rows;
  },
  openRows: async () => {
    await io.saveNpy(path("rows.npy"), x());
    const rows: nn.FileRows<{ readonly x: Tensor }> = await nn.openRows({ x: path("rows.npy") });
    const batch = await rows.read(Int32Array.of(2, 0), "cpu");
    await rows.close();
    return batch.x;
  },
  splitData: async () => {
    const parts: nn.SplitData<{ readonly x: Tensor }> = await nn.splitData({ x: x() }, { validation: 0.3, key: key() });
    return parts.train.count;
  },
};

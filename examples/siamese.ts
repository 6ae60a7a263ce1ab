/**
 * A siamese network places digits so that equal ones are near and others far: it sees triplets of an anchor, another of the same
 * digit and one of another digit (Schroff et al. 2015). Digits are then read by their nearest neighbours among a few known ones. In
 * a clone:
 *
 *     npm run example -- siamese              97 % of unseen digits by the nearest of 1000 known ones
 *
 * The last line is JSON, for programs.
 */
import { jit, random, type Tensor } from "pumice";
import { activations, type Batches, block, dense, losses, optimizers, schedules, sequential, train } from "pumice/nn";
import { loadDigits } from "./mnist/data.js";
import { settings } from "./settings.js";

const { steps, limit, known, batch, seed } = settings("siamese", "digits by their nearest neighbours", {
  steps: [3000, "steps of training"],
  limit: [60000, "digits to learn from"],
  known: [1000, "digits that neighbours are looked for among"],
  batch: [128, "triplets in a batch"],
  seed: [0, "the same seed gives the same weights"],
});

interface Triplet {
  readonly anchor: Tensor;
  readonly same: Tensor;
  readonly other: Tensor;
}

const { relu } = activations;
/** Places on the unit sphere. */
const onSphere = (x: Tensor): Tensor => x.div(x.square().sum({ axis: -1, keepDims: true }).sqrt().add(1e-6));
const tower = sequential(
  (bytes: Tensor) => bytes.cast("f32").div(255),
  dense(256),
  relu,
  dense(128),
  relu,
  dense(32),
  onSphere,
);
/** The same network three times: a part that is called again uses its parameters again. */
const model = block({ tower }, ({ tower }, { anchor, same, other }: Triplet) => [anchor, same, other].map(tower));

const { images, labels } = loadDigits("train", limit);
const byDigit = labels.argsort();
/** Where each digit begins among the sorted ones, and how many there are. */
const counts = labels.oneHot(10).sum({ axis: 0 }).cast("i32");
const starts = counts.cumsum().sub(counts);

/** Triplets drawn on the device: any digit, another of its kind, one of the next kinds. */
const drawn = jit(
  (key: random.Key, images: Tensor, labels: Tensor, byDigit: Tensor, starts: Tensor, counts: Tensor) => {
    const [first, shares, turns] = random.split(key, 3) as [random.Key, random.Key, random.Key];
    const anchors = random.randint(first, [batch], 0, labels.shape[0]);
    const digit = labels.take(anchors);
    const kinds = [digit, digit.add(random.randint(turns, [batch], 1, 10)).remainder(10)];
    const share = random.uniform(shares, [2, batch]);
    const [same, other] = kinds.map((kind, i) => {
      const place = share.at(i).mul(counts.take(kind).cast("f32")).floor().cast("i32");
      return images.take(byDigit.take(starts.take(kind).add(place)), { axis: 0 });
    }) as [Tensor, Tensor];
    return { x: { anchor: images.take(anchors, { axis: 0 }), same, other }, y: digit };
  },
);
const triplets: Batches<{ x: Triplet; y: Tensor }> = {
  batchesPerEpoch: steps,
  async *epoch(_, from = 0) {
    for (let i = from; i < steps; i++) {
      yield drawn(random.foldIn(random.key(seed), i), images, labels, byDigit, starts, counts);
    }
  },
};

const trained = await train(model, {
  data: triplets,
  loss: (places: unknown) => {
    const [anchor, positive, negative] = places as [Tensor, Tensor, Tensor];
    return losses.triplet(anchor, { positive, negative }, { margin: 0.5 });
  },
  optimizer: optimizers.adam(schedules.oneCycle(2e-3, Math.max(steps, 10))),
  epochs: 1,
  seed,
});

/** Unseen digits are read as the nearest of the first so many that were seen. */
const place = (bytes: Tensor): Tensor => tower.apply(trained.params.tower as never, bytes) as Tensor;
const tests = loadDigits("test", 2000);
const nearest = place(tests.images)
  .matmul(place(images.at(`:${known}`)).T)
  .argmax({ axis: 1 });
const isRight = labels.take(nearest.cast("i32")).equal(tests.labels);
const accuracy = Number(await isRight.cast("f32").mean().item());
console.log(`${(100 * accuracy).toFixed(1)} % of unseen digits by the nearest of ${known} known ones`);
console.log(JSON.stringify({ example: "siamese", steps, limit, known, accuracy }));

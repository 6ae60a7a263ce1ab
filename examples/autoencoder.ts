/**
 * An autoencoder squeezes handwritten digits into a few numbers and draws them again from these. Its measure is the share of the
 * pixels' variance that the drawings explain; the best linear one (principal components) has about 0.45 with 8 numbers. In a clone:
 *
 *     npm run example -- autoencoder          8 numbers for 784 pixels: more than 0.65 of the variance
 *
 * The last line is JSON, for programs.
 */
import type { Tensor } from "pumice";
import { activations, dense, optimizers, schedules, sequential, train } from "pumice/nn";
import { loadDigits } from "./mnist/data.js";
import { settings } from "./settings.js";

const { epochs, limit, numbers, seed } = settings("autoencoder", "digits in a few numbers", {
  epochs: [10, "passes over the digits"],
  limit: [60000, "digits to learn from"],
  numbers: [8, "numbers that a digit is squeezed into"],
  seed: [0, "the same seed gives the same weights"],
});

const { relu, sigmoid } = activations;
const encoder = sequential(dense(256), relu, dense(64), relu, dense(numbers));
const decoder = sequential(dense(64), relu, dense(256), relu, dense(784), sigmoid);
const model = sequential({ encoder, decoder });

const pixels = (part: "train" | "test", count: number): Tensor =>
  loadDigits(part, count).images.cast("f32").div(255).realize();
const x = pixels("train", limit);
const steps = epochs * Math.ceil(x.shape[0] / 128);
const trained = await train(model, {
  data: { x, y: x },
  batchSize: 128,
  loss: "meanSquaredError",
  optimizer: optimizers.adam(schedules.oneCycle(3e-3, Math.max(steps, 10))),
  epochs,
  seed,
});

const unseen = pixels("test", Math.min(limit, 10000));
const drawings = trained.predict(unseen);
const left = Number(await drawings.sub(unseen).square().mean().item());
const variance = Number(
  await unseen
    .sub(unseen.mean({ axis: 0 }))
    .square()
    .mean()
    .item(),
);
const explained = 1 - left / variance;
const codes = encoder.apply(trained.params.encoder as never, unseen.at(":3"));
console.log("three digits in numbers:", await codes.array());
console.log(`${(100 * explained).toFixed(1)} % of the variance of unseen digits, from ${numbers} numbers each`);
console.log(JSON.stringify({ example: "autoencoder", epochs, limit, numbers, explained }));

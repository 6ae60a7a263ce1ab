/**
 * Learns to read handwritten digits: the real MNIST, a dense network or a convolutional one, Adam. In a clone:
 *
 *     npm run example -- mnist                       a dense network, about 98 % after 5 epochs
 *     npm run example -- mnist --model cnn           a convolutional one, about 99 % after 3
 *     npm run example -- mnist --device cpu --seed 7 --epochs 1 --limit 10000
 *
 * The last line is JSON, for programs. The network, the optimiser and the training are beside it, under examples/mnist.
 */
import { parseArgs } from "node:util";
import { defaultDevice, setDefaultDevice } from "pumice";
import { loadDigits } from "./mnist/data.js";
import { cnn, mlp } from "./mnist/models.js";
import { accuracyOf, type Progress, train } from "./mnist/training.js";

const MODELS = { mlp: { model: mlp, epochs: 5 }, cnn: { model: cnn, epochs: 3 } } as const;

const { values } = parseArgs({
  options: {
    model: { type: "string", default: "mlp" },
    epochs: { type: "string" },
    device: { type: "string" },
    seed: { type: "string", default: "0" },
    limit: { type: "string", default: "60000" },
  },
});
if (!(values.model in MODELS)) throw new Error(`--model ${values.model}: there are ${Object.keys(MODELS).join(", ")}.`);
const name = values.model as keyof typeof MODELS;
const { model } = MODELS[name];
const epochs = values.epochs === undefined ? MODELS[name].epochs : Number(values.epochs);
const [seed, limit] = [Number(values.seed), Number(values.limit)];
if (values.device !== undefined) setDefaultDevice(values.device);

const began = performance.now();
const [digits, testDigits] = [loadDigits("train", limit), loadDigits("test")];
console.log(`${name} on ${defaultDevice()}: ${digits.labels.shape[0]} digits, ${epochs} epochs, seed ${seed}`);
const { layers, losses } = await train(model, digits, { epochs, batch: 128, rate: 2e-3, seed }, show);
const testAccuracy = await accuracyOf(model, layers, testDigits);
const seconds = (performance.now() - began) / 1000;
console.log(`test accuracy ${(100 * testAccuracy).toFixed(2)} % after ${seconds.toFixed(1)} s`);
const loss = losses.at(-1);
console.log(JSON.stringify({ model: name, device: defaultDevice(), epochs, seed, limit, loss, testAccuracy, seconds }));

/** On a terminal one line that changes; elsewhere a line per epoch. */
function show({ epoch, step, steps, loss, accuracy, secondsLeft }: Progress): void {
  const line =
    `epoch ${epoch}/${epochs}  step ${step}/${steps}  loss ${loss.toFixed(4)}  ` +
    `accuracy ${(100 * accuracy).toFixed(2)} %  ${secondsLeft.toFixed(0)} s left`;
  const isLast = step === steps;
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line}${isLast ? "\n" : ""}`);
  else if (isLast) console.log(line);
}

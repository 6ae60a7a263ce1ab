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
import { defaultDevice, devices, setDefaultDevice } from "pumice";
import { loadDigits } from "./mnist/data.js";
import { cnn, mlp } from "./mnist/models.js";
import { accuracyOf, type Progress, train } from "./mnist/training.js";

const MODELS = { mlp: { model: mlp, epochs: 5 }, cnn: { model: cnn, epochs: 3 } } as const;

const BATCH = 128;

const USAGE = `npm run example -- mnist [options]

  --model mlp|cnn   the network: dense or convolutional (mlp)
  --epochs n        passes over the digits (5; 3 of the convolutional one)
  --limit n         digits to learn from, the first of 60,000; at least ${BATCH}, a batch (60000)
  --device name     where to compute, such as cpu or vulkan (the best there is)
  --seed n          the same seed gives the same weights (0)
  --help            this text`;

const { name, epochs, limit, seed, device } = settings();
const { model } = MODELS[name];
if (device !== undefined) setDefaultDevice(device);

const began = performance.now();
const [digits, testDigits] = [loadDigits("train", limit), loadDigits("test")];
console.log(`${name} on ${defaultDevice()}: ${digits.labels.shape[0]} digits, ${epochs} epochs, seed ${seed}`);
const { layers, losses } = await train(model, digits, { epochs, batch: BATCH, rate: 2e-3, seed }, show);
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

/** What was asked for. Ends the program when that was for help, or makes no sense. */
function settings() {
  const { model, epochs, device, seed, limit, help } = given();
  if (help) leave(0);
  if (!Object.hasOwn(MODELS, model)) leave(2, `--model ${model}: there are ${Object.keys(MODELS).join(" and ")}.`);
  if (device !== undefined && !isDevice(device)) leave(2, `--device ${device}: there are ${devices().join(", ")}.`);
  const name = model as keyof typeof MODELS;
  return {
    name,
    device,
    epochs: wholeNumber("epochs", epochs ?? String(MODELS[name].epochs), 1),
    seed: wholeNumber("seed", seed, 0),
    limit: wholeNumber("limit", limit, BATCH),
  };
}

function given() {
  try {
    return parseArgs({
      options: {
        model: { type: "string", default: "mlp" },
        epochs: { type: "string" },
        device: { type: "string" },
        seed: { type: "string", default: "0" },
        limit: { type: "string", default: "60000" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    return leave(2, (error as Error).message);
  }
}

/** Also without a number: "vulkan" is the first of its kind. */
function isDevice(device: string): boolean {
  return devices().some((each) => each === device || each.startsWith(`${device}:`));
}

function wholeNumber(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(value) && value >= least) return value;
  return leave(2, `--${flag} ${text}: a whole number, at least ${least}.`);
}

function leave(code: number, complaint?: string): never {
  if (complaint === undefined) console.log(USAGE);
  else console.error(`${complaint}\n\n${USAGE}`);
  process.exit(code);
}

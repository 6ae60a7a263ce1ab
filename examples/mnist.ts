/**
 * Learns to read handwritten digits: the real MNIST, a dense network or a convolutional one. In a clone:
 *
 *     npm run example -- mnist                       a dense network: 98.5 % of the test digits after 5 epochs
 *     npm run example -- mnist --model cnn           a convolutional one: 99.5 % after 10
 *     npm run example -- mnist --device cpu --seed 7 --epochs 1 --limit 10000
 *
 * The last line is JSON, for programs. The networks and how they are trained are in examples/mnist/models.ts.
 */
import { parseArgs } from "node:util";
import { defaultDevice, devices, setDefaultDevice } from "pumice";
import { loadDigits } from "./mnist/data.js";
import { accuracyOf, learn, RECIPES } from "./mnist/models.js";

const BATCH = 128;

const USAGE = `npm run example -- mnist [options]

  --model mlp|cnn   the network: dense or convolutional (mlp)
  --epochs n        passes over the digits (5; 10 of the convolutional one)
  --limit n         digits to learn from, the first of 60,000; at least ${BATCH}, a batch (60000)
  --device name     where to compute, such as cpu or vulkan (the best there is)
  --seed n          the same seed gives the same weights (0)
  --help            this text`;

const { name, epochs, limit, seed, device } = settings();
if (device !== undefined) setDefaultDevice(device);

const began = performance.now();
const [digits, testDigits] = [loadDigits("train", limit), loadDigits("test")];
console.log(`${name} on ${defaultDevice()}: ${digits.labels.shape[0]} digits, ${epochs} epochs, seed ${seed}`);
const trained = await learn(RECIPES[name], digits, { epochs, batch: BATCH, seed });
console.log(String(trained));
const testAccuracy = await accuracyOf(trained, testDigits);
const seconds = (performance.now() - began) / 1000;
console.log(`test accuracy ${(100 * testAccuracy).toFixed(2)} % after ${seconds.toFixed(1)} s`);
const { loss } = trained.metrics;
console.log(JSON.stringify({ model: name, device: defaultDevice(), epochs, seed, limit, loss, testAccuracy, seconds }));

/** What was asked for. Ends the program when that was for help, or makes no sense. */
function settings() {
  const { model, epochs, device, seed, limit, help } = given();
  if (help) leave(0);
  if (!Object.hasOwn(RECIPES, model)) leave(2, `--model ${model}: there are ${Object.keys(RECIPES).join(" and ")}.`);
  if (device !== undefined && !isDevice(device)) leave(2, `--device ${device}: there are ${devices().join(", ")}.`);
  const name = model as keyof typeof RECIPES;
  return {
    name,
    device,
    epochs: wholeNumber("epochs", epochs ?? String(RECIPES[name].epochs), 1),
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

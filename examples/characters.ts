/**
 * A character transformer learns to write from a text: the King James Bible, or any file. In a clone, with a GPU:
 *
 *     apt-get install bible-kjv               the text (Debian and Ubuntu)
 *     npm run example -- characters           1.8 million parameters: below 1.6 bits per character of the last twentieth, unseen
 *     npm run example -- characters --text moby-dick.txt --steps 2000
 *
 * Without a GPU take less: --width 64 --layers 2 --heads 2 --context 64 --steps 500. The last line is JSON, for programs.
 */
import { tree } from "pumice";
import { learn, written } from "./characters/model.js";
import { numbered, readText } from "./characters/text.js";
import { settings } from "./settings.js";

const given = settings("characters", "a character transformer learns a text", {
  text: ["", "a file of text; the King James Bible unless told"],
  steps: [5000, "steps of training"],
  batch: [64, "windows in a batch"],
  context: [256, "characters that a prediction sees"],
  width: [192, "features of a character"],
  layers: [4, "blocks"],
  heads: [6, "heads of attention"],
  rate: [2e-3, "the largest learning rate"],
  dropped: [0.1, "share of features that is dropped in training"],
  precision: ["f32", "f32, or bf16: faster on GPUs with matrix units"],
  prompt: ["In the beginning ", "what the text that is written begins with"],
  temperature: [0.8, "less is bolder, 0 always takes the likeliest"],
  seed: [0, "the same seed gives the same weights"],
});

const text = numbered(readText(given.text));
const { context, temperature, seed, steps } = given;
const validateEvery = Math.max(1, Math.floor(steps / 5));
console.log(
  `${text.training.size} characters to learn from, ${text.heldOut.size} held out, ${text.characters.length} kinds`,
);
const run = learn(text, { ...given, precision: given.precision === "bf16" ? "bf16" : "f32", validateEvery });
let told: number | undefined;
for await (const { step, metrics } of run) {
  const now = metrics["validation.bits"];
  if (now !== undefined && now !== told) console.log(`step ${step}: ${now.toFixed(4)} bits per character held out`);
  told = now;
}
const trained = await run;
const parameters = tree.leaves(trained.params).reduce((sum, leaf) => sum + leaf.size, 0);
const began = performance.now();
console.log(`\n${await written(trained, text, given.prompt, { context, temperature, seed })}\n`);
const perCharacter = (performance.now() - began) / context;
const bits = trained.metrics["validation.bits"];
const seconds = trained.milliseconds / 1000;
console.log(JSON.stringify({ example: "characters", parameters, steps, bits, seconds, perCharacter }));

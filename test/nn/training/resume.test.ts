/** Checkpoints: a training goes on from one with the same bits, however it ended; files that do not fit are refused. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ArgumentError, FormatError } from "../../../src/core/errors.js";
import { random, setDefaultDevice, tensor } from "../../../src/index.js";
import { dense, optimizers, sequential, train } from "../../../src/nn/index.js";
import { testDevices } from "../../support/tensors.js";
import { killedOften } from "./kill.js";
import { hashOf, killedTraining } from "./killed-training.js";

const PROGRAM = fileURLToPath(new URL("./killed-training.js", import.meta.url));
let folder = "";
let whole = "";
before(async () => {
  setDefaultDevice("cpu");
  folder = await mkdtemp(join(tmpdir(), "pumice-resume-"));
  whole = await hashOf(await killedTraining(undefined, 0));
});
after(() => rm(folder, { recursive: true }));
const file = (name: string): string => join(folder, `${name}.safetensors`);

test("a training that was killed goes on with the same bits", async () => {
  const { hash, whileTraining } = await killedOften("cpu", 3, 11);
  assert.equal(hash, whole);
  assert.ok(whileTraining > 0);
});

test("so does one that a signal ended, one that a handler ended, and one that did all that was asked for", async () => {
  const controller = new AbortController();
  const aborted = killedTraining(file("aborted"), 0, { signal: controller.signal, checkpointSeconds: 1000 });
  for await (const { step } of aborted) if (step > 30) controller.abort();
  assert.equal((await aborted).ending, "aborted");
  assert.equal(await hashOf(await killedTraining(file("aborted"), 0)), whole);

  const on = { step: [(event: { halt(): void }) => event.halt(), { every: 77 }] };
  const halted = await killedTraining(file("halted"), 0, { on });
  assert.deepEqual([halted.ending, halted.step], ["halted", 77]);
  assert.equal(await hashOf(await killedTraining(file("halted"), 0)), whole);

  const [some, steps] = [await killedTraining(file("some"), 0, { epochs: 5 }), { steps: 100, epochs: undefined }];
  assert.deepEqual([some.ending, some.epochs], ["completed", 5]);
  assert.equal((await killedTraining(file("some"), 0, steps)).step, 100);
  const rest = await killedTraining(file("some"), 0);
  assert.equal(await hashOf(rest), whole);
  // Nothing is left to do, nor is there for runs that metrics have ended.
  assert.equal(await hashOf(await killedTraining(file("some"), 0)), whole);
});

test("a run that metrics ended has ended when it goes on", async () => {
  for (const [name, more] of Object.entries({
    earlyStop: { earlyStop: { patience: 1, monitor: "loss" } },
    until: { until: { loss: 0.5 } },
  })) {
    const first = await killedTraining(file(name), 0, more);
    assert.equal(first.ending, name);
    const again = await killedTraining(file(name), 0, more);
    assert.deepEqual([again.ending, again.step], [name, first.step]);
    assert.equal(await hashOf(again), await hashOf(first));
  }
});

test("bits do not depend on when metrics are read, and whether somebody watches or saves", async () => {
  const watched = killedTraining(file("watched"), 0, { checkpointSeconds: 0.001 });
  for await (const _ of watched);
  assert.equal(await hashOf(await watched), whole);
  const reading = {
    on: { step: [async (event: { read(): Promise<unknown> }) => void (await event.read()), { every: 3 }] },
  };
  assert.equal(await hashOf(await killedTraining(undefined, 0, reading)), whole);
});

test("Ctrl-C saves and ends; a second one kills", async () => {
  const path = file("interrupted");
  const start = () => spawn(process.execPath, [PROGRAM, path, "cpu", "30"], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = (child: ReturnType<typeof start>) =>
    new Promise<[number | null, string | null]>((resolve) => {
      child.on("close", (code, signal) => resolve([code, signal]));
    });
  const until = async (isTrue: () => Promise<boolean>) => {
    while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const exists = () =>
    readFile(path).then(
      () => true,
      () => false,
    );
  const first = start();
  await until(exists);
  first.kill("SIGINT");
  assert.deepEqual(await ended(first), [0, null]);
  assert.equal(await hashOf(await killedTraining(path, 0)), whole);
  await rm(path);
  const second = start();
  let warned = "";
  second.stderr.on("data", (part) => {
    warned += part;
    second.kill("SIGINT");
  });
  await until(exists);
  const end = ended(second);
  second.kill("SIGINT");
  const [code, signal] = await end;
  assert.match(warned, /Ctrl-C again kills/);
  // The first one may have been quick enough.
  assert.ok(signal === "SIGINT" || code === 0);
});

test("a checkpoint of something else is refused, with what does not fit", async () => {
  await killedTraining(file("own"), 0, { epochs: 1 });
  const x = tensor([[1], [2]]);
  const path = file("own");
  const other = (more: object) =>
    train(sequential(dense(1)), {
      data: { x, y: x },
      loss: "meanSquaredError",
      optimizer: optimizers.sgd(0.1),
      epochs: 1,
      seed: 7,
      resume: path,
      ...more,
    });
  await assert.rejects(
    async () => void (await other({})),
    (error: Error) => {
      assert.ok(error instanceof ArgumentError);
      assert.match(error.message, /12 batches an epoch; these data have 1/);
      return true;
    },
  );
  const data = {
    batchesPerEpoch: 12,
    epoch: async function* () {
      yield { x, y: x };
    },
  };
  await assert.rejects(
    async () => void (await other({ data })),
    /has carry\.\S+, which is not in this training: it is of another model/,
  );
  await assert.rejects(async () => void (await other({ seed: 8 })), /another seed or key/);
  await assert.rejects(async () => void (await killedTraining(path, 0, { seed: 8, epochs: 2 })), /another seed/);
  await assert.rejects(async () => void (await other({ resume: file("none") })), /there is no/);
});

test("a file that is cut short, or whose numbers make no sense, is refused as a format error", async () => {
  await killedTraining(file("good"), 0, { epochs: 1 });
  const bytes = await readFile(file("good"));
  const going = (name: string) => killedTraining(undefined, 0, { resume: file(name), epochs: 2 });
  await writeFile(file("short"), bytes.subarray(0, bytes.length - 100));
  await assert.rejects(async () => void (await going("short")), FormatError);
  const text = bytes.toString("latin1");
  const forged = async (name: string, from: RegExp, to: string): Promise<void> => {
    const found = from.exec(text)?.[0];
    assert.ok(found !== undefined && found.length === to.length, `${from} in the file, as long as ${to}`);
    await writeFile(file(name), Buffer.from(text.replace(found, to), "latin1"));
  };
  await forged("epoch", /\\"epoch\\":1,\\"place\\"/, '\\"epoch\\":-,\\"place\\"');
  await assert.rejects(async () => void (await going("epoch")), FormatError);
  await forged("step", /\\"step\\":12,\\"epoch\\"/, '\\"step\\":-2,\\"epoch\\"');
  await assert.rejects(async () => void (await going("step")), /step is -2; it is a whole number from 0 on/);
  await forged("kind", /pumice training/, "pumice cooking!");
  await assert.rejects(async () => void (await going("kind")), /is no training, but some other tree/);
  await copyFile(file("good"), file("large"));
  await writeFile(file("large"), Buffer.concat([bytes, Buffer.alloc(2 ** 26 + 2 ** 20)]));
  await assert.rejects(async () => void (await going("large")), /bytes; a training of this model has at most/);
});

for (const device of testDevices().filter((name) => name !== "cpu")) {
  test(`a checkpoint keeps the bits on ${device}, too`, async () => {
    const model = sequential(dense(3));
    const data = {
      x: random.normal(random.key(3, { device }), [20, 2]),
      y: random.normal(random.key(4, { device }), [20, 3]),
    };
    const run = (epochs: number, more: object = {}) =>
      train(model, { data, batchSize: 6, loss: "meanSquaredError", optimizer: optimizers.adam(0.1), epochs, ...more });
    const path = file("device");
    await run(2, { checkpoint: path });
    const resumed = await run(4, { checkpoint: path, resume: true });
    assert.equal(await hashOf(resumed), await hashOf(await run(4)));
  });
}

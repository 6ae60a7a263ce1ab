/** Checkpoints: a training goes on from one with the same bits, however it ended; files that do not fit are refused. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdtemp, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { FormatError } from "../../../src/core/errors.js";
import { random, setDefaultDevice, type Tensor, tensor } from "../../../src/index.js";
import { dense, loadParameters, optimizers, schedules, sequential, train } from "../../../src/nn/index.js";
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

test("a checkpoint of something else is refused by the name of what differs, unless that may be", async () => {
  await killedTraining(file("own"), 0, { epochs: 1 });
  const path = file("own");
  const going = (more: object) => killedTraining(undefined, 0, { resume: path, epochs: 2, ...more });
  const refused = (more: object, message: RegExp) =>
    assert.rejects(async () => void (await going(more)), { name: "ArgumentError", message });
  await refused({ seed: 8 }, /another seed or key/);
  await refused(
    { resume: { path, changed: ["colour"] } },
    /no part called "colour".*there are model, loss, optimizer, precision, metrics, data, monitor, step/,
  );
  const changes: Record<string, [object, RegExp]> = {
    loss: [
      { loss: ["huber", { delta: 2 }] },
      /another loss: function was meanSquaredError, and is \[huber, \{ delta: 2 \}\]/,
    ],
    optimizer: [
      { optimizer: optimizers.chain(optimizers.clipByGlobalNorm(1), optimizers.adam(0.02, { epsilon: 1e-6 })) },
      /another optimizer: function was chain\(.*adam\(a schedule\)\), and is .*adam\(0\.02, epsilon: 0\.000001\)/,
    ],
    precision: [{ precision: "bf16" }, /another precision: dtype was f32, and is bf16/],
    data: [{ batchSize: 30 }, /another data: batches an epoch was 12, and is 3/],
    metrics: [{ metrics: ["r2"] }, /another metrics: functions was \[meanAbsoluteError\], and is \[r2\]/],
    monitor: [
      { keepBest: { monitor: "loss" } },
      /another monitor: keepBest was validation\.loss \(min\), and is loss \(min\)/,
    ],
    // What has no words of its own is known by what it computes.
    step: [
      { optimizer: optimizers.chain(optimizers.clipByGlobalNorm(1), optimizers.adam(schedules.cosine(0.02, 500))) },
      /another step: its operations are others, although .*: a function, a schedule or an option of one differs/,
    ],
  };
  for (const [name, [more, message]] of Object.entries(changes)) {
    await refused(more, message);
    await refused(more, new RegExp(`resume: \\{ changed: \\["${name}"\\] \\}`));
    const { step, metrics } = await going({ ...more, resume: { path, changed: [name] } });
    assert.ok(step > 12, name);
    // Those that are measured no longer are not reported.
    const own = name === "metrics" ? ["r2"] : ["meanAbsoluteError"];
    const all = ["loss", ...own].flatMap((each) => [each, `validation.${each}`]);
    assert.deepEqual(Object.keys(metrics).sort(), all.sort(), name);
  }
  // Numbers of the same size, with other signs.
  const own = random.normal(random.key(1), [90, 4]).realize();
  const answers = own.sum({ axis: 1, keepDims: true }).tanh();
  await refused({ data: { x: own, y: answers.neg() } }, /another data: pattern of y in the first batch was/);
  await refused(
    { validation: { x: own, y: answers.neg() } },
    /another data: pattern of y in the first batch of the validation was -?\d+\.\d+, and is/,
  );
  const without = { validation: undefined, keepBest: false };
  await refused(without, /another data: number of examples of the validation was 90, and is not known/);
  const { best } = await going({ ...without, resume: { path, changed: ["data", "monitor"] }, earlyStop: false });
  assert.equal(best, null);
  // As many rows of the same form, but other numbers.
  const x = random.normal(random.key(5), [90, 4]).realize();
  await refused(
    { data: { x, y: x.sum({ axis: 1, keepDims: true }).tanh() } },
    /another data: mean size of x in the first batch was 0\.\d+, and is 0\.\d+/,
  );
  const other = (more: object) =>
    train(sequential(dense(8), dense(1)), { data: { x, y: x.sum({ axis: 1, keepDims: true }) }, loss: "meanSquaredError", optimizer: optimizers.sgd(0.1), epochs: 1, seed: 7, resume: path, ...more }); // biome-ignore format: a row
  await assert.rejects(
    async () => void (await other({})),
    /another model: layers was batchNorm0: batchNorm\(\), and is dense1: dense\(units: 1\)/,
  );
  await assert.rejects(
    async () => void (await other({ resume: { path, changed: true } })),
    /has carry\.\S+, which is not in this training: it is of another model.*loadParameters/,
  );
  await assert.rejects(async () => void (await other({ resume: file("none") })), /there is no/);
});

test("functions and schedules without names are known by what they compute, closures and all", async () => {
  const x = random.normal(random.key(1), [16, 3]).realize();
  const times = (factor: number) => (p: Tensor, y: Tensor) => p.sub(y).square().mean().mul(factor) as Tensor;
  const cosine = (steps: number) => optimizers.adam(schedules.cosine(0.1, steps));
  const cases: [string, object, object][] = [
    ["a closure", { loss: times(1) }, { loss: times(2) }],
    ["a schedule", { optimizer: cosine(100) }, { optimizer: cosine(101) }],
    [
      "a mask",
      { optimizer: optimizers.adamw(0.1, { mask: () => true }) },
      { optimizer: optimizers.adamw(0.1, { mask: (path: string) => path.endsWith("weights") }) },
    ],
  ];
  for (const [name, before, after] of cases) {
    const path = file(name);
    const going = (more: object) => {
      const options = { data: { x, y: x.sum({ axis: 1, keepDims: true }) }, loss: "huber", optimizer: optimizers.sgd(0.1), checkpoint: path, resume: true, epochs: 1, ...more }; // biome-ignore format: a row
      return train(
        sequential((h: Tensor) => h.tanh(), dense(1)),
        options as never,
      );
    };
    await going(before);
    await assert.rejects(async () => void (await going({ ...after, epochs: 2 })), /of a run with another step/, name);
    assert.equal((await going({ ...before, epochs: 2 })).epochs, 2, name);
  }
});

test("what follows another metric than before begins anew, and what is followed no longer leaves nothing behind", async () => {
  const path = file("monitor");
  const x = random.normal(random.key(1), [16, 3]).realize();
  const going = (more: object) => {
    const options = { data: { x, y: x.sum({ axis: 1, keepDims: true }) }, loss: "huber", metrics: ["r2"], optimizer: optimizers.sgd(0.01), checkpoint: path, resume: { path, changed: ["monitor"] }, seed: 1, epochs: 3, ...more }; // biome-ignore format: a row
    return train(sequential(dense(1)), options as never);
  };
  const start = { resume: false, keepBest: true, reduceOnPlateau: { patience: 1, threshold: 1e9, factor: 0.1 } };
  const first = await going({ ...start, epochs: 4 });
  assert.ok(first.history.at(-1)!.rate < 1);
  const other = await going({ keepBest: { monitor: "r2" }, epochs: 6, checkpoint: undefined });
  assert.ok(other.best!.epoch > 4, `epoch ${other.best!.epoch}`);
  const none = await going({ epochs: 6, checkpoint: undefined });
  assert.equal(none.best, null);
  // The rate of a plateau that nobody follows is the optimiser's own again.
  assert.equal(none.history.at(-1)!.rate, 1);
  const factor = ({ optimizerState }: { optimizerState: unknown }) => (optimizerState as { factor: Tensor }).factor;
  assert.ok(Math.abs(Number(await factor(first as never).item()) - first.history.at(-1)!.rate) < 1e-6);
  assert.equal(await factor(none as never).item(), 1);
});

/** The bytes with the checksum at their end made anew: damage that somebody meant. */
const resealed = (bytes: Buffer): Buffer => {
  const body = bytes.subarray(0, -32);
  return Buffer.concat([body, createHash("sha256").update(body).digest()]);
};

test("a file that is cut short, damaged, or whose numbers make no sense, is refused as a format error", async () => {
  await killedTraining(file("good"), 0, { epochs: 1 });
  const bytes = await readFile(file("good"));
  const going = (name: string) => killedTraining(undefined, 0, { resume: file(name), epochs: 2 });
  for (const [name, length] of Object.entries({ short: bytes.length - 100, shorter: 3, empty: 0 })) {
    await writeFile(file(name), bytes.subarray(0, length));
    await assert.rejects(async () => void (await going(name)), FormatError, name);
  }
  // A bit anywhere, of a number in the header, of a tensor, or of the checksum itself.
  const places = [20, bytes.indexOf("milliseconds") + 20, bytes.length - 300, bytes.length - 10];
  for (const [i, place] of places.entries()) {
    const damaged = Buffer.from(bytes);
    damaged[place]! ^= 1;
    await writeFile(file(`bit${i}`), damaged);
    await assert.rejects(async () => void (await going(`bit${i}`)), FormatError, `bit at ${place}`);
    const variables = { params: { dense0: { weights: tensor([[1]]) } }, state: {} };
    await assert.rejects(() => loadParameters(file(`bit${i}`), variables), FormatError);
  }
  const text = bytes.toString("latin1");
  const forged = async (name: string, from: RegExp, to: string): Promise<void> => {
    const found = from.exec(text)?.[0];
    assert.ok(found !== undefined && found.length === to.length, `${from} in the file, as long as ${to}`);
    await writeFile(file(name), resealed(Buffer.from(text.replace(found, to), "latin1")));
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

test("where the last checkpoint is damaged, the one before it is used, with a note, and the bits are the same", async () => {
  const path = file("two");
  await killedTraining(path, 0, { epochs: 5, checkpointSeconds: 1000 });
  await killedTraining(path, 0, { epochs: 9, checkpointSeconds: 1000 });
  const last = await readFile(path);
  const warnings: string[] = [];
  const listen = ({ message }: Error) => void warnings.push(message);
  process.on("warning", listen);
  try {
    await writeFile(path, last.subarray(0, last.length / 2));
    const rest = await killedTraining(path, 0);
    assert.equal(await hashOf(rest), whole);
    await setImmediate();
    assert.match(warnings.join(), /two\.safetensors.* The run goes on from the checkpoint before it, of step 60\./);
    // Both are damaged: the error is that of the last one, and nothing is lost by starting.
    const cut = last.subarray(0, 5000);
    await Promise.all([path, `${path}.previous`].map((each) => writeFile(each, cut)));
    await assert.rejects(async () => void (await killedTraining(path, 0)), FormatError);
    assert.deepEqual(await readFile(path), cut);
  } finally {
    process.off("warning", listen);
  }
  // Whoever removes the checkpoint begins anew, and the one before it goes with the next.
  await rm(path);
  assert.equal((await killedTraining(path, 0, { epochs: 1, checkpointSeconds: 1000 })).step, 12);
  assert.equal(existsSync(`${path}.previous`), false);
});

test("what killed processes left unfinished is removed, and nothing else", async () => {
  const path = file("tidy");
  const ended = spawn(process.execPath, ["-e", ""]);
  await new Promise((resolve) => ended.on("close", resolve));
  const names = {
    stale: `${path}.${ended.pid}.0123456789abcdef.part`,
    own: `${path}.${process.pid}.0123456789abcdef.part`,
    alive: `${path}.${process.ppid}.0123456789abcdef.part`,
    other: `${path}.txt.part`,
  };
  for (const name of Object.values(names)) await writeFile(name, "half");
  await killedTraining(path, 0, { epochs: 1 });
  assert.deepEqual(
    Object.entries(names).flatMap(([name, each]) => (existsSync(each) ? [name] : [])),
    ["own", "alive", "other"],
  );
  // A process of the same number, as in a container that was started again, wrote it before this one began.
  await utimes(names.own, 1, 1);
  await killedTraining(path, 0, { epochs: 2 });
  assert.equal(existsSync(names.own), false);
  // Where the path is a link, they lie beside the file; and they go before anything is written.
  const way = file("way");
  await symlink(path, way);
  await writeFile(names.stale, "half");
  let isThere = true;
  const started = () => {
    isThere = existsSync(names.stale);
  };
  await killedTraining(way, 0, { epochs: 2, checkpointSeconds: 1000, on: { started } });
  assert.equal(isThere, false);
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

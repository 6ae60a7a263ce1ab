/**
 * Everything that Pumice reads from disk, changed by seeded chance: a reader returns something or throws an error of a named
 * class, in bounded time, and no prototype is changed. A few files of each kind by default; PUMICE_FUZZ_COUNT=5000 reads as
 * many of each, from seed PUMICE_FUZZ_SEED on.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { loadArviz, loadStanCsv, model, normal, saveArviz, saveStanCsv } from "../../src/bayes/index.js";
import { FormatError, PumiceError } from "../../src/core/errors.js";
import { ProgramCache } from "../../src/engines/disk/program-cache.js";
import { decodeCache, encodeCache } from "../../src/engines/vulkan/pipelines/pipeline-cache.js";
import { io, jit, type Tensor, tensor } from "../../src/index.js";
import { sampled } from "../bayes/chains/support.js";
import { reopened, tensorOn } from "../support/forced-tiles.js";
import { partOf, putTogether, signed, takeApart } from "../support/forged-fit.js";
import { mutated } from "../support/mutations.js";
import { h200 } from "../support/physical-devices.js";
import { type Random, randomFrom } from "../support/random.js";
import { temporaryFolders } from "../support/temporary-folder.js";

const COUNT = Number(process.env.PUMICE_FUZZ_COUNT ?? 60);
const SEED = Number(process.env.PUMICE_FUZZ_SEED ?? 1);
/** A file of a few kilobytes is read in milliseconds; a busy machine has its time. */
const MOST_MS = 20_000;

/** A fit may name a device that is not here. */
const NAMED = ["FormatError", "ArgumentError", "DTypeError", "ShapeError", "DeviceError"];

const newFolder = temporaryFolders();
const folder = newFolder();
const at = (name: string) => join(folder, name);
const cpu = { device: "cpu" } as const;

const posterior = model(() => ({ x: normal(0, 1).shape(3) })).given({});
const whole = new Map<string, Uint8Array>();

before(async () => {
  const fit = await sampled(posterior, {
    chains: 2,
    draws: 12,
    warmup: 20,
    seed: 3,
    dtype: "f64",
    maxTreeDepth: 6,
    ...cpu,
  });
  await fit.save(at("fit"));
  await saveArviz(at("arviz.json"), {
    posterior: fit.draws,
    observedData: { y: { shape: [2, 2], values: [1, Number.NaN, Infinity, 4] } },
    dims: { x: ["school"] },
    coords: { school: ["a", "b", "c"] },
  });
  const [csv] = await saveStanCsv(at("stan"), fit.draws);
  const arrays = {
    a: tensor(
      [
        [1, 2],
        [3, 4],
      ],
      cpu,
    ),
    "b/c": tensor([1, 2, 3], { dtype: "i32", ...cpu }),
  };
  await io.saveNpy(at("a.npy"), arrays.a);
  await io.saveNpz(at("stored.npz"), arrays);
  await io.saveNpz(at("deflated.npz"), arrays, { compress: true });
  await io.saveSafetensors(at("a.safetensors"), arrays, { made: "here" });
  for (const name of ["fit", "arviz.json", "a.npy", "stored.npz", "deflated.npz", "a.safetensors"])
    whole.set(name, readFileSync(at(name)));
  whole.set("stan.csv", readFileSync(csv as string));
});

/** What an attacker would like to change. */
const prototypes = [Object, Array, Function, String, Number, Map, Promise, Uint8Array].flatMap((one) => [
  one,
  one.prototype,
]);
const keysOf = () => prototypes.map((one) => Reflect.ownKeys(one).map(String).join()).join("\n");

/** Reads so many changed files. `change` gives one, `read` may throw errors of Pumice and no others. */
async function survives(
  change: (random: Random) => Uint8Array,
  read: (bytes: Uint8Array, path: string) => Promise<unknown>,
  count = COUNT,
): Promise<void> {
  const keys = keysOf();
  let accepted = 0;
  for (let seed = SEED; seed < SEED + count; seed++) {
    const bytes = change(randomFrom(seed));
    const path = join(folder, "changed");
    writeFileSync(path, bytes);
    const began = performance.now();
    try {
      await read(bytes, path);
      accepted++;
    } catch (error) {
      assert.ok(error instanceof PumiceError, `seed ${seed}: ${(error as Error).stack}`);
      assert.ok(NAMED.includes(error.name), `seed ${seed}: ${error}`);
    }
    const took = performance.now() - began;
    assert.ok(took < MOST_MS, `seed ${seed}: ${took.toFixed(0)} ms`);
    assert.equal(keysOf(), keys, `seed ${seed}: a prototype was changed`);
  }
  assert.ok(accepted < count, "some are refused");
}

const changing = (name: string) => (random: Random) => mutated(whole.get(name) as Uint8Array, random);

test("NumPy arrays", () => survives(changing("a.npy"), async (_, path) => io.loadNpy(path, cpu)));
/** An archive that is accepted has all its arrays: nothing goes missing without a word. */
async function loadBoth(path: string): Promise<void> {
  assert.equal(Object.keys(await io.loadNpz(path, cpu)).length, 2);
}
test("archives of them, stored", () => survives(changing("stored.npz"), (_, path) => loadBoth(path)));
test("archives of them, deflated", () => survives(changing("deflated.npz"), (_, path) => loadBoth(path)));
test("safetensors", () => survives(changing("a.safetensors"), (_, path) => io.loadSafetensors(path, cpu)));
test("ArviZ's JSON", () => survives(changing("arviz.json"), (_, path) => loadArviz(path)));
test("Stan CSV", () => survives(changing("stan.csv"), (_, path) => loadStanCsv([path])));

test("saved fits, damaged", () => survives(changing("fit"), (_, path) => posterior.resume(path)));

/** Resumed, a fit goes on, and comes to an end. */
async function resumeAndGoOn(path: string): Promise<void> {
  const fit = await posterior.resume(path);
  await fit.extend(2);
}

test("saved fits with a changed header and a right checksum", () => {
  const forge = (random: Random) => {
    const bytes = Buffer.from(whole.get("fit") as Uint8Array);
    const body = bytes.subarray(bytes.indexOf("\n") + 1);
    const end = body.indexOf("\n");
    return signed(Buffer.concat([mutated(body.subarray(0, end), random), body.subarray(end)]));
  };
  return survives(forge, (_, path) => resumeAndGoOn(path));
});

test("saved fits with a changed state of their chains and a right checksum", () => {
  const forge = (random: Random) => {
    const file = takeApart(whole.get("fit") as Uint8Array);
    const words = new Int32Array(
      partOf(file, random.pick(["ints", "ints", "reals", "vectors", "metric", "wishes"])).buffer,
    );
    for (let n = random.pick([1, 1, 2, 5]); n > 0; n--) {
      words[random.below(words.length)] = random.pick([
        0,
        -1,
        1,
        2,
        3,
        7,
        2 ** 31 - 1,
        -(2 ** 31),
        0x7ff80000,
        random.below(100),
      ]);
    }
    return putTogether(file);
  };
  return survives(forge, (_, path) => resumeAndGoOn(path));
});

test("compiled programs: the result is right, whatever the file", async () => {
  const root = newFolder();
  const run = () => {
    const cache = new ProgramCache(root, undefined, 0);
    const backend = reopened("cpu", () => ({}), cache);
    const x = tensorOn(backend, { shape: [2, 3], values: [1, 2, 3, 4, 5, 6] }, "f32");
    const result = jit((y: Tensor) => y.softmax({ axis: 1 }).sum({ axis: 0 }))(x).dataSync();
    cache.save();
    return { result: [...result], loaded: backend.counters.loaded };
  };
  const { result: expected } = run();
  const [name] = readdirSync(join(root, "programs")) as [string];
  const good = readFileSync(join(root, "programs", name));
  assert.equal(run().loaded, 1);
  const change = (random: Random) => mutated(good, random);
  await survives(
    change,
    async (bytes) => {
      writeFileSync(join(root, "programs", name), bytes);
      const { result, loaded } = run();
      assert.deepEqual(result, expected);
      if (loaded === 0) throw new FormatError("it was compiled anew");
      assert.deepEqual(Buffer.from(bytes), good);
    },
    Math.ceil(COUNT / 3),
  );
});

test("compiled pipelines", async () => {
  const payload = randomFrom(9).bytes(500);
  const file = encodeCache(h200, payload);
  await survives(
    (random) => mutated(file, random),
    async (bytes) => {
      const found = decodeCache(h200, bytes);
      if (!(found instanceof Uint8Array)) throw new FormatError(found.why);
      assert.deepEqual(Buffer.from(found), Buffer.from(payload));
    },
  );
});

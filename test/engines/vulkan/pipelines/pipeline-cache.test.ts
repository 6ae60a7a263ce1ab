/** The cache of compiled pipelines: its file format, and that no state of the file or folder ever breaks a program. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { viewOf } from "../../../../src/engines/vulkan/driver/native.js";
import { decodeCache, encodeCache } from "../../../../src/engines/vulkan/pipelines/pipeline-cache.js";
import type { PhysicalDevice } from "../../../../src/vulkan/index.js";
import { describeOnDevices, validation } from "../../../support/devices.js";
import { FaultyDriver } from "../../../support/fault-injection.js";
import { giveAway, onlyRoot, onlyUnix } from "../../../support/foreign-user.js";
import { glsl, withoutGlslang } from "../../../support/glsl.js";
import { h200 } from "../../../support/physical-devices.js";
import { randomFrom } from "../../../support/random.js";
import { runNode } from "../../../support/subprocess.js";

const HEADER = 104;
const payload = randomFrom(1).bytes(50);

test("what is encoded is decoded for the same device and driver", () => {
  for (const bytes of [new Uint8Array(0), payload, randomFrom(2).bytes(100_000)]) {
    const decoded = decodeCache(h200, encodeCache(h200, bytes));
    assert.ok(decoded instanceof Uint8Array);
    assert.deepEqual([...decoded], [...bytes]);
  }
});

test("every single flipped bit is noticed", () => {
  const file = encodeCache(h200, payload);
  for (let bit = 0; bit < 8 * file.length; bit++) {
    const damaged = Uint8Array.from(file);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    assert.ok(!(decodeCache(h200, damaged) instanceof Uint8Array), `bit ${bit & 7} of byte ${bit >> 3}`);
  }
});

test("every other length is noticed, shorter and longer", () => {
  const file = encodeCache(h200, payload);
  for (let length = 0; length < file.length; length++) {
    assert.ok(!(decodeCache(h200, file.subarray(0, length)) instanceof Uint8Array), `${length} bytes`);
  }
  assert.ok(!(decodeCache(h200, Uint8Array.from([...file, 0])) instanceof Uint8Array));
});

test("a file of another device, driver or driver version is not for this one", () => {
  const others: Partial<PhysicalDevice>[] = [
    { driverVersion: h200.driverVersion + 1 },
    { deviceUUID: "ab".repeat(16) },
    { driverUUID: "ab".repeat(16) },
    { pipelineCacheUUID: "ab".repeat(16) },
  ];
  for (const other of others) {
    const result = decodeCache({ ...h200, ...other }, encodeCache(h200, payload));
    assert.ok(!(result instanceof Uint8Array) && /another device or driver/.test(result.why), JSON.stringify(other));
  }
});

describeOnDevices("cache files", withoutGlslang, (which) => {
  let folder = "";
  let good: Uint8Array;
  let path = "";
  const code = () =>
    glsl(`#version 460
      layout(constant_id=0) const uint N = 1;
      layout(binding=0) buffer A { uint a[]; };
      void main() { a[0] += N; }`);

  /** Opens a device with the folder, computes, closes. Returns how much of a cache the driver was given. */
  async function use(cacheFolder = folder, values = [41]): Promise<number> {
    const driver = new FaultyDriver();
    let given = -1;
    driver.onCall = (name, args) => {
      if (name !== "vkCreatePipelineCache") return;
      given = Number(new DataView(viewOf(args[1] ?? 0, 40)).getBigUint64(24, true));
    };
    const device = await which.open({ interpose: driver.interpose, cacheFolder });
    for (const value of values) {
      const buffer = device.upload(new Uint32Array([1]));
      device.kernel(code(), { specialization: { 0: value } }).run({ buffers: [buffer], groups: [1] });
      assert.equal(new Uint32Array(buffer.readSync().buffer)[0], value + 1, "the result is right");
    }
    await device.close();
    assert.deepEqual(driver.liveObjects, {});
    return given;
  }
  const files = () => readdirSync(join(folder, "vulkan"));

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "pumice-cache-"));
    assert.equal(await use(), 0, "there is no cache at first");
    assert.equal(files().length, 1);
    path = join(folder, "vulkan", files()[0]!);
    good = readFileSync(path);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("the second run is given what the first one kept", async () => {
    writeFileSync(path, good);
    assert.equal(await use(), good.length - HEADER);
  });

  test("a damaged file is ignored, the result is right, and a whole one takes its place", async () => {
    const flip = (at: number, bit = 0) => {
      const bytes = Uint8Array.from(good);
      bytes[at]! ^= 1 << bit;
      return bytes;
    };
    const regions = [0, 8, 12, 16, 32, 48, 64, 72, HEADER, HEADER + 4, HEADER + 16, good.length - 1];
    const damaged: [string, Uint8Array][] = [
      ["empty", new Uint8Array(0)],
      ["one byte", good.subarray(0, 1)],
      ["half a header", good.subarray(0, 50)],
      ["a header alone", good.subarray(0, HEADER)],
      ["all but one byte", good.subarray(0, good.length - 1)],
      ["one byte too many", Uint8Array.from([...good, 0])],
      ["noise", randomFrom(3).bytes(good.length)],
      ["zeros", new Uint8Array(good.length)],
      ["text", new TextEncoder().encode("not a cache\n".repeat(20))],
      ...regions.map((at): [string, Uint8Array] => [`byte ${at} flipped`, flip(at, at % 8)]),
    ];
    for (const [name, bytes] of damaged) {
      writeFileSync(path, bytes);
      assert.equal(await use(), 0, `${name}: the driver is not shown it`);
      assert.ok(decodeCacheOf(await properties(), readFileSync(path)), `${name}: written anew`);
      assert.equal(files().length, 1, name);
    }
  });

  const properties = async () => {
    const device = await which.open();
    await device.close();
    return device.properties;
  };
  const decodeCacheOf = (device: PhysicalDevice, file: Uint8Array) => decodeCache(device, file) instanceof Uint8Array;

  test("a file of another driver is ignored, and so is what a driver refuses", async () => {
    const device = await properties();
    writeFileSync(path, encodeCache({ ...device, driverVersion: device.driverVersion + 1 }, good.subarray(HEADER)));
    assert.equal(await use(), 0);
    // Rightly signed, wrong inside: the driver itself must cope, as the specification says, and ours too if it does not.
    for (const inside of [new Uint8Array(0), new Uint8Array(5), randomFrom(4).bytes(200)]) {
      writeFileSync(path, encodeCache(device, inside));
      await use();
    }
  });

  test("a folder, or a file where the folder should be, is no obstacle", async () => {
    const place = mkdtempSync(join(tmpdir(), "pumice-cache-"));
    try {
      mkdirSync(join(place, "vulkan"));
      mkdirSync(join(place, "vulkan", path.split("/").at(-1)!));
      writeFileSync(join(place, "vulkan", path.split("/").at(-1)!, "inside"), "");
      assert.equal(await use(place), 0);
      assert.equal(readdirSync(join(place, "vulkan")).length, 1, "nothing is left beside it");
      const file = join(place, "file");
      writeFileSync(file, "mine");
      assert.equal(await use(file), 0);
      assert.equal(readFileSync(file, "utf8"), "mine");
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });

  test("a file or a folder that others could have written to is not shown to the driver", {
    skip: onlyUnix,
  }, async () => {
    const modes: readonly (readonly [string, number, number])[] = [
      [path, 0o666, 0o600],
      [join(folder, "vulkan"), 0o777, 0o700],
      [folder, 0o777, 0o700],
    ];
    for (const [place, open, closed] of modes) {
      writeFileSync(path, good);
      chmodSync(place, open);
      assert.equal(await use(), 0, place);
      chmodSync(place, closed);
      writeFileSync(path, good, { mode: 0o600 });
      assert.equal(await use(), good.length - HEADER, place);
    }
  });

  test("nor is one of another user, and a link or a pipe holds nobody up", { skip: onlyRoot }, async () => {
    const plant: readonly (() => void)[] = [
      () => {
        writeFileSync(path, good);
        giveAway(path);
      },
      () => symlinkSync("/dev/zero", path),
      () => void execFileSync("mkfifo", [path]),
    ];
    for (const put of plant) {
      rmSync(path, { force: true });
      put();
      assert.equal(await use(), 0);
      assert.ok(decodeCacheOf(await properties(), readFileSync(path)), "a file of one's own takes its place");
    }
  });

  test("folders that cannot be made or written are no obstacle", async () => {
    for (const place of ["/proc/nowhere", "/dev/null", "/proc/self/fd", "\0bad"])
      assert.equal(await use(place), 0, place);
  });

  test("without a folder nothing is read or written", async () => {
    const before = statSync(path).mtimeMs;
    const device = await which.open({ cacheFolder: null });
    device.kernel(code());
    await device.close();
    assert.equal(statSync(path).mtimeMs, before);
  });

  test("temporary files that a killed process left long ago are removed, recent ones are not", async () => {
    const [old, recent] = [`${path}.123.stale`, `${path}.456.fresh`];
    writeFileSync(old, "x");
    writeFileSync(recent, "x");
    const yesterday = Date.now() / 1000 - 24 * 3600;
    utimesSync(old, yesterday, yesterday);
    truncateSync(path, 3);
    await use();
    assert.equal(existsSync(old), false);
    assert.equal(existsSync(recent), true);
    rmSync(recent);
  });

  const child = (body: string) => `
    import { openDevice } from "SRC/vulkan/index.js";
    const code = Buffer.from(process.env.CODE, "base64");
    const open = () => openDevice({ index: ${which.index}, cacheFolder: process.env.FOLDER });
    const compute = (device, value) => {
      const buffer = device.upload(new Uint32Array([1]));
      device.kernel(code, { specialization: { 0: value } }).run({ buffers: [buffer], groups: [1] });
      const result = new Uint32Array(buffer.readSync().buffer)[0];
      if (result !== value + 1) throw new Error("wrong result " + result);
    };
    ${body}`;
  const environment = () => ({ CODE: Buffer.from(code()).toString("base64"), FOLDER: folder });

  test("four processes that keep replacing one file get right results and leave a whole one", async () => {
    const body = `for (let i = 0; i < 12; i++) {
      const device = await open();
      for (let j = 0; j < 3; j++) compute(device, 1 + (process.pid + 7 * i + j) % 50);
      await device.close();
    }`;
    const ended = await Promise.all([1, 2, 3, 4].map(() => runNode(child(body), { env: environment() })));
    for (const { code: status, output } of ended) assert.equal(status, 0, output);
    assert.ok(decodeCacheOf(await properties(), readFileSync(path)));
    assert.equal(files().length, 1);
  });

  test("a process killed while it saves in a loop leaves a whole file or none", { skip: validation }, async () => {
    const device = await properties();
    const body = `console.log("ready");
      for (let i = 0; ; i++) { const device = await open(); compute(device, 1 + i % 60); await device.close(); }`;
    for (let round = 0; round < 6; round++) {
      rmSync(path, { force: true });
      const { code: status, output } = await runNode(child(body), {
        env: environment(),
        onStart: (process) => {
          process.stdout?.once("data", () => setTimeout(60 + 37 * round).then(() => process.kill("SIGKILL")));
        },
      });
      assert.equal(status, "SIGKILL", output);
      if (existsSync(path)) assert.ok(decodeCacheOf(device, readFileSync(path)), `round ${round}`);
      await use(folder, [round]);
    }
  });

  test("a program that ends without closing its device keeps its pipelines", async () => {
    rmSync(path, { force: true });
    const { code: status, output } = await runNode(child("compute(await open(), 5);"), { env: environment() });
    assert.equal(status, 0, output);
    assert.ok(decodeCacheOf(await properties(), readFileSync(path)));
  });

  test("a program that runs on keeps its pipelines after a while, and may then be killed", async () => {
    rmSync(path, { force: true });
    const { code: status, output } = await runNode(
      child('compute(await open(), 6); console.log("ready"); setInterval(() => {}, 1000);'),
      {
        env: environment(),
        onStart: (process) => {
          process.stdout?.once("data", async () => {
            for (let i = 0; i < 400 && !existsSync(path); i++) await setTimeout(50);
            process.kill("SIGKILL");
          });
        },
      },
    );
    assert.equal(status, "SIGKILL", output);
    assert.ok(decodeCacheOf(await properties(), readFileSync(path)));
  });

  test("the folder is the user's, or the one PUMICE_CACHE names, or none", async () => {
    const home = mkdtempSync(join(tmpdir(), "pumice-cache-"));
    const body = child("compute(await open(), 7);").replace("cacheFolder: process.env.FOLDER", "");
    const run = async (env: NodeJS.ProcessEnv) => {
      const { code: status, output } = await runNode(body, { env: { ...environment(), XDG_CACHE_HOME: home, ...env } });
      assert.equal(status, 0, output);
    };
    try {
      await run({ PUMICE_CACHE: "off" });
      assert.ok(!existsSync(join(home, "pumice")));
      await run({ PUMICE_CACHE: join(home, "mine") });
      assert.equal(readdirSync(join(home, "mine", "vulkan")).length, 1);
      if (process.platform === "linux") {
        await run({ PUMICE_CACHE: "" });
        assert.equal(readdirSync(join(home, "pumice", "vulkan")).length, 1);
      }
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});

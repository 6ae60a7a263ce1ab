/** `pumice cache`: what it counts, and that clearing removes Pumice's own files and nothing else. */
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { cachedFiles } from "../../src/cli/cache.js";
import { cacheKinds, catalogue } from "../../src/vulkan/index.js";
import { vulkanDevices, withoutVulkan } from "../support/devices.js";
import { onlyUnix } from "../support/foreign-user.js";
import { pumice } from "./cli.js";

const root = mkdtempSync(join(tmpdir(), "pumice-cache-"));
after(() => rmSync(root, { recursive: true }));

const folder = (name: string): string => {
  const path = join(root, name);
  for (const kind of ["vulkan", "programs"]) mkdirSync(join(path, kind), { recursive: true });
  return path;
};
const ours = "0123456789abcdef.pipelines";
const programAt = (i: number): string => `programs/${String(i).padStart(32, "0")}.program`;
const put = (path: string, size: number) => writeFileSync(path, new Uint8Array(size));

test("cache says where, how much, of what kind and in which files", () => {
  const PUMICE_CACHE = folder("told");
  put(join(PUMICE_CACHE, "vulkan", ours), 2048);
  put(join(PUMICE_CACHE, "vulkan", `${ours}.4711.k3j2h1`), 512);
  const { code, stdout } = pumice(["cache"], { PUMICE_CACHE });
  assert.equal(code, 0);
  assert.ok(stdout.includes(`${PUMICE_CACHE}  2.5 KiB in 2 files`), stdout);
  assert.match(stdout, /^compiled pipelines: 2 KiB\n {2}2 KiB {2}vulkan.0123456789abcdef\.pipelines$/m);
  assert.match(stdout, /^unfinished writes: 512 B$/m);
});

test("of many files the largest are named and the rest are counted", () => {
  const PUMICE_CACHE = folder("many");
  for (let i = 0; i < 13; i++) put(join(PUMICE_CACHE, programAt(i)), 1024 * (20 - i));
  const { stdout } = pumice(["cache"], { PUMICE_CACHE });
  assert.ok(stdout.includes("182 KiB in 13 files"), stdout);
  assert.match(stdout, /^compiled programs: 182 KiB$/m);
  assert.match(stdout, /^ {2}20 KiB {2}programs.0{32}\.program$/m);
  assert.equal(stdout.split("\n").filter((line) => line.endsWith(".program")).length, 10);
  assert.match(stdout, /^ {2}and 3 smaller files, 27 KiB$/m);
});

test("clear removes our files, reports what it freed, and leaves everything else", () => {
  const PUMICE_CACHE = folder("cleared");
  put(join(PUMICE_CACHE, "vulkan", ours), 1024);
  put(join(PUMICE_CACHE, "vulkan", `${ours}.4711.k3j2h1`), 1024);
  put(join(PUMICE_CACHE, programAt(1)), 1024);
  put(join(PUMICE_CACHE, `${programAt(1)}.4711.k3j2h1`), 1024);
  const others = [
    ours,
    "notes.txt",
    `vulkan/${ours.slice(1)}`,
    `vulkan/${ours}.bak`,
    "vulkan/thesis.pipelines",
    "programs/thesis.program",
    `programs/${ours}`,
  ];
  for (const name of others) put(join(PUMICE_CACHE, name), 7);
  mkdirSync(join(PUMICE_CACHE, "vulkan", "fedcba9876543210.pipelines"));

  const { code, stdout } = pumice(["cache", "clear"], { PUMICE_CACHE });
  assert.equal(code, 0);
  assert.equal(stdout, `Removed 4 files from ${PUMICE_CACHE}: 4 KiB freed.\n`);
  for (const name of others) assert.ok(existsSync(join(PUMICE_CACHE, name)), name);
  assert.deepEqual(readdirSync(join(PUMICE_CACHE, "vulkan")).length, 4);
  assert.deepEqual(readdirSync(join(PUMICE_CACHE, "programs")).length, 2);
  assert.match(pumice(["cache", "clear"], { PUMICE_CACHE }).stdout, /^Removed 0 files/);
});

test("clear follows no links, neither to files nor to folders", {
  skip: process.platform === "win32" && "links",
}, () => {
  const outside = folder("outside");
  put(join(outside, "vulkan", ours), 9);
  const withLink = folder("with-file-link");
  symlinkSync(join(outside, "vulkan", ours), join(withLink, "vulkan", ours));
  const behindLink = join(root, "with-folder-link");
  mkdirSync(behindLink);
  symlinkSync(join(outside, "vulkan"), join(behindLink, "vulkan"));

  for (const PUMICE_CACHE of [withLink, behindLink]) {
    assert.match(pumice(["cache", "clear"], { PUMICE_CACHE }).stdout, /^Removed 0 files/);
  }
  assert.ok(existsSync(join(outside, "vulkan", ours)));
  assert.ok(existsSync(join(withLink, "vulkan", ours)));
});

test("a cache folder that is not there is empty; one that is a file is an error", () => {
  const PUMICE_CACHE = join(root, "absent");
  assert.match(pumice(["cache"], { PUMICE_CACHE }).stdout, /0 B in 0 files/);
  assert.equal(pumice(["cache", "clear"], { PUMICE_CACHE }).code, 0);
  const file = join(root, "file");
  put(file, 3);
  const { code, stderr } = pumice(["cache", "clear"], { PUMICE_CACHE: file });
  assert.equal(code, 1);
  assert.match(stderr, /^pumice: The cache folder cannot be read: ENOTDIR/);
  assert.ok(existsSync(file));
});

test("a cache that is not used says why", { skip: onlyUnix }, () => {
  const PUMICE_CACHE = folder("open");
  put(join(PUMICE_CACHE, programAt(1)), 1024);
  chmodSync(join(PUMICE_CACHE, "programs"), 0o777);
  const { code, stdout } = pumice(["cache"], { PUMICE_CACHE });
  assert.equal(code, 0);
  assert.match(stdout, /^Not used, and nothing more is kept: others may write to \S+programs \(mode 777\)\.$/m);
  assert.match(stdout, /1 KiB in 1 file/);
  assert.match(pumice(["cache", "clear"], { PUMICE_CACHE }).stdout, /^Removed 1 file /);
  const relative = pumice(["cache"], { PUMICE_CACHE: "relative" });
  assert.equal(relative.stdout, "Nothing is kept on disk: PUMICE_CACHE=relative is no absolute path.\n");
});

test("PUMICE_CACHE=off keeps nothing, and cache says so", () => {
  for (const args of [["cache"], ["cache", "clear"]]) {
    const { code, stdout } = pumice(args, { PUMICE_CACHE: "off" });
    assert.equal(code, 0);
    assert.match(stdout, /PUMICE_CACHE=off/);
  }
});

test("what a device really writes is what cache knows", { skip: withoutVulkan() }, async () => {
  const cacheFolder = folder("real");
  const device = await vulkanDevices()[0].open({ cacheFolder });
  const buffer = device.alloc(16);
  catalogue.applyUnary(buffer, buffer, 4, 4);
  await device.finish();
  await device.close();
  const written = readdirSync(join(cacheFolder, "vulkan")).map((name) => join(cacheFolder, "vulkan", name));
  assert.ok(written.length > 0);
  assert.deepEqual(
    cachedFiles(cacheFolder, cacheKinds).map(({ path }) => path),
    written,
  );
});

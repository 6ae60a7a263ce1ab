/** `pumice cache`: what it counts, and that clearing removes Pumice's own files and nothing else. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { cachedFiles } from "../../src/cli/cache.js";
import { cacheKinds, catalogue } from "../../src/vulkan/index.js";
import { vulkanDevices, withoutVulkan } from "../support/devices.js";
import { pumice } from "./cli.js";

const root = mkdtempSync(join(tmpdir(), "pumice-cache-"));
after(() => rmSync(root, { recursive: true }));

const folder = (name: string): string => {
  const path = join(root, name);
  mkdirSync(join(path, "vulkan"), { recursive: true });
  return path;
};
const ours = "0123456789abcdef.pipelines";
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

test("clear removes our files, reports what it freed, and leaves everything else", () => {
  const PUMICE_CACHE = folder("cleared");
  put(join(PUMICE_CACHE, "vulkan", ours), 1024);
  put(join(PUMICE_CACHE, "vulkan", `${ours}.4711.k3j2h1`), 1024);
  const others = [ours, "notes.txt", `vulkan/${ours.slice(1)}`, `vulkan/${ours}.bak`, "vulkan/thesis.pipelines"];
  for (const name of others) put(join(PUMICE_CACHE, name), 7);
  mkdirSync(join(PUMICE_CACHE, "vulkan", "fedcba9876543210.pipelines"));

  const { code, stdout } = pumice(["cache", "clear"], { PUMICE_CACHE });
  assert.equal(code, 0);
  assert.equal(stdout, `Removed 2 files from ${PUMICE_CACHE}: 2 KiB freed.\n`);
  for (const name of others) assert.ok(existsSync(join(PUMICE_CACHE, name)), name);
  assert.deepEqual(readdirSync(join(PUMICE_CACHE, "vulkan")).length, 4);
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

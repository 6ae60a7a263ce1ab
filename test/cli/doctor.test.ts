/** `pumice doctor` on the machine at hand, as it is and with what it needs taken away. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { withoutVulkan } from "../support/devices.js";
import { giveAway, onlyRoot, onlyUnix } from "../support/foreign-user.js";
import { pumice } from "./cli.js";

const folder = mkdtempSync(join(tmpdir(), "pumice-doctor-"));
after(() => rmSync(folder, { recursive: true }));
const onLinux = process.platform !== "linux" && "the manifests' folders are Linux's";

test("with a device the doctor tries it and is content", { skip: withoutVulkan() }, () => {
  const { code, stdout } = pumice(["doctor"], { PUMICE_CACHE: join(folder, "cache") });
  assert.equal(code, 0);
  assert.match(stdout, /^✓ Node /m);
  assert.match(stdout, /^✓ koffi /m);
  assert.match(stdout, /^✓ Vulkan loader /m);
  assert.match(stdout, /^✓ vulkan:\d+ .*a small computation came back right in \d+ ms$/m);
  assert.match(stdout, /^✓ Compiled kernels are kept in /m);
});

test("doctor --json holds the verdict, the findings and the facts", { skip: withoutVulkan() }, () => {
  const { code, stdout } = pumice(["doctor", "--json"]);
  assert.equal(code, 0);
  const { ok, verdict, findings, facts } = JSON.parse(stdout);
  assert.equal(ok, true);
  assert.equal(typeof verdict, "string");
  assert.ok(findings.every((one: { check: string; level: string }) => one.check && one.level));
  assert.equal(facts.nodeVersion, process.versions.node);
  assert.ok(facts.listing.devices.length > 0);
});

test("without a loader the doctor says how to get one", () => {
  const { code, stdout } = pumice(["doctor"], { PUMICE_VULKAN_LIBRARY: "/nowhere/libvulkan.so.1" });
  assert.equal(code, 1);
  assert.match(stdout, /^✗ No Vulkan loader$/m);
  assert.match(stdout, /→ PUMICE_VULKAN_LIBRARY=\/nowhere/);
  assert.ok(!stdout.includes("npx pumice doctor"), "the doctor does not send its patient to the doctor");
});

test("without a driver the doctor says so", { skip: onLinux || withoutVulkan() }, () => {
  const empty = join(folder, "empty");
  mkdirSync(empty, { recursive: true });
  const { code, stdout } = pumice(["doctor"], { VK_DRIVER_FILES: empty, VK_ICD_FILENAMES: empty });
  assert.equal(code, 1);
  assert.match(stdout, /^✗ VK_DRIVER_FILES is set, and no driver manifest is where it points$/m);
});

test("manifests that lead nowhere are told one by one, with the linker's reason", {
  skip: onLinux || withoutVulkan(),
}, () => {
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const icd = (library_path: string) =>
    JSON.stringify({ file_format_version: "1.0.0", ICD: { library_path, api_version: "1.3" } });
  const VK_DRIVER_FILES = [
    write("text.json", "no manifest"),
    write("gone.json", icd("./gone.so")),
    write("named.json", icd("libpumice_no_such_driver.so")),
    write("garbage.json", icd(write("garbage.so", "no library"))),
  ].join(":");
  const { code, stdout } = pumice(["doctor"], { VK_DRIVER_FILES, VK_ICD_FILENAMES: VK_DRIVER_FILES });
  const text = stdout.replace(/\s+/g, " ");
  assert.equal(code, 1);
  assert.match(text, /✗ The driver manifest \S+text\.json is of no use: it is not JSON/);
  assert.match(text, /✗ The driver manifest \S+gone\.json is of no use: its library \S+gone\.so does not exist/);
  assert.match(text, /✗ The driver manifest \S+named\.json is of no use: its library cannot be loaded/);
  assert.match(text, /✗ The driver manifest \S+garbage\.json is of no use: its library cannot be loaded/);
});

test("a cache folder that others could have written to is remarked upon, with the remedy", {
  skip: onlyUnix || withoutVulkan(),
}, () => {
  const open = join(folder, "open");
  mkdirSync(join(open, "programs"), { recursive: true });
  chmodSync(join(open, "programs"), 0o777);
  const { code, stdout } = pumice(["doctor"], { PUMICE_CACHE: open });
  const text = stdout.replace(/\s+/g, " ");
  assert.equal(code, 0);
  assert.match(text, /! Compiled kernels cannot be kept in \S+open: others may write to \S+programs \(mode 777\)/);
  assert.match(text, /chmod go-w takes it from others/);
});

test("a cache folder with a relative path is remarked upon", { skip: withoutVulkan() }, () => {
  const { code, stdout } = pumice(["doctor"], { PUMICE_CACHE: "cache" });
  assert.equal(code, 0);
  assert.match(stdout, /^! Compiled kernels cannot be kept: PUMICE_CACHE=cache is no absolute path$/m);
});

test("a cache folder of another user is remarked upon", { skip: onlyRoot || withoutVulkan() }, () => {
  const foreign = join(folder, "foreign");
  mkdirSync(foreign);
  giveAway(foreign);
  const { stdout } = pumice(["doctor"], { PUMICE_CACHE: foreign });
  assert.match(stdout.replace(/\s+/g, " "), /cannot be kept in \S+foreign: \S+foreign belongs to user 54321, not to 0/);
});

test("a cache folder in a place that cannot be one is remarked upon", { skip: withoutVulkan() }, () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  const { code, stdout } = pumice(["doctor"], { PUMICE_CACHE: join(file, "cache") });
  assert.equal(code, 0);
  assert.match(stdout, /^! Compiled kernels cannot be kept in /m);
});

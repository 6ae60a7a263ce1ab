/** The benchmark program as it is run: a short measurement on software Vulkan, its table and its JSON file. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { rows } from "../../bench/rows/index.js";
import { listDevices } from "../../src/vulkan/index.js";

const PROGRAM = fileURLToPath(new URL("../../bench/main.js", import.meta.url));

function bench(...args: string[]) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync(process.execPath, [PROGRAM, ...args], { encoding: "utf8", env, timeout: 120_000 });
}

function hasSoftwareDevice(): boolean {
  try {
    return listDevices().some(({ properties, refusal }) => properties.type === "cpu" && refusal === null);
  } catch {
    return false;
  }
}

test("--list names every row without touching a device", () => {
  const { status, stdout } = bench("--list");
  assert.equal(status, 0);
  const listed = stdout
    .trim()
    .split("\n")
    .map((line) => line.split(" ")[0]);
  assert.deepEqual(
    listed,
    rows.map(({ name }) => name),
  );
});

test("--help explains, and a row that does not exist is named with exit code 1", () => {
  assert.match(bench("--help").stdout, /--js-peers/);
  const { status, stderr } = bench("--only", "no-such-row");
  assert.equal(status, 1);
  assert.match(stderr, /No row matches no-such-row/);
});

test("a short run on software Vulkan measures, prints a table and writes everything as JSON", (t) => {
  if (!hasSoftwareDevice()) return t.skip("missing: a software Vulkan device");
  const folder = mkdtempSync(join(tmpdir(), "pumice-bench-"));
  const file = join(folder, "out.json");
  const start = performance.now();
  const { status, stdout, stderr } = bench(
    ...["--quick", "--only", "alloc-free,record", "--device", "software", "--json", file],
  );
  const seconds = (performance.now() - start) / 1000;
  assert.equal(status, 0, stderr);
  assert.ok(seconds < 20, `it took ${seconds.toFixed(1)} s`);
  assert.match(stdout, /^Pumice .* on /);
  assert.match(stdout, /record-bound +[\d.]+ µs/);
  const { machine, isSoftware, rows: results } = JSON.parse(readFileSync(file, "utf8"));
  rmSync(folder, { recursive: true });
  assert.equal(isSoftware, true);
  assert.equal(machine.node, process.version);
  const names = results.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, ["record", "record-dependent", "record-run", "record-bound", "alloc-free"]);
  for (const { name, summary, samples, error, targets } of results) {
    assert.equal(error, null, name);
    assert.equal(samples.length, summary.count);
    assert.ok(summary.count >= 3 && summary.p10 > 0 && summary.p10 <= summary.median, name);
    assert.ok(summary.median <= summary.p90 && summary.p90 <= summary.max, name);
    assert.equal(targets[0].met, null, "targets are for a GPU");
  }
});

test("rows on tensors check their results on both engines, at any size", (t) => {
  const onCpu = bench("--quick", "--only", "cpu-softmax,cpu-adds,cpu-build,cpu-changing");
  assert.equal(onCpu.status, 0, onCpu.stderr);
  assert.match(onCpu.stdout, /on the CPU engine/);
  assert.match(onCpu.stdout, /cpu-adds-1000 +[\d.]+ µs/);
  if (!hasSoftwareDevice()) return t.skip("missing: a software Vulkan device");
  const onVulkan = bench("--quick", "--only", "tensor-gather,tensor-build,tensor-changing", "--device", "software");
  assert.equal(onVulkan.status, 0, onVulkan.stderr);
  assert.match(onVulkan.stdout, /tensor-gather: edges are 8 times shorter/);
});

/** Pipelines that another thread makes: the first use waits, and makes what nobody has started or what failed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { koffi, MAX_CALLS_AHEAD } from "../../../../src/engines/vulkan/driver/native.js";
import { PipelineAhead } from "../../../../src/engines/vulkan/pipelines/pipeline-ahead.js";
import { listGpus } from "../../../../src/runtime/open.js";
import { runNode } from "../../../support/subprocess.js";
import { testDevices } from "../../../support/tensors.js";

/** A pipeline whose driver is the test: it counts what is made here, and what is freed. */
function pipeline(start: ((out: DataView) => Promise<unknown>) | null) {
  const out = new DataView(new ArrayBuffer(8));
  const counts = { made: 0, done: 0 };
  const makeNow = () => {
    counts.made++;
    return 77;
  };
  const ahead = new PipelineAhead(out, start && (() => start(out)), makeNow, () => counts.done++);
  return { ahead, counts };
}

test("a handle that the driver has written is used", () => {
  const { ahead, counts } = pipeline(async (out) => {
    out.setBigUint64(0, 5n, true);
  });
  assert.equal(Number(ahead.value), 5);
  assert.equal(Number(ahead.value), 5);
  assert.deepEqual(counts, { made: 0, done: 1 });
});

test("where no call can be made, the first use makes it, once and at once", () => {
  const { ahead, counts } = pipeline(null);
  const began = performance.now();
  assert.equal(Number(ahead.value), 77);
  assert.equal(Number(ahead.value), 77);
  assert.ok(performance.now() - began < 1000);
  assert.deepEqual(counts, { made: 1, done: 1 });
  assert.equal(pipeline(null).ahead.giveUp(), null);
});

test("a driver that fails writes a null handle: made here, for the error", () => {
  const { ahead, counts } = pipeline(async (out) => {
    out.setBigUint64(0, 0n, true);
    throw new Error("failed");
  });
  assert.equal(Number(ahead.value), 77);
  assert.deepEqual(counts, { made: 1, done: 1 });
});

const hasVulkan = testDevices().some((device) => device !== "cpu");

test("koffi takes as many calls as we make", { skip: hasVulkan ? false : "missing: a Vulkan device" }, () => {
  assert.ok((koffi().config().max_async_calls ?? 0) > MAX_CALLS_AHEAD);
});

test("a program of 300 different kernels, recorded in one go, does not wait for calls that were refused", {
  skip: listGpus().some(({ isSoftware }) => !isSoftware) ? false : "software drivers compile one after the other",
}, async () => {
  const program = `
    import { concat, jit, ones } from "SRC/index.js";
    const parts = (x) => Array.from({ length: 300 }, (_, i) => x.at({ to: 5 + i }).add(i).cumsum({ axis: 0 }).at({ to: 1 }));
    const began = performance.now();
    const sums = await jit((x) => concat(parts(x)))(ones([400], { device: "vulkan" })).data();
    console.log(sums[299], performance.now() - began < 100_000);
  `;
  const { output } = await runNode(program, { env: { PUMICE_CACHE: "off" }, timeoutMs: 600_000 });
  assert.equal(output.trim(), "300 true");
});

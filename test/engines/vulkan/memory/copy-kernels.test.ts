/** Which copies a kernel does, decided without a device. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CopyKernels } from "../../../../src/engines/vulkan/memory/copy-kernels.js";
import type { Block } from "../../../../src/engines/vulkan/memory/memory-pool.js";
import type { PipelineCompiler } from "../../../../src/engines/vulkan/pipelines/pipeline-compiler.js";
import type { DevicePlan, PhysicalDevice } from "../../../../src/engines/vulkan/plan.js";

const block = (isMapped: boolean, address = 4096n) =>
  ({ mapped: isMapped ? new Uint8Array(0) : null, address }) as unknown as Block;
const [here, host] = [block(false), block(true)];

/** The copies of a GPU, or of a software device, and how many kernels were compiled for them. */
function copiesOf(type: "discrete" | "cpu") {
  let compiled = 0;
  const pipelines = {
    compile: () => {
      compiled++;
      return { localSize: [64, 1, 1] };
    },
  } as unknown as PipelineCompiler;
  const plan = { limits: { maxComputeWorkGroupCount: [1000, 1, 1] } } as unknown as DevicePlan;
  const copies = new CopyKernels({ copy: () => new Uint32Array() }, pipelines, plan, { type } as PhysicalDevice);
  return { copies, compiledSoFar: () => compiled };
}

test("on a GPU copies inside the device go by kernel, and so do small ones from and to the host", {
  skip: process.env.PUMICE_COPY,
}, () => {
  const { copies, compiledSoFar } = copiesOf("discrete");
  assert.ok(copies.kernelFor(here, here, 2 ** 30));
  assert.equal(copies.kernelFor(here, here, 2 ** 40), null, "more than a dispatch can count");
  assert.ok(copies.kernelFor(host, here, 64 * 1024));
  assert.ok(copies.kernelFor(here, host, 16));
  assert.equal(copies.kernelFor(host, here, 64 * 1024 + 1), null, "the copy engines are faster");
  assert.equal(copies.kernelFor(block(true, 0n), here, 16), null, "imported memory has no address");
  const kernel = copies.kernelFor(here, here, 16)!;
  assert.deepEqual([kernel.threads, kernel.maxGroups, compiledSoFar()], [64, 1000, 1]);
});

test("a software device copies by the driver's command", { skip: process.env.PUMICE_COPY }, () => {
  assert.equal(copiesOf("cpu").copies.kernelFor(here, here, 16), null);
});

test("without kernels of the engine, the driver's command is all there is", () => {
  const plan = {} as DevicePlan;
  const copies = new CopyKernels(null, {} as PipelineCompiler, plan, { type: "discrete" } as unknown as PhysicalDevice);
  assert.equal(copies.kernelFor(here, here, 16), null);
});

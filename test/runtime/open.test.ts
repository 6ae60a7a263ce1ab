/** Devices as the compiler sees them: what is taken from a driver's report, and what options put in its place. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { cpuProfile } from "../../src/compiler/target/profile.js";
import { openHostDevice } from "../../src/engines/host/device.js";
import type { VulkanDevice } from "../../src/engines/vulkan/device.js";
import type { PhysicalDevice } from "../../src/engines/vulkan/plan.js";
import { describeGpu, hostBackend, listGpus } from "../../src/runtime/open.js";
import { vulkanDevices } from "../support/devices.js";
import { gt650m } from "../support/physical-devices.js";

/** A device that was opened with some features, as far as the description looks at it. */
function opened(properties: Partial<PhysicalDevice>, features: readonly string[] = []): VulkanDevice {
  const whole = { ...gt650m, ...properties };
  return { plan: { limits: whole.limits, features }, properties: whole } as unknown as VulkanDevice;
}

test("limits are those of the driver, and a workgroup has as many threads as both limits allow", () => {
  const { limits } = gt650m;
  const { sharedBytes, maxThreads, maxColumns } = describeGpu(opened({}));
  assert.deepEqual([sharedBytes, maxThreads, maxColumns], [49152, 1024, 2147483647]);
  const wide = { ...limits, maxComputeWorkGroupSize: [1024, 8, 8] as const, maxComputeWorkGroupInvocations: 256 };
  assert.equal(describeGpu(opened({ limits: wide as never })).maxThreads, 256);
  const narrow = { ...limits, maxComputeWorkGroupSize: [128, 8, 8] as const };
  assert.equal(describeGpu(opened({ limits: narrow as never })).maxThreads, 128);
});

test("lanes exchange values only where the driver has shuffles", () => {
  const subgroup = { size: 64, min: 64, max: 64, operations: 0xff };
  assert.equal(describeGpu(opened({ subgroup })).subgroupSize, 64);
  assert.equal(describeGpu(opened({ subgroup: { ...subgroup, operations: 0xef } })).subgroupSize, 0);
  assert.equal(describeGpu(opened({ subgroup: { ...subgroup, operations: 0x10 } })).subgroupSize, 64);
});

test("atomic sums of floats are those the device was opened with", () => {
  assert.deepEqual(describeGpu(opened({})).atomicFloats, []);
  assert.deepEqual(describeGpu(opened({}, ["shaderBufferFloat64AtomicAdd"])).atomicFloats, ["f64"]);
  const both = ["shaderBufferFloat64AtomicAdd", "shaderBufferFloat32AtomicAdd"];
  assert.deepEqual(describeGpu(opened({}, both)).atomicFloats, ["f32", "f64"]);
});

test("a driver on the CPU is software, and smaller devices have fewer units", () => {
  const types = ["discrete", "virtual", "integrated", "cpu"] as const;
  const all = types.map((type) => describeGpu(opened({ type })));
  assert.deepEqual(
    all.map(({ isSoftware }) => isSoftware),
    [false, false, false, true],
  );
  const units = all.map((each) => each.units);
  assert.deepEqual(
    [...units].sort((a, b) => b - a),
    units,
  );
  assert.equal(new Set(units).size, 4);
});

test("signed zeros and NaNs are kept where the driver says it can", () => {
  const floatControls = { shaderSignedZeroInfNanPreserveFloat32: true };
  assert.deepEqual(describeGpu(opened({ floatControls })).floatControls, {
    32: { signedZeroInfNanPreserve: true },
    64: { signedZeroInfNanPreserve: false },
  });
});

test("the list names the devices that tests find, each by its number", () => {
  const usable = listGpus().filter(({ refusal }) => refusal === null);
  assert.deepEqual(
    usable.map(({ index, name, isSoftware }) => ({ index, name, isSoftware })),
    vulkanDevices().map(({ index, name, isSoftware }) => ({ index, name, isSoftware })),
  );
});

const host = openHostDevice({ threads: 3 });
after(() => host.close());

test("the CPU's units are its threads, unless a profile says otherwise", () => {
  const backend = hostBackend(host, { files: null });
  assert.equal(backend.id, "cpu");
  assert.equal(backend.target.language, "wasm");
  assert.equal(backend.units, 3);
  assert.equal(hostBackend(host, { profile: cpuProfile, files: null }).units, cpuProfile.tiles.units);
});

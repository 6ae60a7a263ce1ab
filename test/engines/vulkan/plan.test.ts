/** What is decided about a device, on descriptions of devices this machine does not have. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type DevicePlan,
  isSoftware,
  type PhysicalDevice,
  planDevice,
  rankDevice,
} from "../../../src/engines/vulkan/plan.js";
import { gt650m, h200, intel, lavapipe, moltenVk } from "../../support/physical-devices.js";

const MiB = 1024 * 1024;

function planned(device: PhysicalDevice, env: NodeJS.ProcessEnv = {}): DevicePlan {
  const result = planDevice(device, env);
  assert.ok(result.ok, result.ok ? "" : result.why);
  return result.plan;
}

function refusal(device: PhysicalDevice): string {
  const result = planDevice(device);
  assert.ok(!result.ok, `${device.name} should be refused`);
  return result.why;
}

test("a GT 650M of 2012 with driver 470 is usable: no extensions, pooled descriptors, SPIR-V 1.5", () => {
  const plan = planned(gt650m);
  assert.deepEqual(plan.extensions, []);
  assert.equal(plan.pushDescriptors, 0);
  assert.equal(plan.subgroupSizeControl, false);
  assert.equal(plan.memoryBudget, false);
  assert.deepEqual(plan.spirv, [1, 5]);
  assert.deepEqual(plan.memory, { device: 7, upload: 9, readback: 10, arguments: 9 });
  assert.equal(plan.deviceHeapBytes, 1024 * MiB);
  assert.equal(plan.blockBytes, 16 * MiB);
  assert.equal(plan.queueFamily, 0);
});

test("an H200 gets everything it has that Pumice wants, and nothing else", () => {
  const plan = planned(h200);
  assert.ok(plan.features.includes("shaderFloat64") && plan.features.includes("cooperativeMatrix"));
  assert.ok(!plan.features.includes("geometryShader"));
  assert.ok(plan.extensions.includes("VK_KHR_cooperative_matrix") && plan.extensions.includes("VK_EXT_memory_budget"));
  assert.ok(!plan.extensions.includes("VK_KHR_ray_query"));
  assert.equal(plan.deviceFault, true);
  assert.equal(plan.memoryBudget, true);
  assert.deepEqual(plan.spirv, [1, 6]);
  assert.equal(plan.blockBytes, 256 * MiB);
});

test("extensions that became core in the device's version are not enabled by name", () => {
  assert.ok(h200.extensions.includes("VK_KHR_maintenance4"));
  assert.ok(!planned(h200).extensions.includes("VK_KHR_maintenance4"));
  assert.ok(!planned(h200).extensions.includes("VK_EXT_subgroup_size_control"));
  assert.ok(planned(moltenVk).extensions.includes("VK_KHR_maintenance4"), "Vulkan 1.2 needs the extension");
});

test("every feature asked for is one the device has", () => {
  for (const device of [gt650m, h200, intel, moltenVk, lavapipe]) {
    for (const name of planned(device).features) assert.equal(device.features[name], true, `${device.name}: ${name}`);
  }
});

test("a 256 MiB window into device memory is not chosen for tensors nor for staging", () => {
  assert.deepEqual(planned(h200).memory, { device: 1, upload: 2, readback: 3, arguments: 4 });
  const listedFirst: PhysicalDevice = {
    ...h200,
    memoryTypes: [
      { flags: 7, heap: 2 },
      { flags: 1, heap: 0 },
      { flags: 6, heap: 1 },
      { flags: 14, heap: 1 },
    ],
  };
  assert.deepEqual(planned(listedFirst).memory, { device: 1, upload: 2, readback: 3, arguments: 0 });
});

test("integrated memory serves tensors from the plainest type and read-back from a cached one", () => {
  assert.deepEqual(planned(intel).memory, { device: 0, upload: 1, readback: 2, arguments: 1 });
  assert.equal(planned(intel).timestampMask, 2n ** 36n - 1n);
  assert.ok(!planned(intel).features.includes("shaderFloat64"));
});

test("MoltenVK's portability subset is enabled, its lazily allocated memory is not used", () => {
  const plan = planned(moltenVk);
  assert.ok(plan.extensions.includes("VK_KHR_portability_subset"));
  assert.deepEqual(plan.memory, { device: 0, upload: 1, readback: 1, arguments: 1 });
});

test("one memory type that is everything, as lavapipe has, serves all purposes", () => {
  const plan = planned(lavapipe);
  assert.deepEqual(plan.memory, { device: 0, upload: 0, readback: 0, arguments: 0 });
  assert.equal(plan.blockBytes, 32 * MiB);
  assert.equal(plan.pushDescriptors, 32);
  assert.equal(plan.timestampMask, 2n ** 64n - 1n);
});

test("device-coherent, protected and lazily allocated memory types are passed over", () => {
  const odd: PhysicalDevice = {
    ...h200,
    memoryTypes: [
      { flags: 0x01 | 0xc0, heap: 0 }, // AMD's device-coherent, device-uncached
      { flags: 0x21, heap: 0 }, // protected
      { flags: 0x11, heap: 0 }, // lazily allocated
      { flags: 0x06 | 0xc0, heap: 1 },
      { flags: 0x01, heap: 0 },
      { flags: 0x06, heap: 1 },
      { flags: 0x0e, heap: 1 },
    ],
  };
  assert.deepEqual(planned(odd).memory, { device: 4, upload: 5, readback: 6, arguments: 5 });
});

test("without a cached type, read-back takes an uncached one", () => {
  const uncached: PhysicalDevice = {
    ...h200,
    memoryTypes: [
      { flags: 1, heap: 0 },
      { flags: 6, heap: 1 },
    ],
  };
  assert.deepEqual(planned(uncached).memory, { device: 0, upload: 1, readback: 1, arguments: 1 });
});

test("a device whose host memory is never coherent is refused, since nothing here flushes caches", () => {
  const incoherent: PhysicalDevice = {
    ...h200,
    memoryTypes: [
      { flags: 1, heap: 0 },
      { flags: 10, heap: 1 },
    ],
  };
  assert.match(refusal(incoherent), /memory types/);
  assert.match(refusal({ ...h200, memoryTypes: [] }), /memory types/);
});

test("a Vulkan 1.1 driver is refused with both versions and the remedy", () => {
  assert.match(refusal({ ...gt650m, apiVersion: [1, 1, 182] }), /1\.1\.182.*1\.2.*update the driver/);
  assert.match(refusal({ ...gt650m, apiVersion: [1, 0, 5] }), /1\.0\.5/);
});

test("missing features are refused by name", () => {
  const features = { ...h200.features, timelineSemaphore: false, scalarBlockLayout: false };
  assert.match(refusal({ ...h200, features }), /timelineSemaphore, scalarBlockLayout/);
  assert.match(refusal({ ...h200, features: {} }), /bufferDeviceAddress/);
});

test("no compute queue is refused; a family of zero queues does not count", () => {
  assert.match(refusal({ ...h200, queueFamilies: [] }), /no compute queue/);
  assert.match(
    refusal({ ...h200, queueFamilies: [{ flags: 4, count: 2, timestampValidBits: 0 }] }),
    /no compute queue/,
  );
  assert.match(
    refusal({ ...h200, queueFamilies: [{ flags: 7, count: 0, timestampValidBits: 0 }] }),
    /no compute queue/,
  );
});

test("a universal queue is preferred, a compute-only one will do, and its timestamps are the ones that count", () => {
  assert.equal(planned(h200).queueFamily, 0);
  const families = [
    { flags: 4, count: 1, timestampValidBits: 0 },
    { flags: 6, count: 1, timestampValidBits: 0 },
    { flags: 7, count: 1, timestampValidBits: 40 },
  ];
  assert.equal(planned({ ...h200, queueFamilies: families }).queueFamily, 2);
  assert.equal(planned({ ...h200, queueFamilies: families }).timestampMask, 2n ** 40n - 1n);
  const alone = planned({ ...h200, queueFamilies: families.slice(0, 2) });
  assert.equal(alone.queueFamily, 1);
  assert.equal(alone.timestampMask, 0n, "no timestamps on this queue");
});

test("allocations are aligned to at least 256 bytes and to what the device asks", () => {
  assert.equal(planned(intel).alignment, 256);
  const strict = { ...h200, limits: { ...h200.limits, minStorageBufferOffsetAlignment: 1024 } };
  assert.equal(planned(strict).alignment, 1024);
});

test("blocks are a power of two between 4 and 256 MiB, whatever the heap", () => {
  for (const size of [0, 1, 64 * MiB, 300 * MiB, 3000 * MiB, 2 ** 45]) {
    const { blockBytes } = planned({ ...lavapipe, memoryHeaps: [{ size, flags: 1 }] });
    assert.ok(blockBytes >= 4 * MiB && blockBytes <= 256 * MiB, `${size} → ${blockBytes}`);
    assert.equal(Math.log2(blockBytes) % 1, 0);
  }
});

test("push descriptors are switched off by PUMICE_PUSH_DESCRIPTORS=0 and under GPU-assisted validation", () => {
  assert.equal(planned(h200).pushDescriptors, 32);
  assert.equal(planned(h200, { PUMICE_PUSH_DESCRIPTORS: "0" }).pushDescriptors, 0);
  assert.equal(planned(h200, { PUMICE_VALIDATE: "gpu" }).pushDescriptors, 0);
  assert.equal(planned(h200, { PUMICE_VALIDATE: "sync" }).pushDescriptors, 32);
});

test("planning changes nothing in the description and gives the same plan again", () => {
  const copy = structuredClone(h200);
  const plan = planned(h200);
  assert.deepEqual(h200, copy);
  assert.deepEqual(planned(h200), plan);
});

test("devices rank discrete, virtual, integrated, other, software; then by their own memory", () => {
  const of = (type: PhysicalDevice["type"], size: number): PhysicalDevice => ({
    ...h200,
    type,
    memoryHeaps: [
      { size, flags: 1 },
      { size: 2 ** 40, flags: 0 }, // memory of the host, which must not count
    ],
  });
  const best = [
    of("discrete", 2 ** 37),
    of("discrete", 2 ** 33),
    of("virtual", 2 ** 36),
    of("integrated", 2 ** 38),
    of("other", 2 ** 20),
    of("cpu", 2 ** 39),
  ];
  const ranks = best.map(rankDevice);
  assert.deepEqual(
    ranks,
    [...ranks].sort((a, b) => b - a),
  );
  assert.equal(new Set(ranks).size, ranks.length);
  assert.ok(rankDevice({ ...h200, memoryHeaps: [] }) > rankDevice(lavapipe));
});

test("only a CPU counts as software", () => {
  assert.deepEqual([gt650m, h200, intel, moltenVk, lavapipe].map(isSoftware), [false, false, false, false, true]);
});

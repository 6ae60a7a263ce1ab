/** The tuning of the two kinds of targets: bounds that other parts of the compiler, or Vulkan, set for its numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { INLINE_BUFFERS } from "../../../src/compiler/emit/spirv/emit-kernel.js";
import { cpuProfile, gpuProfile } from "../../../src/compiler/target/profile.js";

const isPowerOfTwo = (n: number) => n > 0 && Number.isInteger(Math.log2(n));

test("what lanes and vectors share out is powers of two, and lanes are the CPU's in number: one", () => {
  for (const { maxLanes, width, alignment, unroll, unrollWide, elementsPerLane } of [gpuProfile, cpuProfile]) {
    const numbers = [maxLanes, width, alignment, unroll, unrollWide, elementsPerLane];
    assert.deepEqual(numbers.filter(isPowerOfTwo), numbers);
  }
  assert.equal(cpuProfile.maxLanes, 1);
  assert.equal(cpuProfile.sort.lanes, 1);
});

test("a vector of the GPU is as long as the alignment that it needs", () => {
  assert.equal(gpuProfile.alignment, 4 * gpuProfile.width);
});

test("the GPU's tiles and sorts keep to the limits that Vulkan guarantees", () => {
  // The table of required limits: maxComputeSharedMemorySize and maxComputeWorkGroupInvocations.
  assert.ok(gpuProfile.tiles.sharedBytes <= 16384);
  assert.ok(gpuProfile.sort.sharedBytes <= 16384);
  assert.ok(gpuProfile.tiles.maxLanes <= 128);
});

test("a fused kernel has no more buffers than addresses fit the push block, of which Vulkan guarantees 128 bytes", () => {
  assert.ok(gpuProfile.maxBuffers <= INLINE_BUFFERS);
  assert.ok(8 * gpuProfile.maxBuffers <= 128);
});

test("a reduction is split only into parts that are worth a thread", () => {
  for (const { split } of [gpuProfile, cpuProfile]) assert.ok(split.leastExtent >= 2 * split.leastPerThread);
});

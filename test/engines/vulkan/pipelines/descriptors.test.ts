/** Descriptor pools against a driver that is strict about their capacity: more than any machine here binds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { newChunk } from "../../../../src/engines/suballocator.js";
import type { DeviceFunction, FunctionTable, Handle } from "../../../../src/engines/vulkan/driver/api.js";
import { readPointer, viewOf } from "../../../../src/engines/vulkan/driver/native.js";
import { addressWords, type Block } from "../../../../src/engines/vulkan/memory/memory-pool.js";
import { DescriptorSets } from "../../../../src/engines/vulkan/pipelines/descriptors.js";

interface Pool {
  sets: number;
  buffers: number;
}

/** Just enough of a driver: pools with a capacity, set layouts with a number of bindings. */
function strictDriver() {
  let next = 1;
  const pools = new Map<number, { limit: Pool; used: Pool }>();
  const layouts = new Map<number, number>();
  const put = (out: Handle, value: number) => new DataView(viewOf(out, 8)).setBigUint64(0, BigInt(value), true);
  const u32At = (at: Handle, offset: number) => new DataView(viewOf(at, offset + 4)).getUint32(offset, true);
  const create = (out: Handle) => {
    put(out, next);
    return next++;
  };
  const calls = {
    vkCreateDescriptorSetLayout: (_device: Handle, info: Handle, _: Handle, out: Handle) => {
      layouts.set(create(out), u32At(info, 20));
      return 0;
    },
    vkCreatePipelineLayout: (_device: Handle, _info: Handle, _: Handle, out: Handle) => {
      create(out);
      return 0;
    },
    vkCreateDescriptorPool: (_device: Handle, info: Handle, _: Handle, out: Handle) => {
      const size = readPointer(BigInt(info) + 32n);
      const limit = { sets: u32At(info, 20), buffers: u32At(size, 4) };
      pools.set(create(out), { limit, used: { sets: 0, buffers: 0 } });
      return 0;
    },
    vkAllocateDescriptorSets: (_device: Handle, info: Handle, out: Handle) => {
      const pool = pools.get(Number(readPointer(BigInt(info) + 16n)))!;
      const layout = Number(readPointer(readPointer(BigInt(info) + 32n)));
      const buffers = layouts.get(layout)!;
      if (pool.used.sets + 1 > pool.limit.sets || pool.used.buffers + buffers > pool.limit.buffers) return -1000069000;
      pool.used.sets++;
      pool.used.buffers += buffers;
      create(out);
      return 0;
    },
    vkResetDescriptorPool: (_device: Handle, pool: Handle) => {
      pools.get(Number(pool))!.used = { sets: 0, buffers: 0 };
      return 0;
    },
    vkDestroyDescriptorPool: (_device: Handle, pool: Handle) => {
      assert.ok(pools.delete(Number(pool)));
      return 0;
    },
    vkUpdateDescriptorSets: () => 0,
    vkCmdBindDescriptorSets: () => 0,
    vkDestroyPipelineLayout: () => 0,
    vkDestroyDescriptorSetLayout: () => 0,
  };
  return { pools, calls: calls as unknown as FunctionTable<DeviceFunction> };
}

const block: Block = { memory: 1, buffer: 2, ...addressWords(0n), size: 4096, mapped: null, isLarge: false };
const buffers = (count: number) =>
  Array.from({ length: count }, () => ({ allocation: newChunk(block, 0, 256), range: 4 }));

test("pools are never asked for more than they hold, whatever kernels alternate", () => {
  const { calls, pools } = strictDriver();
  const descriptors = new DescriptorSets(calls, 1, 0);
  for (let batch = 0; batch < 20; batch++) {
    const commands = 100 + batch;
    for (const count of [1, 700, 3, 512, 40, 2000, 1, 513, 64, 5000]) {
      for (let i = 0; i < 9; i++) descriptors.bind(commands, descriptors.layoutFor(count, 0), buffers(count));
    }
    if (batch % 3 === 2) for (let done = batch - 2; done <= batch; done++) descriptors.recycle(100 + done);
  }
  descriptors.destroy();
  assert.equal(pools.size, 0);
});

test("pools come back with their batch and are used again", () => {
  const { calls, pools } = strictDriver();
  const descriptors = new DescriptorSets(calls, 1, 0);
  const layout = descriptors.layoutFor(4, 16);
  for (let batch = 0; batch < 100; batch++) {
    for (let i = 0; i < 128; i++) descriptors.bind(7, layout, buffers(4));
    descriptors.recycle(7);
  }
  assert.ok(pools.size <= 2, `${pools.size} pools`);
  descriptors.destroy();
});

test("a pool that cannot be reset is destroyed, and another takes its place", () => {
  const { calls, pools } = strictDriver();
  const descriptors = new DescriptorSets(calls, 1, 0);
  const layout = descriptors.layoutFor(2, 0);
  descriptors.bind(7, layout, buffers(2));
  calls.vkResetDescriptorPool = () => -2;
  descriptors.recycle(7);
  assert.equal(pools.size, 0);
  descriptors.bind(7, layout, buffers(2));
  assert.equal(pools.size, 1);
});

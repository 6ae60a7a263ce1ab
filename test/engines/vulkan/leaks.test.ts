/**
 * Programs that never free anything: garbage collection alone must keep memory flat, in loops that await and in loops
 * that do not. And devices that run out of memory: collecting helps where it can, the error has figures where not.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { OutOfMemoryError } from "../../../src/core/errors.js";
import type { DeviceBuffer, VulkanDevice } from "../../../src/vulkan/index.js";
import { describeOnDevices, underValidation } from "../../support/devices.js";
import { FaultyDriver } from "../../support/fault-injection.js";
import { glsl, withoutGlslang } from "../../support/glsl.js";

const MiB = 1024 * 1024;
const ROUNDS = 200_000;

const setFirst = () =>
  glsl(`#version 460
    layout(push_constant) uniform P { uint n; };
    layout(binding=0) buffer A { uint a[]; };
    void main() { a[0] = n; }`);

interface Sample {
  readonly reserved: number;
  readonly used: number;
  readonly resident: number;
  readonly heap: number;
}

const sample = (device: VulkanDevice): Sample => ({
  reserved: device.stats().reservedBytes,
  used: device.stats().usedBytes,
  resident: process.memoryUsage.rss(),
  heap: process.memoryUsage().heapUsed,
});

/**
 * The second half of a run takes no more than the first, or than what the pool may hand out before it asks for a
 * collection (256 MiB) and two blocks; how far V8 lets it come to that is chance.
 */
function assertFlat(samples: Sample[], device: VulkanDevice, label: string): void {
  const half = Math.ceil(samples.length / 2);
  const most = (part: Sample[], key: keyof Sample) => Math.max(...part.map((one) => one[key]));
  const [start] = samples as [Sample];
  for (const [key, slack, ceiling] of [
    ["reserved", 32 * MiB, 320 * MiB + 2 * device.plan.blockBytes],
    ["used", 32 * MiB, 320 * MiB],
    ["resident", 64 * MiB, start.resident + 448 * MiB],
    ["heap", 64 * MiB, 0],
  ] as const) {
    const [first, second] = [most(samples.slice(0, half), key), most(samples.slice(half), key)];
    const bound = Math.max(first + slack, ceiling);
    assert.ok(second <= bound, `${label}: ${key} grew from ${first / MiB} to ${second / MiB} MiB`);
  }
}

describeOnDevices("leaks", underValidation("too many rounds") || withoutGlslang, (which) => {
  const opened = async (memoryLimit?: number) => {
    const driver = new FaultyDriver(memoryLimit === undefined ? {} : { memoryLimit });
    const device = await which.open({ interpose: driver.interpose });
    return { driver, device };
  };
  const closeAndCheck = async (device: VulkanDevice, driver: FaultyDriver) => {
    await device.close();
    assert.deepEqual(driver.liveObjects, {});
    assert.deepEqual(driver.violations, []);
  };

  test(`${ROUNDS} buffers allocated, used and dropped without one await stay within bounds`, async () => {
    const { device, driver } = await opened();
    const kernel = device.kernel(setFirst());
    const push = new Uint32Array(1);
    const samples: Sample[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      const buffer = device.allocUninitialized(8192);
      push[0] = i;
      kernel.run({ buffers: [buffer], push, groups: [1] });
      if (i % 5000 === 4999) {
        samples.push(sample(device));
        assert.equal(new Uint32Array(buffer.readSync().buffer)[0], i, "and the result is right");
      }
    }
    assertFlat(samples, device, "synchronous");
    assert.ok(Math.max(...samples.map(({ reserved }) => reserved)) < 1024 * MiB);
    await closeAndCheck(device, driver);
  });

  test(`${ROUNDS} buffers allocated, used and dropped in an asynchronous loop stay within bounds`, async () => {
    const { device, driver } = await opened();
    const kernel = device.kernel(setFirst());
    const push = new Uint32Array(1);
    const samples: Sample[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      const buffer = device.alloc(8192);
      push[0] = i;
      kernel.run({ buffers: [buffer], push, groups: [1] });
      if (i % 50 === 49) await device.finish();
      if (i % 5000 === 4999) {
        samples.push(sample(device));
        assert.equal(new Uint32Array((await buffer.read()).buffer)[0], i, "and the result is right");
      }
    }
    assertFlat(samples, device, "asynchronous");
    await closeAndCheck(device, driver);
  });

  test("everything a round makes is dropped: uploads, reads nobody awaits, kernels, profiles", async () => {
    const { device, driver } = await opened();
    const samples: Sample[] = [];
    for (let i = 0; i < 4000; i++) {
      const buffer = device.upload(new Uint8Array(2000).fill(i));
      device.kernel(setFirst()).run({ buffers: [buffer], push: new Uint32Array([i]), groups: [1] });
      void buffer.read();
      if (i % 40 === 39) await device.profile(() => device.alloc(100).readSync());
      if (i % 10 === 9) await device.finish();
      if (i % 200 === 199) samples.push(sample(device));
    }
    assertFlat(samples, device, "mixed");
    assert.equal(device.stats().pipelines, 1);
    const { "query pool": queries = 0, "command pool": commands = 0, memory = 0 } = driver.liveObjects;
    assert.ok(queries <= 2 && commands <= 40 && memory <= 64, JSON.stringify(driver.liveObjects));
    await closeAndCheck(device, driver);
  });

  test("buffers held by nothing but a closure, a cycle or a pending promise's past are collected", async () => {
    const { device, driver } = await opened();
    const make = () => {
      for (let i = 0; i < 100; i++) {
        const cycle: { buffer: DeviceBuffer; self?: unknown } = { buffer: device.alloc(1000) };
        cycle.self = cycle;
        void Promise.resolve(cycle).then(({ buffer }) => buffer.byteLength);
      }
    };
    make();
    await new Promise((resolve) => setImmediate(resolve));
    device.collect();
    assert.ok(device.stats().buffers <= 2, `${device.stats().buffers} buffers`);
    await closeAndCheck(device, driver);
  });

  test("a buffer that is still held is never taken back", async () => {
    const { device, driver } = await opened();
    const kept = Array.from({ length: 50 }, (_, i) => device.upload(new Uint32Array([i])));
    for (let i = 0; i < 5000; i++) {
      device.upload(new Uint32Array([0xffffffff]));
      if (i % 1000 === 0) device.collect();
    }
    kept.forEach((buffer, i) => {
      assert.equal(new Uint32Array(buffer.readSync().buffer)[0], i);
    });
    await closeAndCheck(device, driver);
  });

  test("dropped buffers make room for new ones on a device that is nearly full, without an await", async () => {
    const limit = 512 * MiB;
    const { device, driver } = await opened(limit);
    const kernel = device.kernel(setFirst());
    for (let i = 0; i < 60; i++) {
      const buffer = device.allocUninitialized(50 * MiB);
      kernel.run({ buffers: [buffer], push: new Uint32Array([i]), groups: [1] });
      if (i % 10 === 9) {
        device.finishSync();
        assert.ok(driver.memoryBytes <= limit);
      }
    }
    await closeAndCheck(device, driver);
  });

  test("mixed sizes, all dropped, never exhaust a small device", async () => {
    const { device, driver } = await opened(256 * MiB);
    const sizes = [1000, 3 * MiB, 70_000, 20 * MiB, 5 * MiB, 300, 33 * MiB, 12 * MiB];
    for (let i = 0; i < 400; i++) device.allocUninitialized(sizes[i % sizes.length]! + 977 * i);
    await closeAndCheck(device, driver);
  });

  test("buffers that are all kept end in OutOfMemoryError with figures; freeing some makes it work again", async () => {
    const limit = 512 * MiB;
    const { device, driver } = await opened(limit);
    const kept: DeviceBuffer[] = [];
    assert.throws(
      () => {
        for (let i = 0; i < 100; i++) kept.push(device.alloc(50 * MiB));
      },
      (error: unknown) => {
        assert.ok(error instanceof OutOfMemoryError, String(error));
        assert.match(error.message, /vkAllocateMemory failed: VK_ERROR_OUT_OF_DEVICE_MEMORY/);
        assert.match(error.message, new RegExp(`${kept.length} buffers`), "how many there are");
        assert.match(error.message, /\d{9} bytes in/, "what they hold");
        assert.match(error.message, new RegExp(`of ${device.plan.deviceHeapBytes}`), "what there is");
        return true;
      },
    );
    assert.ok(kept.length >= 8, `${kept.length} buffers of 50 MiB fit into 512`);
    const small = device.upload(new Uint8Array([1, 2, 3]));
    assert.deepEqual([...small.readSync()], [1, 2, 3], "small things still fit");
    for (const buffer of kept.splice(0, 3)) buffer.dispose();
    const again = device.alloc(50 * MiB);
    assert.equal(again.byteLength, 50 * MiB);
    // A larger one needs the freed blocks to go back to the driver first.
    kept.splice(0, 3);
    const larger = device.alloc(90 * MiB);
    assert.equal(larger.byteLength, 90 * MiB);
    await closeAndCheck(device, driver);
  });

  test("a device so full that nothing can be staged still says so in words, and recovers", async () => {
    const { device, driver } = await opened(64 * MiB);
    const kept: DeviceBuffer[] = [];
    assert.throws(() => {
      for (;;) kept.push(device.allocUninitialized(2 * MiB));
    }, OutOfMemoryError);
    const last = kept.at(-1)!;
    try {
      last.write(new Uint8Array(2 * MiB).fill(5));
      assert.equal(last.readSync()[7], 5);
    } catch (error) {
      assert.ok(error instanceof OutOfMemoryError, String(error));
    }
    for (const buffer of kept.splice(0, 24)) buffer.dispose();
    device.trim();
    last.write(new Uint8Array(2 * MiB).fill(6));
    assert.equal(last.readSync()[2 * MiB - 1], 6);
    await closeAndCheck(device, driver);
  });

  test("devices opened and closed in a row leave nothing in this process", async () => {
    const driver = new FaultyDriver();
    let early = 0;
    for (let i = 0; i < 60; i++) {
      const device = await which.open({ interpose: driver.interpose });
      device.kernel(setFirst()).run({ buffers: [device.alloc(4)], push: new Uint32Array(1), groups: [1] });
      await device.close();
      if (i === 20) early = process.memoryUsage.rss();
    }
    assert.deepEqual(driver.liveObjects, {});
    assert.ok(process.memoryUsage.rss() - early < 100 * MiB, `${(process.memoryUsage.rss() - early) / MiB} MiB more`);
  });
});

/** Host memory the device copies to and from directly: the same bytes as by staging, at every end of its life. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, DisposedError, PumiceError, UnsupportedError } from "../../../../src/core/errors.js";
import { addressOfView } from "../../../../src/engines/vulkan/driver/native.js";
import { alignedBytes } from "../../../../src/engines/vulkan/memory/host-buffer.js";
import type { VulkanDevice } from "../../../../src/vulkan/index.js";
import { describeOnDevices, vulkanDevices } from "../../../support/devices.js";
import { FaultyDriver } from "../../../support/fault-injection.js";
import { withoutGlslang } from "../../../support/glsl.js";
import { groupsFor, spinKernel } from "../../../support/spin.js";

test("memory for import is aligned in place and length, and holds what was asked", () => {
  for (const alignment of [64, 4096, 65536]) {
    for (const size of [0, 1, alignment - 1, alignment, alignment + 1, 3 * alignment + 5]) {
      const { whole, bytes } = alignedBytes(size, alignment);
      assert.equal(addressOfView(whole) % alignment, 0);
      assert.equal(addressOfView(bytes), addressOfView(whole));
      assert.equal(whole.byteLength % alignment, 0);
      assert.equal(bytes.byteLength, size);
      assert.ok(whole.byteLength >= Math.max(1, size));
    }
  }
});

const canImport = (device: VulkanDevice) => device.plan.limits.minImportedHostPointerAlignment > 0;
const pattern = (length: number, seed: number) => Uint8Array.from({ length }, (_, i) => (i * 31 + seed) & 255);

describeOnDevices("host buffers", false, (which) => {
  const withDevice = (name: string, body: (device: VulkanDevice, driver: FaultyDriver) => unknown) =>
    test(name, async (t) => {
      const driver = new FaultyDriver();
      const device = await which.open({ interpose: driver.interpose });
      try {
        if (!canImport(device)) return t.skip("the driver cannot import host memory");
        await body(device, driver);
      } finally {
        await device.close();
      }
      assert.deepEqual(driver.liveObjects, {});
      assert.deepEqual(driver.violations, []);
    });

  for (const size of [0, 1, 5, 4096, 100_001]) {
    withDevice(`${size} bytes go both ways without staging memory`, async (device) => {
      const host = device.hostBuffer(size);
      assert.equal(host.byteLength, size);
      host.bytes.set(pattern(size, 1));
      const buffer = device.alloc(size);
      buffer.write(host.bytes);
      host.bytes.set(pattern(size, 2));
      assert.deepEqual(buffer.readSync(), pattern(size, 1), "the write had the bytes when it returned");
      buffer.write(pattern(size, 3));
      assert.equal(await buffer.read(host.bytes), host.bytes);
      assert.deepEqual(new Uint8Array(host.bytes), pattern(size, 3));
      buffer.write(pattern(size, 4));
      buffer.readSync(host.bytes);
      assert.deepEqual(new Uint8Array(host.bytes), pattern(size, 4));
      host.dispose();
    });
  }

  withDevice("a transfer through it takes no memory from the driver", async (device, driver) => {
    const host = device.hostBuffer(65536);
    const buffer = device.allocUninitialized(65536);
    device.finishSync();
    const before = driver.count("vkAllocateMemory");
    buffer.write(host.bytes);
    await buffer.read(host.bytes);
    assert.equal(driver.count("vkAllocateMemory"), before);
  });

  withDevice("after dispose its bytes are plain memory and transfers take the usual way", async (device) => {
    const host = device.hostBuffer(1000);
    host.bytes.set(pattern(1000, 5));
    const buffer = device.upload(host.bytes);
    host.dispose();
    host.dispose();
    host[Symbol.dispose]();
    assert.deepEqual(new Uint8Array(host.bytes), pattern(1000, 5));
    host.bytes.set(pattern(1000, 6));
    buffer.write(host.bytes);
    assert.deepEqual(await buffer.read(), pattern(1000, 6));
    await buffer.read(host.bytes);
    assert.deepEqual(new Uint8Array(host.bytes), pattern(1000, 6));
  });

  withDevice("disposing while a read into it is pending lets the read finish", async (device) => {
    const buffer = device.upload(pattern(50_000, 7));
    const host = device.hostBuffer(50_000);
    const asked = buffer.read(host.bytes);
    host.dispose();
    await asked;
    assert.deepEqual(new Uint8Array(host.bytes), pattern(50_000, 7));
  });

  withDevice("part of it, or a longer view of the memory it lies in, is transferred correctly", async (device) => {
    const host = device.hostBuffer(1000);
    const raw = host.bytes.buffer;
    const views = [
      host.bytes.subarray(0, 10),
      host.bytes.subarray(1, 900),
      host.bytes.subarray(999),
      // All there is from where it begins: more than was imported.
      new Uint8Array(raw, host.bytes.byteOffset),
      new Uint8Array(raw, 0, Math.min(64, raw.byteLength)),
    ];
    for (const view of views) {
      view.set(pattern(view.byteLength, 8));
      const buffer = device.upload(view);
      assert.deepEqual(buffer.readSync(), pattern(view.byteLength, 8));
      buffer.write(pattern(view.byteLength, 9));
      await buffer.read(view);
      assert.deepEqual(new Uint8Array(view), pattern(view.byteLength, 9));
    }
  });

  withDevice("dropping it gives the memory back to nobody: the driver has let go first", async (device, driver) => {
    const before = driver.liveObjects.memory ?? 0;
    (() => {
      for (let i = 0; i < 20; i++) device.upload(device.hostBuffer(4096).bytes).dispose();
    })();
    device.collect();
    device.finishSync();
    assert.ok((driver.liveObjects.memory ?? 0) - before < 20, `${driver.liveObjects.memory} allocations`);
  });

  withDevice("its memory cannot be transferred away from under the driver", (device) => {
    const { bytes } = device.hostBuffer(100);
    try {
      structuredClone(bytes.buffer, { transfer: [bytes.buffer as ArrayBuffer] }); // Node 20 copies, later ones throw
    } catch (error) {
      assert.equal((error as Error).name, "DataCloneError");
    }
    assert.equal(bytes.byteLength, 100);
  });

  withDevice("a size that is none, or that the machine does not have, is refused", (device) => {
    for (const size of [-1, 0.5, Number.NaN]) assert.throws(() => device.hostBuffer(size), ArgumentError);
    assert.throws(() => device.hostBuffer(2 ** 50), PumiceError);
  });

  test("after the device is closed its bytes stay, and disposing is harmless", async (t) => {
    const device = await which.open();
    if (!canImport(device)) {
      await device.close();
      return t.skip("the driver cannot import host memory");
    }
    const host = device.hostBuffer(10);
    host.bytes.fill(3);
    await device.close();
    host.dispose();
    assert.ok(host.bytes.every((byte) => byte === 3));
    assert.throws(() => device.hostBuffer(10), DisposedError);
  });

  test("a host buffer of one device is plain memory to another", async (t) => {
    const [a, b] = [await which.open(), await which.open()];
    if (canImport(a)) {
      const host = a.hostBuffer(100);
      host.bytes.set(pattern(100, 10));
      assert.deepEqual(b.upload(host.bytes).readSync(), pattern(100, 10));
    } else t.skip("the driver cannot import host memory");
    await Promise.all([a.close(), b.close()]);
  });

  test("where memory cannot be imported, UnsupportedError names the extension", async () => {
    const device = await which.open();
    if (!canImport(device)) assert.throws(() => device.hostBuffer(10), UnsupportedError);
    await device.close();
  });

  test("memory is let go of only when the device has passed its last use, also when a submission fails", {
    skip: withoutGlslang,
  }, async (t) => {
    const driver = new FaultyDriver();
    const device = await which.open({ interpose: driver.interpose });
    if (!canImport(device)) {
      await device.close();
      return t.skip("the driver cannot import host memory");
    }
    const groups = groupsFor(device, 50);
    const buffer = device.alloc(4);
    const host = device.hostBuffer(4);
    spinKernel(device).run({ buffers: [buffer], groups: [groups] });
    const asked = buffer.read(host.bytes); // in flight for a while
    const inFlight = device.stream.recordedValue;
    let completedThen = -1;
    driver.onCall = (name) => {
      if (name === "vkFreeMemory" && completedThen < 0) completedThen = device.stream.timeline.poll();
    };
    buffer.write(new Uint8Array(4)); // opens the next batch, which the disposal waits for
    host.dispose();
    driver.arm({ call: "vkEndCommandBuffer", result: -2, at: 1 });
    assert.throws(() => device.finishSync());
    assert.ok(completedThen === -1 || completedThen >= inFlight, "freed while the device was writing to it");
    await asked;
    driver.onCall = null;
    await device.close();
    assert.deepEqual(driver.liveObjects, {});
  });
});

test("there is a device whose host memory was tested", {
  skip: vulkanDevices().length === 0 && "missing: a Vulkan device",
}, () => {
  assert.ok(vulkanDevices().length > 0);
});

/** Kernels go when nobody holds them and the GPU has passed their last use; not before, and never twice. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { KEPT_KERNELS, KernelCache } from "../../src/engines/kernel-cache.js";
import type { Handle } from "../../src/engines/vulkan/driver/api.js";
import { describeOnDevices } from "../support/devices.js";
import { FaultyDriver } from "../support/fault-injection.js";
import { glsl, withoutGlslang } from "../support/glsl.js";

describe("the cache", () => {
  test("gives back what nobody holds, but for the last few asked for", () => {
    const released: number[] = [];
    const cache = new KernelCache<object, number>((resource) => released.push(resource));
    const held = {};
    cache.add("held", held, -1);
    for (let i = 0; i < 3 * KEPT_KERNELS; i++) cache.add(`kernel ${i}`, {}, i);
    assert.equal(cache.find("held"), held);
    gcAndSweep(cache);
    // The last 63, and the one held.
    assert.equal(cache.size, KEPT_KERNELS);
    assert.deepEqual(
      released.sort((a, b) => a - b),
      Array.from({ length: 2 * KEPT_KERNELS + 1 }, (_, i) => i),
    );
    assert.equal(cache.find("kernel 0"), undefined);
    assert.equal(cache.find("held"), held);
    cache.close();
    assert.equal(released.length, 2 * KEPT_KERNELS + 1, "closing gives nothing back");
  });

  test("collects garbage by itself before there are many", () => {
    let live = 0;
    let most = 0;
    const cache = new KernelCache<object, number>(() => live--);
    for (let i = 0; i < 3000; i++) {
      cache.add(`kernel ${i}`, { large: i }, i);
      most = Math.max(most, ++live);
    }
    assert.equal(cache.size, live);
    assert.ok(most < 600, `${most} at a time`);
    cache.close();
  });

  test("a key whose kernel was collected takes another", () => {
    const released: string[] = [];
    const cache = new KernelCache<object, string>((resource) => released.push(resource));
    (() => cache.add("key", {}, "first"))();
    for (let i = 0; i < KEPT_KERNELS; i++) cache.add(`other ${i}`, {}, "other");
    gcAndSweep(cache);
    const second = {};
    cache.add("key", second, "second");
    assert.equal(cache.find("key"), second);
    gcAndSweep(cache);
    assert.deepEqual(
      released.filter((resource) => resource !== "other"),
      ["first"],
    );
    assert.equal(cache.find("key"), second);
    cache.close();
  });
});

/** A full collection, by way of another cache: they share V8's collector. */
function gcAndSweep(cache: { sweep(): void }): void {
  const other = new KernelCache<object, null>(() => {});
  for (let i = 0; i <= 256; i++) other.add(`${i}`, {}, null);
  other.close();
  cache.sweep();
}

const module = () =>
  glsl(`#version 460
    layout(constant_id = 0) const uint n = 1;
    layout(binding=0) buffer A { uint a[]; };
    void main() { for (uint i = 0; i < 400000u; i++) a[0] = a[0] * 3u + n; }`);

describeOnDevices("pipelines", withoutGlslang, (which) => {
  test("are destroyed when nobody holds them, and not while they are recorded or running", async () => {
    const driver = new FaultyDriver();
    const device = await which.open({ interpose: driver.interpose });
    const out = device.alloc(4);
    let bound: Handle = 0;
    const destroyed: { readonly pipeline: Handle; readonly after: number }[] = [];
    driver.onCall = (name, [, second, third]) => {
      if (name === "vkCmdBindPipeline") bound = third!;
      const after = device.stream.timeline.completed;
      if (name === "vkDestroyPipeline") destroyed.push({ pipeline: second!, after });
    };
    const forget = () => {
      for (let i = 0; i < KEPT_KERNELS; i++) device.kernel(module(), { specialization: { 0: 100 + i } });
      device.collect();
    };
    (() => device.kernel(module(), { specialization: { 0: 7 } }).run({ buffers: [out], groups: [1] }))();
    const used = bound;
    const value = device.stream.recordedValue;
    forget();
    const isGone = () => destroyed.some(({ pipeline }) => pipeline === used);
    assert.ok(!isGone(), "recorded and not submitted");
    device.stream.flush();
    device.collect();
    await device.finish();
    device.collect();
    assert.ok(isGone(), "the GPU is done with it");
    for (const { pipeline, after } of destroyed)
      if (pipeline === used) assert.ok(after >= value, `${after} of ${value}`);
    assert.equal(device.stats().pipelines, KEPT_KERNELS);
    // Compiled anew, it computes the same: 7 (3^n - 1) / 2 in words.
    const again = device.alloc(4);
    device.kernel(module(), { specialization: { 0: 7 } }).run({ buffers: [again], groups: [1] });
    assert.deepEqual(again.readSync(), out.readSync());
    driver.onCall = null;
    await device.close();
    assert.deepEqual(driver.liveObjects, {});
    assert.deepEqual(driver.violations, []);
  });

  test("made on another thread and never used go as well", async () => {
    const driver = new FaultyDriver();
    const device = await which.open({ interpose: driver.interpose });
    for (let i = 0; i < KEPT_KERNELS + 8; i++) {
      device.kernel(module(), { specialization: { 0: i }, ahead: true });
    }
    // The driver under test hears of a pipeline when the event loop does.
    while (driver.liveObjects.pipeline !== KEPT_KERNELS + 8) await setTimeout(5);
    device.collect();
    assert.equal(device.stats().pipelines, KEPT_KERNELS);
    await device.close();
    assert.deepEqual(driver.liveObjects, {});
    assert.deepEqual(driver.violations, []);
  });
});

/** Waiting for a timeline without a device: a thread looks first, then sleeps for a small part of the time it has waited. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { viewOf } from "../../../../src/engines/vulkan/driver/native.js";
import { validationMode } from "../../../../src/engines/vulkan/driver/validation.js";
import { Timeline } from "../../../../src/engines/vulkan/submission/timeline.js";

/** Under the validation layer no thread sleeps in the driver but the main one: others wait for a time. */
const isLayered = validationMode() !== undefined;
const LAYERED_MS = 20;

/** A driver whose semaphore is at 1 after so many sleeps, and the times it was told to sleep for. */
function driver(sleeps: number) {
  const naps: number[] = [];
  const began = performance.now();
  const isDone = () => naps.length >= sleeps || (isLayered && performance.now() - began > LAYERED_MS);
  const sleep = (_device: unknown, _info: unknown, ns: number) => {
    naps.push(ns);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ns / 1e6);
    return 2;
  };
  const calls = {
    vkCreateSemaphore: () => 0,
    vkDestroySemaphore: () => 0,
    vkGetSemaphoreCounterValue: (_device: unknown, _semaphore: unknown, address: number) => {
      new DataView(viewOf(address, 8)).setUint32(0, isDone() ? 1 : 0, true);
      return 0;
    },
    vkWaitSemaphores: Object.assign(sleep, { async: async (...given: Parameters<typeof sleep>) => sleep(...given) }),
  };
  return { timeline: new Timeline(calls as never, 1, "software", () => {}), naps };
}

/** Sleeps grow with the time waited, and none is longer than a part of all of it. */
function assertShort(naps: readonly number[], part: number, waited: number): void {
  assert.deepEqual(naps, [...naps].sort((a, b) => a - b)); // biome-ignore format: one line
  const longest = Math.max(...naps);
  assert.ok(longest > naps[0]! && longest < (1e6 * waited) / part, `${naps}, in ${waited} ms`);
}

test("a blocked thread sleeps for a small part of the time it has waited", () => {
  const began = performance.now();
  const { timeline, naps } = driver(60);
  timeline.waitSync(1);
  assert.equal(timeline.completed, 1);
  assertShort(naps, 32, performance.now() - began);
});

test("so does one that gives way to the event loop", async () => {
  const began = performance.now();
  const { timeline, naps } = driver(60);
  await timeline.wait(1);
  assert.equal(timeline.completed, 1);
  if (isLayered) assert.deepEqual(naps, []);
  else assertShort(naps, 16, performance.now() - began);
  await timeline.destroy();
});

test("what is done already is not waited for", () => {
  const { timeline, naps } = driver(0);
  timeline.waitSync(1);
  assert.deepEqual(naps, []);
});

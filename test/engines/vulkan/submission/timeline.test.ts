/** Waiting for a timeline without a device: a thread looks first, then sleeps for a small part of the time it has waited. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { viewOf } from "../../../../src/engines/vulkan/driver/native.js";
import { validationMode } from "../../../../src/engines/vulkan/driver/validation.js";
import { Timeline } from "../../../../src/engines/vulkan/submission/timeline.js";

/** Under the validation layer no thread sleeps in the driver but the main one: others wait for a time. */
const isLayered = validationMode() !== undefined;
const LAYERED_MS = 20;

/** A sleep, and how long the thread had waited before it, in nanoseconds. */
interface Nap {
  readonly ns: number;
  readonly waited: number;
}
/** No sleep is shorter. */
const LEAST_NS = 50_000;

/** A driver whose semaphore is at 1 after so many sleeps, and the times it was told to sleep for. */
function driver(sleeps: number) {
  const naps: Nap[] = [];
  const began = performance.now();
  const isDone = () => naps.length >= sleeps || (isLayered && performance.now() - began > LAYERED_MS);
  const sleep = (_device: unknown, _info: unknown, ns: number) => {
    naps.push({ ns, waited: 1e6 * (performance.now() - began) });
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

/** Sleeps grow with the time waited, and none is longer than a part of what was waited before it. */
function assertShort(naps: readonly Nap[], part: number): void {
  const times = naps.map(({ ns }) => ns);
  assert.deepEqual(times, [...times].sort((a, b) => a - b)); // biome-ignore format: one line
  assert.ok(times.at(-1)! > times[0]!, `${times}`);
  for (const { ns, waited } of naps) assert.ok(ns <= Math.max(LEAST_NS, waited / part), `${ns} after ${waited} ns`);
}

test("a blocked thread sleeps for a small part of the time it has waited", () => {
  const { timeline, naps } = driver(60);
  timeline.waitSync(1);
  assert.equal(timeline.completed, 1);
  assertShort(naps, 32);
});

test("so does one that gives way to the event loop", async () => {
  const { timeline, naps } = driver(60);
  await timeline.wait(1);
  assert.equal(timeline.completed, 1);
  if (isLayered) assert.deepEqual(naps, []);
  else assertShort(naps, 16);
  await timeline.destroy();
});

test("what is done already is not waited for", () => {
  const { timeline, naps } = driver(0);
  timeline.waitSync(1);
  assert.deepEqual(naps, []);
});

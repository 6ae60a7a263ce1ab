/** Batches without a device: when they are made, waited for and reused, and what a driver's refusals leave behind. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Batch, Batches } from "../../../../src/engines/vulkan/submission/batches.js";

/** A driver that counts its calls and refuses some. */
function driver(refused: readonly string[] = []) {
  const count = new Map<string, number>();
  const calls = new Proxy({} as never, {
    get: (_, name: string) => () => {
      count.set(name, (count.get(name) ?? 0) + 1);
      return refused.includes(name) ? -1 : 0;
    },
  });
  const recycled: unknown[] = [];
  const batches = new Batches({ calls, handle: 1, queueFamily: 0 }, (commands) => recycled.push(commands));
  return { batches, recycled, called: (name: string) => count.get(name) ?? 0 };
}
const never = () => assert.fail("it waited");
const submitted = (batches: Batches, value: number): Batch => {
  const batch = batches.take(never);
  batch.value = value;
  batches.inFlight.push(batch);
  return batch;
};

test("a batch is reused when the timeline has passed it, with nothing left of its work", () => {
  const { batches, recycled, called } = driver();
  const freed: unknown[] = [];
  const first = submitted(batches, 1);
  let done = 0;
  first.names.push("add");
  first.onDone.push(() => done++);
  const allocation = {} as never;
  first.borrowed.push({ pool: { free: (each: unknown) => freed.push(each) } as never, allocation });
  batches.retire(0);
  assert.deepEqual([done, freed.length, batches.inFlight.length], [0, 0, 1]);
  batches.retire(1);
  assert.deepEqual([done, freed, recycled.length], [1, [allocation], 1]);
  assert.equal(batches.take(never), first);
  assert.deepEqual([first.names, first.onDone, first.borrowed], [[], [], []]);
  assert.equal(called("vkCreateCommandPool"), 1);
});

test("only 32 are in flight: then the oldest is waited for", () => {
  const { batches } = driver();
  const all = Array.from({ length: 32 }, (_, i) => submitted(batches, i + 1));
  const waited: number[] = [];
  const next = batches.take((value) => {
    waited.push(value);
    batches.retire(value);
  });
  assert.deepEqual(waited, [1]);
  assert.equal(next, all[0]);
});

test("a pool that cannot be reset is destroyed, and makes room for another", () => {
  const { batches, called } = driver(["vkResetCommandPool"]);
  const first = submitted(batches, 1);
  batches.retire(1);
  assert.equal(called("vkDestroyCommandPool"), 1);
  assert.notEqual(batches.take(never), first);
});

test("a command buffer that is refused takes its pool with it", () => {
  const { batches, called } = driver(["vkAllocateCommandBuffers"]);
  assert.throws(() => batches.take(never), /vkAllocateCommandBuffers/);
  assert.deepEqual([called("vkCreateCommandPool"), called("vkDestroyCommandPool")], [1, 1]);
});

test("unfinished work is named, each name once and six at most", () => {
  const { batches } = driver();
  assert.equal(batches.unfinishedWork(0), "nothing");
  submitted(batches, 1).names.push("old");
  submitted(batches, 2).names.push("a", "b", "a");
  assert.equal(batches.unfinishedWork(1), "a, b");
  submitted(batches, 3).names.push("c", "d", "e", "f", "g", "h");
  assert.equal(batches.unfinishedWork(1), "a, b, c, d, e, f and 2 more");
});

test("destroying runs what waits, and destroys the open one too", () => {
  const { batches, called } = driver();
  let done = 0;
  submitted(batches, 1).onDone.push(() => done++);
  const open = batches.take(never);
  open.onDone.push(() => done++);
  batches.destroy(open);
  assert.deepEqual([done, called("vkDestroyCommandPool"), batches.inFlight.length], [2, 2, 0]);
});

/** Leases: what an object stands for is released once, when the object is gone or given up, whichever is first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Lease, type LeaseGroup, Leases } from "../../src/engines/leases.js";
import type { LifeSign } from "../../src/engines/recent-objects.js";
import { randomFrom } from "../support/random.js";

const nothing = () => {};

test("ending a lease releases once, however often it is ended", () => {
  const leases = new Leases();
  let released = 0;
  const object = {};
  const lease = leases.add(object, () => released++);
  assert.equal(leases.size, 1);
  leases.end(lease);
  leases.end(lease);
  leases.sweep();
  assert.equal(released, 1);
  assert.equal(leases.size, 0);
  leases.close();
});

test("leases ended in any order leave the others alone", () => {
  const leases = new Leases();
  const objects = Array.from({ length: 100 }, () => ({}));
  const released = new Set<number>();
  const all = objects.map((object, i) => leases.add(object, () => assert.ok(!released.has(i) && released.add(i))));
  for (const i of [99, 0, 50, 98, 1, 97]) leases.end(all[i] as Lease);
  assert.deepEqual(
    [...released].sort((a, b) => a - b),
    [0, 1, 50, 97, 98, 99],
  );
  assert.equal(leases.size, 94);
  for (const lease of all) leases.end(lease);
  assert.equal(released.size, 100);
  assert.equal(objects.length, 100);
  leases.close();
});

test("what belongs to collected objects is released by a collection in the middle of synchronous code", () => {
  const leases = new Leases();
  let released = 0;
  const kept = Array.from({ length: 10 }, () => ({}));
  for (const object of kept) leases.add(object, () => assert.fail("still held"));
  (() => {
    for (let i = 0; i < 1000; i++) leases.add({ i }, () => released++);
  })();
  const swept = leases.collect();
  assert.ok(released >= 990, `${released} of 1000 released`);
  assert.equal(swept, released);
  assert.equal(leases.size, 10 + 1000 - released);
  assert.equal(kept.length, 10);
  leases.close();
});

test("V8's own collections release as well, once the event loop turns", async () => {
  const leases = new Leases();
  let released = 0;
  (() => {
    for (let i = 0; i < 1000; i++) leases.add({ i }, () => released++);
  })();
  const deadline = performance.now() + 20_000;
  while (released < 900 && performance.now() < deadline) {
    const garbage = Array.from({ length: 200_000 }, (_, i) => ({ i }));
    assert.equal(garbage.length, 200_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(released >= 900, `${released} of 1000 released`);
  leases.close();
});

test("after closing nothing is released any more, and ending is harmless", () => {
  const leases = new Leases();
  const objects = [{}, {}, {}];
  const all = objects.map((object) => leases.add(object, () => assert.fail("the device is gone")));
  leases.close();
  for (const lease of all) leases.end(lease);
  leases.sweep();
  leases.collect();
  assert.equal(leases.size, 0);
  assert.equal(objects.length, 3);
  leases.close();
});

test("a million leases made without an await do not pin their objects", () => {
  const leases = new Leases();
  const before = process.memoryUsage().heapUsed;
  let most = 0;
  for (let i = 0; i < 300_000; i++) {
    leases.end(leases.add({ payload: new Array(20).fill(i) }, nothing));
    if (i % 10_000 === 0) most = Math.max(most, process.memoryUsage().heapUsed - before);
  }
  assert.ok(most < 200 * 1024 * 1024, `${most} bytes`);
  leases.close();
});

test("a long loop without await lets go of what it no longer holds", () => {
  const leases = new Leases();
  let released = 0;
  for (let i = 0; i < 6000; i++) leases.add({ i }, () => released++);
  // Not `collect`, which would let go by itself: V8's own collections do not.
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  leases.sweep();
  assert.ok(released > 3000, `${released} of 6000 were released`);
  leases.close();
});

test("a loop without await releases after V8's own collections, which nobody asked for", () => {
  const leases = new Leases();
  let released = 0;
  let most = 0;
  // 300,000 leases with 400 MB of V8's heap: V8 must collect on the way.
  for (let i = 0; i < 300_000; i++) {
    leases.add({ payload: new Array(160).fill(i) }, () => released++);
    most = Math.max(most, leases.size);
  }
  assert.ok(released > 0 && most < 290_000, `${released} of 300,000 were released in the loop, ${most} were held`);
  leases.close();
});

test("whoever asks is told of sweeps that released something", () => {
  let sweeps = 0;
  const leases = new Leases(() => sweeps++);
  const kept = {};
  leases.add(kept, nothing);
  leases.collect();
  assert.equal(sweeps, 0);
  (() => {
    for (let i = 0; i < 10; i++) leases.add({ i }, nothing);
  })();
  leases.collect();
  assert.equal(sweeps, 1);
  assert.ok(kept);
  leases.close();
});

// ---------------------------------------------------------------------------------------------- tiny buffers

/** A buffer whose memory is a number. */
class Numbered {
  group: LeaseGroup<number> | null = null;
  place = 0;
  lease: Lease | null = null;
  sign: LifeSign<Lease> | null = null;

  constructor(
    readonly leases: Leases<number>,
    readonly memory: number,
    keptBytes = 64,
  ) {
    leases.tie(this, memory, keptBytes);
  }

  attach(lease: Lease, sign: LifeSign<Lease> | null): void {
    this.lease = lease;
    this.sign = sign;
  }

  joinLast(group: LeaseGroup<number>): void {
    this.group = group;
    this.place = group.parts.length - 1;
  }

  dispose(): void {
    if (this.group) this.leases.leave(this.group, this.place);
    else if (this.lease) this.leases.end(this.lease);
  }
}

test("tiny buffers are freed one by one when they are disposed of, each once, and those of a group in any order", () => {
  const freed: number[] = [];
  const leases = new Leases<number>(nothing, (memory) => freed.push(memory));
  const buffers = Array.from({ length: 20 }, (_, i) => new Numbered(leases, i));
  assert.equal(leases.size, 20);
  for (const i of [19, 0, 8, 7, 7, 0]) buffers[i]?.dispose();
  assert.deepEqual(freed, [19, 0, 8, 7]);
  assert.equal(leases.size, 16);
  for (const buffer of buffers.reverse()) buffer.dispose();
  assert.deepEqual(
    freed.sort((a, b) => a - b),
    Array.from({ length: 20 }, (_, i) => i),
  );
  assert.equal(leases.size, 0);
  leases.close();
});

test("tiny buffers that nobody holds are freed by a collection once their group is gone; those in use stay", () => {
  const freed = new Set<number>();
  const leases = new Leases<number>(nothing, (memory) => {
    assert.ok(!freed.has(memory), "freed twice");
    freed.add(memory);
  });
  const kept: Numbered[] = [];
  (() => {
    for (let i = 0; i < 800; i++) {
      const buffer = new Numbered(leases, i);
      if (i % 80 === 0) kept.push(buffer);
      else if (i % 3 === 0) buffer.dispose();
    }
  })();
  leases.collect();
  // Each buffer in use keeps the seven of its group.
  assert.ok(freed.size >= 800 - 10 * 8, `${freed.size} freed`);
  for (const { memory } of kept) assert.ok(!freed.has(memory), `${memory} is in use`);
  assert.equal(leases.size, 800 - freed.size);
  for (const buffer of kept.splice(0)) buffer.dispose();
  leases.collect();
  // V8 may still hold the last one, and with it those of its group.
  assert.ok(freed.size >= 800 - 8, `${freed.size} freed`);
  assert.equal(leases.size, 800 - freed.size);
  leases.close();
});

test("a buffer that keeps much memory has a lease of its own, whatever its own size is", () => {
  const freed: number[] = [];
  const leases = new Leases<number>(nothing, (memory) => freed.push(memory));
  const tiny = new Numbered(leases, 1);
  (() => new Numbered(leases, 2, 1024 * 1024))();
  leases.collect();
  assert.deepEqual(freed, [2]);
  assert.ok(tiny.group);
  leases.close();
});

test("after closing, tiny buffers free nothing", () => {
  const leases = new Leases<number>(nothing, () => assert.fail("the device is gone"));
  const buffers = Array.from({ length: 10 }, (_, i) => new Numbered(leases, i));
  leases.close();
  for (const buffer of buffers) buffer.dispose();
  assert.equal(leases.size, 0);
});

// ---------------------------------------------------------------------------------------------- buffers that are not little

const LARGE = 16 * 1024;

test("large buffers dropped soon after they were made are freed by a collection of new objects; those in use stay", () => {
  const freed = new Set<number>();
  let sweeps = 0;
  const leases = new Leases<number>(
    () => sweeps++,
    (memory) => freed.add(memory),
  );
  const kept: Numbered[] = [];
  (() => {
    for (let i = 0; i < 1000; i++) {
      const buffer = new Numbered(leases, i, LARGE);
      if (i % 100 === 0) kept.push(buffer);
      else if (i % 3 === 0) buffer.dispose();
    }
  })();
  const before = freed.size;
  const released = leases.collectRecent();
  assert.ok(freed.size >= 989, `${freed.size} of 990 freed`);
  assert.equal(released, freed.size - before);
  assert.equal(sweeps, 1);
  assert.equal(leases.size, 1000 - freed.size);
  for (const { memory } of kept) assert.ok(!freed.has(memory), `${memory} is in use`);
  assert.equal(leases.collectRecent() + leases.collectRecent(), 1000 - freed.size - kept.length);
  // Old ones are freed by a collection of everything.
  kept.length = 0;
  leases.collect();
  assert.ok(freed.size >= 999);
  leases.close();
  assert.equal(leases.collectRecent(), 0);
});

test("whatever becomes of large buffers, none is freed while it is held, and each is freed once", () => {
  const random = randomFrom(7);
  const held = new Map<number, Numbered>();
  const freed = new Set<number>();
  const leases = new Leases<number>(nothing, (memory) => {
    assert.ok(!held.has(memory), `${memory} is held`);
    assert.ok(!freed.has(memory), `${memory} is freed twice`);
    freed.add(memory);
  });
  const some = () => [...held.keys()][random.below(held.size)] as number;
  for (let i = 0; i < 12_000; i++) {
    (() => held.set(i, new Numbered(leases, i, random.below(4) === 0 ? 64 : LARGE)))();
    const choice = random.below(4);
    if (choice > 0) held.delete(choice === 1 ? i : some());
    else if (held.size > 100) {
      const dropped = some();
      const buffer = held.get(dropped);
      held.delete(dropped);
      buffer?.dispose();
    }
    if (random.below(200) === 0) leases.collectRecent();
    if (random.below(1000) === 0) leases.sweep();
    if (random.below(2000) === 0) leases.collect();
  }
  held.clear();
  leases.collect();
  assert.ok(freed.size >= 12_000 - 16, `${freed.size} freed`);
  assert.equal(leases.size, 12_000 - freed.size);
  leases.close();
});

test("thousands of large buffers that nobody disposes of are let go without a collection that somebody asks for", () => {
  let freed = 0;
  const leases = new Leases<number>(nothing, () => freed++);
  for (let i = 0; i < 40_000; i++) new Numbered(leases, i, LARGE);
  assert.ok(freed > 20_000, `${freed} freed`);
  leases.close();
});

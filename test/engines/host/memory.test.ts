/** Buffers of the host device: contents, lifetimes, growth, limits, and garbage. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { inspect } from "node:util";
import { ArgumentError, DisposedError, OutOfMemoryError, SizeMismatchError } from "../../../src/core/errors.js";
import type { HostAllocation } from "../../../src/engines/host/allocation.js";
import { type HostDevice, openHostDevice } from "../../../src/engines/host/device.js";
import { randomFrom } from "../../support/random.js";
import { countRows } from "./kernels.js";

const MiB = 1024 * 1024;

describe("buffers", () => {
  const device = openHostDevice({ threads: 1 });
  after(() => device.close());
  const random = randomFrom(1);

  test("give back what was written, of any size and type", async () => {
    for (const size of [0, 1, 3, 64, 65, 1000, 100_000]) {
      const bytes = random.bytes(size);
      const buffer = device.upload(bytes);
      assert.deepEqual(await buffer.read(), bytes);
      const target = new Uint8Array(size);
      assert.equal(buffer.readSync(target), target);
      assert.deepEqual(target, bytes);
      assert.equal(buffer.byteLength, size);
    }
    const floats = device.upload(new Float32Array([1.5, -2]));
    assert.deepEqual(new Float32Array(floats.readSync().buffer), new Float32Array([1.5, -2]));
    assert.ok(floats.readSync().buffer instanceof ArrayBuffer, "a copy of one's own, not the shared memory");
  });

  test("begin at multiples of 64 and do not overlap", () => {
    const buffers = Array.from({ length: 200 }, (_, i) => device.upload(new Uint8Array(random.below(500)).fill(i)));
    for (const [i, buffer] of buffers.entries()) {
      assert.equal(buffer.address % 64, 0);
      assert.ok(buffer.readSync().every((byte) => byte === i));
    }
  });

  test("alloc gives zeros, also where something was before", () => {
    for (let round = 0; round < 50; round++) {
      const size = 1 + random.below(5000);
      const dirty = device.upload(new Uint8Array(size).fill(255));
      dirty.dispose();
      using clean = device.alloc(size);
      assert.ok(clean.readSync().every((byte) => byte === 0));
    }
  });

  test("parts are the same memory, which is there until the last of them has ended", () => {
    const bytes = random.bytes(1000);
    const before = device.stats().usedBytes;
    for (const start of [0, 1, 4, 64, 999]) {
      const buffer = device.upload(bytes);
      assert.ok(buffer.isUnshared);
      const part = buffer.part(start, 1000 - start);
      assert.equal(part.address, buffer.address + start);
      assert.ok(!buffer.isUnshared && !part.isUnshared);
      assert.ok(part.keptBytes >= 1000);
      const inner = part.part(0, 1);
      part.dispose();
      buffer.dispose();
      using other = device.upload(new Uint8Array(1000).fill(255));
      assert.deepEqual(inner.readSync(), bytes.slice(start, start + 1));
      const copy = device.alloc(1);
      copy.copyFrom(inner);
      assert.deepEqual(copy.readSync(), bytes.slice(start, start + 1));
      assert.throws(() => part.readSync(), DisposedError);
      for (const used of [inner, copy, other]) used.dispose();
    }
    assert.equal(device.stats().usedBytes, before);
    // Tiny buffers are freed together.
    const alone = device.alloc(1000);
    assert.ok(
      alone
        .part(3, 5)
        .readSync()
        .every((byte) => byte === 0),
      "pending zeros are written first",
    );
    device.collect();
    assert.ok(alone.isUnshared, "a part that nobody holds is collected");
  });

  test("copyFrom copies, within a device", () => {
    const [a, b] = [device.upload(random.bytes(100)), device.alloc(100)];
    b.copyFrom(a);
    assert.deepEqual(b.readSync(), a.readSync());
    const zero = device.alloc(100);
    b.copyFrom(zero);
    assert.ok(
      b.readSync().every((byte) => byte === 0),
      "the source's pending zeros are copied too",
    );
    const other = openHostDevice({ threads: 1 });
    assert.throws(() => other.alloc(100).copyFrom(a), ArgumentError);
    void other.close();
  });

  test("refuse bytes that do not fit", () => {
    const buffer = device.alloc(10);
    assert.throws(() => buffer.write(new Uint8Array(9)), SizeMismatchError);
    assert.throws(() => buffer.readSync(new Uint8Array(11)), SizeMismatchError);
    assert.throws(() => buffer.copyFrom(device.alloc(11)), SizeMismatchError);
    assert.throws(() => device.alloc(-1), ArgumentError);
    assert.throws(() => device.alloc(1.5), ArgumentError);
    assert.throws(() => device.upload("text" as never), ArgumentError);
  });

  test("say so when used after their end", () => {
    const buffer = device.upload(new Uint8Array(4));
    buffer.dispose();
    buffer.dispose();
    assert.ok(buffer.isDisposed);
    for (const use of [() => buffer.readSync(), () => buffer.write(new Uint8Array(4)), () => buffer.address]) {
      assert.throws(use, DisposedError);
    }
    const short = openHostDevice({ threads: 1 });
    const left = short.alloc(4);
    void short.close();
    assert.ok(left.isDisposed);
    assert.throws(() => left.readSync(), DisposedError);
    assert.throws(() => short.alloc(4), DisposedError);
    left.dispose();
  });

  test("show what they are", () => {
    assert.match(inspect(device.alloc(12)), /^HostAllocation \{ 12 bytes on .* \(1 thread\) \}$/);
    assert.match(inspect(device), /^HostDevice \{ .* \(1 thread\) \}$/);
  });
});

describe("the memory grows", () => {
  test("as buffers ask for it, and keeps what is in it", () => {
    const device = openHostDevice({ threads: 1 });
    const first = device.stats().reservedBytes;
    assert.ok(first <= 4 * MiB, "it starts small");
    const small = device.upload(new Uint8Array([1, 2, 3]));
    const held: HostAllocation[] = [];
    for (const size of [1, 3, 10, 40]) {
      const buffer = device.allocUninitialized(size * MiB);
      buffer.write(new Uint8Array(size * MiB).fill(size));
      held.push(buffer);
    }
    assert.ok(device.stats().reservedBytes > 54 * MiB);
    assert.deepEqual([...small.readSync()], [1, 2, 3]);
    for (const b of held) assert.deepEqual(b.readSync(), new Uint8Array(b.byteLength).fill(b.byteLength / MiB));
    void device.close();
  });

  test("past 2 GiB, where addresses look negative to a kernel", () => {
    const device = openHostDevice({ threads: 1 });
    const held = Array.from({ length: 9 }, () => device.allocUninitialized(256 * MiB));
    const counts = device.alloc(256 * MiB);
    assert.ok(counts.address > 2 ** 31);
    device.kernel(countRows).run({ buffers: [counts], length: 1000 });
    const first = device.memory.view(counts.address, 4004);
    assert.deepEqual([...new Int32Array(first.slice().buffer)], [...Array(1000).fill(1), 0]);
    assert.throws(() => device.alloc(2 * 1024 * MiB), OutOfMemoryError);
    for (const buffer of held) buffer.dispose();
    void device.close();
  });

  test("at its end, joining what is free there: no memory is lost to growing in steps", () => {
    const device = openHostDevice({ threads: 1, maxBytes: 64 * MiB });
    for (let size = 1; size <= 32; size *= 2) device.alloc(size * MiB).dispose();
    assert.equal(device.stats().usedBytes, 0);
    device.alloc(56 * MiB);
    assert.ok(device.stats().reservedBytes <= 64 * MiB);
    void device.close();
  });

  test("a closed device's memory serves the next one, which sees none of what was in it", () => {
    const sizes = { threads: 1, maxBytes: 96 * MiB };
    const first = openHostDevice(sizes);
    first.upload(new Uint8Array(20 * MiB).fill(7));
    const { reservedBytes } = first.stats();
    void first.close();
    const second = openHostDevice(sizes);
    assert.equal(second.stats().reservedBytes, reservedBytes);
    assert.equal(second.stats().usedBytes, 0);
    assert.ok(
      second
        .alloc(20 * MiB)
        .readSync()
        .every((byte) => byte === 0),
    );
    void second.close();
  });
});

describe("when memory runs out", () => {
  const limited = (): HostDevice => openHostDevice({ threads: 1, maxBytes: 32 * MiB });

  test("the error gives the figures, and the device goes on", () => {
    const device = limited();
    const big = device.alloc(20 * MiB);
    assert.throws(
      () => device.alloc(20 * MiB),
      (error) =>
        error instanceof OutOfMemoryError &&
        /20971520 bytes failed after collecting garbage/.test(error.message) &&
        /20971520 bytes in 1 buffers/.test(error.message) &&
        /of 33554432/.test(error.message),
    );
    assert.throws(() => device.alloc(2 ** 40), OutOfMemoryError);
    device.alloc(1 * MiB);
    big.dispose();
    device.alloc(20 * MiB);
    void device.close();
  });

  test("what was dropped is collected first", () => {
    const device = limited();
    for (let i = 0; i < 40; i++) device.upload(new Uint8Array(10 * MiB));
    assert.ok(device.stats().buffers <= 4);
    void device.close();
  });
});

describe("dropped buffers", () => {
  test("are collected once per budget, not once per large result, and stay below their share", () => {
    for (const garbage of [0.5, 0.125]) {
      const device = openHostDevice({ threads: 1, maxBytes: 256 * MiB, garbage });
      let most = 0;
      for (let i = 0; i < 1000; i++) {
        device.allocUninitialized(2 * MiB);
        most = Math.max(most, device.stats().usedBytes);
      }
      const budget = garbage * 256 * MiB;
      const { collections } = device.stats();
      const needed = (1000 * 2 * MiB) / budget;
      assert.ok(most <= budget + 2 * MiB, `${most / MiB} MiB, where ${budget / MiB} may be garbage`);
      assert.ok(collections >= needed - 2 && collections <= 1.5 * needed, `${collections} collections, not ${needed}`);
      void device.close();
    }
    assert.throws(() => openHostDevice({ garbage: 2 }), /garbage: 2 is not a share of the free memory/);
  });

  test("that are disposed of need no collection, however large they are", () => {
    const device = openHostDevice({ threads: 1, maxBytes: 256 * MiB });
    for (let i = 0; i < 1000; i++) device.allocUninitialized(200 * MiB).dispose();
    assert.equal(device.stats().collections, 0);
    void device.close();
  });

  test("100,000 of them in a loop without await leave the memory flat", () => {
    const device = openHostDevice({ threads: 1, maxBytes: 4000 * MiB });
    let highest = 0;
    for (let i = 0; i < 100_000; i++) {
      device.allocUninitialized(64 * 1024);
      if (i % 1000 === 0) highest = Math.max(highest, device.stats().reservedBytes);
    }
    // A half may be garbage where nothing but collections takes time, and memory grows in steps of 64 MiB.
    assert.ok(highest <= 2064 * MiB, `6.1 GiB were allocated, ${highest / MiB} MiB held`);
    device.collect();
    assert.ok(device.stats().buffers <= 1);
    assert.ok(device.stats().usedBytes <= 64 * 1024);
    void device.close();
  });

  test("100,000 small ones, disposed of or used again by a loop that awaits, too", async () => {
    const device = openHostDevice({ threads: 1, maxBytes: 1024 * MiB });
    for (let i = 0; i < 100_000; i++) {
      const buffer = device.allocUninitialized(256);
      if (i % 2) buffer.dispose();
      if (i % 10_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    device.collect();
    // V8 may still hold the last one, and with it those of its group.
    assert.ok(device.stats().usedBytes <= 8 * 256);
    assert.ok(device.stats().reservedBytes <= 64 * MiB, `${device.stats().reservedBytes}`);
    void device.close();
  });
});

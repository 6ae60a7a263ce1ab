/** Buffers: what goes in comes out, at every size where the path changes, and nothing works after it was given up. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { ArgumentError, DisposedError, SizeMismatchError } from "../../../../src/core/errors.js";
import { asBytes } from "../../../../src/engines/byte-source.js";
import { PIECE } from "../../../../src/engines/vulkan/memory/transfers.js";
import type { DeviceBuffer, VulkanDevice } from "../../../../src/vulkan/index.js";
import { describeOnDevices, describeOnOpenDevices, validation } from "../../../support/devices.js";
import { withoutGlslang } from "../../../support/glsl.js";
import { randomFrom } from "../../../support/random.js";
import { groupsFor, spinKernel } from "../../../support/spin.js";

const MiB = 1024 * 1024;
const SIZES = [0, 1, 3, 4, 5, 255, 256, 257, 4095, 4096, 4097, MiB + 3];
/**
 * Several pieces of staging memory; the last one does not fill its piece. Under validation the commands matter, not the sizes.
 */
const LARGE = validation ? [PIECE + 1] : [PIECE - 1, PIECE, PIECE + 1, 40 * MiB];
/** More than may be staged at once, so that reading takes the way over a copy on the device. */
const HUGE = 4 * PIECE + 5;

/** Bytes that differ at every place and from seed to seed, made fast. */
function pattern(length: number, seed = 1): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4));
  let x = Math.imul(seed, 0x9e3779b1) | 1;
  for (let i = 0; i < words.length; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    words[i] = x;
  }
  return new Uint8Array(words.buffer, 0, length);
}

function assertBytes(actual: Uint8Array, expected: Uint8Array, label: string): void {
  assert.equal(actual.byteLength, expected.byteLength, label);
  const [a, b] = [actual, expected].map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) as [
    Buffer,
    Buffer,
  ];
  if (a.equals(b)) return;
  const at = a.findIndex((byte, i) => byte !== b[i]);
  assert.fail(`${label}: byte ${at} of ${actual.byteLength} is ${a[at]}, not ${b[at]}`);
}

const isZero = (bytes: Uint8Array) => Buffer.compare(bytes, new Uint8Array(bytes.byteLength)) === 0;

test("anything that is bytes is taken as bytes, and nothing else", () => {
  const floats = new Float32Array([1, 2, 3]);
  assert.deepEqual([...asBytes(floats.subarray(1))], [...new Uint8Array(floats.buffer, 4)]);
  assert.deepEqual([...asBytes(new DataView(floats.buffer, 4, 4))], [...new Uint8Array(floats.buffer, 4, 4)]);
  assert.equal(asBytes(floats.buffer).byteLength, 12);
  assert.equal(asBytes(new SharedArrayBuffer(8)).byteLength, 8);
  for (const bad of [null, undefined, 7, "text", {}, [1, 2, 3]]) {
    assert.throws(() => asBytes(bad as unknown as Uint8Array), ArgumentError);
  }
});

/** Copies are made by a kernel of ours or by the driver's command; which one, depends on the device. */
for (const way of ["command", "kernel"]) {
  describeOnOpenDevices(`round trips, copying by ${way}`, false, roundTrips, { PUMICE_COPY: way });
}

function roundTrips(device: () => VulkanDevice): void {
  for (const size of [...SIZES, ...LARGE]) {
    test(`${size} bytes: upload, read, readSync, write, copyFrom`, async () => {
      const first = pattern(size, 1);
      const second = pattern(size, 2);
      const buffer = device().upload(first);
      assert.equal(buffer.byteLength, size);
      assertBytes(await buffer.read(), first, "read");
      assertBytes(buffer.readSync(), first, "readSync");
      buffer.write(second);
      assertBytes(buffer.readSync(), second, "readSync after write");
      const copy = device().alloc(size);
      copy.copyFrom(buffer);
      buffer.write(first);
      assertBytes(await copy.read(), second, "copy of what was there before the write");
      const into = new Uint8Array(size);
      assert.equal(await buffer.read(into), into);
      assertBytes(into, first, "read into");
      for (const used of [buffer, copy]) used.dispose();
    });

    test(`${size} bytes are zero when allocated, also where the memory was used before`, () => {
      const dirty = device().upload(new Uint8Array(size).fill(255));
      dirty.readSync();
      dirty.dispose();
      const buffer = device().alloc(size);
      assert.ok(isZero(buffer.readSync()));
      buffer.dispose();
    });
  }

  test("a part is read and copied by itself, wherever it begins, and outlives what it is a part of", async () => {
    for (const size of [256, 1000, 4096]) {
      const bytes = pattern(size, 3);
      for (const start of [0, 1, 3, 4, 8, 16, 100, 240, size - 16, size - 5, size - 1]) {
        for (const length of [1, 5, 16, 40, 256].filter((each) => start + each <= size)) {
          const buffer = device().upload(bytes);
          const part = buffer.part(start, length);
          assert.ok(!buffer.isUnshared && !part.isUnshared);
          assert.equal(part.address, buffer.address + BigInt(start));
          buffer.dispose();
          // It would be given the memory of the part, if that were free.
          const other = device().upload(new Uint8Array(size).fill(255));
          const copy = device().alloc(length);
          copy.copyFrom(part);
          const expected = bytes.subarray(start, start + length);
          assertBytes(copy.readSync(), expected, `copy of ${length} bytes from ${start}`);
          if (start % 16 === 0) assertBytes(await part.read(), expected, `${length} bytes from ${start}`);
          const inner = part.part(length - 1, 1);
          part.dispose();
          assert.throws(() => part.readSync(), DisposedError);
          assert.throws(() => part.part(0, 1), DisposedError);
          assertBytes(inner.readSync(), expected.subarray(length - 1), "a part of a part");
          for (const used of [inner, other, copy]) used.dispose();
        }
      }
    }
  });

  test("memory is reused while the device still works on its old contents, in order", () => {
    for (let round = 0; round < 50; round++) {
      const old = device().upload(new Uint8Array(5000).fill(round + 1));
      const keep = device().alloc(5000);
      keep.copyFrom(old);
      // The last to read it may be a part, or the buffer itself.
      const [start, length] = [64 * round, 100];
      const part = old.part(start, length);
      const some = device().alloc(length);
      if (round % 2 === 0) old.dispose();
      some.copyFrom(part);
      part.dispose();
      old.dispose();
      const fresh = device().alloc(5000);
      assert.ok(isZero(fresh.readSync()), `round ${round}: zeros`);
      assert.ok(some.readSync().every((byte) => byte === round + 1));
      some.dispose();
      assert.ok(
        keep.readSync().every((byte) => byte === round + 1),
        `round ${round}: the copy has the old contents`,
      );
      fresh.dispose();
      keep.dispose();
    }
  });

  test("a view into a larger array uploads only what it shows", () => {
    const whole = pattern(1000);
    assertBytes(device().upload(whole.subarray(3, 900)).readSync(), whole.slice(3, 900), "subarray");
    const floats = new Float64Array([1, 2, 3, 4]);
    assert.deepEqual([...new Float64Array(device().upload(floats.subarray(1, 3)).readSync().buffer)], [2, 3]);
  });

  test("shared memory can be uploaded", () => {
    const shared = new Uint8Array(new SharedArrayBuffer(100)).fill(9);
    assertBytes(device().upload(shared.buffer).readSync(), new Uint8Array(100).fill(9), "shared");
  });

  test("uploading has taken the bytes when it returns: changing them afterwards changes nothing", () => {
    for (const size of [64, MiB, PIECE + 100]) {
      const source = new Uint8Array(size).fill(1);
      const buffer = device().upload(source);
      source.fill(2);
      assert.ok(buffer.readSync().every((byte) => byte === 1));
      buffer.dispose();
    }
  });

  test("a read sees the buffer as it was when asked, whatever is written before it is awaited", async () => {
    for (const size of [1, 4096, MiB + 3, 20 * MiB, HUGE]) {
      const [before, afterwards] = [pattern(size, 3), pattern(size, 4)];
      const buffer = device().upload(before);
      const asked = buffer.read();
      buffer.write(afterwards);
      const askedAgain = buffer.read();
      assertBytes(await asked, before, `${size} bytes, the first read`);
      assertBytes(await askedAgain, afterwards, `${size} bytes, the second read`);
      buffer.dispose();
    }
  });

  test("a read that was asked for arrives although the buffer is disposed, and its memory reused, at once", async () => {
    for (const size of [10, MiB, HUGE]) {
      const expected = pattern(size, 5);
      const buffer = device().upload(expected);
      const asked = buffer.read();
      buffer.dispose();
      const next = device().upload(new Uint8Array(size));
      assertBytes(await asked, expected, `${size} bytes`);
      next.dispose();
    }
  });

  test("more than 64 MiB goes both ways", async () => {
    const expected = pattern(HUGE, 6);
    const buffer = device().upload(expected);
    assertBytes(await buffer.read(), expected, "read");
    assertBytes(buffer.readSync(), expected, "readSync");
    buffer.dispose();
  });

  test("many reads at once each get their own bytes", async () => {
    const random = randomFrom(11);
    const buffers = Array.from({ length: 60 }, (_, i) => device().upload(pattern(1 + random.below(100_000), i)));
    const large = Array.from({ length: 3 }, (_, i) => device().upload(pattern(17 * MiB + i, 100 + i)));
    const results = await Promise.all([...buffers, ...large].map((buffer) => buffer.read()));
    buffers.forEach((buffer, i) => {
      assertBytes(results[i]!, pattern(buffer.byteLength, i), `buffer ${i}`);
    });
    large.forEach((buffer, i) => {
      assertBytes(results[60 + i]!, pattern(buffer.byteLength, 100 + i), `large buffer ${i}`);
      buffer.dispose();
    });
  });

  test("a target that shrinks at any moment of its read is missed, never written past its end", async () => {
    // ES2024, which the compiler's library does not know yet.
    const Resizable = ArrayBuffer as unknown as new (n: number, o: object) => ArrayBuffer & { resize(n: number): void };
    const bytes = 5 * 2 ** 20;
    using source = device().upload(new Uint8Array(bytes).fill(7));
    for (let turns = 0; turns < 24; turns++) {
      const memory = new Resizable(bytes, { maxByteLength: bytes });
      const asked = source.read(new Uint8Array(memory)).then(
        () => "whole",
        (error) => (error instanceof ArgumentError ? "missed" : error),
      );
      for (let i = 0; i < turns; i++) await new Promise((next) => setImmediate(next));
      memory.resize(8);
      assert.match(String(await asked), /^(whole|missed)$/);
    }
  });

  test("a target that is transferred away while its read is pending is missed, not written to", async () => {
    for (const size of [100, 5 * MiB, HUGE]) {
      const buffer = device().upload(pattern(size, 12));
      const into = new Uint8Array(size);
      const asked = buffer.read(into);
      structuredClone(into.buffer, { transfer: [into.buffer] });
      await assert.rejects(asked, (error) => error instanceof ArgumentError && /transferred/.test(error.message));
      assertBytes(await buffer.read(), pattern(size, 12), "the next read");
      buffer.dispose();
    }
  });

  test("a read gives memory of its own: two reads do not share it", async () => {
    const buffer = device().upload(new Uint8Array([1, 2, 3, 4]));
    const [a, b] = await Promise.all([buffer.read(), buffer.read()]);
    a![0] = 99;
    assert.equal(b![0], 1);
    assert.equal(buffer.readSync()[0], 1);
    assert.equal(a!.buffer.byteLength, 4, "nothing but the contents");
  });

  test("copying a buffer to itself changes nothing", () => {
    const buffer = device().upload(pattern(100));
    buffer.copyFrom(buffer);
    assertBytes(buffer.readSync(), pattern(100), "itself");
  });

  test("copying from a buffer that was never written copies zeros", () => {
    const target = device().upload(pattern(100));
    target.copyFrom(device().alloc(100));
    assert.ok(isZero(target.readSync()));
  });

  test("addresses are distinct, aligned and stay the same", () => {
    const buffers = Array.from({ length: 20 }, (_, i) => device().alloc(1 + 100 * i));
    const addresses = buffers.map((buffer) => buffer.address);
    assert.equal(new Set(addresses).size, 20);
    for (const address of addresses) assert.equal(address % 256n, 0n);
    assert.deepEqual(
      buffers.map((buffer) => buffer.address),
      addresses,
    );
  });

  test("an inspected buffer says how large it is and whether it is gone", () => {
    const buffer = device().alloc(12);
    assert.match(inspect(buffer), /DeviceBuffer \{ 12 bytes on /);
    buffer.dispose();
    assert.match(inspect(buffer), /disposed/);
  });
}

describeOnOpenDevices("sizes that do not fit", false, (device) => {
  test("write, read into and copyFrom name both sizes", async () => {
    const buffer = device().alloc(8);
    const throws = (use: () => unknown) => assert.throws(use, SizeMismatchError);
    throws(() => buffer.write(new Uint8Array(7)));
    throws(() => buffer.write(new Uint8Array(9)));
    throws(() => buffer.write(new Uint8Array(0)));
    throws(() => buffer.readSync(new Uint8Array(9)));
    throws(() => buffer.copyFrom(device().alloc(9)));
    await assert.rejects(buffer.read(new Uint8Array(7)), SizeMismatchError);
    assert.throws(() => buffer.write(new Uint8Array(7)), /7 bytes.*8/);
    assert.ok(isZero(buffer.readSync()), "a refused write changes nothing");
  });

  test("only a Uint8Array can be read into", async () => {
    const buffer = device().upload(pattern(8));
    for (const bad of [new Float32Array(2), new DataView(new ArrayBuffer(8)), new ArrayBuffer(8), {}, "12345678"]) {
      assert.throws(() => buffer.readSync(bad as Uint8Array), ArgumentError);
      await assert.rejects(buffer.read(bad as Uint8Array), ArgumentError);
    }
    assertBytes(buffer.readSync(Buffer.alloc(8)), pattern(8), "a Node Buffer is one");
  });
});

describeOnDevices("lifetime", false, (which) => {
  const uses: [string, (buffer: DeviceBuffer, device: VulkanDevice) => unknown][] = [
    ["read", (buffer) => buffer.read()],
    ["readSync", (buffer) => buffer.readSync()],
    ["write", (buffer) => buffer.write(new Uint8Array(4))],
    ["copyFrom, as source", (buffer, device) => device.alloc(4).copyFrom(buffer)],
    ["copyFrom, as target", (buffer, device) => buffer.copyFrom(device.alloc(4))],
    ["address", (buffer) => buffer.address],
  ];

  test("a disposed buffer throws DisposedError at every use; disposing again is harmless", async () => {
    const device = await which.open();
    try {
      const buffer = device.upload(new Uint8Array(4));
      assert.equal(buffer.isDisposed, false);
      buffer.dispose();
      buffer.dispose();
      buffer[Symbol.dispose]();
      assert.equal(buffer.isDisposed, true);
      assert.equal(buffer.byteLength, 4);
      for (const [name, use] of uses) {
        await assert.rejects(async () => use(buffer, device), DisposedError, name);
      }
    } finally {
      await device.close();
    }
  });

  test("a buffer's memory is given back at the end of its `using` block", async () => {
    const device = await which.open();
    {
      using buffer = device.upload(new Uint8Array(1000));
      assert.ok(device.stats().usedBytes >= 1000);
      assert.equal(buffer.isDisposed, false);
    }
    assert.equal(device.stats().usedBytes, 0);
    assert.equal(device.stats().buffers, 0);
    await device.close();
  });

  test("after the device is closed every use throws DisposedError, and disposing is still harmless", async () => {
    const device = await which.open();
    const buffers = Array.from({ length: 5 }, (_, i) => device.upload(new Uint8Array(4).fill(i)));
    await device.close();
    for (const buffer of buffers) {
      assert.equal(buffer.isDisposed, true);
      for (const [name, use] of uses) {
        await assert.rejects(async () => use(buffer, device), DisposedError, name);
      }
      buffer.dispose();
      buffer.dispose();
    }
  });

  test("`using` buffers inside `await using` devices close in any order", async () => {
    let outer: DeviceBuffer;
    {
      await using device = await which.open();
      using buffer = device.upload(new Uint8Array(4));
      outer = device.alloc(4);
      buffer.readSync();
    }
    outer.dispose();
  });

  test("a read still pending when the device is closed arrives", async () => {
    for (const size of [100, 20 * MiB, HUGE]) {
      const device = await which.open();
      const buffer = device.upload(pattern(size, 7));
      const asked = buffer.read();
      const closed = device.close();
      assertBytes(await asked, pattern(size, 7), `${size} bytes`);
      await closed;
    }
  });
});

describeOnOpenDevices("the event loop", withoutGlslang, (device) => {
  const blocking = validation === "gpu" && "GPU-assisted validation waits at each submission";
  test("a timer fires while a long read is waiting for a kernel", { skip: blocking }, async () => {
    const buffer = device().alloc(4);
    const watched = async () => {
      spinKernel(device()).run({ buffers: [buffer], groups: [groupsFor(device(), 400)] });
      const start = performance.now();
      const ticks: number[] = [];
      const timer = setInterval(() => ticks.push(performance.now() - start), 5);
      await buffer.read();
      clearInterval(timer);
      const took = performance.now() - start;
      const longestGap = Math.max(...ticks.map((tick, i) => tick - (ticks[i - 1] ?? 0)));
      return { took, ticks: ticks.length, longestGap };
    };
    const isFree = ({ took, ticks, longestGap }: Awaited<ReturnType<typeof watched>>) =>
      took > 100 && ticks >= 5 && longestGap < took / 2;
    let seen = await watched();
    // A busy machine may hold this process up as long as a blocked thread would, but not every time.
    for (let i = 0; i < 4 && !isFree(seen); i++) seen = await watched();
    assert.ok(isFree(seen), inspect(seen));
  });
});

describe("large transfers", { skip: validation ? "the sizes matter, not the commands" : false }, () => {
  describeOnOpenDevices("threads", false, (device) => {
    test("reading 40 MiB into part of an array leaves the rest alone", async () => {
      const size = 40 * MiB;
      const expected = pattern(size, 8);
      const buffer = device().upload(expected);
      const whole = new Uint8Array(size + 64).fill(7);
      const part = whole.subarray(33, 33 + size);
      await buffer.read(part);
      assertBytes(part, expected, "part");
      assert.ok(whole.subarray(0, 33).every((byte) => byte === 7) && whole.subarray(33 + size).every((b) => b === 7));
      buffer.dispose();
    });
  });
});

/** Work that waits: in which order memory is touched, who may interrupt, and where failures go. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { DeviceError, DisposedError } from "../../../src/core/errors.js";
import type { HostAllocation } from "../../../src/engines/host/allocation.js";
import { type HostDevice, openHostDevice } from "../../../src/engines/host/device.js";
import { sharedPool } from "../../../src/engines/host/thread-pool.js";
import { runNode } from "../../support/subprocess.js";
import { countRows, kernel, scaleAndCount, slowRows } from "./kernels.js";

const device = openHostDevice({ threads: 3 });
const pool = sharedPool();
after(async () => {
  await device.close();
  await pool.close();
});

const ROWS = 120;
const integers = (bytes: Uint8Array) => [...new Int32Array(bytes.buffer)];

/** Adds 1 to each row; alone it takes 2 ms a row. */
const slow = (on: HostDevice = device) =>
  on.load({ bytes: slowRows, numbers: [ROWS, 1, 0] }, { name: "slow", buffers: [{ isWritten: true }] });
/** The same, and soon done. */
const quick = (on: HostDevice = device) =>
  on.load({ bytes: countRows, numbers: [ROWS, 1000, 0] }, { name: "quick", buffers: [{ isWritten: true }] });
const traps = kernel((f) => f.unreachable());
const culprit = () =>
  device.load({ bytes: traps, numbers: [ROWS, 1, 0] }, { name: "culprit", buffers: [{ isWritten: true }] });

const rows = (on: HostDevice = device): HostAllocation => on.upload(new Uint8Array(4 * ROWS));
const all = (value: number): number[] => Array(ROWS).fill(value);

/** How often a timer of 5 ms ticks while someone waits. */
async function ticksDuring(work: Promise<unknown>): Promise<number> {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  await work;
  clearInterval(timer);
  return ticks;
}

describe("who awaits a long kernel", () => {
  for (const threads of [1, 3]) {
    test(`lets timers run, with ${threads} of the threads`, async () => {
      const on = openHostDevice({ threads });
      const counts = rows(on);
      on.dispatch(slow(on), [counts], [0]);
      const arriving = counts.read();
      assert.ok((await ticksDuring(arriving)) >= 4);
      assert.deepEqual(integers(await arriving), all(1));
      await on.close();
    });
  }

  test("still sees what was asked for before, and nothing of what is asked for afterwards", async () => {
    const counts = rows();
    const [once, twice] = [slow(), quick()];
    device.dispatch(once, [counts], [0]);
    const first = counts.read();
    device.dispatch(twice, [counts], [0]);
    const second = counts.read();
    counts.write(new Uint8Array(4 * ROWS));
    device.dispatch(twice, [counts], [0]);
    device.dispatch(twice, [counts], [0]);
    device.dispatch(twice, [counts], [0]);
    assert.deepEqual(integers(await first), all(1));
    assert.deepEqual(integers(await second), all(2));
    assert.deepEqual(integers(await counts.read()), all(3));
  });

  test("may be overtaken by a caller that blocks, which helps", async () => {
    const counts = rows();
    device.dispatch(slow(), [counts], [0]);
    const arriving = counts.read();
    await new Promise((resolve) => setTimeout(resolve, 10));
    device.dispatch(quick(), [counts], [0]);
    assert.deepEqual(integers(counts.readSync()), all(2));
    assert.deepEqual(integers(await arriving), all(1));
  });

  test("does not keep others from memory that no work uses", async () => {
    const [counts, idle] = [rows(), device.upload(Int32Array.of(7))];
    device.dispatch(slow(), [counts], [0]);
    const arriving = counts.read();
    let isHere = false;
    void arriving.then(() => {
      isHere = true;
    });
    assert.deepEqual(integers(idle.readSync()), [7]);
    idle.write(Int32Array.of(8));
    assert.deepEqual(integers(await idle.read()), [8]);
    assert.ok(!isHere);
    await arriving;
  });

  test("keeps the process alive", async () => {
    const program = `
      import { openHostDevice } from "SRC/engines/host/device.js";
      import { slowRows } from "SRC/../test/engines/host/kernels.js";
      const device = openHostDevice({ threads: 2 });
      const counts = device.upload(new Uint8Array(1600));
      const kernel = device.load({ bytes: slowRows, numbers: [400, 1, 0] }, { name: "slow", buffers: [{ isWritten: true }] });
      device.dispatch(kernel, [counts], [0]);
      console.log(new Int32Array((await counts.read()).buffer).every((count) => count === 1));`;
    assert.deepEqual(await runNode(program), { code: 0, output: "true\n" });
  });

  test("work that nobody waits for is done all the same", async () => {
    const counts = rows();
    device.dispatch(slow(), [counts], [0]);
    for (let i = 0; i < 100 && !device.queue.isEmpty; i++) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.ok(device.queue.isEmpty);
    assert.deepEqual(integers(counts.readSync()), all(1));
  });
});

describe("memory that is freed while work waits", () => {
  test("is not written by its next holder before its turn", async () => {
    const on = openHostDevice({ threads: 3 });
    const scale = on.load(
      { bytes: scaleAndCount, numbers: [ROWS, 1, 0] },
      { name: "scale", buffers: [{ isWritten: false }, { isWritten: true }] },
    );
    const results: Promise<Uint8Array>[] = [];
    const before = on.memory.reservedBytes;
    on.dispatch(slow(on), [rows(on)], [0]);
    for (let round = 0; round < 50; round++) {
      const x = on.upload(new Float32Array(ROWS).fill(round));
      const y = on.allocUninitialized(4 * ROWS);
      // The third word of the arguments, the scale, is that of the kernel before: this one's buffers tell rounds apart.
      on.dispatch(scale, [x, y], [0, 0]);
      results.push(x.read());
      x.dispose();
      y.dispose();
    }
    const seen = await Promise.all(results);
    seen.forEach((bytes, round) => {
      assert.deepEqual([...new Float32Array(bytes.buffer)], Array(ROWS).fill(round));
    });
    assert.equal(on.memory.reservedBytes, before);
    await on.close();
  });

  test("zeros are zeros, also behind work that writes the memory they come from", async () => {
    const counts = rows();
    device.dispatch(slow(), [counts], [0]);
    counts.dispose();
    const zeros = device.alloc(4 * ROWS);
    device.dispatch(quick(), [zeros], [0]);
    assert.deepEqual(integers(await zeros.read()), all(1));
  });

  test("copies are made in their turn", async () => {
    const [from, to] = [rows(), rows()];
    device.dispatch(slow(), [from], [0]);
    to.copyFrom(from);
    device.dispatch(quick(), [from], [0]);
    assert.deepEqual(integers(await to.read()), all(1));
    assert.deepEqual(integers(await from.read()), all(2));
  });
});

describe("waiting for everything", () => {
  test("finish, finishSync and profile", async () => {
    const counts = rows();
    device.dispatch(slow(), [counts], [0]);
    await device.finish();
    assert.ok(device.queue.isEmpty);
    device.dispatch(slow(), [counts], [0]);
    device.finishSync();
    assert.ok(device.queue.isEmpty);
    device.dispatch(slow(), [counts], [0]);
    const profile = await device.profile(() => device.dispatch(quick(), [counts], [0]));
    assert.deepEqual(
      profile.events.map(({ name }) => name),
      ["quick"],
      "what was under way before is not counted",
    );
    const long = await device.profile(() => device.dispatch(slow(), [counts], [0]));
    assert.ok((long.events[0]?.duration ?? 0) > 10_000);
  });

  test("close, which lets promised reads arrive", async () => {
    const on = openHostDevice({ threads: 3 });
    const counts = rows(on);
    on.dispatch(slow(on), [counts], [0]);
    const arriving = counts.read();
    const closing = on.close();
    assert.throws(() => on.alloc(4), DisposedError);
    assert.deepEqual(integers(await arriving), all(1));
    await closing;
  });
});

describe("work that fails", () => {
  const isCulprit = (error: unknown) =>
    error instanceof DeviceError && /culprit failed: unreachable/.test(error.message);

  test("rejects the reads that wait for it, and what reads its memory later", async () => {
    const [counts, kept] = [rows(), rows()];
    device.dispatch(culprit(), [counts], [0]);
    await assert.rejects(counts.read(), isCulprit);
    await assert.rejects(counts.read(), isCulprit);
    assert.throws(() => counts.readSync(), isCulprit);
    const reading = device.load(
      { bytes: countRows, numbers: [ROWS, 1000, 0] },
      { name: "reading", buffers: [{ isWritten: false }] },
    );
    assert.throws(() => device.dispatch(reading, [counts], [0]), isCulprit);
    device.dispatch(quick(), [kept], [0]);
    assert.deepEqual(integers(await kept.read()), all(1), "the next work runs");
    counts.write(new Uint8Array(4 * ROWS));
    device.dispatch(quick(), [counts], [0]);
    assert.deepEqual(integers(await counts.read()), all(1), "memory that is written anew is sound");
    counts.dispose();
    assert.deepEqual(integers(await device.alloc(4 * ROWS).read()), all(0));
  });

  test("throws from a read that blocks, and from finish", async () => {
    const counts = rows();
    device.dispatch(culprit(), [counts], [0]);
    assert.throws(() => counts.readSync(), isCulprit);
    device.dispatch(culprit(), [rows()], [0]);
    await assert.rejects(device.finish(), isCulprit);
    device.dispatch(culprit(), [rows()], [0]);
    assert.throws(() => device.finishSync(), isCulprit);
  });

  test("when nobody reads it, ends no process", async () => {
    device.dispatch(culprit(), [rows()], [0]);
    for (let i = 0; i < 100 && !device.queue.isEmpty; i++) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.ok(device.queue.isEmpty);
  });

  for (const how of ["exit", "vanish", "throw"] as const) {
    const skip = how === "vanish" && process.platform !== "linux" && "no /proc to see it by";
    test(`because of a worker (${how})`, { skip }, async () => {
      const counts = rows();
      device.dispatch(slow(), [counts], [0]);
      await counts.read();
      pool.injectFault(how);
      device.dispatch(slow(), [counts], [0]);
      await assert.rejects(counts.read(), DeviceError);
      // Workers that throw live on, and would throw again.
      if (how === "throw") await pool.close();
      const others = rows();
      device.dispatch(slow(), [others], [0]);
      assert.deepEqual(integers(await others.read()), all(1), "the threads, or new ones, do the next work");
    });
  }
});

/** Kernels split over threads: every row once, failures that surface, workers that die, processes that end. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { ArgumentError, DeviceError } from "../../../src/core/errors.js";
import { type HostDevice, openHostDevice } from "../../../src/engines/host/device.js";
import { sharedPool } from "../../../src/engines/host/thread-pool.js";
import { randomFrom } from "../../support/random.js";
import { runNode } from "../../support/subprocess.js";
import { countRows, fillPages, nothing, scaleAndCount, slowRows, traps } from "./kernels.js";

const device = openHostDevice({ threads: 3 });
const pool = sharedPool();
after(async () => {
  await device.close();
  await pool.close();
});

const integers = (bytes: Uint8Array) => [...new Int32Array(bytes.buffer)];
const scale = new Uint32Array(new Float32Array([0.1]).buffer);

/** Runs jobs long enough for every worker to be there and helping. */
async function warm(on: HostDevice = device): Promise<void> {
  const rows = on.alloc(4 * 60);
  for (let i = 0; i < 20; i++) {
    const start = performance.now();
    on.kernel(slowRows).run({ buffers: [rows], length: 60, grain: 1 });
    // Alone it takes 120 ms.
    if (performance.now() - start < 120 / (on.threads - 0.7)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Workers that find no core in time leave a job to this thread; they will not do so for ever. */
function untilSomeHelp(job: () => void): void {
  for (let i = 0; i < 50; i++) job();
}

describe("splitting", () => {
  test("every row is computed exactly once, whatever the length and grain", () => {
    const count = device.kernel(countRows);
    const random = randomFrom(5);
    for (let round = 0; round < 200; round++) {
      const length = 1 + random.below(20_000);
      const counts = device.alloc(4 * length);
      count.run({ buffers: [counts], length, grain: 1 + random.below(3000) });
      assert.ok(
        integers(counts.readSync()).every((times) => times === 1),
        `round ${round}, length ${length}`,
      );
      counts.dispose();
    }
    assert.ok(device.stats().threadedDispatches > 50);
  });

  test("threads on or off, the bits are the same", () => {
    const alone = openHostDevice({ threads: 1 });
    const n = 100_003;
    const source = Float32Array.from({ length: n }, (_, i) => Math.sin(i) * 1e5);
    const results = [device, alone].map((on) => {
      const [x, y] = [on.upload(source), on.alloc(4 * n)];
      on.kernel(scaleAndCount).run({ buffers: [x, y], args: scale, length: n, grain: 1000 });
      return y.readSync();
    });
    assert.deepEqual(results[0], results[1]);
    void alone.close();
  });

  test("workers do help", async () => {
    await warm();
    const rows = device.alloc(4 * 90);
    let best = Infinity;
    // Alone it takes 180 ms. On a busy machine the workers may wait for a core; once is enough.
    for (let i = 0; i < 50 && best >= 150; i++) {
      const start = performance.now();
      device.kernel(slowRows).run({ buffers: [rows], length: 90, grain: 1 });
      best = Math.min(best, performance.now() - start);
    }
    assert.ok(best < 150, `90 rows of 2 ms on 3 threads took ${best.toFixed(0)} ms`);
    assert.equal(device.stats().workers, 2);
  });

  test("small jobs stay on this thread", () => {
    const before = device.stats();
    device.kernel(nothing).run({ length: 1000, grain: 1000 });
    device.kernel(nothing).run({ length: 10_000 });
    assert.equal(device.stats().threadedDispatches, before.threadedDispatches);
  });

  test("several devices share the workers, each with memory of its own", () => {
    const other = openHostDevice({ threads: 3 });
    for (let round = 0; round < 20; round++) {
      for (const on of [device, other]) {
        const counts = on.alloc(4 * 5000);
        on.kernel(countRows).run({ buffers: [counts], length: 5000, grain: 100 });
        assert.ok(integers(counts.readSync()).every((times) => times === 1));
      }
    }
    assert.equal(other.stats().workers, 2);
    void other.close();
    const counts = device.alloc(4 * 5000);
    device.kernel(countRows).run({ buffers: [counts], length: 5000, grain: 100 });
    assert.ok(
      integers(counts.readSync()).every((times) => times === 1),
      "closing one leaves the others be",
    );
  });

  test("workers see memory that grew after they met the kernel", async () => {
    const on = openHostDevice({ threads: 3 });
    const fill = on.kernel(fillPages);
    for (const pages of [16, 100, 500, 1500]) {
      const target = on.allocUninitialized(pages * 65536);
      for (let round = 0; round < 5; round++) fill.run({ buffers: [target], length: pages, grain: 1 });
      const bytes = target.readSync();
      for (let page = 0; page < pages; page++) {
        assert.equal(bytes[page * 65536], page & 255);
        assert.equal(bytes[page * 65536 + 65535], page & 255);
      }
    }
    await on.close();
  });
});

describe("failing on several threads", () => {
  for (const [what, module] of Object.entries(traps)) {
    test(`${what}, in a row of any thread`, () => {
      const run = device.kernel(module, { name: "culprit" });
      for (const row of [0, 1, 5, 39]) {
        const begin = performance.now();
        assert.throws(
          () => run.run({ args: new Uint32Array([row]), length: 40, grain: 1 }),
          (error) => error instanceof DeviceError && error.message.includes(what.split(" ")[0] as string),
        );
        assert.ok(performance.now() - begin < 2000);
      }
      const counts = device.alloc(400);
      device.kernel(countRows).run({ buffers: [counts], length: 100, grain: 5 });
      assert.deepEqual(integers(counts.readSync()), Array(100).fill(1), "the next job runs");
    });
  }
});

describe("workers that die", () => {
  for (const how of ["exit", "vanish"] as const) {
    const skip = how === "vanish" && process.platform !== "linux" && "no /proc to see it by";
    test(`in a job (${how}): a DeviceError, and new workers for the next`, { skip }, async () => {
      await warm();
      const { restarts } = pool;
      pool.injectFault(how);
      const rows = device.alloc(4 * 60);
      let start = 0;
      const run = () => {
        start = performance.now();
        device.kernel(slowRows, { name: "slow" }).run({ buffers: [rows], length: 60, grain: 1 });
      };
      assert.throws(
        () => untilSomeHelp(run),
        (error) => error instanceof DeviceError && /worker thread died while running slow/.test(error.message),
      );
      assert.ok(performance.now() - start < 3000, "it does not hang");
      assert.equal(pool.restarts, restarts + 1);
      assert.equal(pool.workers, 0);
      await warm();
      assert.equal(pool.workers, 2);
      const counts = device.alloc(400);
      device.kernel(countRows).run({ buffers: [counts], length: 100, grain: 5 });
      assert.deepEqual(integers(counts.readSync()), Array(100).fill(1));
    });
  }

  test("by an error of their own: a DeviceError that tells", async () => {
    await warm();
    pool.injectFault("throw");
    const rows = device.alloc(4 * 60);
    assert.throws(
      () => untilSomeHelp(() => device.kernel(slowRows).run({ buffers: [rows], length: 60, grain: 1 })),
      (error) => error instanceof DeviceError && /a fault was asked for/.test(error.message),
    );
    await pool.close();
  });

  test("between jobs: nobody notices", async () => {
    await warm();
    await pool.kill();
    for (let round = 0; round < 3; round++) {
      const counts = device.alloc(4 * 1000);
      device.kernel(countRows).run({ buffers: [counts], length: 1000, grain: 10 });
      assert.ok(integers(counts.readSync()).every((times) => times === 1));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(pool.workers, 2);
  });

  test("killed just as a job begins: the call ends, and the next one works", async () => {
    await warm();
    void pool.kill();
    const rows = device.alloc(4 * 60);
    let error: unknown;
    try {
      device.kernel(slowRows).run({ buffers: [rows], length: 60, grain: 1 });
    } catch (e) {
      error = e;
    }
    // They may go before they join or after.
    assert.ok(error === undefined || error instanceof DeviceError);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const counts = device.alloc(400);
    device.kernel(countRows).run({ buffers: [counts], length: 100, grain: 5 });
    assert.deepEqual(integers(counts.readSync()), Array(100).fill(1));
  });
});

describe("work that may be short", () => {
  /** Dispatches among the last of many that were shared by threads; the estimate is 0.8 ms in both cases. */
  async function sharedAmong(bytes: Uint8Array, length: number, runs: number): Promise<number> {
    await warm();
    const rows = device.alloc(4 * length);
    const numbers = [length, 1, 0, 40];
    const kernel = device.load({ bytes, numbers }, { name: "rows", buffers: [{ isWritten: true }] });
    for (let i = 0; i < 17; i++) device.dispatch(kernel, [rows], [0]);
    rows.readSync();
    const before = device.stats().threadedDispatches;
    for (let i = 0; i < runs; i++) {
      device.dispatch(kernel, [rows], [0]);
      rows.readSync();
    }
    assert.ok(integers(rows.readSync()).every((times) => times === 17 + runs));
    return device.stats().threadedDispatches - before;
  }

  test("turns out to be short: this thread does it", async () => {
    const shared = await sharedAmong(countRows, 50, 14);
    assert.ok(shared <= 4, `${shared} of 14 were shared`);
  });

  test("turns out to be long: threads share it", async () => {
    const shared = await sharedAmong(slowRows, 6, 14);
    assert.equal(shared, 14);
  });

  test("turns out to be long in its first run: threads are called, and every row is computed once", async () => {
    await warm();
    const rows = device.alloc(4 * 60);
    const kernel = device.load(
      { bytes: slowRows, numbers: [60, 1, 0, 40] },
      { name: "rows", buffers: [{ isWritten: true }] },
    );
    const before = device.stats().threadedDispatches;
    device.dispatch(kernel, [rows], [0]);
    const inPlace = integers(rows.readSync());
    device.dispatch(kernel, [rows], [0]);
    const awaited = integers(await rows.read());
    assert.equal(device.stats().threadedDispatches - before, 2);
    assert.ok(inPlace.every((times) => times === 1) && awaited.every((times) => times === 2));
  });
});

describe("processes", () => {
  const program = (body: string) => `
    import { openHostDevice } from "SRC/engines/host/device.js";
    import { ModuleBuilder } from "SRC/wasm/builder.js";
    const m = new ModuleBuilder();
    m.export(m.function("run", ["i32", "i32", "i32"], [], (f, args, start, end) => {
      const counts = f.i32.load(args);
      f.for(start, end, 1, (i) => { f.i32.atomic.rmw.add(f.i32.add(counts, f.i32.shl(i, 2)), 1); });
    }));
    const count = (device, n = 100000, grain = 100) => {
      const counts = device.alloc(4 * n);
      device.kernel(m.build()).run({ buffers: [counts], length: n, grain });
      return new Int32Array(counts.readSync().buffer).every((x) => x === 1);
    };
    ${body}`;

  test("a process that used threads ends by itself", async () => {
    const { code, output } = await runNode(
      program(`
        const device = openHostDevice({ threads: 4 });
        for (let i = 0; i < 50; i++) count(device);
        await new Promise((resolve) => setTimeout(resolve, 300));
        console.log(count(device), device.stats().workers);`),
      { timeoutMs: 20_000 },
    );
    assert.deepEqual([code, output.trim()], [0, "true 3"]);
  });

  test("process.exit ends one at once", async () => {
    const { code, output } = await runNode(
      program(`const d = openHostDevice({ threads: 4 }); count(d); console.log("bye"); process.exit(5);`),
      { timeoutMs: 20_000 },
    );
    assert.deepEqual([code, output.trim()], [5, "bye"]);
  });

  test("PUMICE_THREADS says how many; 1 starts none", async () => {
    const threads = program("const d = openHostDevice(); console.log(count(d), d.threads, d.stats().workers);");
    const one = await runNode(threads, { env: { PUMICE_THREADS: "1" } });
    assert.equal(one.output.trim(), "true 1 0");
    const three = await runNode(threads, { env: { PUMICE_THREADS: "3" } });
    assert.equal(three.output.trim(), "true 3 2");
    const bad = await runNode(threads, { env: { PUMICE_THREADS: "many" } });
    assert.match(bad.output, /PUMICE_THREADS=many: a number of threads is whole, from 1/);
  });

  test("little work starts no workers; they start once there is enough of it", async () => {
    const { output } = await runNode(
      program(`
        const device = openHostDevice({ threads: 3 });
        const counts = device.upload(new Uint8Array(40000));
        // Rows worth a thread take about 20 µs.
        const load = (milliseconds) =>
          device.load({ bytes: m.build(), numbers: [10000, 200 / milliseconds, 0, milliseconds / 0.02] }, { name: "count", buffers: [{ isWritten: true }] });
        const workersAfter = async (milliseconds) => {
          device.dispatch(load(milliseconds), [counts], [0]);
          await counts.read();
          return device.stats().workers;
        };
        const seen = [await workersAfter(1.9), await workersAfter(5), await workersAfter(20)];
        console.log(...seen, await workersAfter(60), new Int32Array(counts.readSync().buffer).every((x) => x === 4));`),
    );
    assert.equal(output.trim(), "0 0 0 3 true");
    const after = await runNode(
      program(`
        const device = openHostDevice({ threads: 3 });
        const counts = device.upload(new Uint8Array(40000));
        const kernel = device.load({ bytes: m.build(), numbers: [10000, 200, 0, 60] }, { name: "count", buffers: [{ isWritten: true }] });
        const workers = [];
        // Three threads save two thirds.
        for (const before of [0, 25, 25]) {
          device.noteAlone(before);
          device.dispatch(kernel, [counts], [0]);
          counts.readSync();
          workers.push(device.stats().workers);
        }
        console.log(...workers);`),
    );
    assert.equal(after.output.trim(), "0 0 2", "small kernels add up");
  });

  test("inside a worker thread, with workers of its own, beside those of the main thread", async () => {
    const { code, output } = await runNode(
      program(`
        import { Worker, isMainThread } from "node:worker_threads";
        const text = ${JSON.stringify(
          program(`
            import { parentPort } from "node:worker_threads";
            const device = openHostDevice({ threads: 3 });
            let good = true;
            for (let i = 0; i < 200; i++) good &&= count(device);
            parentPort.postMessage([good, device.stats().workers]);`),
        )};
        const device = openHostDevice({ threads: 3 });
        const worker = new Worker(new URL("data:text/javascript," + encodeURIComponent(text)));
        let good = true;
        const message = new Promise((resolve) => worker.once("message", resolve));
        for (let i = 0; i < 200; i++) good &&= count(device);
        console.log(good, device.stats().workers, ...await message);`),
      { timeoutMs: 60_000 },
    );
    assert.deepEqual([code, output.trim()], [0, "true 2 true 2"]);
  });

  test("where threads are forbidden, this one does the work and says so", async () => {
    const { code, output } = await runNode(
      program("const d = openHostDevice({ threads: 3 }); console.log(count(d), count(d), d.stats().workers);"),
      { args: ["--experimental-permission", "--allow-fs-read=*"] },
    );
    assert.equal(code, 0);
    assert.match(output, /true true 0/);
    assert.match(output, /Pumice cannot start worker threads, so kernels run on one/);
  });

  test("a number of threads that makes no sense is refused", () => {
    for (const threads of [0, -1, 1.5, 5000]) assert.throws(() => openHostDevice({ threads }), ArgumentError);
  });
});

/**
 * Buffers that nobody disposes of, on a pretended card of a few hundred MiB: how often garbage is collected for them, how much
 * of it there is at most, and what is left for other processes.
 */
import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import type { VulkanDevice } from "../../../src/vulkan/index.js";
import { takenByProcesses, takenByThreads } from "../../support/card-count.js";
import { type CrowdedProgram, reportOf } from "../../support/crowded-card.js";
import { describeOnDevices, type TestDevice, underValidation, withEnvironment } from "../../support/devices.js";
import { FaultyDriver } from "../../support/fault-injection.js";

const MiB = 1024 * 1024;
const CARD = 512 * MiB;
const LARGE = 4 * MiB;

const emptyCard = () => new SharedArrayBuffer(8);

async function onCard(which: TestDevice, garbage: number | undefined, run: (device: VulkanDevice) => unknown) {
  const taken = takenByThreads(emptyCard());
  const driver = new FaultyDriver({ card: { bytes: CARD, taken } });
  const device = await which.open({ interpose: driver.interpose, ...(garbage === undefined ? {} : { garbage }) });
  try {
    return await run(device);
  } finally {
    await device.close();
    assert.deepEqual(driver.violations, []);
    assert.equal(taken.total(), 0, "the card is empty again");
  }
}

/** Makes so many buffers and lets go of them when all are there: no collection can free some on the way. */
function dropAtOnce(device: VulkanDevice, count: number): void {
  const held = Array.from({ length: count }, () => device.allocUninitialized(LARGE));
  assert.equal(held.length, count);
}

describeOnDevices("garbage", underValidation("many buffers"), (which) => {
  test("is collected once per budget, not once per large result, and stays below its share", async () => {
    for (const [garbage, expected] of [
      [0.5, 256 * MiB],
      [0.125, 64 * MiB],
    ] as const) {
      await onCard(which, garbage, (device) => {
        assert.equal(device.plan.deviceHeapBytes, CARD, "the device believes in the card");
        let most = 0;
        const results = 1000;
        for (let i = 0; i < results; i++) {
          device.allocUninitialized(LARGE);
          most = Math.max(most, device.stats().usedBytes);
        }
        const { collections } = device.stats();
        const needed = Math.ceil((results * LARGE) / expected);
        assert.ok(most <= expected + LARGE, `${most / MiB} MiB of garbage, where ${expected / MiB} may be`);
        // Collections of new objects may come earlier, where the machine is slow.
        assert.ok(
          collections >= needed - 1 && collections <= Math.max(1.5 * needed, results / 10),
          `${collections} collections, not ${needed}`,
        );
      });
    }
  });

  test("by default fills no more than an eighth of a card that is small", async () => {
    await onCard(which, undefined, (device) => {
      assert.equal(device.plan.garbage, 1 / 8);
      for (let i = 0; i < 200; i++) {
        device.allocUninitialized(LARGE);
        assert.ok(device.stats().usedBytes <= CARD / 8 + LARGE);
      }
    });
    await withEnvironment({ PUMICE_GARBAGE: "0.75" }, () =>
      onCard(which, undefined, (device) => assert.equal(device.plan.garbage, 0.75)),
    );
  });

  test("that was collected leaves its blocks for the next results", async () => {
    await onCard(which, 0.5, (device) => {
      for (let i = 0; i < 400; i++) device.allocUninitialized(LARGE);
      assert.ok(device.stats().reservedBytes <= CARD / 2 + 8 * LARGE, `${device.stats().reservedBytes / MiB} MiB held`);
      dropAtOnce(device, 40);
      device.collect();
      assert.ok(device.stats().usedBytes <= LARGE);
      assert.ok(device.stats().reservedBytes >= CARD / 4, "freed memory stays in the pool");
    });
  });

  test("of nothing is made by a loop that disposes: it never collects", async () => {
    await onCard(which, 0.125, (device) => {
      for (let i = 0; i < 1000; i++) device.allocUninitialized(100 * MiB).dispose();
      assert.equal(device.stats().collections, 0);
    });
  });

  test("goes, and idle blocks with it, when the program rests", async () => {
    await onCard(which, 1, async (device) => {
      dropAtOnce(device, 60);
      assert.ok(device.stats().reservedBytes >= 60 * LARGE);
      const deadline = performance.now() + 20_000;
      while (device.stats().reservedBytes > CARD / 4 && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      assert.ok(device.stats().reservedBytes <= CARD / 4, `${device.stats().reservedBytes / MiB} MiB`);
    });
  });

  const start = (taken: SharedArrayBuffer, program: Pick<CrowdedProgram, "dropped" | "kept">) => {
    const crowded: CrowdedProgram = { index: which.index, cardBytes: CARD, taken, bufferBytes: LARGE, ...program };
    return new Worker(new URL("../../support/crowded-card.js", import.meta.url), { workerData: { crowded } });
  };
  const end = async (...programs: (Worker | ChildProcess)[]) => {
    for (const program of programs) {
      if (program instanceof Worker) program.postMessage("end");
      else program.send("end");
      await new Promise((resolve) => program.once("exit", resolve));
    }
  };

  test("of two programs on one card leaves each of them what it needs", async () => {
    const taken = emptyCard();
    // Kept buffers fill three quarters of the card, while what both drop would fill it eight times.
    const programs = [1, 2].map(() => start(taken, { dropped: 500, kept: 48 }));
    const reports = await Promise.all(programs.map(reportOf));
    for (const { error, collections } of reports) {
      assert.equal(error, null);
      assert.ok(collections < 250, `${collections} collections for 500 results`);
    }
    await end(...programs);
    assert.equal(new BigInt64Array(taken)[0], 0n);
  });

  test("of two processes on one card leaves each of them what it needs", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "pumice-card-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const startProcess = (dropped: number, kept: number) => {
      const size = { cardBytes: CARD, bufferBytes: LARGE };
      const program: CrowdedProgram = { index: which.index, taken: folder, ...size, dropped, kept };
      return fork(new URL("../../support/crowded-card.js", import.meta.url), [JSON.stringify(program)], {
        execArgv: [],
      });
    };
    const programs = [startProcess(500, 48), startProcess(500, 48)];
    const reports = await Promise.all(programs.map(reportOf));
    for (const { error, collections } of reports) {
      assert.equal(error, null);
      assert.ok(collections < 250, `${collections} collections for 500 results`);
    }
    // It is one card: what both keep leaves a third process a quarter of it.
    const third = startProcess(0, 40);
    assert.match((await reportOf(third)).error ?? "", /memory|bytes/i);
    await end(third, ...programs);
    assert.equal(takenByProcesses(folder).total(), 0);
  });

  test("of a program at rest makes room for one that needs most of the card", async () => {
    const taken = emptyCard();
    const resting = start(taken, { dropped: 100, kept: 0 });
    assert.equal((await reportOf(resting)).error, null);
    const large = start(taken, { dropped: 0, kept: 108 });
    assert.equal((await reportOf(large)).error, null);
    await end(resting, large);
    assert.equal(new BigInt64Array(taken)[0], 0n);
  });
});

/** A device's life: what it reports, several at once, in threads, and taken down at the worst moments. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Worker } from "node:worker_threads";
import { ArgumentError, DeviceError, DisposedError } from "../../../src/core/errors.js";
import { listDevices, openDevice } from "../../../src/vulkan/index.js";
import { describeOnDevices, validation, withoutVulkan } from "../../support/devices.js";
import { FaultyDriver } from "../../support/fault-injection.js";
import { glsl, withoutGlslang } from "../../support/glsl.js";
import { groupsFor, spinKernel } from "../../support/spin.js";
import { programText, runNode } from "../../support/subprocess.js";

const MiB = 1024 * 1024;

const addOne = () =>
  glsl(`#version 460
    layout(local_size_x = 64) in;
    layout(binding=0) buffer B { uint b[]; };
    void main() { if (gl_GlobalInvocationID.x < b.length()) b[gl_GlobalInvocationID.x] += 1; }`);

test("devices are listed best first, each with a verdict", { skip: withoutVulkan() }, () => {
  const listed = listDevices();
  assert.deepEqual(
    listed.map((device) => device.index),
    listed.map((_, i) => i),
  );
  for (const { properties, refusal } of listed) {
    assert.ok(properties.name.length > 0);
    assert.ok(refusal === null || refusal.length > 10);
    assert.ok(properties.memoryHeaps.length > 0 && properties.queueFamilies.length > 0);
    assert.match(properties.deviceUUID, /^[0-9a-f]{32}$/);
  }
});

test("listing devices leaves nothing behind", { skip: withoutVulkan() }, () => {
  const driver = new FaultyDriver();
  for (let i = 0; i < 5; i++) listDevices({ interpose: driver.interpose });
  assert.deepEqual(driver.liveObjects, {});
  assert.deepEqual(driver.violations, []);
});

test("a device that is not there is refused with the list of those that are", { skip: withoutVulkan() }, async () => {
  const name = listDevices()[0]!.properties.name;
  for (const options of [{ index: 99 }, { index: -1 }, { index: 0.5 }, { name: "no such name" }]) {
    await assert.rejects(openDevice(options), (error) => error instanceof DeviceError && error.message.includes(name));
  }
});

describeOnDevices("a device", withoutGlslang, (which) => {
  test("reports itself", async () => {
    const device = await which.open();
    assert.equal(device.name, which.name);
    assert.equal(device.isClosed, false);
    assert.equal(device.isLost, false);
    assert.ok(inspect(device).includes(which.name));
    assert.ok(device.availableBytes() > 0);
    await device.close();
    assert.equal(device.isClosed, true);
    assert.match(inspect(device), /closed/);
  });

  test("can be opened by a part of its name, in any case", async () => {
    const device = await openDevice({ name: which.name.slice(0, 8).toUpperCase(), cacheFolder: null });
    assert.equal(device.name, which.name);
    await device.close();
  });

  test("counts its buffers, memory, pipelines and commands", async () => {
    const device = await which.open();
    assert.deepEqual(device.stats(), {
      buffers: 0,
      usedBytes: 0,
      reservedBytes: 0,
      blocks: 0,
      collections: 0,
      pipelines: 0,
      dispatches: 0,
      barriers: 0,
      submissions: 0,
      uploadedBytes: 0,
      downloadedBytes: 0,
    });
    const buffer = device.alloc(1000);
    const kernel = device.kernel(addOne());
    device.kernel(addOne());
    for (let i = 0; i < 5; i++) kernel.run({ buffers: [buffer], groups: [1] });
    buffer.readSync();
    const stats = device.stats();
    assert.equal(stats.buffers, 1);
    assert.equal(stats.usedBytes, 1024);
    assert.ok(stats.reservedBytes >= 1024);
    assert.equal(stats.blocks, 2, "device memory and read-back");
    assert.equal(stats.pipelines, 1, "the same module is compiled once");
    assert.equal(stats.dispatches, 5);
    assert.ok(stats.submissions >= 1 && stats.barriers >= 5);
    assert.deepEqual([stats.uploadedBytes, stats.downloadedBytes], [0, 1000]);
    const large = device.upload(new Uint8Array(20 * 1024 * 1024));
    await large.read();
    large.dispose();
    const { uploadedBytes, downloadedBytes } = device.stats();
    assert.deepEqual(
      [uploadedBytes, downloadedBytes],
      [20 * 1024 * 1024, 20 * 1024 * 1024 + 1000],
      "in several pieces",
    );
    buffer.dispose();
    assert.equal(device.stats().usedBytes, 0);
    await device.close();
  });

  test("trim gives back memory that nothing uses, and only that", async () => {
    const device = await which.open();
    const keep = device.upload(new Uint8Array(100).fill(5));
    const large = device.upload(new Uint8Array(100 * MiB));
    large.dispose();
    const before = device.stats().reservedBytes;
    device.trim();
    const after = device.stats().reservedBytes;
    assert.ok(after <= before - 100 * MiB, `${before} → ${after}`);
    assert.deepEqual([...keep.readSync()], new Array(100).fill(5));
    keep.dispose();
    device.trim();
    assert.equal(device.stats().reservedBytes, 0);
    assert.equal(device.upload(new Uint8Array([9])).readSync()[0], 9, "and memory is taken again");
    await device.close();
  });

  test("finish waits for everything recorded", async () => {
    const device = await which.open();
    const buffer = device.upload(new Uint32Array([1]));
    const kernel = spinKernel(device);
    kernel.run({ buffers: [buffer], groups: [8] });
    await device.finish();
    assert.equal(device.stream.timeline.poll(), device.stream.recordedValue);
    kernel.run({ buffers: [buffer], groups: [8] });
    device.finishSync();
    assert.equal(device.stream.timeline.completed, device.stream.recordedValue);
    await device.close();
  });

  test("closing twice, or at once from two places, is closing once", async () => {
    const device = await which.open();
    const first = device.close();
    const second = device.close();
    await Promise.all([first, second, device[Symbol.asyncDispose]()]);
    await device.close();
  });

  test("after closing, everything says so with DisposedError or does nothing", async () => {
    const driver = new FaultyDriver();
    const device = await which.open({ interpose: driver.interpose });
    const kernel = device.kernel(addOne());
    const buffer = device.alloc(4);
    await device.close();
    const uses: [string, () => unknown][] = [
      ["alloc", () => device.alloc(4)],
      ["allocUninitialized", () => device.allocUninitialized(4)],
      ["upload", () => device.upload(new Uint8Array(4))],
      ["hostBuffer", () => device.hostBuffer(4)],
      ["kernel", () => device.kernel(addOne())],
      ["run", () => kernel.run({ buffers: [buffer], groups: [1] })],
      ["profile", () => device.profile(() => {})],
      ["finish", () => device.finish()],
      ["finishSync", () => device.finishSync()],
    ];
    for (const [name, use] of uses) await assert.rejects(async () => use(), DisposedError, name);
    device.trim();
    device.collect();
    device.stats();
    try {
      device.availableBytes();
      device.memoryReport();
    } catch (error) {
      assert.ok(error instanceof DisposedError);
    }
    assert.deepEqual(driver.violations, []);
    assert.deepEqual(driver.liveObjects, {});
  });

  test("closing leaves nothing of the device, whatever it was used for", async () => {
    const driver = new FaultyDriver({ maxPushDescriptors: 0 });
    const device = await which.open({ interpose: driver.interpose });
    const kernel = device.kernel(addOne());
    const buffers = Array.from({ length: 40 }, () => device.alloc(4));
    for (const buffer of buffers) kernel.run({ buffers: [buffer], groups: [1] });
    const reads = buffers.map((buffer) => buffer.read());
    await device.profile(() => kernel.run({ buffers: [buffers[0]!], groups: [1] }));
    if (device.plan.limits.minImportedHostPointerAlignment > 0) device.hostBuffer(100);
    await device.close();
    for (const bytes of await Promise.all(reads)) assert.equal(bytes[0], 1);
    assert.deepEqual(driver.liveObjects, {});
    assert.deepEqual(driver.violations, []);
  });

  test("closing while finish and a profile still wait ends them and touches nothing afterwards", async () => {
    const driver = new FaultyDriver();
    const device = await which.open({ interpose: driver.interpose });
    const buffer = device.upload(new Uint32Array([1]));
    const groups = groupsFor(device, 10);
    const run = () => spinKernel(device).run({ buffers: [buffer], groups: [groups] });
    run();
    const waiting = [device.finish(), device.profile(run)].map((promise) =>
      promise.then(
        () => "done",
        (error: Error) => error.name,
      ),
    );
    await device.close();
    for (const outcome of await Promise.all(waiting)) assert.ok(["done", "DisposedError"].includes(outcome), outcome);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(driver.violations, []);
    assert.deepEqual(driver.liveObjects, {});
  });

  test("closing from inside a profile ends the profile with DisposedError", async () => {
    const driver = new FaultyDriver();
    const device = await which.open({ interpose: driver.interpose });
    const buffer = device.alloc(4);
    const kernel = device.kernel(addOne());
    await assert.rejects(
      device.profile(async () => {
        kernel.run({ buffers: [buffer], groups: [1] });
        await device.close();
      }),
      DisposedError,
    );
    assert.deepEqual(driver.violations, []);
    assert.deepEqual(driver.liveObjects, {});
  });

  test("work that was recorded and never waited for is run", async () => {
    const device = await which.open();
    const buffer = device.alloc(4);
    device.kernel(addOne()).run({ buffers: [buffer], groups: [1] });
    const before = device.stats().submissions;
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    assert.ok(device.stats().submissions > before, "submitted by the event loop");
    await device.close();
  });

  test("two devices side by side do not mix", async () => {
    const [a, b] = await Promise.all([which.open(), which.open()]);
    const kernels = [a.kernel(addOne()), b.kernel(addOne())];
    const buffers = [a.alloc(256), b.alloc(256)];
    for (let i = 0; i < 200; i++) {
      kernels[0]!.run({ buffers: [buffers[0]!], groups: [1] });
      if (i % 2) kernels[1]!.run({ buffers: [buffers[1]!], groups: [1] });
    }
    const [first, second] = await Promise.all(buffers.map((buffer) => buffer.read()));
    assert.equal(new Uint32Array(first!.buffer)[63], 200);
    assert.equal(new Uint32Array(second!.buffer)[63], 100);
    assert.throws(() => kernels[0]!.run({ buffers: [buffers[1]!], groups: [1] }), ArgumentError);
    assert.throws(() => buffers[0]!.copyFrom(buffers[1]!), ArgumentError);
    await a.close();
    kernels[1]!.run({ buffers: [buffers[1]!], groups: [1] });
    assert.equal(new Uint32Array(buffers[1]!.readSync().buffer)[0], 101, "the other one goes on");
    await b.close();
  });

  test("twenty devices open at once give no warning", async () => {
    const warnings: string[] = [];
    const listen = (warning: Error) => warnings.push(warning.message);
    process.on("warning", listen);
    const devices = await Promise.all(Array.from({ length: 20 }, () => which.open({ cacheFolder: "/nonexistent/x" })));
    for (const device of devices) device.kernel(addOne());
    await new Promise((resolve) => setTimeout(resolve, 10));
    await Promise.all(devices.map((device) => device.close()));
    process.off("warning", listen);
    assert.deepEqual(warnings, []);
  });

  test("two worker threads, each with a device of its own, run beside the main thread", async () => {
    const program = programText(`
      import { parentPort, workerData } from "node:worker_threads";
      import { openDevice } from "SRC/vulkan/index.js";
      const device = await openDevice({ index: workerData.index, cacheFolder: null });
      const kernel = device.kernel(workerData.code);
      const buffer = device.alloc(4 * 64);
      for (let round = 0; round < 20; round++) {
        for (let i = 0; i < workerData.each; i++) kernel.run({ buffers: [buffer], groups: [1] });
        await buffer.read();
      }
      const result = new Uint32Array((await buffer.read()).buffer)[0];
      await device.close();
      parentPort.postMessage(result);`);
    const run = (each: number) =>
      new Promise<number>((resolve, reject) => {
        const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
          workerData: { index: which.index, code: addOne(), each },
        });
        worker.once("message", resolve);
        worker.once("error", reject);
        worker.once("exit", (code) => reject(new Error(`exit code ${code}`)));
      });
    const device = await which.open();
    const buffer = device.alloc(4);
    const kernel = device.kernel(addOne());
    const workers = Promise.all([run(10), run(20)]);
    for (let i = 0; i < 100; i++) {
      kernel.run({ buffers: [buffer], groups: [1] });
      await buffer.read();
    }
    assert.deepEqual(await workers, [200, 400]);
    assert.equal(buffer.readSync()[0], 100);
    await device.close();
  });

  test("a worker that ends with its device open takes nothing with it", { skip: validation }, async () => {
    const program = programText(`
      import { workerData, parentPort } from "node:worker_threads";
      import { openDevice } from "SRC/vulkan/index.js";
      const device = await openDevice({ index: workerData.index, cacheFolder: null });
      const buffer = device.upload(new Uint8Array(100));
      void buffer.read();
      parentPort.postMessage("open");
      setInterval(() => buffer.readSync(), 1);`);
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
      workerData: { index: which.index },
    });
    await new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
    await worker.terminate();
    const device = await which.open();
    assert.equal(device.upload(new Uint8Array([3])).readSync()[0], 3);
    await device.close();
  });

  test("PUMICE_DEBUG tells what is done, to standard error, at three levels of detail", async () => {
    const lines: number[] = [];
    for (const level of ["0", "1", "2", "3"]) {
      const { code, output } = await runNode(
        `import { openDevice } from "SRC/vulkan/index.js";
         const device = await openDevice({ index: ${which.index}, cacheFolder: null });
         const buffer = device.upload(new Uint8Array([1, 2, 3]));
         for (let i = 0; i < 5; i++) buffer.readSync();
         await device.close();`,
        { env: { PUMICE_DEBUG: level } },
      );
      assert.equal(code, 0, output);
      lines.push(output.split("\n").filter((line) => line.startsWith("pumice: ")).length);
      if (level === "1") assert.match(output, /pumice: opened /);
      if (level === "2") assert.match(output, /pumice: submit 1 commands as 2/);
      if (level === "3") assert.match(output, /pumice: record download/);
    }
    assert.equal(lines[0], 0);
    assert.ok(lines[1]! < lines[2]! && lines[2]! < lines[3]!, lines.join());
  });

  test("a program that never closes its device ends by itself, and cleanly", async () => {
    const { code, output } = await runNode(
      `import { openDevice } from "SRC/vulkan/index.js";
       const device = await openDevice({ index: ${which.index}, cacheFolder: null });
       const buffer = device.upload(new Uint8Array([1, 2, 3]));
       console.log([...await buffer.read()].join());
       void buffer.read();`,
    );
    assert.equal(code, 0, output);
    assert.match(output, /1,2,3/);
  });
});

/**
 * Every error code that every Vulkan function can return, at its first and at a later call, once and from then on: a
 * typed error that names the call, nothing leaked, never a wrong value, and a runtime that goes on; or, after a lost
 * device, one that says so until it is closed.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { DeviceError, DeviceLostError, OutOfMemoryError, UnsupportedError } from "../../../src/core/errors.js";
import type { FunctionName } from "../../../src/engines/vulkan/driver/api.js";
import { readCString } from "../../../src/engines/vulkan/driver/native.js";
import { inspectLoader } from "../../../src/engines/vulkan/instance.js";
import { describeOnDevices, type TestDevice, underValidation } from "../../support/devices.js";
import { type Fault, FaultyDriver } from "../../support/fault-injection.js";
import {
  assertWorks,
  isLoss,
  isTyped,
  Scenario,
  standardScenario,
  story,
  usesOf,
} from "../../support/fault-scenario.js";
import { glsl, withoutGlslang } from "../../support/glsl.js";
import { randomFrom } from "../../support/random.js";
import { groupsFor } from "../../support/spin.js";
import registry from "./driver/error-codes.json" with { type: "json" };

const DEVICE_LOST = -4;
const functions = Object.entries(registry.functions as unknown as Record<string, { errors: Record<string, number> }>)
  .map(([name, { errors }]) => ({ name: name as FunctionName, codes: Object.entries(errors) }))
  .filter(({ codes }) => codes.length > 0);

/** Not called on every machine: only under validation or PUMICE_DEBUG, by drivers with an extension, or after a real loss. */
const RARELY_CALLED: FunctionName[] = [
  "vkEnumerateInstanceLayerProperties",
  "vkCreateDebugUtilsMessengerEXT",
  "vkGetDeviceFaultInfoEXT",
  "vkGetMemoryHostPointerPropertiesEXT",
  "vkGetPipelineExecutablePropertiesKHR",
  "vkGetPipelineExecutableStatisticsKHR",
];

/** Failures that the runtime makes up for, so that a program never hears of a single one. */
const isMadeUpFor = ({ call, result }: Fault): boolean =>
  [
    // retried after memory was collected and trimmed
    ...(result === -1 || result === -2
      ? ["vkAllocateMemory", "vkCreateBuffer", "vkBindBufferMemory", "vkMapMemory"]
      : []),
    // without a cache a program is only slower
    "vkCreatePipelineCache",
    "vkGetPipelineCacheData",
    // a pool that cannot be reset is replaced
    "vkResetCommandPool",
    "vkResetDescriptorPool",
    // closing goes on
    "vkDeviceWaitIdle",
  ].includes(call);

describeOnDevices(
  "faults",
  underValidation("injected faults confuse the layer") || withoutGlslang,
  (which: TestDevice) => {
    let folder = "";
    let spinGroups = 1;
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => rejections.push(reason);
    const counts = new Map<FunctionName, number>();

    const newDriver = () => new FaultyDriver({ maxPushDescriptors: 1 });
    const open = (driver: FaultyDriver) => which.open({ interpose: driver.interpose, cacheFolder: folder });
    const assertClean = (driver: FaultyDriver, label: string) => {
      assert.deepEqual(driver.liveObjects, {}, `${label}: left behind`);
      assert.deepEqual(driver.violations, [], label);
      assert.deepEqual(rejections, [], `${label}: unhandled rejections`);
    };

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), "pumice-faults-"));
      process.on("unhandledRejection", onRejection);
      // About three milliseconds of work, so that waits sleep; then a run without faults to count the calls.
      const device = await open(newDriver());
      spinGroups = groupsFor(device, 3);
      await device.close();
      const driver = newDriver();
      const dry = await open(driver);
      const plain = new Scenario(dry, spinGroups);
      await standardScenario(plain);
      await dry.close();
      assert.deepEqual(plain.errors, []);
      assert.deepEqual(plain.wrong, []);
      assertClean(driver, "a run without faults");
      for (const [name, count] of driver.counts) counts.set(name, count);
    });
    after(() => {
      process.off("unhandledRejection", onRejection);
      rmSync(folder, { recursive: true, force: true });
    });

    /** One run of the scenario with one fault. Returns what came of it. */
    async function runWith(fault: Fault): Promise<"error" | "none" | "missed"> {
      const forever = fault.times === Number.POSITIVE_INFINITY;
      const label = `${fault.call} gives ${fault.result} at call ${fault.at}${forever ? " and ever after" : ""}`;
      const driver = newDriver();
      driver.arm(fault);
      const check = (error: unknown) => {
        assert.ok(isTyped(error), `${label}: ${error instanceof Error ? error.stack : error}`);
        const isAdvice = fault.call === "vkCreateInstance" && fault.result === -9;
        assert.ok(isAdvice || story(error).includes(fault.call), `${label}: "${story(error)}" does not name the call`);
        assert.equal(isLoss(error), fault.result === DEVICE_LOST, `${label}: ${error}`);
      };
      let device: Awaited<ReturnType<typeof open>>;
      try {
        device = await open(driver);
      } catch (error) {
        check(error);
        assert.ok(driver.fired > 0);
        assertClean(driver, label);
        driver.disarm();
        const again = await open(driver);
        await assertWorks(again, `${label}: a second try`);
        await again.close();
        assertClean(driver, label);
        return "error";
      }
      const s = new Scenario(device, spinGroups);
      await standardScenario(s);
      // A program that waited less often than when the calls were counted: what follows must not be struck in its place.
      if (driver.fired > 0 || !isMadeUpFor(fault)) driver.disarm();
      if (device.isLost) {
        await assertLost(device, label);
        await device.close();
      } else {
        try {
          await assertWorks(device, label);
        } catch (error) {
          if (driver.fired === 0) throw error;
          await assertWorks(device, `${label}: after the fault struck`);
        }
        await s.checkAll();
        await device.close();
      }
      for (const error of s.errors) check(error);
      assert.deepEqual(s.wrong, [], label);
      assertClean(driver, label);
      if (driver.fired === 0) {
        assert.deepEqual(s.errors, [], label);
        return "missed";
      }
      if (fault.result === DEVICE_LOST) {
        const fresh = await open(newDriver());
        await assertWorks(fresh, `${label}: a fresh device`);
        await fresh.close();
      }
      return s.errors.length > 0 ? "error" : "none";
    }

    async function assertLost(device: Awaited<ReturnType<typeof open>>, label: string): Promise<void> {
      const attempts: [string, () => unknown][] = [
        ["alloc", () => device.alloc(4)],
        ["upload", () => device.upload(new Uint8Array(4))],
        ["finish", () => device.finish()],
        ["finishSync", () => device.finishSync()],
        ["profile", () => device.profile(() => {})],
        ["hostBuffer", () => device.hostBuffer(4)],
      ];
      for (const [name, use] of attempts) {
        await assert.rejects(async () => use(), DeviceLostError, `${label}: ${name}`);
      }
    }

    test("the scenario reaches every function that can fail", (t) => {
      const unreached = functions.map(({ name }) => name).filter((name) => !counts.get(name));
      t.diagnostic(`not called here: ${unreached.join(", ")}`);
      assert.deepEqual(
        unreached.filter((name) => !RARELY_CALLED.includes(name)),
        [],
      );
    });

    for (const { name, codes } of functions) {
      test(`${name}: every error it can return`, async (t) => {
        const calls = counts.get(name) ?? 0;
        if (calls === 0) return t.skip("not called here");
        const later = Math.max(2, Math.floor(calls / 2));
        for (const [, result] of codes) {
          const faults: Fault[] = [
            { call: name, result, at: 1 },
            { call: name, result, at: 1, times: Number.POSITIVE_INFINITY },
            ...(calls >= 2 ? [{ call: name, result, at: later }] : []),
            ...(calls >= 2 ? [{ call: name, result, at: later, times: Number.POSITIVE_INFINITY }] : []),
          ];
          for (const fault of faults) {
            let [outcome, { at }] = [await runWith(fault), fault];
            // How often a program waits depends on how fast the device was just now.
            while (outcome === "missed" && at > 1) {
              at = Math.floor(at / 2);
              outcome = await runWith({ ...fault, at });
            }
            assert.notEqual(outcome, "missed", `${name} was to be called`);
            if (outcome === "none") assert.ok(isMadeUpFor(fault), `${name} gave ${result} and nobody was told`);
          }
        }
      });
    }

    for (const call of ["vkEnumerateInstanceLayerProperties", "vkCreateDebugUtilsMessengerEXT"] as const) {
      test(`${call}: every error it can return, when validation is on`, async (t) => {
        if (!inspectLoader().hasValidationLayer) return t.skip("missing: vulkan-validationlayers");
        for (const [, result] of functions.find(({ name }) => name === call)!.codes) {
          const driver = newDriver();
          driver.arm({ call, result, at: 1 });
          await assert.rejects(
            which.open({ interpose: driver.interpose, validate: "core" }),
            (error) => isTyped(error) && story(error).includes(call),
          );
          assertClean(driver, call);
        }
      });
    }

    test("a function the driver lacks is named, and what was made before is taken down", async () => {
      const driver = newDriver();
      const hiding = new FaultyDriver();
      const interpose: typeof driver.interpose = (name, call) => {
        const inner = driver.interpose(name, call);
        if (name !== "vkGetDeviceProcAddr") return inner;
        return (device, text) => (readCString(text ?? 0) === "vkWaitSemaphores" ? 0 : inner(device, text));
      };
      await assert.rejects(
        which.open({ interpose }),
        (error) => error instanceof UnsupportedError && error.message.includes("vkWaitSemaphores"),
      );
      assertClean(driver, "no vkWaitSemaphores");
      assert.deepEqual(hiding.liveObjects, {});
    });

    test("a device lost while a kernel runs names it, in every use, until it is closed", async () => {
      for (const call of ["vkWaitSemaphores", "vkGetSemaphoreCounterValue"] as const) {
        const driver = newDriver();
        const device = await open(driver);
        const s = new Scenario(device, spinGroups);
        const cell = s.upload(1);
        s.increment(cell, 1);
        device.finishSync();
        const kernel = device.kernel(
          glsl(`#version 460
          layout(push_constant) uniform P { uint n; };
          layout(binding=0) buffer A { uint a[]; };
          void main() { a[0] += n; }`),
          { name: "innocent" },
        );
        s.spin(cell, 50); // long enough for a busy machine to get round to waiting
        const reading = cell!.buffer.read();
        driver.arm({ call, result: DEVICE_LOST, at: 1 });
        await assert.rejects(reading, (error) => error instanceof DeviceLostError && /spin/.test(error.message));
        assert.equal(device.isLost, true);
        for (const [name, use] of usesOf(device, cell!.buffer, kernel)) {
          await assert.rejects(
            async () => use(),
            (error) => error instanceof DeviceLostError && /spin/.test(error.message) && error.message.includes(call),
            name,
          );
        }
        await device.close();
        assertClean(driver, call);
      }
    });

    test("a device lost in the submission names what was being submitted", async () => {
      const driver = newDriver();
      const device = await open(driver);
      const s = new Scenario(device, spinGroups);
      const cell = s.upload(1);
      device.finishSync();
      driver.arm({ call: "vkQueueSubmit", result: DEVICE_LOST, at: 1 });
      s.increment(cell, 1);
      assert.throws(
        () => device.finishSync(),
        (e) => e instanceof DeviceLostError && /increment/.test(e.message),
      );
      await device.close();
      assertClean(driver, "lost in vkQueueSubmit");
    });

    test("work lost in a submission nobody waited for is remembered by every buffer it would have written", async () => {
      const driver = newDriver();
      const device = await open(driver);
      const s = new Scenario(device, spinGroups);
      const [a, b, c] = [s.upload(1), s.upload(2), s.upload(3)];
      device.finishSync();
      driver.arm({ call: "vkQueueSubmit", result: -2, at: 1, times: 2 });
      s.increment(a, 10);
      s.copy(a, b);
      await s.turn();
      assert.equal(driver.fired > 0, true);
      driver.disarm();
      for (const cell of [a, b]) {
        await assert.rejects(
          cell!.buffer.read(),
          (e) => e instanceof DeviceError && /lost.*vkQueueSubmit/.test(e.message),
        );
      }
      assert.equal(c!.buffer.readSync()[0], 3, "others are untouched");
      // A kernel that changes lost contents would make something new of something that never was.
      s.increment(a, 100);
      s.add(a, c);
      await s.checkAll();
      assert.deepEqual(s.wrong, []);
      assert.equal(c!.buffer.readSync()[0], 3);
      s.write(a, 5);
      s.increment(a, 1);
      assert.equal(a!.buffer.readSync()[0], 6, "writing it anew makes it whole again");
      b!.buffer.dispose();
      // The memory of a lost buffer carries no curse.
      for (let i = 0; i < 20; i++) {
        const fresh = device.allocUninitialized(4);
        device
          .kernel(glsl("#version 460\nlayout(binding=0) buffer A { uint a[]; }; void main() { a[0] = 77; }"))
          .run({ buffers: [fresh], groups: [1] });
        assert.equal(fresh.readSync()[0], 77);
      }
      await device.close();
      assertClean(driver, "lost work");
    });

    test("zeros stay promised when filling, writing or copying them failed", async () => {
      for (const call of [
        "vkBeginCommandBuffer",
        "vkCreateCommandPool",
        "vkMapMemory",
        "vkEndCommandBuffer",
      ] as const) {
        for (const use of ["read", "write", "copyFrom"] as const) {
          const driver = newDriver();
          const device = await open(driver);
          const dirty = device.upload(new Uint8Array(4096).fill(255));
          const source = device.upload(new Uint8Array(4096).fill(9));
          device.finishSync();
          dirty.dispose();
          device.trim();
          const buffer = device.alloc(4096);
          driver.arm({ call, result: -5, at: 1, times: 1000 });
          let failed = false;
          try {
            if (use === "read") buffer.readSync();
            else if (use === "write") buffer.write(new Uint8Array(4096).fill(8));
            else {
              buffer.copyFrom(source);
              device.finishSync();
            }
          } catch (error) {
            assert.ok(isTyped(error));
            failed = true;
          }
          driver.disarm();
          const label = `${call}, ${use}`;
          try {
            const value = buffer.readSync()[0];
            assert.ok(value === 0 || (use !== "read" && !failed), `${label}: ${value}`);
          } catch (error) {
            assert.ok(isTyped(error), label);
          }
          buffer.write(new Uint8Array(4096).fill(4));
          assert.equal(buffer.readSync()[4095], 4, `${label}: written anew`);
          await device.close();
          assertClean(driver, label);
        }
      }
    });

    test("an upload of several pieces that fails half-way leaves no half-written buffer to read", async () => {
      for (const call of ["vkEndCommandBuffer", "vkQueueSubmit", "vkAllocateMemory", "vkBeginCommandBuffer"] as const) {
        const driver = newDriver();
        const device = await open(driver);
        const size = 40 * 1024 * 1024;
        const buffer = device.upload(new Uint8Array(size).fill(1));
        device.finishSync();
        device.trim();
        driver.arm({ call, result: -13, at: 2, times: 1000 });
        let failed = false;
        try {
          buffer.write(new Uint8Array(size).fill(2));
        } catch {
          failed = true;
        }
        driver.disarm();
        try {
          const bytes = buffer.readSync();
          const first = bytes[0]!;
          assert.ok(
            bytes.every((byte) => byte === first),
            `${call}: a mixture of old and new`,
          );
          assert.equal(first, failed ? 1 : 2, call);
        } catch (error) {
          assert.ok(isTyped(error), `${call}: ${error}`);
        }
        buffer.write(new Uint8Array(size).fill(3));
        assert.ok(buffer.readSync().every((byte) => byte === 3));
        await device.close();
        assertClean(driver, call);
      }
    });

    test("staging memory comes back when the command that needed it could not be recorded", async () => {
      const driver = newDriver();
      const device = await open(driver);
      const buffer = device.upload(new Uint8Array(3_000_000));
      const read = () => buffer.readSync();
      read();
      const before = device.stats().reservedBytes;
      for (let i = 0; i < 40; i++) {
        device.finishSync();
        driver.arm({ call: "vkBeginCommandBuffer", result: -2, at: 1 });
        assert.throws(() => buffer.write(new Uint8Array(3_000_000)), OutOfMemoryError);
        driver.arm({ call: "vkBeginCommandBuffer", result: -2, at: 1 });
        assert.throws(read);
      }
      driver.disarm();
      buffer.write(new Uint8Array(3_000_000));
      read();
      assert.ok(device.stats().reservedBytes <= before, `${before} → ${device.stats().reservedBytes}`);
      await device.close();
    });

    test("command pools that can never be reset are replaced, however far ahead the program runs", async () => {
      const driver = newDriver();
      const device = await open(driver);
      const s = new Scenario(device, spinGroups);
      const cell = s.upload(0);
      device.finishSync();
      driver.arm({ call: "vkResetCommandPool", result: -2, at: 1, times: Number.POSITIVE_INFINITY });
      for (let i = 0; i < 6000; i++) s.increment(cell, 1);
      s.readSync(cell);
      assert.deepEqual(s.errors, []);
      assert.deepEqual(s.wrong, []);
      assert.deepEqual([...cell!.possible], [6000]);
      driver.disarm();
      await device.close();
      assertClean(driver, "vkResetCommandPool");
    });

    test("a profile in which a command failed still ends, and its queries go with it", {
      timeout: 20_000,
    }, async () => {
      for (const call of [
        "vkAllocateDescriptorSets",
        "vkEndCommandBuffer",
        "vkQueueSubmit",
        "vkCreateQueryPool",
      ] as const) {
        const driver = newDriver();
        const device = await open(driver);
        const s = new Scenario(device, spinGroups);
        const [a, b] = [s.upload(1), s.upload(2)];
        s.add(a, b);
        device.finishSync();
        await s.profile(() => {
          s.increment(a, 1);
          // Queries are made when a batch begins.
          if (call === "vkCreateQueryPool") device.finishSync();
          driver.arm({ call, result: -2, at: 1, times: 2 });
          s.add(a, b);
          s.attempt(() => device.finishSync());
          driver.disarm();
          s.increment(b, 1);
        });
        assert.ok(s.errors.length > 0, `${call} was to fail`);
        for (const error of s.errors) assert.ok(isTyped(error), `${call}: ${error.stack}`);
        await s.checkAll();
        assert.deepEqual(s.wrong, [], call);
        const profile = await device.profile(() => s.write(a, 9));
        assert.deepEqual(
          profile.rows.map((row) => row.name),
          ["upload"],
          `${call}: the next profile is a new one`,
        );
        await device.close();
        assertClean(driver, call);
      }
    });

    test("closing waits for the device when the driver's own way of waiting fails", async () => {
      const driver = newDriver();
      const device = await open(driver);
      const s = new Scenario(device, spinGroups);
      const cell = s.upload(1);
      s.spin(cell, 8);
      const last = device.stream.flush();
      driver.arm({ call: "vkDeviceWaitIdle", result: -1, at: 1 });
      let completed = -1;
      driver.onCall = (name) => {
        if (name === "vkDestroyCommandPool" && completed < 0) completed = device.stream.timeline.completed;
      };
      await device.close();
      driver.onCall = null;
      assert.ok(completed >= last, `command pools were destroyed at ${completed} of ${last}`);
      assertClean(driver, "vkDeviceWaitIdle");
    });

    test("random programs under random faults never read a wrong value, leak or get stuck", async () => {
      const deviceFunctions = functions.filter(
        ({ name }) =>
          (counts.get(name) ?? 0) > 0 && !/Instance|PhysicalDevices|DeviceExtension|vkCreateDevice$/.test(name),
      );
      const [from, to] = (process.env.PUMICE_FAULT_SEEDS ?? "1-60").split("-").map(Number) as [number, number];
      for (let seed = from; seed <= to; seed++) {
        const random = randomFrom(seed);
        const driver = newDriver();
        const device = await open(driver);
        const s = new Scenario(device, 1);
        let count = 0;
        for (let step = 0; step < 60; step++) {
          if (random.below(6) === 0) {
            const { name, codes } = random.pick(deviceFunctions);
            const result = random.pick(codes.map(([, code]) => code));
            if (result !== DEVICE_LOST || random.below(8) === 0) {
              driver.arm({ call: name, result, at: 1 + random.below(4), times: 1 + random.below(3) });
            }
          }
          const cell = () => (s.cells.length > 0 ? random.pick(s.cells) : undefined);
          switch (random.below(13)) {
            case 0:
              s.upload(++count);
              break;
            case 1:
              s.alloc();
              break;
            case 2:
              s.write(cell(), ++count);
              break;
            case 3:
              s.copy(cell(), cell());
              break;
            case 4:
            case 5:
              s.increment(cell(), 1 + random.below(9));
              break;
            case 6:
              s.add(cell(), cell());
              break;
            case 7:
              s.addByAddress(cell(), cell());
              break;
            case 8:
              s.readSync(cell());
              break;
            case 9:
              await Promise.all([s.read(cell()), s.read(cell())]);
              break;
            case 10:
              await s.turn();
              break;
            case 11:
              if (random.below(3) === 0) await s.throughHost(cell(), ++count);
              else await s.profile(() => s.increment(cell(), 1));
              break;
            case 12:
              if (random.below(4) === 0) s.attempt(() => device.trim());
              else s.drop(cell());
              break;
          }
          // A value that became uncertain too often says nothing any more; let it go.
          for (const uncertain of s.cells.filter((one) => one.possible.size > 64)) s.drop(uncertain);
        }
        driver.disarm();
        await s.checkAll();
        for (const error of s.errors) assert.ok(isTyped(error), `seed ${seed}: ${error.stack}`);
        assert.deepEqual(s.wrong, [], `seed ${seed}`);
        if (!device.isLost) await assertWorks(device, `seed ${seed}`);
        await device.close();
        assertClean(driver, `seed ${seed}`);
      }
    });
  },
);

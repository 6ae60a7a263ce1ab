/**
 * Recordings: command buffers that jitted functions replay. They end with their function or their device, never while they
 * run; calls that overlap take turns; every failure on the way to one leaves a device that works and nothing behind.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { DeviceLostError, DisposedError, OutOfMemoryError } from "../../../../src/core/errors.js";
import type { FunctionName } from "../../../../src/engines/vulkan/driver/api.js";
import { concat, jit, scan, Tensor } from "../../../../src/index.js";
import type { Backend } from "../../../../src/runtime/backend.js";
import { vulkanBackend } from "../../../../src/runtime/open.js";
import { storedNode } from "../../../../src/tensor/build.js";
import type { VulkanDevice } from "../../../../src/vulkan/index.js";
import { describeOnDevices, underValidation, withoutAddresses } from "../../../support/devices.js";
import { FaultyDriver } from "../../../support/fault-injection.js";
import { isTyped, story } from "../../../support/fault-scenario.js";

const MiB = 1024 * 1024;

interface Open {
  readonly driver: FaultyDriver;
  readonly device: VulkanDevice;
  readonly on: (values: readonly number[] | Float32Array, shape?: readonly number[]) => Tensor;
}

describeOnDevices("recordings", withoutAddresses, (which) => {
  async function open(memoryLimit?: number): Promise<Open> {
    const driver = new FaultyDriver(memoryLimit === undefined ? {} : { memoryLimit });
    const device = await which.open({ interpose: driver.interpose });
    const backend: unknown = vulkanBackend("vulkan:own", device);
    const on: Open["on"] = (values, shape = [values.length]) => {
      const bytes = new Uint8Array(Float32Array.from(values).buffer);
      return new Tensor(storedNode(backend as Backend, bytes, shape, "f32"));
    };
    return { driver, device, on };
  }
  function assertClean({ liveObjects, violations }: FaultyDriver, what: string): void {
    assert.deepEqual(liveObjects, {}, `${what}: left behind`);
    assert.deepEqual(violations, [], what);
  }
  /** Two kernels with a value between them, of numbers and tensors. */
  const step = (x: Tensor, n: Tensor): Tensor[] => {
    const sums = x.mul(n).cumsum({ axis: 0 });
    return [sums, sums.sum()];
  };
  const wanted = (x: readonly number[], n: number): number[] => {
    let sum = 0;
    const sums = x.map((value) => {
      sum += value * n;
      return sum;
    });
    return [...sums, sums.reduce((a, b) => a + b)];
  };
  const valuesOf = (results: readonly Tensor[]): number[] =>
    results.flatMap((each) => [...(each.dataSync() as Float32Array)]);

  test("a device closes with recordings alive, used, in flight or never run", async () => {
    const { driver, device, on } = await open();
    const [used, flying, lowered] = [jit(step), jit(step), jit(step)];
    assert.deepEqual(valuesOf(used(on([1, 2, 3]), 2)), wanted([1, 2, 3], 2));
    lowered.lower(on([1]), 1);
    const last = Array.from({ length: 40 }, (_, i) => flying(on([i, 1]), i)).at(-1)!;
    await device.close();
    assertClean(driver, "closed");
    assert.throws(() => last[0]!.dataSync(), DisposedError);
    assert.throws(() => used(last[0]!, 1), DisposedError);
  });

  test("forty calls in flight take turns: none writes over what another still reads", async () => {
    const { driver, device, on } = await open();
    const f = jit(step);
    const inputs = Array.from({ length: 40 }, (_, i) => [i, i + 0.5, 2 * i, 1]);
    const before = device.stream.counters.replays;
    const results = inputs.map((values, i) => f(on(values), i));
    assert.equal(device.stream.counters.replays - before, 40);
    results.forEach((result, i) => {
      assert.deepEqual(valuesOf(result), wanted(inputs[i]!, i));
    });
    await device.close();
    assertClean(driver, "forty calls");
  });

  test("tables of addresses, loops and results without elements", async () => {
    const { driver, device, on } = await open();
    const f = jit((xs: readonly Tensor[], n: Tensor) => {
      const [last, all] = scan(
        (c: Tensor, x: Tensor) => [c.add(x), c.mul(x)],
        xs[0]!,
        concat(xs as Tensor[]).reshape(20, 3),
      );
      return [xs.reduce((a, b) => a.add(b)).mul(n), last, all, xs[0]!.at("0:0")];
    });
    for (const n of [1, 2]) {
      const [sum, last, all, none] = f(
        Array.from({ length: 20 }, (_, i) => on([i, 1, n])),
        n,
      );
      assert.deepEqual(valuesOf([sum!]), [190 * n, 20 * n, 20 * n * n]);
      assert.deepEqual(valuesOf([last!]), [190, 21, 21 * n]);
      assert.deepEqual(valuesOf([all!]).slice(-3), [19 * 171, 20, 20 * n * n]);
      assert.deepEqual(valuesOf([none!]), []);
    }
    await device.close();
    assertClean(driver, "tables");
  });

  test("functions that nobody holds take their recordings and memory with them", async () => {
    const { driver, device, on } = await open();
    const x = on(new Float32Array(1000).fill(1));
    const settle = async () => {
      for (let i = 0; i < 3; i++) {
        await new Promise((resolve) => setImmediate(resolve));
        device.collect();
        await device.finish();
      }
    };
    const makeAndDrop = () => {
      for (let i = 0; i < 12; i++) jit((a: Tensor) => step(a, a.at(0)))(x);
    };
    makeAndDrop();
    await settle();
    const [pools, used] = [driver.liveObjects["command pool"]!, device.stats().usedBytes];
    for (let round = 0; round < 3; round++) makeAndDrop();
    await settle();
    assert.ok(
      driver.liveObjects["command pool"]! <= pools + 2,
      `${pools} command pools became ${driver.liveObjects["command pool"]}`,
    );
    assert.ok(device.stats().usedBytes <= used + 4096);
    await device.close();
    assertClean(driver, "dropped functions");
  });

  const noFaults = underValidation("injected faults confuse the layer");

  test("memory that runs out in a call is found again, or is named, and nothing is lost", {
    skip: noFaults,
  }, async () => {
    const { driver, device, on } = await open(24 * MiB);
    const length = MiB;
    const grow = jit((x: Tensor) => [x.add(1), x.sub(1)], { donate: 0 });
    const kept: Tensor[] = [];
    let x = on(new Float32Array(length).fill(5));
    assert.throws(() => {
      for (let i = 0; i < 40; i++) {
        const [next, other] = grow(x) as [Tensor, Tensor];
        kept.push(other);
        x = next;
      }
    }, OutOfMemoryError);
    const reached = 5 + kept.length;
    for (const each of kept.splice(0)) each.dispose();
    assert.equal((x.dataSync() as Float32Array)[length - 1], reached, "a donated argument survives a call that failed");
    const [next] = grow(x) as [Tensor, Tensor];
    assert.equal((next.dataSync() as Float32Array)[0], reached + 1);
    // Without disposing anything: garbage is collected when memory is short.
    let y = next;
    for (let i = 0; i < 20; i++) [y] = grow(y) as [Tensor, Tensor];
    assert.equal((y.dataSync() as Float32Array)[3], reached + 21);
    await device.close();
    assertClean(driver, "out of memory");
  });

  /** What the driver is asked for on the way to a replay, and the code it answers with. */
  const faults: readonly (readonly [FunctionName, number])[] = [
    ["vkCreateCommandPool", -1],
    ["vkAllocateCommandBuffers", -2],
    ["vkBeginCommandBuffer", -2],
    ["vkEndCommandBuffer", -1],
    ["vkQueueSubmit", -2],
    ["vkGetSemaphoreCounterValue", -1],
    ["vkCreateShaderModule", -1],
    ["vkCreateComputePipelines", -2],
    ["vkCreateBuffer", -1],
    ["vkAllocateMemory", -10],
    ["vkMapMemory", -5],
  ];
  /** Asked for once for a device: these faults need a new one. */
  const isAskedOnce = (call: FunctionName): boolean => /Shader|Pipeline|Buffer$|Memory$/.test(call);

  /** Calls that make recordings, more than there are turns, and a donated argument. Values or typed errors. */
  function scenario({ on, device }: Open): { errors: unknown[]; wrong: string[] } {
    const errors: unknown[] = [];
    const wrong: string[] = [];
    const attempt = <T>(work: () => T): T | undefined => {
      try {
        return work();
      } catch (error) {
        errors.push(error);
        return undefined;
      }
    };
    const check = (result: readonly Tensor[] | undefined, want: readonly number[]) => {
      const got = result && attempt(() => valuesOf(result));
      if (got && got.join() !== want.join()) wrong.push(`${got} instead of ${want}`);
    };
    const f = jit(step);
    const add = jit((x: Tensor, n: Tensor) => [x.add(n)], { donate: 0 });
    const x = attempt(() => on([1, 2, 3]));
    if (x) {
      for (let i = 0; i < 3; i++)
        check(
          attempt(() => f(x, i)),
          wanted([1, 2, 3], i),
        );
      const flying = Array.from({ length: 36 }, (_, i) => attempt(() => f(x, i)));
      attempt(() => device.finishSync());
      for (const [i, result] of flying.entries()) check(result, wanted([1, 2, 3], i));
    }
    let y = attempt(() => on([4]));
    let want = 4;
    for (let i = 0; i < 20 && y; i++) {
      const next = attempt(() => add(y as Tensor, i));
      if (next) {
        [y] = next;
        want += i;
      }
    }
    if (y) check([y], [want]);
    return { errors, wrong };
  }

  test("every failure on the way to a replay is an error with a name, and the device goes on", {
    skip: noFaults,
  }, async () => {
    const dry = await open();
    const start = new Map(dry.driver.counts);
    assert.deepEqual(scenario(dry), { errors: [], wrong: [] });
    const calls = new Map(faults.map(([name]) => [name, dry.driver.count(name) - (start.get(name) ?? 0)]));
    await dry.device.close();
    assertClean(dry.driver, "without faults");
    for (const [call, result] of faults) {
      const count = calls.get(call)!;
      const places = [...new Set([1, 2, Math.ceil(count / 2)])].filter((at) => at <= count);
      const all = places.flatMap((at) => [1, 1000].map((times) => ({ call, result, at, times })));
      let opened = await open();
      for (const fault of all) {
        const label = `${call} gives ${result} at call ${fault.at}, ${fault.times} times`;
        opened.driver.arm(fault);
        const { errors, wrong } = scenario(opened);
        opened.driver.disarm();
        assert.deepEqual(wrong, [], label);
        for (const error of errors) {
          assert.ok(isTyped(error), `${label}: ${error instanceof Error ? error.stack : error}`);
          assert.ok(story(error).includes(call), `${label}: "${story(error)}" does not name the call`);
        }
        assert.deepEqual(scenario(opened), { errors: [], wrong: [] }, `${label}: afterwards`);
        if (!isAskedOnce(call) && fault !== all.at(-1)) continue;
        await opened.device.close();
        assertClean(opened.driver, label);
        opened = await open();
      }
      await opened.device.close();
    }
  });

  test("calls whose submission failed do not keep their turns", { skip: noFaults }, async () => {
    const { driver, device, on } = await open();
    const f = jit((x: Tensor) => [x.add(1)]);
    const x = on([1]);
    f(x);
    device.finishSync();
    // More calls than there are turns, of which most are recorded and never run; whoever fills a batch is told.
    driver.arm({ call: "vkQueueSubmit", result: -2, at: 1, times: 10_000 });
    const lost: Tensor[][] = [];
    for (let i = 0; i < 200; i++) {
      try {
        lost.push(f(x));
      } catch (error) {
        assert.ok(error instanceof OutOfMemoryError, story(error));
      }
      if (i % 40 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(driver.fired > 0);
    driver.disarm();
    assert.throws(() => valuesOf(lost[0]!), /lost.*vkQueueSubmit/);
    for (let i = 0; i < 60; i++) assert.deepEqual(valuesOf(f(x)), [2]);
    await device.close();
    assertClean(driver, "failed submissions");
  });

  test("a lost device says so in every call, and closes clean", { skip: noFaults }, async () => {
    const opened = await open();
    const { driver, device, on } = opened;
    const f = jit(step);
    const x = on([1, 2]);
    f(x, 1);
    device.finishSync();
    driver.arm({ call: "vkQueueSubmit", result: -4, at: 1 });
    f(x, 2);
    assert.throws(() => device.finishSync(), DeviceLostError);
    for (let i = 0; i < 20; i++) assert.throws(() => f(x, 3), DeviceLostError);
    await device.close();
    assertClean(driver, "lost");
  });
});

/** Where new tensors go: the default, what a program sets, and what `withDevice` sets for a piece of work. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { defaultDevice, devices, ones, setDefaultDevice, tensor, withDevice } from "../../src/index.js";

const gpu = devices().find((device) => device !== "cpu");

describe("the default device", { skip: gpu === undefined && "needs two devices" }, () => {
  const other = gpu as string;
  beforeEach(() => setDefaultDevice("cpu"));
  afterEach(() => setDefaultDevice("cpu"));

  test("withDevice is for its work alone, also when that throws", () => {
    assert.equal(
      withDevice(other, () => tensor(1).device),
      other,
    );
    assert.equal(defaultDevice(), "cpu");
    const failing = () =>
      withDevice(other, () => {
        throw new RangeError("no");
      });
    assert.throws(failing, RangeError);
    assert.equal(tensor(1).device, "cpu");
  });

  test("work that awaits keeps its device to its end, and nobody else gets it", async () => {
    const seen: string[] = [];
    const work = withDevice(other, async () => {
      seen.push(tensor(1).device);
      await after(1);
      seen.push(tensor(1).device);
      const total = await ones([3]).sum().item();
      seen.push(defaultDevice(), ones([1]).device);
      return total;
    });
    seen.push(tensor(1).device);
    await after(0);
    seen.push(tensor(1).device);
    assert.equal(await work, 3);
    assert.equal(defaultDevice(), "cpu");
    assert.deepEqual([...seen].sort(), ["cpu", "cpu", other, other, other, other]);
    assert.deepEqual(seen.slice(0, 2), [other, "cpu"]);
  });

  test("two pieces of work at once have a device each; the inner of two counts", async () => {
    const both = await Promise.all(
      ["cpu", other].map((device) =>
        withDevice(device, async () => {
          await after(1);
          const opposite = device === "cpu" ? other : "cpu";
          const inner = await withDevice(opposite, async () => {
            await after(1);
            return tensor(1).device;
          });
          return [inner, tensor(1).device];
        }),
      ),
    );
    assert.deepEqual(both, [
      [other, "cpu"],
      ["cpu", other],
    ]);
  });

  test("setDefaultDevice inside withDevice holds until that ends", () => {
    const inside = withDevice(other, () => {
      setDefaultDevice("cpu");
      return defaultDevice();
    });
    assert.equal(inside, "cpu");
    setDefaultDevice("cpu");
    withDevice("cpu", () => setDefaultDevice(other));
    assert.equal(defaultDevice(), "cpu");
  });
});

/** Profiles of real work on a device. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError } from "../../../../src/core/errors.js";
import { describeOnOpenDevices } from "../../../support/devices.js";
import { glsl, withoutGlslang } from "../../../support/glsl.js";

describeOnOpenDevices("profiles", withoutGlslang, (device) => {
  const increment = () =>
    device().kernel(
      glsl(`#version 460
        layout(local_size_x = 64) in;
        layout(binding=0) buffer B { uint b[]; };
        void main() { if (gl_GlobalInvocationID.x < b.length()) b[gl_GlobalInvocationID.x] += 1; }`),
      { name: "increment" },
    );

  test("a profile counts every command by name, with times that are ordered", async () => {
    const kernel = increment();
    const buffer = device().alloc(64 * 4);
    const profile = await device().profile(() => {
      for (let i = 0; i < 10; i++) kernel.run({ buffers: [buffer], groups: [1] });
      return buffer.read();
    });
    const counts = Object.fromEntries(profile.rows.map((row) => [row.name, row.count]));
    assert.deepEqual(counts, { increment: 10, fill: 1, download: 1 });
    for (const { start, duration } of profile.events) assert.ok(start >= 0 && duration >= 0);
    const starts = profile.events.map((event) => event.start);
    assert.deepEqual(
      starts,
      [...starts].sort((a, b) => a - b),
      "one queue runs them in order",
    );
    assert.equal(new Uint32Array(buffer.readSync().buffer)[63], 10);
  });

  test("more commands than a batch holds are all there", async () => {
    const kernel = increment();
    const buffer = device().alloc(4);
    const profile = await device().profile(() => {
      for (let i = 0; i < 1000; i++) kernel.run({ buffers: [buffer], groups: [1] });
    });
    assert.equal(profile.rows.find((row) => row.name === "increment")?.count, 1000);
    assert.equal(new Uint32Array(buffer.readSync().buffer)[0], 1000);
  });

  test("what was recorded before the profile is not in it", async () => {
    const buffer = device().upload(new Uint8Array(64));
    const profile = await device().profile(() => increment().run({ buffers: [buffer], groups: [1] }));
    assert.deepEqual(
      profile.rows.map((row) => row.name),
      ["increment"],
    );
  });

  test("a profile of nothing is empty", async () => {
    assert.deepEqual((await device().profile(() => {})).events, []);
  });

  test("work that throws passes its error on, and the next profile works", async () => {
    const buffer = device().alloc(4);
    await assert.rejects(
      device().profile(() => {
        increment().run({ buffers: [buffer], groups: [1] });
        throw new RangeError("mine");
      }),
      new RangeError("mine"),
    );
    const profile = await device().profile(() => increment().run({ buffers: [buffer], groups: [1] }));
    assert.equal(profile.events.length, 1);
    assert.equal(buffer.readSync()[0], 2);
  });

  test("a command that is refused inside a profile leaves the others timed", async () => {
    const buffer = device().alloc(4);
    const profile = await device().profile(() => {
      assert.throws(() => increment().run({ buffers: [], groups: [1] }), ArgumentError);
      increment().run({ buffers: [buffer], groups: [1] });
    });
    assert.equal(profile.rows.find((row) => row.name === "increment")?.count, 1);
  });

  test("two profiles at once are refused", async () => {
    const first = device().profile(() => new Promise((resolve) => setTimeout(resolve, 20)));
    await assert.rejects(
      device().profile(() => {}),
      ArgumentError,
    );
    await first;
  });
});

/** Windows as users ask for them: paddings of every form, and settings that do not fit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, ShapeError } from "../../src/core/errors.js";
import { positivePerAxis, type WindowSettings, windowsOver } from "../../src/tensor/windows.js";

const over = (extents: readonly number[], size: readonly number[], settings: WindowSettings = {}) =>
  windowsOver(
    "test",
    extents.map((_, i) => i),
    extents,
    size,
    settings,
  );

test("one number stands for all axes", () => {
  const { stride, dilation, padding } = over([8, 9], [3, 3], { stride: 2, padding: 1 });
  assert.deepEqual([stride, dilation, padding], [[2, 2], [1, 1], [[1, 1], [1, 1]]]); // biome-ignore format: short lists
  assert.deepEqual(over([8, 9], [3, 3], { padding: [2, [0, 1]] }).padding, [[2, 2], [0, 1]]); // biome-ignore format: short lists
  assert.deepEqual(over([8], [3]).padding, [[0, 0]]);
});

test('"same" keeps the extent at a stride of 1, and divides it by others, rounded up', () => {
  for (const extent of [1, 5, 8, 13]) {
    for (const size of [1, 2, 3, 4]) {
      for (const stride of [1, 2, 3]) {
        for (const dilation of [1, 2]) {
          const [[before, after]] = over([extent], [size], { stride, dilation, padding: "same" }).padding as [
            readonly [number, number],
          ];
          const reach = (size - 1) * dilation + 1;
          const windows = Math.floor((extent + before + after - reach) / stride) + 1;
          assert.equal(windows, Math.ceil(extent / stride), `${extent} by ${size}, ${stride}, ${dilation}`);
          assert.ok(after - before === 0 || after - before === 1);
        }
      }
    }
  }
});

test("settings that do not fit are refused", () => {
  const wrong = (settings: unknown, kind: typeof ArgumentError | typeof ShapeError, message: RegExp) =>
    assert.throws(
      () => over([8, 9], [3, 3], settings as WindowSettings),
      (error: Error) => error instanceof kind && message.test(error.message),
    );
  wrong({ stride: [1] }, ArgumentError, /for 2 axes/);
  wrong({ stride: 0 }, ArgumentError, /a stride of 0; it is a whole number from 1 on/);
  wrong({ dilation: 1.5 }, ArgumentError, /a dilation of 1\.5/);
  wrong({ padding: "full" }, ArgumentError, /give "valid", "same"/);
  wrong({ padding: [1] }, ArgumentError, /each of 2 axes/);
  wrong({ padding: [1, 0.5] }, ArgumentError, /whole/);
  wrong({ padding: [0, [-5, -5]] }, ShapeError, /less than nothing of 9 elements/);
  assert.deepEqual(positivePerAxis("test", "size", 2, 3), [2, 2, 2]);
});

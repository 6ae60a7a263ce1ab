/** Options with a number for each axis, the order of axes, and padding: refused by name when a layer is made. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import {
  alongChannel,
  channelAxes,
  checkChannels,
  checkPadding,
  checkPerAxis,
  layoutOf,
  perAxis,
} from "../../../src/nn/layers/spatial.js";

const x = tensor(new Array(24).fill(0), { shape: [1, 2, 3, 4], device: "cpu" });

test("the axes of an input follow from the place of the channels", () => {
  assert.deepEqual(channelAxes("conv", x), { channel: 1, count: 2, spatial: [2, 3] });
  assert.deepEqual(channelAxes("conv", x, "last"), { channel: 3, count: 4, spatial: [1, 2] });
  assert.throws(() => channelAxes("conv", x.at(0, 0), "first", 1), {
    name: "ShapeError",
    message: /conv takes \[batch, channels, …\] with 1 spatial axes or more, but the input is \[3, 4\]/,
  });
  assert.deepEqual([layoutOf(x), layoutOf(x, "last"), layoutOf(x.at(0), "last")], ["NCHW", "NHWC", "NWC"]);
  assert.deepEqual(alongChannel(tensor([1, 2], { device: "cpu" }), x, 1).shape, [1, 2, 1, 1]);
});

test("numbers for axes, paddings and places of channels are checked", () => {
  assert.deepEqual(
    [perAxis("p", "size", 3, 2), perAxis("p", "size", [1, 2], 2)],
    [
      [3, 3],
      [1, 2],
    ],
  );
  assert.throws(() => perAxis("p", "a size of", [1, 2], 3), {
    name: "ShapeError",
    message: /p: a size of \[1, 2\] for an input with 3/,
  });
  for (const wrong of [0, 1.5, -1, [], [1, 0], "2", null]) {
    assert.throws(() => checkPerAxis("p", "stride", wrong as never), {
      name: "ArgumentError",
      message: /p: stride is a whole number/,
    });
  }
  for (const wrong of ["full", 0.5, [[1, 2, 3]], [["a", 1]], null]) {
    assert.throws(() => checkPadding("p", wrong as never), { name: "ArgumentError", message: /p: the option padding/ });
  }
  for (const fine of ["same", "valid", 2, -1, [1, [0, 2]], undefined]) checkPadding("p", fine as never);
  assert.throws(() => checkChannels("p", "middle" as never), { message: /p: the option channels is "middle"/ });
});

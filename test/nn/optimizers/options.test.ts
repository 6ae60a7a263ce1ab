import assert from "node:assert/strict";
import { test } from "node:test";
import { checkNotNegative, checkShare } from "../../../src/nn/optimizers/options.js";

test("shares lie from 0 up to 1, without 1; other numbers from 0 on", () => {
  for (const value of [0, 0.999]) checkShare("adam", "decays", value);
  for (const value of [-0.1, 1, NaN, "0.5" as never]) {
    assert.throws(() => checkShare("adam", "decays", value), {
      name: "ArgumentError",
      message: /^adam: the option decays is at least 0/,
    });
  }
  for (const value of [0, 7]) checkNotNegative("adam", "epsilon", value);
  for (const value of [-1, NaN]) {
    assert.throws(() => checkNotNegative("adam", "epsilon", value), {
      message: /^adam: the option epsilon is a number from 0 on/,
    });
  }
});

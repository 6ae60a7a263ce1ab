import assert from "node:assert/strict";
import { test } from "node:test";
import { checkNotNegative, checkPair, checkShare, checkShares } from "../../../src/nn/optimizers/options.js";

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

test("an option of two numbers says so", () => {
  checkShares("adam", "decays", [0.9, 0.999]);
  checkPair("adafactor", "epsilons", [0, 7]);
  for (const values of [[0.9], [0.9, 0.99, 0.999], [0.9, "0.99"], 0.9] as never[]) {
    assert.throws(() => checkShares("adam", "decays", values), {
      name: "ArgumentError",
      message: /^adam: the option decays is two numbers, not /,
    });
  }
  assert.throws(() => checkShares("adam", "decays", [0.9, 1]), { message: /is at least 0 and below 1, not 1/ });
});

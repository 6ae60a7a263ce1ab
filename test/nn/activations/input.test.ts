/** Inputs of activations become floats. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { floatInput } from "../../../src/nn/activations/input.js";

test("integers and booleans become f32, floats stay, anything else is refused", () => {
  const of = (dtype: "i32" | "bool" | "bf16" | "f64") => floatInput("f", tensor([1], { device: "cpu" }).cast(dtype));
  assert.deepEqual(
    [of("i32").dtype, of("bool").dtype, of("bf16").dtype, of("f64").dtype],
    ["f32", "f32", "bf16", "f64"],
  );
  assert.throws(() => floatInput("f", 1 as never), {
    name: "ArgumentError",
    message: /^f: the input is a tensor, not 1/,
  });
  assert.throws(() => floatInput("f", tensor([1], { device: "cpu" }).cast("c64")), {
    name: "DTypeError",
    message: /^f/,
  });
});

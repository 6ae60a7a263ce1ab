/** Values that are asked for while a function is traced: what the error says depends on where the tensor stands. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { TraceError } from "../../src/core/errors.js";
import { derive } from "../../src/graph/build.js";
import { makePlaceholder, runOn } from "../../src/graph/function.js";
import { neg } from "../../src/graph/primitives/elementwise.js";
import { checkHasValue } from "../../src/runtime/value-checks.js";
import { nowhere, stored } from "../support/nodes.js";

const parameter = () => makePlaceholder({ shape: [2, 3], dtype: "f32", device: nowhere });

test("a tensor in memory, and one that follows from it, have values", () => {
  const x = stored(2, 3);
  assert.doesNotThrow(() => checkHasValue(x));
  assert.doesNotThrow(() => checkHasValue(derive(neg, x, {})));
});

test("inside a traced function the error names the remedies", () => {
  const x = parameter();
  for (const node of [x, derive(neg, x, {})]) {
    assert.throws(
      () => checkHasValue(node),
      (error: Error) =>
        error instanceof TraceError &&
        /tensor \[2,3\] of f32 was asked for inside a function/.test(error.message) &&
        /where\(\) or cond\(\)/.test(error.message),
    );
  }
});

test("a tensor that left the function is told apart, and the error names the transform", () => {
  const x = parameter();
  const kept = runOn([x], "vmap", () => derive(neg, x, {}));
  assert.throws(() => checkHasValue(kept), /it left the function that vmap traced, and has none/);
  // A function that is traced once more has its parameters back for as long as it runs.
  runOn([x], "vmap", () => assert.throws(() => checkHasValue(kept), /inside a function that jit/));
});

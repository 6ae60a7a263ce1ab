/** The operation that the user called, from the stack. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { calledOperation } from "../../src/core/called.js";
import { DisposedError } from "../../src/core/errors.js";
import { tensor } from "../../src/index.js";

test("an error deep inside names the method that was called, not those it is made of", () => {
  const x = tensor([1, 2, 3]);
  x.dispose();
  for (const [name, call] of Object.entries({
    softmax: () => x.softmax(),
    add: () => x.add(1),
    roll: () => x.roll(1),
  })) {
    assert.throws(call, (error: Error) => error instanceof DisposedError && error.message.includes(name), name);
  }
});

test("the length of stacks is left as it was", () => {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 7;
  calledOperation();
  assert.equal(Error.stackTraceLimit, 7);
  Error.stackTraceLimit = before;
});

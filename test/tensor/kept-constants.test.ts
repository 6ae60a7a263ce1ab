/** Constants that devices keep: made once for a key, shape and dtype, and let go when there are too many. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { backendFor } from "../../src/tensor/index.js";
import { keptConstants } from "../../src/tensor/kept-constants.js";
import { numbers } from "../support/node-rules.js";

const backend = backendFor("cpu");
let made = 0;
const constants = (key: string, count: number) =>
  keptConstants(backend, key, [count], "f64", () => {
    made++;
    return new Float64Array(count).fill(count);
  });

test("made once for a key and a shape", () => {
  const before = made;
  const first = constants("own", 3);
  assert.deepEqual(numbers(first), [3, 3, 3]);
  assert.equal(constants("own", 3), first);
  assert.equal(made, before + 1);
  assert.notEqual(constants("own", 4), first);
  assert.notEqual(constants("other", 3), first);
});

test("64 MiB are kept, those that were used last", () => {
  const large = (1 << 25) / 8;
  const [a, b] = [constants("a", large), constants("b", large)];
  constants("a", large);
  constants("c", large);
  const before = made;
  assert.equal(constants("a", large), a, "it was used after b");
  assert.equal(made, before);
  assert.notEqual(constants("b", large), b);
  assert.equal(made, before + 1);
});

/** Tensors are neither JSON nor lists, and say what to write instead. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, tensor } from "../../../src/index.js";

const x = tensor([1, 2], { device: "cpu" });
const refused = (work: () => unknown, remedy: RegExp) =>
  assert.throws(work, (error: Error) => error instanceof ArgumentError && remedy.test(error.message));

test("as JSON, also inside other values", () => {
  refused(() => JSON.stringify(x), /await x\.array\(\)/);
  refused(() => JSON.stringify({ weights: [x] }), /await x\.array\(\)/);
});

test("as a list", () => {
  refused(() => [...(x as unknown as Iterable<number>)], /x\.unstack\(\)/);
  refused(() => Array.from(x as unknown as Iterable<number>), /await x\.data\(\)/);
});

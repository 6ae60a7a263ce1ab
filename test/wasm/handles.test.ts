/** The results of a function: one, several or none, as a list. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import { resultList } from "../../src/wasm/handles.js";

test("one result is a list of one", () => {
  assert.deepEqual(resultList("f32"), ["f32"]);
  assert.deepEqual(resultList(["i32", "v128"]), ["i32", "v128"]);
  assert.deepEqual(resultList([]), []);
});

test("imported functions are numbered before those of the module", () => {
  const m = new ModuleBuilder();
  const imported = m.importFunction("env", "log", ["i32"], []);
  const own = m.function("own", [], "i32", (f) => f.i32.const(1));
  assert.deepEqual([imported.index, own.index], [0, 1]);
  assert.equal(own.module, imported.module);
});

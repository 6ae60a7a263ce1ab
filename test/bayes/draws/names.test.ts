/** Names from files: those with a meaning of their own in JavaScript name no variable. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { whyNoName } from "../../../src/bayes/draws/names.js";

test("names that reach a prototype, nothing and what is no text are refused", () => {
  for (const name of ["__proto__", "constructor", "prototype"]) {
    assert.equal(whyNoName(name), `"${name}" is no name for a variable`);
  }
  assert.equal(whyNoName(""), "a name is empty");
  for (const name of [undefined, null, 3, {}, ["mu"]]) assert.equal(whyNoName(name), "a name is no text");
});

test("all other names are names", () => {
  for (const name of ["mu", "θ", "toString", "__proto", "a b", "hasOwnProperty"]) assert.equal(whyNoName(name), null);
});

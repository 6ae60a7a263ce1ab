/** What must hold for every specimen: it is valid, and the same calls give the same words. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertValid, validate, without } from "../support/spirv-val.js";
import { specimens } from "./specimens/index.js";

const missing = without("spirv-val");

describe("the assembler writes SPIR-V that spirv-val accepts", () => {
  for (const { name, build, environment, needsRecentTools } of specimens) {
    if (needsRecentTools) continue;
    test(name, { skip: missing }, () => assertValid(build(), environment));
  }
});

describe("the assembler writes SPIR-V that spirv-val accepts, where it knows the extension", () => {
  for (const { name, build, environment, needsRecentTools } of specimens) {
    if (!needsRecentTools) continue;
    test(name, { skip: missing }, (t) => {
      const complaint = validate(build(), environment);
      // An old spirv-val stops at the first capability or type form it has not heard of.
      if (/Invalid capability operand|End of input reached|expected more operands|no more operands/i.test(complaint)) {
        t.skip(`this spirv-val does not know the extension: ${complaint}`);
        return;
      }
      assert.equal(complaint, "");
    });
  }
});

describe("the same calls give the same words", () => {
  for (const { name, build } of specimens) {
    test(name, () => assert.deepEqual(build(), build()));
  }
});

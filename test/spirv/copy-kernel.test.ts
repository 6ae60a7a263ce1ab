/** The kernel that copies: its interface, as a reader of modules sees it, and the bounds it keeps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { copyKernel } from "../../src/spirv/copy-kernel.js";
import { disassemble } from "../../src/spirv/index.js";
import { reflect } from "../../src/spirv/read/reflect.js";

test("it has 256 threads, no descriptors, and a push block of two addresses and two numbers", () => {
  const words = copyKernel();
  const module = reflect(words);
  assert.deepEqual(module.entryPoints, ["main"]);
  const { localSize, bindings, pushBytes, sharedBytes } = module.entry("main", new Map()) ?? assert.fail("no entry");
  assert.deepEqual(
    { localSize, bindings, pushBytes, sharedBytes },
    { localSize: [256, 1, 1], bindings: [], pushBytes: 24, sharedBytes: 0 },
  );
  assert.match(disassemble(words), /OpMemberDecorate %_struct_\d+ 0 NonWritable/);
});

test("a vector is copied only where its number is below the count", () => {
  const text = disassemble(copyKernel());
  const body = text.slice(text.indexOf("OpFunction "));
  assert.match(body, /OpULessThan %bool[\s\S]*OpBranchConditional[\s\S]*OpLoad %v4uint[\s\S]*OpStore/);
  assert.equal(body.match(/Aligned 4/g)?.length, 2);
});

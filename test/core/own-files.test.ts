/** Frames of stacks: the library's own, JavaScript's and Node's, and the user's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isBuiltIn, isInside, OWN_FOLDER } from "../../src/core/own-files.js";
import { tensor } from "../../src/index.js";

const frames = (error: unknown): string[] =>
  ((error as Error).stack ?? "").split("\n").filter((line) => /^ {4}at /.test(line));

test("the library's folder is the one above core", () => {
  assert.match(OWN_FOLDER!, /\/src\/$/);
  assert.ok(isInside(`    at add (${OWN_FOLDER}tensor/tensor.js:1:1)`));
  assert.ok(!isInside("    at main (file:///home/user/program.js:1:1)"));
  assert.ok(!isInside(frames(new Error("here"))[0]!), "a test is a user");
});

test("frames of JavaScript and of Node are told from files", () => {
  const [own] = [1].map(() => frames(new Error("within map")));
  assert.ok(own!.some((frame) => /Array\.map/.test(frame) && isBuiltIn(frame)));
  assert.ok(own!.some((frame) => /node:/.test(frame) && isBuiltIn(frame)));
  assert.ok(!isBuiltIn(own![0]!));
});

test("so an error of an operation begins with the frame of the caller", () => {
  try {
    tensor([1, 2]).add(tensor([1, 2, 3]));
    assert.fail("shapes differ");
  } catch (error) {
    assert.ok(!isInside(frames(error)[0]!), frames(error)[0]);
  }
});

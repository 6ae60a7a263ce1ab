/** Reasons in words, for errors of the system and our own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FileRefusal, whyNot } from "../../src/files/reasons.js";

const systemError = (code: string, words: string) =>
  Object.assign(new Error(`${code}: ${words}, open '/a, b/c'`), { code });

test("an error of the system is told by its words alone", () => {
  assert.equal(whyNot("x", systemError("EACCES", "permission denied")), "permission denied");
  assert.equal(whyNot("x", systemError("EMFILE", "too many open files")), "too many open files");
  assert.equal(whyNot("x", systemError("EISDIR", "illegal operation on a directory")), "it is a folder");
});

test("what is missing is named: a file, or the first folder on the way to it", () => {
  const missing = systemError("ENOENT", "no such file or directory");
  assert.equal(whyNot("/pumice-none", missing), "there is no such file");
  assert.equal(whyNot("/pumice-none/a/b", missing), "there is no folder /pumice-none");
  assert.equal(whyNot("pumice-none", missing), `there is no file ${process.cwd()}/pumice-none`);
});

test("refusals speak for themselves, and an empty name is one whatever the system says", () => {
  assert.equal(whyNot("x", new FileRefusal("it is a pipe")), "it is a pipe");
  assert.equal(whyNot("", systemError("ENOENT", "no such file or directory")), "it is an empty name");
});

/** Errors about files that users name: they say what was looked for and why it cannot be used. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { describe, test } from "node:test";
import { ArgumentError, FormatError } from "../../src/core/errors.js";
import { checkWritable, openNamed, readNamed, readNamedText, writeNamed } from "../../src/files/named-file.js";
import { temporaryFolders } from "../support/temporary-folder.js";

const newFolder = temporaryFolders();
const messageOf = async (run: () => unknown, Class: typeof FormatError): Promise<string> => {
  try {
    await run();
  } catch (error) {
    assert.ok(error instanceof Class, `${error}`);
    assert.ok(error.cause instanceof Error);
    return error.message;
  }
  return assert.fail("it throws");
};

describe("a file that cannot be read", () => {
  for (const [name, read] of Object.entries({ readNamed, readNamedText, openNamed })) {
    test(`is told by ${name}`, async () => {
      const folder = newFolder();
      const told = (path: string) => messageOf(() => read("load", path), FormatError);
      const absent = join(folder, "absent");
      assert.equal(await told(absent), `load: ${absent} cannot be read: there is no such file.`);
      const deep = join(folder, "no", "such", "file");
      assert.equal(await told(deep), `load: ${deep} cannot be read: there is no folder ${join(folder, "no")}.`);
      const near = relative(process.cwd(), absent);
      assert.equal(await told(near), `load: ${near} cannot be read: there is no file ${resolve(absent)}.`);
      assert.equal(await told(folder), `load: ${folder} cannot be read: it is a folder.`);
      assert.equal(await told(""), "load:  cannot be read: it is an empty name.");
      writeFileSync(absent, "");
      assert.match(await told(join(absent, "below")), /cannot be read: not a directory\.$/);
    });
  }
});

test("a place that cannot be written is told in the same words", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, "taken"));
  const deep = join(folder, "no", "file");
  for (const write of [
    (path: string) => writeNamed("save: it", path, ["x"]),
    (path: string) => checkWritable("save: it", path),
  ]) {
    const told = (path: string) => messageOf(() => write(path), ArgumentError);
    assert.equal(await told(deep), `save: it cannot be written to ${deep}: there is no folder ${join(folder, "no")}.`);
    assert.equal(
      await told(join(folder, "taken")),
      `save: it cannot be written to ${join(folder, "taken")}: it is a folder.`,
    );
  }
});

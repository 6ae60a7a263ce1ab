/** The folder of caches: made for this user alone, and given up where others could have written to it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { OwnFolder } from "../../../src/engines/disk/own-folder.js";
import { giveAway, onlyRoot, onlyUnix } from "../../support/foreign-user.js";
import { temporaryFolders } from "../../support/temporary-folder.js";

const newFolder = temporaryFolders();
const at = (path: string, maxBytes = 1000) => new OwnFolder(path, maxBytes);
const bytes = Uint8Array.of(1, 2, 3);

test("a file is written, read and replaced whole, and nothing is left beside it", () => {
  const path = join(newFolder(), "deep", "er");
  const folder = at(path);
  assert.equal(folder.read("file"), null);
  assert.equal(folder.write("file", Uint8Array.of(1)), true);
  assert.equal(folder.write("file", bytes), true);
  assert.deepEqual(Uint8Array.from(folder.read("file") ?? []), bytes);
  assert.deepEqual(readdirSync(path), ["file"]);
});

test("folders are made with mode 0700 and files with 0600", { skip: onlyUnix }, () => {
  const root = newFolder();
  at(join(root, "deep", "er")).write("file", bytes);
  for (const path of ["deep", "deep/er"]) assert.equal(statSync(join(root, path)).mode & 0o777, 0o700);
  assert.equal(statSync(join(root, "deep/er/file")).mode & 0o777, 0o600);
});

test("a place that cannot be written gives false, and nothing is left behind", () => {
  const folder = newFolder();
  const file = join(folder, "file");
  writeFileSync(file, "");
  mkdirSync(join(folder, "taken", "inside"), { recursive: true });
  for (const path of [join(file, "below"), "/proc/nowhere", "/dev/null/file", "relative", "\0bad"]) {
    assert.equal(at(path).write("x", bytes), false, path);
    assert.equal(at(path).read("x"), null, path);
  }
  assert.equal(at(folder).write("taken", bytes), false);
  assert.deepEqual(readdirSync(folder).sort(), ["file", "taken"]);
});

describe("is not used", { skip: onlyUnix }, () => {
  /** A folder with a good file in it. */
  const filled = () => {
    const path = join(newFolder(), "cache");
    assert.equal(at(path).write("file", bytes), true);
    return path;
  };
  const isUnused = (path: string) => {
    const names = readdirSync(path);
    assert.equal(at(path).read("file"), null);
    assert.equal(at(path).write("other", bytes), false);
    assert.deepEqual(readdirSync(path), names);
  };

  test("if others may write to it", () => {
    for (const mode of [0o777, 0o770, 0o1777]) {
      const path = filled();
      chmodSync(path, mode);
      isUnused(path);
      assert.match(String(at(path).problem()), /others may write to/);
    }
  });

  test("if it lies below such a folder", () => {
    const path = filled();
    chmodSync(join(path, ".."), 0o777);
    isUnused(path);
  });

  test("if it belongs to another user", { skip: onlyRoot }, () => {
    const path = filled();
    giveAway(path);
    isUnused(path);
  });
});

describe("a file in it is not used", { skip: onlyUnix }, () => {
  const withFile = (put: (path: string) => void) => {
    const path = join(newFolder(), "cache");
    mkdirSync(path, { mode: 0o700 });
    put(join(path, "file"));
    const began = performance.now();
    const found = at(path).read("file");
    assert.ok(performance.now() - began < 2000, "at once");
    assert.equal(at(path).write("file", bytes), true, "and it is replaced");
    assert.deepEqual(Uint8Array.from(at(path).read("file") ?? []), bytes);
    return found;
  };

  test("if it is a link, to a device or to a file of one's own", () => {
    assert.equal(
      withFile((path) => symlinkSync("/dev/zero", path)),
      null,
    );
    const victim = join(newFolder(), "victim");
    writeFileSync(victim, "mine", { mode: 0o600 });
    assert.equal(
      withFile((path) => symlinkSync(victim, path)),
      null,
    );
    assert.equal(readFileSync(victim, "utf8"), "mine");
  });

  test("if it is a pipe", () => {
    assert.equal(
      withFile((path) => execFileSync("mkfifo", [path])),
      null,
    );
  });

  test("if others may write to it", () => {
    assert.equal(
      withFile((path) => {
        writeFileSync(path, "x");
        chmodSync(path, 0o666);
      }),
      null,
    );
  });

  test("if it is larger than files there are", () => {
    assert.equal(
      withFile((path) => writeFileSync(path, new Uint8Array(1001), { mode: 0o600 })),
      null,
    );
  });

  test("if it belongs to another user", { skip: onlyRoot }, () => {
    assert.equal(
      withFile((path) => {
        writeFileSync(path, "x", { mode: 0o600 });
        giveAway(path);
      }),
      null,
    );
  });
});

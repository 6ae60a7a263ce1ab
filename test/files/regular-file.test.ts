/** Reading files: regular ones only, without waiting, within bounds; a file that is run must be one's own. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readOwnSync, readRegular, readRegularSync } from "../../src/files/regular-file.js";
import { giveAway, onlyRoot, onlyUnix } from "../support/foreign-user.js";
import { temporaryFolders } from "../support/temporary-folder.js";

const newFolder = temporaryFolders();
const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => i % 251);

describe("readers of regular files", () => {
  for (const length of [0, 1, 65_535, 65_536, 65_537, 300_000]) {
    test(`give all ${length} bytes of a file`, async () => {
      const path = join(newFolder(), "file");
      writeFileSync(path, bytes(length), { mode: 0o600 });
      assert.deepEqual(Uint8Array.from(readRegularSync(path)), bytes(length));
      assert.deepEqual(Uint8Array.from(await readRegular(path)), bytes(length));
      assert.deepEqual(Uint8Array.from(readOwnSync(path, length)), bytes(length));
    });
  }

  test("read a file without a size, as those of /proc, to its end", {
    skip: process.platform === "linux" ? false : "needs /proc",
  }, async () => {
    assert.match(Buffer.from(readRegularSync("/proc/self/status")).toString(), /^Name:/);
    assert.match((await readRegular("/proc/self/status")).toString(), /^Name:/);
  });

  test("refuse a file of more bytes than they are allowed", () => {
    const path = join(newFolder(), "file");
    writeFileSync(path, bytes(11), { mode: 0o600 });
    assert.throws(() => readRegularSync(path, 10), /it has 11 bytes, and 10 are the most/);
    assert.throws(() => readOwnSync(path, 10), /it has 11 bytes, and 10 are the most/);
  });

  test("refuse folders, pipes nobody writes to, and devices without an end, at once", { skip: onlyUnix }, async () => {
    const folder = newFolder();
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    mkdirSync(join(folder, "folder"));
    symlinkSync("/dev/zero", join(folder, "zero"));
    const refusals: readonly (readonly [string, RegExp])[] = [
      [pipe, /it is a pipe/],
      [join(folder, "folder"), /it is a folder/],
      [join(folder, "zero"), /it is a device/],
    ];
    for (const [path, why] of refusals) {
      const began = performance.now();
      assert.throws(() => readRegularSync(path), why);
      await assert.rejects(readRegular(path), why);
      assert.ok(performance.now() - began < 2000, path);
    }
    assert.throws(() => readOwnSync(pipe, 10), /it is a pipe/);
    assert.throws(() => readOwnSync(join(folder, "zero"), 10), /it is a link/);
  });
});

describe("a file of one's own", { skip: onlyUnix }, () => {
  const file = (mode: number) => {
    const path = join(newFolder(), "file");
    writeFileSync(path, "x");
    chmodSync(path, mode);
    return path;
  };

  test("may be read by others", () => {
    for (const mode of [0o600, 0o644, 0o755]) assert.equal(readOwnSync(file(mode), 9).length, 1);
  });

  test("is refused if others may write to it", () => {
    for (const mode of [0o620, 0o602, 0o666, 0o777])
      assert.throws(() => readOwnSync(file(mode), 9), /others may write/);
  });

  test("is no link, even to a file of one's own", () => {
    const path = file(0o600);
    symlinkSync(path, `${path}-link`);
    assert.throws(() => readOwnSync(`${path}-link`, 9), /it is a link/);
    linkSync(path, `${path}-name`);
    assert.equal(readOwnSync(`${path}-name`, 9).length, 1, "a second name of the file is no link");
  });

  test("belongs to nobody else", { skip: onlyRoot }, () => {
    const path = file(0o644);
    giveAway(path);
    assert.throws(() => readOwnSync(path, 9), /it belongs to user 54321, not to 0/);
    assert.equal(readRegularSync(path).length, 1, "a file that a user names may be anyone's");
  });
});

/** Writing files: whole or not at all, and never through a link that somebody else has made. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  checkReplaceable,
  previousOf,
  removeUnfinished,
  renameOver,
  replaceFile,
  replaceFileSync,
} from "../../src/files/replace-file.js";
import { giveAway, onlyRoot, onlyUnix } from "../support/foreign-user.js";
import { temporaryFolders } from "../support/temporary-folder.js";

const newFolder = temporaryFolders();
const writers: Readonly<Record<string, (path: string, text: string) => void | Promise<void>>> = {
  replaceFile: (path, text) => replaceFile(path, [text.slice(0, 1), Buffer.from(text.slice(1))]),
  "replaceFile, durable": (path, text) => replaceFile(path, [text], { isDurable: true }),
  replaceFileSync: (path, text) => replaceFileSync(path, Buffer.from(text)),
};

for (const [name, write] of Object.entries(writers)) {
  describe(name, () => {
    test("makes a file and replaces it, and leaves nothing beside it", async () => {
      const folder = newFolder();
      for (const text of ["first", "second, longer", "3"]) {
        await write(join(folder, "file"), text);
        assert.equal(readFileSync(join(folder, "file"), "utf8"), text);
      }
      assert.deepEqual(readdirSync(folder), ["file"]);
    });

    test("keeps the mode of the file that it replaces", { skip: onlyUnix }, async () => {
      const path = join(newFolder(), "file");
      await write(path, "x");
      assert.equal(statSync(path).mode & 0o777, 0o666 & ~process.umask());
      for (const mode of [0o600, 0o640, 0o666]) {
        chmodSync(path, mode);
        await write(path, "y");
        assert.equal(statSync(path).mode & 0o777, mode);
      }
    });

    test("takes neither owner nor mode from a file of another user", { skip: onlyRoot }, async () => {
      const path = join(newFolder(), "file");
      writeFileSync(path, "theirs");
      chmodSync(path, 0o666);
      giveAway(path);
      await write(path, "mine");
      const { uid, mode } = statSync(path);
      assert.deepEqual([uid, mode & 0o777], [0, 0o666 & ~process.umask()]);
    });

    test("refuses an empty name and a folder, and leaves nothing in it", async () => {
      const folder = newFolder();
      await assert.rejects(async () => write("", "x"), /it is an empty name/);
      await assert.rejects(async () => write(folder, "x"), /it is a folder/);
      await assert.rejects(async () => write(join(folder, "no", "file"), "x"), { code: "ENOENT" });
      assert.deepEqual(readdirSync(folder), []);
    });

    test("writes to where a link of one's own points, and the link stays", { skip: onlyUnix }, async () => {
      const folder = newFolder();
      const [file, link] = [join(folder, "file"), join(folder, "link")];
      writeFileSync(file, "old");
      symlinkSync("file", link);
      await write(link, "new");
      assert.equal(readFileSync(file, "utf8"), "new");
      assert.ok(lstatSync(link).isSymbolicLink());
    });

    test("does not write through a link of another user", { skip: onlyRoot }, async () => {
      const folder = newFolder();
      const [file, link, loose] = [join(folder, "file"), join(folder, "link"), join(folder, "loose")];
      writeFileSync(file, "mine");
      symlinkSync(file, link);
      symlinkSync(join(folder, "made"), loose);
      for (const path of [link, loose]) {
        giveAway(path);
        await assert.rejects(async () => write(path, "theirs"), /it is a link that user 54321 made/);
      }
      assert.equal(readFileSync(file, "utf8"), "mine");
      assert.ok(!existsSync(join(folder, "made")));
    });

    test("fills a pipe or a device, which it never replaces", { skip: onlyUnix }, async () => {
      const folder = newFolder();
      const pipe = join(folder, "pipe");
      execFileSync("mkfifo", [pipe]);
      const reader = spawn("cat", [pipe], { stdio: ["ignore", "pipe", "inherit"] });
      let read = "";
      reader.stdout.setEncoding("utf8").on("data", (text: string) => {
        read += text;
      });
      const ended = new Promise((resolve) => reader.on("close", resolve));
      await write(pipe, "through a pipe");
      await ended;
      assert.equal(read, "through a pipe");
      await write("/dev/null", "x");
      assert.ok(statSync("/dev/null").isCharacterDevice());
      assert.deepEqual(readdirSync(folder), ["pipe"]);
    });
  });
}

test("a link planted under a name that a writer might use beside the file is not written through", {
  skip: onlyUnix,
}, async () => {
  const folder = newFolder();
  const path = join(folder, "fit");
  writeFileSync(join(folder, "victim"), "mine");
  for (const name of [`fit.${process.pid}.part`, `fit.${process.pid}.tmp`]) symlinkSync("victim", join(folder, name));
  await replaceFile(path, ["new"]);
  checkReplaceable(path);
  assert.equal(readFileSync(join(folder, "victim"), "utf8"), "mine");
  assert.equal(readlinkSync(join(folder, `fit.${process.pid}.part`)), "victim");
});

test("contents that fail on the way leave the old file, and nothing beside it", async () => {
  const folder = newFolder();
  const path = join(folder, "file");
  writeFileSync(path, "old");
  function* failing() {
    yield "half";
    throw new Error("no more");
  }
  await assert.rejects(replaceFile(path, failing()), /no more/);
  assert.equal(readFileSync(path, "utf8"), "old");
  assert.deepEqual(readdirSync(folder), ["file"]);
});

test("a full device is an error", { skip: existsSync("/dev/full") ? false : "needs /dev/full" }, async () => {
  await assert.rejects(replaceFile("/dev/full", ["x"]), { code: "ENOSPC" });
});

test("renameOver puts a file in the place of a link or a pipe, and fails on a folder with something in it", {
  skip: onlyUnix,
}, () => {
  const folder = newFolder();
  writeFileSync(join(folder, "victim"), "mine");
  symlinkSync("victim", join(folder, "link"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  mkdirSync(join(folder, "taken", "inside"), { recursive: true });
  for (const name of ["link", "pipe"]) {
    renameOver(join(folder, name), Buffer.from("new"), 0o600);
    assert.ok(lstatSync(join(folder, name)).isFile());
    assert.equal(lstatSync(join(folder, name)).mode & 0o777, 0o600);
  }
  assert.throws(() => renameOver(join(folder, "taken"), Buffer.from("new"), 0o600));
  assert.equal(readFileSync(join(folder, "victim"), "utf8"), "mine");
  assert.deepEqual(readdirSync(folder).sort(), ["link", "pipe", "taken", "victim"]);
});

test("checkReplaceable finds out without a trace", () => {
  const folder = newFolder();
  checkReplaceable(join(folder, "new"));
  assert.throws(() => checkReplaceable(join(folder, "no", "new")), { code: "ENOENT" });
  assert.throws(() => checkReplaceable(folder), /it is a folder/);
  assert.deepEqual(readdirSync(folder), []);
});

describe("the file before", () => {
  const write = (path: string, text: string) => replaceFile(path, [text], { keepsPrevious: true });

  test("is kept beside the new one, and where there was none, nothing is", async () => {
    const folder = newFolder();
    const path = join(folder, "file");
    await write(path, "1");
    assert.equal(existsSync(previousOf(path)), false);
    for (const [text, before] of ["12", "23", "34"].map((pair) => [pair[1]!, pair[0]!] as const)) {
      await write(path, text);
      assert.deepEqual([readFileSync(path, "utf8"), readFileSync(previousOf(path), "utf8")], [text, before]);
    }
    assert.deepEqual(readdirSync(folder).sort(), ["file", "file.previous"]);
    // Whoever takes the file away does not want the one before it back.
    rmSync(path);
    await write(path, "5");
    assert.deepEqual(readdirSync(folder), ["file"]);
  });

  test("is beside the file that a link leads to", { skip: onlyUnix }, async () => {
    const [folder, other] = [newFolder(), newFolder()];
    const link = join(folder, "link");
    writeFileSync(join(other, "file"), "1");
    symlinkSync(join(other, "file"), link);
    await write(link, "2");
    assert.equal(readFileSync(previousOf(link), "utf8"), "1");
    assert.deepEqual([readdirSync(folder), readdirSync(other).sort()], [["link"], ["file", "file.previous"]]);
  });

  test("stays where contents cannot be had", async () => {
    const path = join(newFolder(), "file");
    await write(path, "1");
    await write(path, "2");
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from("3");
      throw new Error("no more");
    };
    await assert.rejects(() => replaceFile(path, failing(), { keepsPrevious: true }), /no more/);
    assert.deepEqual([readFileSync(path, "utf8"), readFileSync(previousOf(path), "utf8")], ["2", "1"]);
  });
});

test("unfinished files of processes that are gone are removed; those of others and other things are not", async () => {
  const folder = newFolder();
  const path = join(folder, "file");
  const gone = spawn(process.execPath, ["-e", ""]);
  await new Promise((resolve) => gone.on("close", resolve));
  const left = [`file.${process.pid}.ab12.part`, `file.${process.ppid}.ab12.part`, "file.part", `fil.${gone.pid}.part`];
  for (const name of [...left, `file.${gone.pid}.ab12.part`]) writeFileSync(join(folder, name), "");
  mkdirSync(join(folder, `file.${gone.pid}.cd34.part`));
  await removeUnfinished(path);
  assert.deepEqual(readdirSync(folder).sort(), [...left, `file.${gone.pid}.cd34.part`].sort());
});

/** Folders that only this user and root can change, with every folder above them. */
import assert from "node:assert/strict";
import { chmodSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { whyUntrusted } from "../../src/files/trusted-folder.js";
import { giveAway, onlyRoot, onlyUnix, STRANGER } from "../support/foreign-user.js";
import { temporaryFolders } from "../support/temporary-folder.js";

const newFolder = temporaryFolders();
const user = process.geteuid?.();
const why = (folder: string, home: string | null = null) => whyUntrusted(folder, { home, user });

/** home/a/cache, of which some folders have other modes. */
function tree(modes: Partial<Record<"home" | "a" | "cache", number>> = {}): { home: string; a: string; cache: string } {
  const home = newFolder();
  const paths = { home, a: join(home, "a"), cache: join(home, "a", "cache") };
  mkdirSync(paths.cache, { recursive: true, mode: 0o700 });
  for (const name of ["home", "a", "cache"] as const) chmodSync(paths[name], modes[name] ?? 0o700);
  return paths;
}

test("a relative path is never trusted", () => {
  for (const path of ["", ".", "cache", "./cache", "../cache"]) assert.match(String(why(path)), /is no absolute path/);
});

test("what is no folder, or cannot be one, is not trusted", () => {
  const file = join(newFolder(), "file");
  writeFileSync(file, "");
  assert.match(String(why(file)), /is no folder/);
  assert.match(String(why(join(file, "below"))), /is no folder/);
  assert.match(String(why(`${file}\0x`)), /cannot be looked at/);
});

test("a folder is trusted if it and those above it are closed to others", { skip: onlyUnix }, () => {
  const { home, cache } = tree({ home: 0o755, a: 0o755 });
  assert.equal(why(cache, home), null);
  assert.equal(why(cache), null, "up to the root, by way of /tmp, which is sticky");
  assert.equal(why(join(cache, "not", "there", "yet"), home), null);
});

test("one that others may write to is not", { skip: onlyUnix }, () => {
  for (const mode of [0o770, 0o707, 0o777, 0o1777]) {
    const { home, cache } = tree({ cache: mode });
    assert.match(String(why(cache, home)), /^others may write to .*cache \(mode/, mode.toString(8));
  }
});

test("nor one below a folder that others may write to, unless that is sticky", { skip: onlyUnix }, () => {
  for (const name of ["home", "a"] as const) {
    const open = tree({ [name]: 0o777 });
    assert.match(String(why(open.cache, open.home)), /^others may write to/);
    assert.match(String(why(join(open.cache, "absent"), open.home)), /^others may write to/);
    const sticky = tree({ [name]: 0o1777 });
    assert.equal(why(sticky.cache, sticky.home), null);
  }
});

test("above the home, nothing is looked at", { skip: onlyUnix }, () => {
  const { home, a, cache } = tree({ home: 0o777 });
  assert.equal(why(cache, a), null);
  assert.match(String(why(cache, home)), /others may write/);
  assert.match(String(why(cache, join(home, "elsewhere"))), /others may write/, "a home that it is not in");
});

test("a link leads to the folder that is judged, and may not lie where others put it", { skip: onlyUnix }, () => {
  const [good, open] = [tree(), tree({ cache: 0o777 })];
  const link = (target: string, mode = 0o700) => {
    const folder = newFolder();
    symlinkSync(target, join(folder, "link"));
    chmodSync(folder, mode);
    return join(folder, "link");
  };
  assert.equal(why(link(good.cache)), null);
  assert.equal(why(link(link(good.cache))), null);
  assert.match(String(why(link(open.cache))), /others may write to .*cache/);
  assert.match(String(why(link(link(good.cache, 0o777)))), /others may write to/, "the link between is replaceable");
  const circle = join(newFolder(), "circle");
  symlinkSync(circle, circle);
  assert.match(String(why(circle)), /a link in a circle/);
});

test("folders and links of another user are not trusted", { skip: onlyRoot }, () => {
  for (const name of ["home", "a", "cache"] as const) {
    const paths = tree();
    giveAway(paths[name]);
    assert.match(String(why(paths.cache, paths.home)), /belongs to user 54321, not to 0/, name);
  }
  const { cache } = tree();
  const link = join(newFolder(), "link");
  symlinkSync(cache, link);
  giveAway(link);
  assert.match(String(why(link)), /is a link that user 54321 made/);
});

test("a user may keep things below folders of root, and in none of root's own", { skip: onlyRoot }, () => {
  const { home, a, cache } = tree({ home: 0o755, a: 0o755 });
  lchownSync(cache, STRANGER, STRANGER);
  assert.equal(whyUntrusted(cache, { home, user: STRANGER }), null);
  assert.match(String(whyUntrusted(a, { home, user: STRANGER })), /belongs to user 0/);
});

test("without users, as on Windows, only the path and the kinds of files are looked at", { skip: onlyUnix }, () => {
  const { cache } = tree({ cache: 0o777 });
  assert.equal(whyUntrusted(cache, { home: null, user: undefined }), null);
  assert.match(String(whyUntrusted("cache", { home: null, user: undefined })), /is no absolute path/);
});

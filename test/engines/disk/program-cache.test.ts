/** The files of compiled programs: what is kept is found, what is wrong is refused, and the oldest make room. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { decodeProgramFile, encodeProgramFile, ProgramCache } from "../../../src/engines/disk/program-cache.js";

const root = mkdtempSync(join(tmpdir(), "pumice-cache-"));
after(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFolder = (): string => join(root, String(folders++));

const KEY = "0123456789abcdef".repeat(4);

test("a file gives back its program, and says what is wrong with any other", () => {
  const payload = Buffer.from("a program");
  const file = encodeProgramFile(KEY, payload);
  assert.deepEqual(decodeProgramFile(KEY, file), payload);
  const changed = (at: number) => file.map((byte, i) => (i === at ? byte ^ 1 : byte));
  const why = (bytes: Uint8Array, key = KEY) => (decodeProgramFile(key, bytes) as { why: string }).why;
  assert.match(why(file.subarray(0, 50)), /truncated/);
  assert.match(why(file.subarray(0, -1)), /truncated/);
  assert.match(why(Buffer.concat([file, Buffer.alloc(1)])), /truncated/);
  assert.match(why(new Uint8Array()), /truncated/);
  assert.match(why(changed(0)), /format/);
  assert.match(why(changed(8)), /format/);
  assert.match(why(changed(20)), /another program/);
  assert.match(why(file, KEY.replace("0", "f")), /another program/);
  assert.match(why(changed(60)), /checksum/);
  assert.match(why(changed(file.length - 1)), /checksum/);
});

test("a cache finds what was kept, from the moment it was saved", () => {
  const cache = new ProgramCache(newFolder());
  assert.equal(cache.find(KEY), null);
  cache.keep(KEY, () => Buffer.from("a program"));
  assert.equal(cache.find(KEY), null);
  cache.save();
  assert.equal(Buffer.from(cache.find(KEY) as Uint8Array).toString(), "a program");
  assert.equal(cache.find(KEY.replace("0", "f")), null);
});

test("the programs that were not used for the longest time make room for others", () => {
  const folder = newFolder();
  const cache = new ProgramCache(folder, 3500);
  const keys = [..."abcde"].map((letter) => letter.repeat(64));
  const old = (key: string, hours: number) => {
    const time = new Date(Date.now() - 3_600_000 * hours);
    utimesSync(join(folder, "programs", `${key.slice(0, 32)}.program`), time, time);
  };
  keys.slice(0, 4).forEach((key, i) => {
    cache.keep(key, () => new Uint8Array(1000));
    cache.save();
    old(key, 10 - i);
  });
  const there = () => keys.map((key) => cache.find(key) !== null);
  assert.deepEqual(readdirSync(join(folder, "programs")).length, 3, "the oldest was removed when the fourth came");
  // The oldest that is left is used: now the next is the oldest.
  assert.ok(cache.find(keys[1]!));
  cache.keep(keys[4]!, () => new Uint8Array(1000));
  cache.save();
  assert.deepEqual(there(), [false, true, false, true, true]);
});

test("what a killed process left is removed after an hour, and foreign files are not", () => {
  const folder = newFolder();
  const cache = new ProgramCache(folder, 500);
  mkdirSync(join(folder, "programs"), { recursive: true });
  const put = (name: string, hours: number) => {
    const path = join(folder, "programs", name);
    writeFileSync(path, new Uint8Array(1000));
    const time = new Date(Date.now() - 3_600_000 * hours);
    utimesSync(path, time, time);
  };
  put(`${KEY.slice(0, 32)}.program.4711.k3j2h1`, 2);
  put(`${KEY.slice(0, 32)}.program.4712.k3j2h1`, 0.5);
  put("thesis.txt", 1000);
  cache.keep(KEY, () => new Uint8Array(10));
  cache.save();
  const names = [`${KEY.slice(0, 32)}.program`, `${KEY.slice(0, 32)}.program.4712.k3j2h1`, "thesis.txt"];
  assert.deepEqual(readdirSync(join(folder, "programs")).sort(), names.sort());
});

test("a folder that cannot be written, or that is a file, costs nothing but the cache", () => {
  const folder = newFolder();
  writeFileSync(folder, "no folder");
  const cache = new ProgramCache(folder);
  cache.keep(KEY, () => new Uint8Array(10));
  cache.save();
  assert.equal(cache.find(KEY), null);
});

/** Measured tilings on disk: kept for one device, driver and version, and ignored where they are damaged or from elsewhere. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { encodeTunings, listTunings, TuningFile } from "../../../src/engines/disk/tuning-file.js";
import { onlyUnix } from "../../support/foreign-user.js";
import { temporaryFolders } from "../../support/temporary-folder.js";

const newFolder = temporaryFolders();
const tilings = { "f32 nn 1×96×80×96": "registers 8×4" };
const pathIn = (root: string) => join(root, "tuning", readdirSync(join(root, "tuning"))[0]!);

test("what is added is read again, by the same device alone", () => {
  const root = newFolder();
  const file = new TuningFile(root, "card, driver 1");
  assert.deepEqual(file.read(), {});
  assert.equal(file.add(tilings), true);
  assert.deepEqual(new TuningFile(root, "card, driver 1").read(), tilings);
  assert.deepEqual(new TuningFile(root, "card, driver 2").read(), {});
});

test("what another process has added meanwhile stays", () => {
  const root = newFolder();
  const [one, other] = [new TuningFile(root, "card"), new TuningFile(root, "card")];
  one.add({ a: "1", b: "1" });
  other.add({ b: "2" });
  assert.deepEqual(one.read(), { a: "1", b: "2" });
});

test("a damaged file, and one of another device or version in its place, is ignored, listed and replaced", () => {
  const root = newFolder();
  const file = new TuningFile(root, "card");
  file.add(tilings);
  const path = pathIn(root);
  const good = readFileSync(path, "utf8");
  for (const [text, why] of [
    ["", /damaged/],
    [good.slice(0, -20), /damaged/],
    ["null", /another format/],
    ["{}", /another format/],
    [good.replace("8×4", "4×8"), /checksum/],
    [good.replace('"device": "card"', '"device": 7'), /damaged/],
    [encodeTunings("card", { a: 1 as unknown as string }), /checksum/],
    [encodeTunings("card", tilings, "0.0.1"), /Pumice 0\.0\.1/],
    ["x".repeat(2 << 20), /cannot be read/],
  ] as const) {
    writeFileSync(path, text);
    assert.deepEqual(file.read(), {}, text.slice(0, 60));
    const [listed] = listTunings(root);
    assert.match(listed!.problem ?? "none", why);
  }
  writeFileSync(path, encodeTunings("another card", tilings));
  assert.deepEqual(file.read(), {});
  assert.equal(file.add(tilings), true);
  assert.deepEqual(file.read(), tilings);
  assert.deepEqual(listTunings(root), [{ path, device: "card", count: 1, problem: null }]);
});

test("nothing is read or written where others could write", { skip: onlyUnix }, () => {
  const root = newFolder();
  const file = new TuningFile(root, "card");
  file.add(tilings);
  chmodSync(join(root, "tuning"), 0o777);
  assert.deepEqual(file.read(), {});
  assert.equal(file.add(tilings), false);
});

test("a folder without measurements lists none", () => {
  const root = newFolder();
  assert.deepEqual(listTunings(root), []);
  mkdirSync(join(root, "tuning"));
  writeFileSync(join(root, "tuning", "notes.txt"), "");
  assert.deepEqual(listTunings(root), []);
  assert.deepEqual(listTunings(null), []);
});

/** `pumice tune`: a table of what was measured, files that later runs use, and `--clear`. */
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolders } from "../support/temporary-folder.js";
import { pumice } from "./cli.js";

const newFolder = temporaryFolders();

test("tune measures the products it is given, shows a table, and keeps what it found until it is cleared", () => {
  const env = { PUMICE_CACHE: newFolder(), PUMICE_DEVICE: "cpu" };
  const { code, stdout, stderr } = pumice(["tune", "--shapes", "64x64x64", "4x4x4"], env);
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^Measuring 2 products on cpu\.\nproduct +ms before +ms now +gain +tiles\n64x64x64 +[\d.]+ +[\d.]+ +\S+ +panels /,
  );
  assert.match(stdout, /^4x4x4 +nothing to choose/m);
  const folder = join(env.PUMICE_CACHE, "tuning");
  assert.equal(readdirSync(folder).length, 1);
  assert.match(pumice(["cache"], env).stdout, /^measured tilings: /m);
  assert.match(pumice(["doctor"], env).stdout, /1 kind of matrix products measured on/);

  writeFileSync(join(folder, "0123456789abcdef.tuning"), "damaged");
  assert.match(pumice(["doctor"], env).stdout, /0123456789abcdef\.tuning are not\s+used: it is damaged/);
  assert.equal(pumice(["tune", "--clear"], env).stdout, "Removed 2 files with measurements.\n");
  assert.deepEqual(readdirSync(folder), []);
});

test("wrong products are refused, and named", () => {
  const { code, stderr } = pumice(["tune", "--shapes", "64x64"], { PUMICE_CACHE: "off", PUMICE_DEVICE: "cpu" });
  assert.equal(code, 1);
  assert.match(stderr, /"64x64" names no product/);
  assert.equal(pumice(["tune", "--shape"], { PUMICE_CACHE: "off" }).code, 2);
});

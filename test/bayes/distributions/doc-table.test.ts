/** The documentation names every distribution with its arguments. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { distributionNames } from "./cases.js";
import { distributionTable, tableInPage } from "./doc-table.js";

test("the table of distributions in docs/bayes.md is up to date (npm run docs writes it)", () => {
  assert.equal(tableInPage(), distributionTable());
});

test("every distribution is in the table", () => {
  const named = new Set(distributionTable().match(/\w+(?=\()/g));
  assert.deepEqual(
    distributionNames.filter((name) => !named.has(name)),
    [],
  );
});

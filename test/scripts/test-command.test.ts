/** `npm test` as its callers see it: an exit code, and a last line that counts. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const command = fileURLToPath(new URL("../../../scripts/test.mjs", import.meta.url));

function npmTest(...args: string[]): { code: number | null; last: string | undefined; output: string } {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], { encoding: "utf8", env });
  return { code: status, last: stdout.trimEnd().split("\n").at(-1), output: stdout + stderr };
}

test("an unknown stage or option fails with one line and a count, not a stack trace", () => {
  for (const args of [["--only", "nonsense"], ["--nonsense"]]) {
    const { code, last, output } = npmTest(...args);
    assert.equal(code, 1);
    assert.equal(last, "0 passed, 1 failed, 0 skipped");
    assert.doesNotMatch(output, /^\s+at /m);
  }
});

test("a stage that passes ends with its count and exit code 0", () => {
  const { code, last, output } = npmTest("--only", "imports");
  assert.equal(code, 0, output);
  assert.equal(last, "1 passed, 0 failed, 0 skipped");
});

test("a pattern that no test file matches is a failure", () => {
  const { code, last } = npmTest("--only", "unit", "no-test-file-is-called-so");
  assert.equal(code, 1);
  assert.match(last ?? "", /^\d+ passed, 1 failed, 0 skipped$/);
});

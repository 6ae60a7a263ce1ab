/** The part of `npm test` that must never be green by mistake: what counts as passed, failed and skipped. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Tally } from "../../scripts/run-tests.mjs";

const script = new URL("../../scripts/run-tests.mjs", import.meta.url).href;

/** Runs one test file with the given text, in a process that does not know it is inside a test. */
function tallyOf(text: string, env: NodeJS.ProcessEnv = {}): { tally: Tally; output: string } {
  const folder = mkdtempSync(join(tmpdir(), "pumice-test-"));
  const file = join(folder, "a.test.mjs");
  writeFileSync(file, `import { describe, test } from "node:test";\n${text}`);
  writeFileSync(
    join(folder, "helper.mjs"),
    'import { describe } from "node:test"; export const suite = (title, body) => describe(title, body);',
  );
  const program = join(folder, "run.mjs");
  writeFileSync(
    program,
    `import { runTests } from ${JSON.stringify(script)};
    console.log(JSON.stringify(await runTests([${JSON.stringify(file)}])));`,
  );
  const { NODE_TEST_CONTEXT: _, CI: __, ...rest } = process.env;
  const child = spawnSync(process.execPath, [program], { encoding: "utf8", env: { ...rest, ...env } });
  rmSync(folder, { recursive: true });
  assert.equal(child.status, 0, child.stderr);
  return { tally: JSON.parse(child.stdout.trim().split("\n").at(-1) ?? ""), output: child.stdout };
}

test("tests count, suites do not", () => {
  const { tally } = tallyOf('test("a", () => {}); describe("s", () => { test("b", () => {}); test("c", () => {}); });');
  assert.deepEqual(tally, { passed: 3, failures: [], skips: [] });
});

test("a suite that a helper in another file opens belongs to the file that ran", () => {
  const { tally, output } = tallyOf(
    'import { suite } from "./helper.mjs"; suite("s", () => { test("a", () => {}); }); test("b", () => {});',
  );
  assert.deepEqual(tally, { passed: 2, failures: [], skips: [] });
  assert.equal(output.match(/passed/g)?.length, 2); // one line for the file, one of JSON
});

test("a failure counts once, is named by its path and shown with what the file printed", () => {
  const { tally, output } = tallyOf(
    'console.log("a hint"); describe("s", () => { test("b", () => { throw new Error("why"); }); });',
  );
  assert.equal(tally.passed, 0);
  assert.equal(tally.failures.length, 1);
  assert.match(tally.failures[0], /: s › b$/);
  assert.match(output, /Error: why/);
  assert.match(output, /a hint/);
});

test("a process that ends badly is a failure even when its tests passed", () => {
  const { tally, output } = tallyOf('test("a", () => {}); process.on("exit", () => { process.exitCode = 7; });');
  assert.equal(tally.passed, 1);
  assert.equal(tally.failures.length, 1);
  assert.match(output, /exit code 7/);
});

test("a file that does not load, or holds no tests, is a failure", () => {
  assert.equal(tallyOf('throw new Error("at once");').tally.failures.length, 1);
  assert.match(tallyOf("").tally.failures.join(), /defines no tests/);
});

test("a skip carries its reason; for want of a tool it is a failure when CI=true", () => {
  const text = 'test("a", { skip: "missing: a tool" }, () => {}); test("b", (t) => t.skip("too slow here"));';
  const reasons = ["missing: a tool", "too slow here"];
  assert.deepEqual(
    tallyOf(text).tally.skips.map(({ reason }) => reason),
    reasons,
  );
  const { tally } = tallyOf(text, { CI: "true" });
  assert.deepEqual(
    tally.skips.map(({ reason }) => reason),
    ["too slow here"],
  );
  assert.match(tally.failures.join(), /missing: a tool/);
});

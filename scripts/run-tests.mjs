/**
 * Runs compiled test files with Node's test runner, a process each, and prints a line per file; what failed is shown in
 * full, with everything the file printed. Called by test.mjs, once for each stage that consists of tests.
 */
import { relative } from "node:path";
import { run } from "node:test";
import { inspect } from "node:util";
import { root } from "./prepare.mjs";

const FILES_AT_ONCE = 2;
const FILE_TIMEOUT_MS = 10 * 60_000;
const LONGEST_OUTPUT = 20_000;

/** A skip whose reason begins so is for want of a driver or tool, which a CI machine must have. */
export const MISSING = "missing:";

/**
 * What a stage amounts to. Failures and skips are named, so that they can be listed again at the end.
 * @typedef {{ passed: number, failures: string[], skips: { name: string, reason: string }[] }} Tally
 */

/** @returns {Tally} */
export function emptyTally() {
  return { passed: 0, failures: [], skips: [] };
}

/**
 * Counts a skip, or a failure when CI=true and the reason is a missing driver or tool.
 * @param {Tally} tally
 * @param {string} name
 * @param {string} reason
 */
export function countSkip(tally, name, reason) {
  if (process.env.CI === "true" && reason.startsWith(MISSING)) tally.failures.push(`${name} (${reason})`);
  else tally.skips.push({ name, reason });
}

/** @param {Tally} tally */
export function describeTally({ passed, failures, skips }) {
  return `${passed} passed, ${failures.length} failed, ${skips.length} skipped`;
}

/**
 * @param {string[]} files absolute paths
 * @returns {Promise<Tally>}
 */
export async function runTests(files) {
  const total = emptyTally();
  /** @type {Map<string, string>} what each file printed */
  const output = new Map();
  /** @type {string[]} the titles that enclose the test at hand, by nesting */
  const titles = [];
  let current = startFile("");

  const endFile = () => {
    const { label, tally } = current;
    if (!label) return;
    if (tally.passed + tally.failures.length + tally.skips.length === 0) {
      current.details.push("    defines no tests");
      tally.failures.push(`${label}: defines no tests`);
    }
    console.log(`  ${label}: ${describeTally(tally)} (${seconds(current.ms)})`);
    for (const detail of current.details) console.log(detail);
    const printed = output.get(label);
    if (tally.failures.length > 0 && printed) console.log(indent(`printed:\n${printed.slice(-LONGEST_OUTPUT)}`));
    total.passed += tally.passed;
    total.failures.push(...tally.failures);
    total.skips.push(...tally.skips);
  };

  for await (const { type, data } of run({ files, concurrency: FILES_AT_ONCE, timeout: FILE_TIMEOUT_MS })) {
    if (type === "test:stdout" || type === "test:stderr") {
      const label = labelOf(data.file);
      output.set(label, (output.get(label) ?? "") + data.message);
    } else if (type === "test:start") {
      titles.length = data.nesting;
      titles.push(data.name);
    } else if (type === "test:pass" || type === "test:fail") {
      // The runner reports one file after the other, also when several run at once.
      const label = labelOf(data.file ?? "");
      if (label !== current.label) {
        endFile();
        current = startFile(label);
      }
      if (data.nesting === 0) current.ms += data.details.duration_ms;
      countTest(current, type === "test:pass", data, [...titles.slice(0, data.nesting), data.name].join(" › "));
    }
  }
  endFile();
  return total;
}

/** @param {string} label */
function startFile(label) {
  return { label, ms: 0, tally: emptyTally(), details: /** @type {string[]} */ ([]) };
}

/**
 * The same for a test file and its source, which the runner names by turns: "core/errors" for test/core/errors.test.ts.
 * @param {string} file
 */
function labelOf(file) {
  const path = relative(root, file).replaceAll("\\", "/");
  return path.replace(/^(?:dist\/)?test\//, "").replace(/\.test\.[jt]s$/, "");
}

/**
 * @param {ReturnType<typeof startFile>} current
 * @param {boolean} passed
 * @param {{ name: string, file?: string, line?: number, skip?: string | boolean, todo?: string | boolean,
 *   details: { type?: string, error?: Error & { failureType?: string, exitCode?: number } } }} data
 * @param {string} title
 */
function countTest({ label, tally, details }, passed, data, title) {
  const isFile = data.name === data.file; // the file as a whole: reported when it crashed, or held no test
  const name = isFile ? label : `${label}: ${title}`;
  const { error, type } = data.details;
  if (data.skip !== undefined) {
    countSkip(tally, name, typeof data.skip === "string" ? data.skip : "no reason given");
  } else if (data.todo !== undefined) {
    countSkip(tally, name, `to do${typeof data.todo === "string" ? `: ${data.todo}` : ""}`);
  } else if (passed) {
    if (!isFile && type !== "suite") tally.passed++;
  } else if (error?.failureType !== "subtestsFailed") {
    tally.failures.push(name);
    const cause = isFile && error?.failureType === "testCodeFailure" ? crash(error) : (error?.cause ?? error);
    const text = typeof cause === "string" ? cause : withoutRunnerFrames(inspect(cause, { depth: 8 }));
    details.push(indent(`✖ ${isFile ? label : title}\n${text}`));
  }
}

/** @param {{ exitCode?: number, signal?: string }} error */
function crash({ exitCode, signal }) {
  return `the file's process ended with ${signal ? `signal ${signal}` : `exit code ${exitCode}`}`;
}

/** @param {string} stack */
function withoutRunnerFrames(stack) {
  return stack
    .replace(/^ +at .*\((?:node:internal\/test_runner\/|node:async_hooks).*\)(?:\n|(?= \{)|$)/gm, "")
    .trimEnd();
}

/** @param {string} text */
export function indent(text) {
  return text.trimEnd().replace(/^(?=.)/gm, "    ");
}

/** @param {number} ms */
export function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

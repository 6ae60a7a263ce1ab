/**
 * Runs compiled test files with Node's test runner, a process each, and prints a line per file; what failed is shown in
 * full, with everything the file printed. Called by test.mjs, once for each stage that consists of tests.
 */
import { relative } from "node:path";
import { run } from "node:test";
import { inspect } from "node:util";
import { root } from "./prepare.mjs";

// Tests never write to the user's cache folder.
process.env.PUMICE_CACHE ??= "off";

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
  const waiting = [...files];
  const worker = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      const { label, ms, tally, details, printed } = await runFile(file);
      console.log(`  ${label}: ${describeTally(tally)} (${seconds(ms)})`);
      for (const detail of details) console.log(detail);
      if (tally.failures.length > 0 && printed) console.log(indent(`printed:\n${printed.slice(-LONGEST_OUTPUT)}`));
      total.passed += tally.passed;
      total.failures.push(...tally.failures);
      total.skips.push(...tally.skips);
    }
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, worker));
  return total;
}

/**
 * One file, in a process of its own. Whatever is reported belongs to it: a suite that a helper opens is reported under the
 * helper's file, so the runner's own file names say nothing.
 * @param {string} file
 */
async function runFile(file) {
  const current = startFile(labelOf(file));
  /** @type {string[]} the titles that enclose the test at hand, by nesting */
  const titles = [];
  const start = performance.now();
  for await (const { type, data } of run({ files: [file], concurrency: 1, timeout: FILE_TIMEOUT_MS })) {
    if (type === "test:stdout" || type === "test:stderr") current.printed += data.message;
    else if (type === "test:start") {
      titles.length = data.nesting;
      titles.push(data.name);
    } else if (type === "test:pass" || type === "test:fail") {
      const title = [...titles.slice(0, data.nesting), data.name].join(" › ");
      countTest(current, type === "test:pass", data, title, data.nesting === 0 && data.name === file);
    }
  }
  current.ms = performance.now() - start;
  const { label, tally, details } = current;
  if (tally.passed + tally.failures.length + tally.skips.length === 0) {
    details.push("    defines no tests");
    tally.failures.push(`${label}: defines no tests`);
  }
  return current;
}

/** @param {string} label */
function startFile(label) {
  return { label, ms: 0, tally: emptyTally(), details: /** @type {string[]} */ ([]), printed: "" };
}

/**
 * "core/errors" for test/core/errors.test.ts, compiled or not.
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
 * @param {boolean} isFile the file as a whole: reported when it crashed, or held no test
 */
function countTest({ label, tally, details }, passed, data, title, isFile) {
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

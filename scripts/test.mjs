/**
 * `npm test`: everything that must hold, stage by stage, on a fresh clone too. Ends with `N passed, N failed, N skipped`
 * and exit code 1 when anything failed.
 *
 *   npm test                          all stages
 *   npm test -- spirv memory          the test files whose path contains "spirv" or "memory"
 *   npm test -- --only lint,unit      some stages; their names are in the table below
 *
 * A test that lacks a driver or a tool skips itself with a reason that begins with "missing:". When CI=true, such a skip
 * counts as a failure: a machine that checks changes must be able to run everything.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkTree } from "./check-imports.mjs";
import { ensureBuild, ensureDependencies, filesUnder, PrepareError, root, runTool } from "./prepare.mjs";
import { countSkip, describeTally, emptyTally, indent, MISSING, runTests, seconds } from "./run-tests.mjs";
import { ensureVulkan } from "./vulkan-setup.mjs";

/** @typedef {import("./run-tests.mjs").Tally} Tally */

const VULKAN_FOLDERS = ["dist/test/engines/vulkan", "dist/test/vulkan"];

/**
 * The stages in order. `chosen`: runs also when only some test files are asked for.
 * @type {{ name: string, title: string, chosen?: boolean, run: (patterns: string[]) => Tally | Promise<Tally> }[]}
 */
const STAGES = [
  { name: "types", title: "Type check (the build)", chosen: true, run: checkTypes },
  { name: "lint", title: "Lint and format", run: checkStyle },
  { name: "imports", title: "Imports go downwards", run: checkLayers },
  { name: "setup", title: "Vulkan driver and tools", chosen: true, run: setUpVulkan },
  { name: "unit", title: "Tests", chosen: true, run: runUnitTests },
  { name: "sync", title: "Vulkan tests under synchronisation validation", run: (p) => runValidated("sync", p) },
  { name: "gpu", title: "Vulkan tests under GPU-assisted validation", run: (p) => runValidated("gpu", p) },
];

/** @returns {Tally} */
function checkTypes() {
  const build = ensureBuild();
  if (build.fresh) console.log("  dist/ is up to date");
  return verdict("type check", build.ok, build.output);
}

/** @returns {Tally} */
function checkStyle() {
  const { status, output } = runTool("node_modules/@biomejs/biome/bin/biome", [
    "check",
    "--colors=off",
    "--diagnostic-level=warn",
  ]);
  return verdict("lint and format (npm run format mends the format)", status === 0, output);
}

/** @returns {Tally} */
function checkLayers() {
  const { files, complaints } = checkTree();
  console.log(`  ${files} files`);
  return verdict("import check", complaints.length === 0, complaints.join("\n"));
}

/** @type {ReturnType<typeof ensureVulkan> | undefined} */
let vulkan;

/** @returns {Tally} */
function setUpVulkan() {
  vulkan ??= ensureVulkan();
  for (const device of vulkan.found.devices) console.log(`  found ${device}`);
  const tally = emptyTally();
  for (const { what, affects } of vulkan.missing) {
    console.log(`  no ${what}, so these do not run: ${affects}`);
    countSkip(tally, affects, `${MISSING} ${what}`);
  }
  if (vulkan.missing.length === 0) tally.passed++;
  else console.log(`  ${vulkan.why}`);
  return tally;
}

/**
 * @param {string[]} patterns
 * @returns {Promise<Tally>}
 */
async function runUnitTests(patterns) {
  const files = testFiles(["dist/test"], patterns);
  if (files.length === 0) return verdict("tests", false, `no test file's path contains ${patterns.join(" or ")}`);
  return runTests(files);
}

/**
 * The Vulkan engine, told by PUMICE_VALIDATE, turns the layer on and fails the process when it complains.
 * @param {"sync" | "gpu"} mode
 * @param {string[]} patterns
 * @returns {Promise<Tally>}
 */
async function runValidated(mode, patterns) {
  vulkan ??= ensureVulkan();
  if (vulkan.missing.some(({ what }) => what === "Vulkan device" || what === "Khronos validation layer")) {
    const tally = emptyTally();
    countSkip(tally, `${mode} validation`, `${MISSING} Vulkan device or Khronos validation layer`);
    return tally;
  }
  const files = testFiles(VULKAN_FOLDERS, patterns);
  if (files.length === 0) {
    console.log(`  no tests in ${VULKAN_FOLDERS.join(", ")}`);
    return emptyTally();
  }
  process.env.PUMICE_VALIDATE = mode;
  const tally = await runTests(files);
  delete process.env.PUMICE_VALIDATE;
  return {
    passed: tally.passed,
    failures: tally.failures.map((name) => `${name} [${mode} validation]`),
    skips: tally.skips.map(({ name, reason }) => ({ name: `${name} [${mode} validation]`, reason })),
  };
}

/**
 * @param {string[]} folders
 * @param {string[]} patterns each a part of a path, as in "core/errors" or "test/core/errors.test.ts"; none for all
 */
function testFiles(folders, patterns) {
  return folders
    .flatMap(filesUnder)
    .filter((file) => file.endsWith(".test.js"))
    .filter((file) => patterns.length === 0 || patterns.some((part) => file.replace(/js$/, "ts").includes(part)))
    .map((file) => join(root, file));
}

/**
 * A stage that is one claim: the tally of a single test.
 * @param {string} name
 * @param {boolean} ok
 * @param {string} output shown when it does not hold
 * @returns {Tally}
 */
function verdict(name, ok, output) {
  if (ok) return { ...emptyTally(), passed: 1 };
  console.log(indent(output));
  return { ...emptyTally(), failures: [name] };
}

/** @param {Tally} total */
function summarise(total) {
  if (total.skips.length > 0) console.log("\nSkipped");
  for (const { name, reason } of total.skips) console.log(`  ${name} (${reason})`);
  if (total.failures.length > 0) console.log("\nFailed");
  for (const name of total.failures) console.log(`  ${name}`);
  console.log(`\n${describeTally(total)}`);
}

function readArguments() {
  try {
    return parseArgs({ options: { only: { type: "string" } }, allowPositionals: true });
  } catch (error) {
    throw new PrepareError(
      `${error instanceof Error ? error.message : error}\nUse: npm test [-- [--only stage,…] [pattern…]]`,
    );
  }
}

async function main() {
  const { values, positionals } = readArguments();
  const only = values.only?.split(",");
  const unknown = only?.find((name) => !STAGES.some((stage) => stage.name === name));
  if (unknown) throw new PrepareError(`No stage "${unknown}"; there are ${STAGES.map(({ name }) => name).join(", ")}.`);

  process.chdir(root);
  // Stack traces that point into the TypeScript sources.
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} --enable-source-maps`;
  ensureDependencies();
  const total = emptyTally();
  for (const stage of STAGES) {
    if (only ? !only.includes(stage.name) : positionals.length > 0 && !stage.chosen) continue;
    console.log(`\n${stage.title}`);
    const start = performance.now();
    const tally = await stage.run(positionals);
    console.log(`  → ${tally.failures.length > 0 ? "FAILED" : "ok"} in ${seconds(performance.now() - start)}`);
    total.passed += tally.passed;
    total.failures.push(...tally.failures);
    total.skips.push(...tally.skips);
  }
  summarise(total);
  process.exitCode = total.failures.length > 0 ? 1 : 0;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof PrepareError)) throw error;
  console.log(`\n${error.message}\n\n0 passed, 1 failed, 0 skipped`);
  process.exitCode = 1;
}

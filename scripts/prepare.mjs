/**
 * Makes a working tree ready to run: dependencies installed, `dist/` built from what the sources say now.
 * `npm start`, `npm test` and `npm run bench` call it first, so a fresh clone needs no other command; it therefore
 * uses Node's own modules only. Both steps leave a content hash behind and do nothing while the hash still fits.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeDocExamples } from "./doc-examples.mjs";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const OLDEST_NODE = 20;
const SOURCE_FOLDERS = ["src", "test", "bench", "examples", "scripts"];
const INSTALL_STAMP = "node_modules/.pumice-lock";
const BUILD_STAMP = "dist/.pumice-build";
const INCREMENTAL_STATE = "dist/tsconfig.tsbuildinfo";

/** What went wrong and what to do about it; shown without a stack trace. */
export class PrepareError extends Error {}

/** Installs the dependencies when `package-lock.json` is not the one they were installed from. */
export function ensureDependencies() {
  if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
    throw new PrepareError(`Pumice needs Node ${OLDEST_NODE} or newer; this is ${process.version}.`);
  }
  const wanted = hashFiles(["package-lock.json"]);
  if (readIfThere(INSTALL_STAMP) === wanted) return;

  console.log("Installing dependencies (npm ci)");
  // Install scripts are not needed: koffi's native code comes prebuilt in its optional packages.
  const status = npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
  if (status !== 0) {
    throw new PrepareError(
      "npm ci failed (see above). Pumice's dependencies come from the package registry npm is configured for: " +
        "check the network, the proxy settings and `npm config get registry`, then run the command again.",
    );
  }
  writeFileSync(join(root, INSTALL_STAMP), wanted);
}

/**
 * Brings `dist/` up to date, or says that it cannot be written.
 * @returns {ReturnType<typeof build>}
 */
export function ensureBuild() {
  try {
    return build();
  } catch (error) {
    const { code = "", path = root } = /** @type {NodeJS.ErrnoException} */ (error);
    if (!["EACCES", "EPERM", "EROFS"].includes(code)) throw error;
    throw new PrepareError(`dist/ is out of date, and ${path} cannot be written (${code}).`);
  }
}

/**
 * @returns {{ ok: boolean, fresh: boolean, output: string }} `fresh` when there was nothing to do; else the compiler's answer.
 */
function build() {
  writeDocExamples(root);
  const sources = SOURCE_FOLDERS.flatMap((folder) => filesUnder(folder)).filter(isCompiled);
  removeOrphans(new Set(sources));

  const wanted = hashFiles([...sources, "tsconfig.json", "package-lock.json"]);
  const isComplete = sources.every((source) => existsSync(join(root, outputOf(source))));
  if (isComplete && readIfThere(BUILD_STAMP) === wanted) return { ok: true, fresh: true, output: "" };

  rmSync(join(root, BUILD_STAMP), { force: true });
  // The compiler trusts its own record of what it wrote; when files are gone, so must be the record.
  if (!isComplete) rmSync(join(root, INCREMENTAL_STATE), { force: true });
  const { status, output } = runTool("node_modules/typescript/bin/tsc", ["-p", "."]);
  if (status === 0) {
    mkdirSync(join(root, "dist"), { recursive: true });
    writeFileSync(join(root, BUILD_STAMP), wanted);
  }
  return { ok: status === 0, fresh: false, output };
}

/** Installs and builds, or throws. */
export function prepare() {
  ensureDependencies();
  const { ok, fresh, output } = ensureBuild();
  if (!ok) throw new PrepareError(`The build failed:\n\n${output}`);
  if (!fresh) console.log("Built dist/");
}

/**
 * Prepares the tree, then runs one compiled program with the given arguments and takes over its exit code.
 * @param {string} source the program's source file, as in "bench/main.ts"
 * @param {string[]} args
 */
export function prepareAndRun(source, args) {
  reportingErrors(() => {
    prepare();
    const program = join(root, outputOf(source));
    if (!existsSync(program)) throw new PrepareError(`There is no ${source} in this tree.`);
    process.exitCode = spawnSync(process.execPath, [program, ...args], { stdio: "inherit" }).status ?? 1;
  });
}

/**
 * Runs `action`; a PrepareError becomes its message and exit code 1.
 * @param {() => void} action
 */
export function reportingErrors(action) {
  try {
    action();
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error;
    console.error(`\n${error.message}`);
    process.exitCode = 1;
  }
}

/**
 * Runs a dependency's command-line program on the tree and collects what it prints.
 * @param {string} script the program's JavaScript entry, which spares us the per-system wrappers in node_modules/.bin
 * @param {string[]} args
 */
export function runTool(script, args) {
  const path = join(root, script);
  if (!existsSync(path)) throw new PrepareError(`${script} is missing: delete node_modules and run the command again.`);
  const result = spawnSync(process.execPath, [path, ...args], { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
  return { status: result.status ?? 1, output: `${result.stdout}${result.stderr}`.trim() };
}

/** @param {string} path a folder in the tree  @returns {string[]} its files at any depth, as sorted paths in the tree */
export function filesUnder(path) {
  if (!existsSync(join(root, path))) return [];
  return readdirSync(join(root, path), { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? filesUnder(`${path}/${entry.name}`) : [`${path}/${entry.name}`]))
    .sort();
}

/** @param {string} source */
function isCompiled(source) {
  return /(?<!\.d)\.ts$|\.mjs$/.test(source) && !source.startsWith("bench/peers/");
}

/** @param {string} source */
function outputOf(source) {
  return `dist/${source.replace(/\.ts$/, ".js")}`;
}

/**
 * A compiled test whose source is gone would still run: remove what no source accounts for.
 * @param {Set<string>} sources
 */
function removeOrphans(sources) {
  for (const file of filesUnder("dist")) {
    const stem = /^dist\/(.+?)(?:\.js|\.d\.ts|\.mjs|\.d\.mts)(?:\.map)?$/.exec(file)?.[1];
    if (stem && !sources.has(`${stem}.ts`) && !sources.has(`${stem}.mjs`)) rmSync(join(root, file));
  }
}

/** @param {string[]} paths */
function hashFiles(paths) {
  const hash = createHash("sha256");
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(join(root, path)));
  return hash.digest("hex");
}

/** @param {string} path */
function readIfThere(path) {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined;
}

/** @param {string[]} args */
function npm(args) {
  // Started by npm, we know its script; otherwise the shell finds it (npm is a .cmd file on Windows).
  const script = process.env.npm_execpath;
  const options = /** @type {const} */ ({ cwd: root, stdio: "inherit" });
  const isNpm = script !== undefined && /npm-cli\.c?js$/.test(script);
  const result = isNpm
    ? spawnSync(process.execPath, [script, ...args], options)
    : spawnSync(`npm ${args.join(" ")}`, { ...options, shell: true });
  return result.status;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) reportingErrors(prepare);

/**
 * Makes the package as it is published, in `dist/package`: `npm run package`, then `npm publish ./dist/package`.
 *
 * It has the files of `dist/src` that others name (what package.json exports, the command, the workers) and the types; the rest
 * is bundled into `dist/src/chunks`. Node takes half a millisecond to find, read and link a module, and there are four
 * hundred: bundled, the package is imported in a third of the time.
 *
 * A module may ask where it lies (`import.meta.url`): to start a worker beside it, to hash the compiler's files. In a
 * chunk it gets the address it would have without bundling.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { filesUnder, PrepareError, prepare, reportingErrors, root } from "./prepare.mjs";

const SOURCES = "dist/src";
const PACKAGE = "dist/package";
/** Modules that are started by their address: workers, and a program that the command runs in a process of its own. */
const STARTED = ["engines/host/worker.js", "bayes/diagnostics/summary-worker.js", "cli/probe.js"];

/** Builds the tree and the package; returns the package's folder. */
export async function makePackage() {
  prepare();
  const { build } = await import("esbuild");
  const folder = join(root, PACKAGE);
  rmSync(folder, { recursive: true, force: true });
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  await build({
    entryPoints: [...namedFiles(manifest), ...STARTED.map((name) => `${SOURCES}/${name}`)],
    absWorkingDir: root,
    outdir: join(PACKAGE, SOURCES),
    outbase: SOURCES,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    // The names of errors are those of their classes.
    keepNames: true,
    logLevel: "warning",
    plugins: [ownAddresses],
  });
  for (const file of filesUnder(SOURCES)) if (file.endsWith(".d.ts")) copy(file);
  for (const file of ["README.md", "CHANGELOG.md", "LICENSE"]) copy(file);
  const { private: _, scripts: __, devDependencies: ___, ...published } = manifest;
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ ...published, files: ["dist"] }, null, 2)}\n`);
  return folder;
}

/**
 * The JavaScript files that package.json names.
 * @param {{ exports: Record<string, string | { default: string }>, bin: Record<string, string> }} manifest
 */
function namedFiles({ exports, bin }) {
  const exported = Object.values(exports).map((entry) => (typeof entry === "string" ? entry : entry.default));
  return [...exported, ...Object.values(bin)].filter((path) => path.endsWith(".js")).map((path) => join(path));
}

/** @param {string} file */
function copy(file) {
  const target = join(root, PACKAGE, file);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(root, file), target);
}

/**
 * Gives modules their own address. They are bundled into files that lie elsewhere, but in the same `dist/src`.
 * @type {import("esbuild").Plugin}
 */
const ownAddresses = {
  name: "own addresses",
  setup(build) {
    build.onLoad({ filter: /\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!text.includes("import.meta.url")) return undefined;
      const own = relative(join(root, SOURCES), path).replaceAll("\\", "/");
      for (const [, name] of text.matchAll(/new URL\("\.\/([\w-]+\.js)", import\.meta\.url\)/g)) {
        const started = `${dirname(own)}/${name}`;
        if (!STARTED.includes(started))
          throw new PrepareError(`${own} starts ${started}, which package.mjs does not list.`);
      }
      const address = `import.meta.url.replace(/\\/dist\\/src\\/(?!.*\\/dist\\/src\\/).*/, ${JSON.stringify(`/dist/src/${own}`)})`;
      return { contents: text.replaceAll("import.meta.url", `(${address})`), loader: "js" };
    });
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const folder = await makePackage();
    const files = filesUnder(PACKAGE);
    const bytes = files.reduce((sum, file) => sum + statSync(join(root, file)).size, 0);
    console.log(`${folder}: ${files.length} files, ${(bytes / 2 ** 20).toFixed(1)} MiB`);
  } catch (error) {
    reportingErrors(() => {
      throw error;
    });
  }
}

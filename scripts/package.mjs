/**
 * Makes the package as it is published, in `dist/package`: `npm run package`, then `npm publish ./dist/package`.
 *
 * It has the files of `dist/src` that others name (what package.json exports, the command) and the types; the rest is bundled
 * into `dist/src/chunks`. Node takes half a millisecond to find, read and link a module, and there are four
 * hundred: bundled, the package is imported in a third of the time.
 *
 * A module may ask where it lies (`import.meta.url`), to hash the compiler's files. In a chunk it gets the address it would have
 * without bundling. The code of workers is a string in the module that starts them: in a program that is bundled with the
 * package there is no file beside it, or another one of that name.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { filesUnder, PrepareError, prepare, reportingErrors, root } from "./prepare.mjs";

const SOURCES = "dist/src";
const PACKAGE = "dist/package";
/** A program that the command runs in a process of its own. */
const STARTED = ["cli/probe.js"];
/** How modules start a worker. */
const WORKER = /new Worker\(new URL\("\.\/([\w-]+\.js)", import\.meta\.url\), \{/g;

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
  for (const file of filesUnder(SOURCES)) if (file.endsWith(".d.ts")) copy(file, forOlderTypeScript);
  // The links of the README lead to docs/.
  const pages = readdirSync(join(root, "docs")).flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : []));
  for (const file of ["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", ...pages]) copy(file);
  const { private: _, scripts: __, devDependencies: ___, ...published } = manifest;
  writeFileSync(
    join(folder, "package.json"),
    `${JSON.stringify({ ...published, files: ["dist", "docs", "SECURITY.md"] }, null, 2)}\n`,
  );
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

/**
 * @param {string} file
 * @param {(text: string) => string} change
 */
function copy(file, change = (text) => text) {
  const target = join(root, PACKAGE, file);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, change(readFileSync(join(root, file), "utf8")));
}

/**
 * Typed arrays have a type parameter since TypeScript 5.7; the package's types are for 5.2 and later.
 * @param {string} text
 */
const forOlderTypeScript = (text) => text.replace(/\b(\w+Array)<ArrayBuffer(Like)?>/g, "$1");

/**
 * Gives modules their own address, and the code of the workers that they start. They are bundled into files that lie elsewhere,
 * but in the same `dist/src`. Where the package itself is bundled, to CommonJS for instance, there may be no address.
 * @type {import("esbuild").Plugin}
 */
const ownAddresses = {
  name: "own addresses",
  setup(build) {
    build.onLoad({ filter: /\.js$/ }, async ({ path }) => {
      let contents = readFileSync(path, "utf8");
      if (!contents.includes("import.meta.url")) return undefined;
      for (const [start, name] of [...contents.matchAll(WORKER)]) {
        const code = await workerCode(join(dirname(path), name));
        contents = contents.replace(start, () => `new Worker(${JSON.stringify(code)}, { eval: true,`);
      }
      if (contents.includes("new Worker(new URL(")) throw new PrepareError(`${path} starts a worker in another way.`);
      const own = relative(join(root, SOURCES), path).replaceAll("\\", "/");
      const address = `(import.meta.url ?? "").replace(/\\/dist\\/src\\/(?!.*\\/dist\\/src\\/).*/, ${JSON.stringify(`/dist/src/${own}`)})`;
      return { contents: contents.replaceAll("import.meta.url", `(${address})`), loader: "js" };
    });
  },
};

/**
 * A worker with all it imports, as a script.
 * @param {string} path
 */
async function workerCode(path) {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    minify: true,
    keepNames: true,
    format: "cjs",
    platform: "node",
    target: "node20",
    logLevel: "warning",
  });
  return outputFiles[0].text;
}

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

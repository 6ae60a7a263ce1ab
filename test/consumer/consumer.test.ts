/**
 * The package as a consumer gets it: bundled, packed, unpacked as node_modules/pumice of another project, and used there by a program
 * that calls every public name. The program is type-checked against the packed declarations alone, with no path into this
 * tree, and then run. The names are read from the modules, so that a new one without a call fails here.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import * as pumice from "pumice";
import * as bayes from "pumice/bayes";
import * as learn from "pumice/learn";
import * as nn from "pumice/nn";
import * as vulkan from "pumice/vulkan";
import { publicMembers } from "../support/tensor-members.js";
import { bayesCalls } from "./program/bayes.js";
import { functions } from "./program/functions.js";
import { learnCalls } from "./program/learn.js";
import { type Calls, methods } from "./program/methods.js";
import { nnCalls } from "./program/nn.js";
import { vulkanCalls } from "./program/vulkan.js";

const root = dirname(fileURLToPath(import.meta.resolve("pumice/package.json")));

/** The names of a module; those of a namespace in it as "space.name". */
function namesOf(module: object): string[] {
  return Object.entries(module).flatMap(([name, value]) => {
    const isSpace = Object.prototype.toString.call(value) === "[object Module]";
    return isSpace ? Object.keys(value).map((inner) => `${name}.${inner}`) : [name];
  });
}

describe("the program calls every public name", () => {
  const surfaces: Readonly<Record<string, readonly [names: readonly string[], calls: Calls]>> = {
    "the members of Tensor": [publicMembers(), methods],
    pumice: [namesOf(pumice), functions],
    "pumice/bayes": [namesOf(bayes), bayesCalls],
    "pumice/learn": [namesOf(learn), learnCalls],
    "pumice/nn": [namesOf(nn), nnCalls],
    "pumice/vulkan": [namesOf(vulkan), vulkanCalls],
  };
  for (const [surface, [names, calls]] of Object.entries(surfaces)) {
    test(surface, () => {
      assert.deepEqual(names.filter((name) => !Object.hasOwn(calls, name)), [], "without a call"); // biome-ignore format: one line
      assert.deepEqual(Object.keys(calls).filter((name) => !names.includes(name)), [], "not public"); // biome-ignore format: one line
      for (const [name, call] of Object.entries(calls)) {
        const last = name.split(".").at(-1);
        assert.match(call.toString(), new RegExp(`\\b${last}\\b`), `the call under the name ${name} is another's`);
      }
    });
  }
});

/** Runs a program in a folder; its output where it fails. */
function run(folder: string, command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const options = {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 26,
    env: { ...process.env, PUMICE_CACHE: "off", ...env },
  } as const;
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  assert.equal(status, 0, `${command} ${args.join(" ")}:\n${stdout}${stderr}${error ?? ""}`);
  return stdout;
}

/** What a consumer writes in tsconfig.json. No paths: names are found in node_modules. */
const TSCONFIG = {
  compilerOptions: {
    target: "ES2022",
    lib: ["ES2023", "ESNext.Disposable"],
    module: "NodeNext",
    moduleResolution: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    types: ["node"],
    rootDir: ".",
    outDir: "out",
  },
  include: ["program"],
};

/** A folder with bundlers and an older TypeScript. */
const tools = process.env.PUMICE_CONSUMER_TOOLS;
const noTools = !tools && "PUMICE_CONSUMER_TOOLS names no folder with tools: npm run test:consumers installs them";

/** Node 20.19 and 22.12 can. */
const hasRequire = "require_module" in process.features;

/** Bundles a program into one file. */
type Bundle = (bundler: unknown, entry: string, outfile: string) => Promise<void>;

const REQUIRING = `
const { tensor } = require("pumice");
const { normal } = require("pumice/bayes");
tensor([1, 2, 3], { device: "cpu" }).sum().item().then((sum) => console.log(sum, typeof normal === "function"));
`;

/** Work that is large enough for threads, a model that samples, and an eye on warnings. */
const BUNDLED = `
import { devices, ones, setDefaultDevice } from "pumice";
import { halfNormal, model, normal } from "pumice/bayes";

let warning = "no warning";
process.on("warning", ({ message }) => { warning = message; });
async function main() {
  setDefaultDevice("cpu");
  let total;
  for (let i = 0; i < 4; i++) {
    total = await ones([1 << 20]).mul(0.5).sum().item();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const survey = model(() => {
    const mean = normal(0, 10), spread = halfNormal(5);
    return { mean, spread, y: normal(mean, spread).shape(6) };
  });
  const fit = await survey.given({ y: [4.1, 5.3, 3.8, 6, 4.7, 5.2] }).sample({ draws: 500, seed: 1, progress: false });
  const found = devices();
  console.log(found.at(-1), total, Math.round(fit.summary("mean").rows[0].mean), warning);
}
main();
`;

describe("the packed package", () => {
  let project = "";
  before(() => {
    project = mkdtempSync(join(tmpdir(), "pumice-consumer-"));
    const modules = join(project, "node_modules");
    mkdirSync(join(modules, "@types"), { recursive: true });
    run(root, process.execPath, ["scripts/package.mjs"]);
    // Only files of this tree are packed; the environment keeps npm from asking any server.
    run(join(root, "dist/package"), process.platform === "win32" ? "npm.cmd" : "npm", [
      ...["pack", "--ignore-scripts", "--offline", "--no-update-notifier", "--pack-destination", project],
    ]);
    const [packed = ""] = readdirSync(project).filter((name) => name.endsWith(".tgz"));
    run(project, "tar", ["-xzf", packed]);
    cpSync(join(project, "package"), join(modules, "pumice"), { recursive: true });
    for (const name of ["koffi", "@types/node"])
      symlinkSync(join(root, "node_modules", name), join(modules, name), "junction");
    cpSync(join(root, "test/consumer/program"), join(project, "program"), { recursive: true });
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "consumer", type: "module", private: true }));
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify(TSCONFIG));
  });
  after(() => rmSync(project, { recursive: true, force: true }));

  test("type-checks in a strict consumer, and the calls can be made", () => {
    run(project, process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."]);
    const printed = run(project, process.execPath, ["out/program/main.js"]);
    assert.match(printed, /made [1-9]\d{2,3} calls\n$/);
  });

  test("type-checks with TypeScript 5.2", { skip: noTools }, () => {
    const found = createRequire(join(tools as string, "package.json")).resolve("typescript/package.json");
    assert.match(readFileSync(found, "utf8"), /"version": "5\.2\./);
    run(project, process.execPath, [join(dirname(found), "bin/tsc"), "-p", ".", "--noEmit"]);
  });

  /** Runs a program of one file in the project. */
  const runText = (text: string, env?: NodeJS.ProcessEnv): string =>
    run(project, process.execPath, ["--input-type=module", "--eval", text], env);

  test("is a few files of code, in which errors keep their names", () => {
    const files = readdirSync(join(project, "package"), { recursive: true, encoding: "utf8" });
    const code = files.filter((name) => name.endsWith(".js"));
    assert.ok(code.length < 30, `${code.length} files`);
    const printed = runText(`
      import { ShapeError, tensor } from "pumice";
      try {
        tensor([1, 2], { device: "cpu" }).add(tensor([1, 2, 3], { device: "cpu" }));
      } catch (error) {
        console.log(error instanceof ShapeError, error.name);
      }`);
    assert.equal(printed, "true ShapeError\n");
  });

  test("starts its worker threads", () => {
    const printed = runText(
      `import { ones } from "pumice";
      let warning = "no warning";
      process.on("warning", ({ message }) => { warning = message; });
      // A worker that cannot start is tried again, a few times, and then there is a warning.
      for (let i = 0; i < 5; i++) {
        await ones([1 << 20], { device: "cpu" }).mul(i).sum().item();
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      console.log(warning);`,
      { PUMICE_THREADS: "2" },
    );
    assert.equal(printed, "no warning\n");
  });

  test("finds programs on disk that an earlier process compiled", () => {
    const text = `
      import { jit, ones } from "pumice";
      const f = jit((x) => { for (let i = 0; i < 60; i++) x = x.sin(); return x.sum(); });
      const x = ones([64], { device: "cpu" });
      await f(x).item();
      console.log(String(f.lower(x)).match(/kernels \\((compiled|read from disk)/)[1]);`;
    const cache = join(project, "cache");
    mkdirSync(cache);
    assert.equal(runText(text, { PUMICE_CACHE: cache }), "compiled\n");
    assert.equal(runText(text, { PUMICE_CACHE: cache }), "read from disk\n");
  });

  test("is required by CommonJS, where Node can require modules", { skip: !hasRequire && "an older Node" }, () => {
    writeFileSync(join(project, "old.cjs"), REQUIRING);
    assert.equal(run(project, process.execPath, ["--no-warnings", "old.cjs"]), "6 true\n");
  });

  describe("bundled with a program", () => {
    let alone = "";
    before(() => {
      // Nothing that the package needs lies here, and a worker of the program's own does.
      alone = mkdtempSync(join(tmpdir(), "pumice-bundled-"));
      writeFileSync(join(alone, "worker.js"), `console.log("the program's own worker");`);
      writeFileSync(join(project, "bundled.js"), BUNDLED);
    });
    after(() => rmSync(alone, { recursive: true, force: true }));

    /** Runs a bundle in the folder where only the bundle is. */
    const runBundle = (name: string, program = process.execPath, args: readonly string[] = []): void => {
      const printed = run(alone, program, [...args, name], { PUMICE_THREADS: "2" });
      assert.equal(printed, "cpu 524288 5 no warning\n");
    };

    for (const format of ["esm", "cjs"] as const) {
      test(`by esbuild, ${format}: runs on the CPU, with workers, where koffi is not beside it`, async () => {
        const outfile = join(alone, format === "esm" ? "esbuild.mjs" : "esbuild.cjs");
        const entryPoints = [join(project, "bundled.js")];
        const logOverride = { "empty-import-meta": "silent" } as const;
        await build({ entryPoints, outfile, bundle: true, platform: "node", format, logOverride, minify: true });
        runBundle(outfile);
      });
    }

    for (const bundler of ["vite", "webpack"] as const) {
      test(`by ${bundler}: the same`, { skip: noTools }, async () => {
        const find = createRequire(join(tools as string, "package.json"));
        const { bundle } = (await import(`./${bundler}.js`)) as { bundle: Bundle };
        const module = await import(pathToFileURL(find.resolve(bundler)).href);
        await bundle(module.default ?? module, join(project, "bundled.js"), join(alone, `${bundler}.mjs`));
        runBundle(`${bundler}.mjs`);
      });
    }

    for (const [program, args] of [
      ["bun", ["run"]],
      ["deno", ["run", "--allow-all"]],
    ] as const) {
      const isThere = spawnSync(program, ["--version"]).status === 0;
      test(`${program} runs the package`, { skip: !isThere && `${program} is not installed` }, () => {
        const printed = run(project, program, [...args, "bundled.js"], { PUMICE_THREADS: "2" });
        assert.match(printed, / 524288 5 no warning\n$/);
      });
    }
  });
});

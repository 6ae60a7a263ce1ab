/**
 * The import check of `npm test`: a folder of src/ is a layer, and imports only go downwards. On top of that: no cycles
 * between files, no imports for side effects alone, one door into src/tensor, no imports of build output or of packages
 * nobody declared, koffi as the only run-time dependency, and nothing of Node.js (modules, globals) below the engines.
 * `checkImports` is pure (texts in, complaints out) and tested on made-up trees; the rest reads the real one.
 */
import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { checkExports } from "./check-exports.mjs";
import { filesUnder, root } from "./prepare.mjs";
import { codeOf, importsOf, publicFiles, resolveImport } from "./source-imports.mjs";

/** @typedef {import("./source-imports.mjs").PackageJson} PackageJson */

/** Assemblers: a folder of src/ for each language that kernels are emitted in. The compiler has an emitter for each. */
const ASSEMBLERS = readdirSync(join(root, "src/compiler/emit"));

/**
 * The layers: each folder of src/, and which other layers it may import. Every layer may import core. Where a file is named
 * in place of a layer, it is all of that layer that may be imported.
 * @type {Record<string, string[]>}
 */
const LAYERS = {
  core: [],
  graph: [],
  ...Object.fromEntries(ASSEMBLERS.map((name) => [name, []])),
  // reading and writing files, with a look at what they are and whose
  files: [],
  // long work that is awaited or watched: its progress line, checkpoints, signals
  runs: ["files"],
  engines: ["spirv", "files"],
  compiler: ["graph", ...ASSEMBLERS],
  vulkan: ["compiler", "spirv", "engines"],
  runtime: ["graph", "compiler", "engines", ...ASSEMBLERS],
  tensor: ["graph", "runtime"],
  transforms: ["tensor", "graph", "runtime"],
  linalg: ["tensor", "transforms", "random"],
  fft: ["tensor", "transforms"],
  signal: ["tensor", "transforms", "fft"],
  random: ["tensor", "transforms"],
  io: ["tensor", "transforms", "files"],
  nn: ["tensor", "transforms", "linalg", "fft", "signal", "random", "io", "files", "runs"],
  learn: [
    "tensor",
    "transforms",
    "linalg",
    "fft",
    "signal",
    "random",
    "io",
    "files",
    "runs",
    "plots",
    // areas and counts that metrics of both libraries are made of
    "nn/metrics/ranking.ts",
    "nn/metrics/confusion.ts",
  ],
  // pictures and pages: scales, axes, styles
  plots: ["files"],
  // Its samplers are kernels, written in the compiler's language.
  bayes: [
    "tensor",
    "transforms",
    "linalg",
    "random",
    "io",
    "files",
    "runs",
    "plots",
    "graph",
    "runtime",
    "compiler/inline/kernel-language.ts",
  ],
};

/** Layers that know nothing of Node.js: what they compute and write could run anywhere. */
const WITHOUT_NODE = ["core", "graph", ...ASSEMBLERS, "compiler", "runtime"];

/**
 * The folders inside a layer, by layer, and which of their neighbours each may import: only ones that stand before it, so that
 * they form no cycle. "." stands for the files that lie in the layer's folder itself; nothing imports those unless it is listed.
 * @type {Record<string, Record<string, string[]>>}
 */
export const INNER_LAYERS = {
  compiler: {
    ir: [],
    math: [],
    elements: ["ir", "math"],
    target: ["ir", "elements"],
    schedule: ["ir", "elements", "target"],
    print: ["ir", "schedule"],
    lower: ["ir", "math", "elements", "target", "schedule", "print"],
    tiles: ["ir", "elements", "target", "schedule", "lower"],
    routines: ["ir", "elements", "target", "print"],
    rewrite: ["ir", "math", "elements", "target", "schedule", "tiles", "routines"],
    program: ["ir"],
    steps: ["ir", "elements", "target", "print", "routines", "schedule", "lower", "program"],
    emit: ["ir", "math", "target", "print", "routines"],
    ".": ["ir", "target", "elements", "schedule", "print", "lower", "tiles", "routines", "rewrite", "program", "steps"],
    inline: ["ir", "elements", "target", "schedule", "lower", "rewrite", "."],
  },
  // Samplers know a posterior only as a `target`, so that `model` can lie above them and offer `posterior.sample()`.
  bayes: {
    // arithmetic that densities and constraints share: terms, running sums, the range of floats
    numerics: [],
    // arguments as users write them, and the rules they are held to
    arguments: ["numerics"],
    // where values lie, and the maps there from free numbers
    constraints: ["numerics", "arguments"],
    // random variables, and what a distribution is
    variables: ["numerics", "arguments", "constraints"],
    // how a distribution is written down, and formulas that several share
    definition: ["numerics", "arguments", "constraints", "variables"],
    // the distributions, a file each
    distributions: ["numerics", "arguments", "constraints", "variables", "definition"],
    // the container for draws, and files that users name
    draws: [],
    // effective sample sizes, R-hat, summaries, model comparison
    diagnostics: ["draws"],
    // pages with plots
    report: ["draws", "diagnostics"],
    // files of ArviZ and Stan
    export: ["draws"],
    // a posterior as samplers and approximations see it: a density of free numbers, values by name
    target: ["draws"],
    // kernels of samplers, written in the compiler's language
    kernels: ["target"],
    // chains on a device, runs, fits
    chains: ["numerics", "draws", "diagnostics", "report", "export", "target", "kernels"],
    // model(fn), and the posterior it becomes with data
    model: ["numerics", "arguments", "constraints", "variables", "draws", "target", "kernels", "chains"],
    // what approximations of a posterior share
    approximation: ["draws", "diagnostics", "target", "model"],
    variational: ["draws", "diagnostics", "target", "approximation"],
    smc: ["draws", "diagnostics", "target", "approximation"],
  },
  learn: {
    // named columns, as files and Arrow have them
    tables: [],
    // functions of tensors and of functions: minima and roots, integrals and equations, curves through points, tests
    optimize: [],
    integrate: ["optimize"],
    interpolate: [],
    stats: [],
    // what an estimator and a model are; samples and targets as people have them
    core: ["tables"],
    // models in files
    files: ["core"],
    preprocessing: ["core", "tables"],
    linear: ["core", "optimize", "preprocessing"],
    "naive-bayes": ["core"],
    covariance: ["core"],
    discriminant: ["core", "covariance"],
    neighbors: ["core"],
    // scores and distances
    metrics: ["core", "tables", "neighbors"],
    // functions of two samples, their algebra, and what is learned with them
    kernels: ["core", "metrics", "optimize", "linear"],
    decomposition: ["core", "kernels"],
    // missing values
    impute: ["core", "metrics", "neighbors", "tables"],
    cluster: ["core", "metrics", "neighbors"],
    mixture: ["core", "cluster"],
    manifold: ["core", "optimize", "linear", "metrics", "neighbors", "decomposition", "cluster"],
    trees: ["core", "metrics"],
    // estimators made of estimators
    compose: ["core", "tables", "preprocessing"],
    // splits, cross-validation, searches
    selection: ["core", "tables", "compose", "metrics"],
    // categories by their targets
    "target-encoding": ["core", "tables", "preprocessing", "selection"],
    // many estimators as one: bagging, stacking, voting, calibration
    ensemble: ["core", "compose", "selection", "linear", "trees", "metrics"],
    // selection of columns
    "feature-selection": ["core", "tables", "stats", "metrics", "compose", "selection", "ensemble"],
    // what a model relies on: importances, partial dependence, SHAP values
    inspection: ["core", "metrics", "selection", "trees"],
    // pictures
    plots: ["core", "metrics", "selection", "cluster", "trees", "inspection", "compose"],
  },
  nn: {
    // what a layer is: scopes, parameters, models of parts, summaries
    core: [],
    // first values of parameters
    initializers: ["core"],
    // functions of an element or of an axis
    activations: [],
    // the layers, a file for each family
    layers: ["core", "initializers", "activations"],
    // images changed by chance, on the device
    augment: ["layers"],
    losses: ["activations"],
    metrics: ["losses"],
    // numbers by step, as learning rates
    schedules: [],
    // gradient transforms
    optimizers: ["schedules"],
    // batches, augmentation, files larger than memory
    data: [],
    // models and training states in files; narrow weights
    files: ["core", "initializers", "layers", "activations"],
    // runs: steps, events, checkpoints, progress
    training: ["core", "data", "losses", "metrics", "schedules", "optimizers", "files"],
  },
};

/**
 * Layers with a door: the other layers import this file of theirs and no other.
 * @type {Record<string, string>}
 */
const DOORS = { tensor: "src/tensor/index.ts" };

/** May import the public surface and nothing below it. */
const ON_THE_SURFACE = ["src/cli/", "examples/"];

const RUNTIME_DEPENDENCIES = ["koffi"];

/** Packages that users install for one function; it imports them when it is called (docs/dependencies.md). */
const OPTIONAL_PEERS = ["hyparquet", "hyparquet-compressors"];

/**
 * @param {Map<string, string>} files text by path in the tree, as in "src/core/errors.ts"
 * @param {PackageJson} packageJson
 * @returns {string[]} one complaint per violation; none when all is well
 */
export function checkImports(files, packageJson) {
  const surface = publicFiles(packageJson);
  const complaints = checkDependencies(packageJson);
  /** @type {Map<string, string[]>} */
  const edges = new Map();

  for (const [file, text] of files) {
    edges.set(file, []);
    const layer = layerOf(file);
    if (layer && !surface.has(file) && !(layer in LAYERS) && layer !== "cli") {
      complaints.push(`${file}: src/${layer} is not a known layer; add it to LAYERS in scripts/check-imports.mjs`);
      continue;
    }
    if (WITHOUT_NODE.includes(layer)) complaints.push(...nodeGlobalsIn(file, text));
    for (const { specifier, line, isType, statement } of importsOf(text)) {
      const target = resolveImport(file, specifier, files);
      const problem = target.startsWith("package:")
        ? packageProblem(file, specifier, packageJson)
        : fileProblem(file, specifier, target, surface);
      if (problem) complaints.push(`${file}:${line}: "${specifier}" ${problem}`);
      // Otherwise a file works or fails depending on what else was imported.
      if (/^import\s*["']/.test(statement) && file.startsWith("src/")) {
        complaints.push(`${file}:${line}: "${specifier}" is imported for its side effects alone; import what is used`);
      }
      // A class and its parts may name each other's types; only what runs can be caught half-loaded.
      if (files.has(target) && !isType) edges.get(file)?.push(target);
    }
  }
  for (const cycle of findCycles(edges)) complaints.push(`cycle: ${cycle.join(" → ")}`);
  return complaints;
}

/**
 * Uses of names that only Node.js defines: `Buffer.from(…)`, `process.env`.
 * @param {string} file
 * @param {string} text
 */
function nodeGlobalsIn(file, text) {
  return [...codeOf(text).matchAll(/(?<![.\w$])(Buffer|process|setImmediate|__dirname)\b\s*[.?[(]/g)].map((match) => {
    const line = text.slice(0, match.index).split("\n").length;
    return `${file}:${line}: ${match[1]} is Node's own, and ${layerOf(file)} does without it: take bytes, settings and time as arguments`;
  });
}

/** @param {PackageJson} packageJson */
function checkDependencies(packageJson) {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} } = packageJson;
  const isOptional = (/** @type {string} */ name) =>
    OPTIONAL_PEERS.includes(name) && peerDependenciesMeta[name]?.optional === true;
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !isOptional(name));
  const actual = [...[dependencies, optionalDependencies].flatMap((group) => Object.keys(group ?? {})), ...peers];
  if (actual.sort().join() === RUNTIME_DEPENDENCIES.join()) return [];
  return [
    `package.json: the run-time dependencies must be ${RUNTIME_DEPENDENCIES.join()}, not ${actual.join() || "none"}`,
  ];
}

/**
 * @param {string} file
 * @param {string} specifier
 * @param {PackageJson} packageJson
 */
function packageProblem(file, specifier, packageJson) {
  if (isBuiltin(specifier)) {
    if (!specifier.startsWith("node:")) return `is Node's own: write "node:${specifier}"`;
    const layer = layerOf(file);
    if (!WITHOUT_NODE.includes(layer)) return "";
    return `is Node's own, and ${layer} does without it: files, threads and hashes are the engines' business`;
  }
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  if (name === packageJson.name) {
    return file.startsWith("src/") ? "imports the package from within: use a relative path" : "";
  }
  const declared = { ...packageJson.dependencies, ...(file.startsWith("src/") ? {} : packageJson.devDependencies) };
  return name in declared ? "" : `is not a declared dependency of ${file.split("/")[0]}/`;
}

/**
 * @param {string} file
 * @param {string} specifier
 * @param {string} target
 * @param {Set<string>} surface
 */
function fileProblem(file, specifier, target, surface) {
  if (target.split("/").includes("dist")) return "reaches into build output";
  if (!/\.(?:js|mjs|json)$/.test(specifier)) return "lacks the .js ending that Node needs";
  if (target.startsWith("../")) return "leaves the tree";

  const isFromSurface = ON_THE_SURFACE.some((folder) => file.startsWith(folder));
  const own = ON_THE_SURFACE.find((folder) => file.startsWith(folder) && target.startsWith(folder));
  if (isFromSurface) return own || surface.has(target) ? "" : "is not part of the public surface";
  if (!file.startsWith("src/")) return ""; // tests, benchmarks and scripts see everything
  if (!target.startsWith("src/")) return `leaves src/: ${file} would not work when installed`;
  if (target.startsWith("src/cli/")) return "is the command-line program: nothing imports it";
  const door = layerOf(file) === layerOf(target) ? undefined : DOORS[layerOf(target)];
  if (door && target !== door) return `goes past ${door}, through which other layers import src/${layerOf(target)}`;
  if (surface.has(file)) return "";

  const from = layerOf(file);
  const to = layerOf(target);
  if (from === to) return innerProblem(from, file, target);
  if (to === "core") return "";
  if (to && LAYERS[from]?.some((allowed) => allowed === to || `src/${allowed}` === target)) return "";
  return `goes upwards: ${from || file} may import ${["core", ...(LAYERS[from] ?? [])].join(", ")}, not ${to || target}`;
}

/**
 * @param {string} layer
 * @param {string} file
 * @param {string} target a file of the same layer
 */
function innerProblem(layer, file, target) {
  const folders = INNER_LAYERS[layer];
  if (!folders) return "";
  const [from, to] = [innerFolderOf(file), innerFolderOf(target)];
  if (from === to) return "";
  if (!(from in folders)) return `is imported from src/${layer}/${from}, a folder that INNER_LAYERS does not know`;
  if (folders[from].includes(to)) return "";
  return `goes upwards: ${layer}/${from} may import ${folders[from].join(", ") || "none of its neighbours"}, not ${to}`;
}

/** @param {string} file @returns {string} the folder inside its layer that holds the file, or "." */
function innerFolderOf(file) {
  return /^src\/[^/]+\/([^/]+)\//.exec(file)?.[1] ?? ".";
}

/** @param {string} file @returns {string} the folder of src/ that holds the file, or "" outside one */
function layerOf(file) {
  return /^src\/([^/]+)\//.exec(file)?.[1] ?? "";
}

/**
 * One cycle for each back edge that a depth-first walk meets, so none when there are none.
 * @param {Map<string, string[]>} edges
 * @returns {string[][]} each cycle with its first file repeated at the end
 */
function findCycles(edges) {
  /** @type {string[][]} */
  const cycles = [];
  const done = new Set();
  /** @type {string[]} */
  const path = [];
  const visit = (/** @type {string} */ file) => {
    if (done.has(file)) return;
    const start = path.indexOf(file);
    if (start >= 0) {
      cycles.push([...path.slice(start), file]);
      return;
    }
    path.push(file);
    for (const next of edges.get(file) ?? []) visit(next);
    path.pop();
    done.add(file);
  };
  for (const file of edges.keys()) visit(file);
  return cycles;
}

/** Checks the real tree. */
export function checkTree() {
  const paths = ["src", "test", "bench", "examples", "scripts"]
    .flatMap((folder) => filesUnder(folder))
    .filter((path) => /\.(?:ts|mjs)$/.test(path) && !path.startsWith("bench/peers/"));
  const files = new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
  const packageJson = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return { files: files.size, complaints: [...checkImports(files, packageJson), ...checkExports(files, packageJson)] };
}

/**
 * The second half of the import check of `npm test`: src/ holds nothing that only the tests use. A file of src/ must be
 * reachable from an entry point of the package, and an exported name must be public or be imported by another file
 * outside test/. An export kept for the tests says so in its doc comment: `@internal for tests: <reason>`.
 * `checkExports` is pure (texts in, complaints out) and tested on made-up trees; check-imports.mjs gives it the real one.
 */
import { importsOf, publicFiles, resolveImport } from "./source-imports.mjs";

/**
 * @typedef {{ name: string, line: number, isForTests: boolean }} Export
 * @typedef {{ specifier: string, names: string[] | "all" }} Use
 * @typedef {import("./source-imports.mjs").PackageJson} PackageJson
 */

const DECLARATION =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|const|let|class|interface|type|enum|namespace)\s+([\w$]+)/gm;
const NAME_LIST = /^export\s+(?:type\s+)?\{([^}]*)\}/gm;
const FOR_TESTS = /@internal\s+for tests: \S/;

/**
 * The names a file exports, with the line of each. `export * from` is no name of this file: see `usesOf`.
 * @param {string} text
 * @returns {Export[]}
 */
export function exportsOf(text) {
  const declared = [...text.matchAll(DECLARATION)].map((match) => [match[1], match.index]);
  const listed = [...text.matchAll(NAME_LIST)].flatMap((match) =>
    namesIn(match[1], (part) => part.split(/\s+as\s+/).at(-1) ?? part).map((name) => [name, match.index]),
  );
  return /** @type {[string, number][]} */ ([...declared, ...listed]).map(([name, start]) => ({
    name,
    line: text.slice(0, start).split("\n").length,
    isForTests: FOR_TESTS.test(docBefore(text, start)),
  }));
}

/** @param {string} text @param {number} start @returns {string} the doc comment that ends right before `start`, or "" */
function docBefore(text, start) {
  const before = text.slice(0, start).trimEnd();
  return before.endsWith("*/") ? before.slice(before.lastIndexOf("/**")) : "";
}

/**
 * The names between the braces of an import or export.
 * @param {string} list
 * @param {(part: string) => string} pick which side of `a as b` counts
 */
function namesIn(list, pick) {
  const parts = list.replaceAll(/\/\/[^\n]*/g, "").split(",");
  return parts.map((part) => part.trim().replace(/^type\s+/, "")).flatMap((part) => (part ? [pick(part).trim()] : []));
}

/**
 * What a file takes from each module it imports or re-exports. A namespace import counts for the members that are written
 * out (`E.add`); a namespace passed on as a value counts for all names.
 * @param {string} text
 * @returns {Use[]}
 */
export function usesOf(text) {
  return importsOf(text).map(({ specifier, statement }) => ({ specifier, names: namesTaken(statement, text) }));
}

/** @param {string} statement @param {string} text @returns {string[] | "all"} */
function namesTaken(statement, text) {
  const list = /^(?:import|export)\b[^{]*\{([^}]*)\}\s*from/.exec(statement)?.[1];
  if (list !== undefined) return namesIn(list, (part) => part.split(/\s+as\s+/)[0]);
  const namespace = /^import\s+(?:type\s+)?\*\s+as\s+([\w$]+)/.exec(statement)?.[1];
  if (namespace !== undefined) return membersOf(namespace, text);
  const inType = /^import\s*\([^)]*\)\s*\.\s*([\w$]+)/.exec(statement)?.[1];
  return inType === undefined ? "all" : [inType];
}

/** @param {string} namespace @param {string} text @returns {string[] | "all"} */
function membersOf(namespace, text) {
  const code = text.replaceAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\/|^import\b[^;]*;/gm, "");
  const name = namespace.replaceAll("$", "\\$");
  const uses = [...code.matchAll(new RegExp(`(?<![\\w$.])${name}\\b(?:\\.([\\w$]+))?`, "g"))];
  return uses.every((match) => match[1]) ? uses.map((match) => match[1]) : "all";
}

/**
 * @param {Map<string, string>} files text by path in the tree, as in "src/core/errors.ts"
 * @param {PackageJson} packageJson
 * @returns {string[]} one complaint per file or name that only tests use
 */
export function checkExports(files, packageJson) {
  const entries = entryFiles(files, packageJson);
  const reached = reachableFrom(entries, files);
  const taken = takenNames(files);
  const complaints = [];
  for (const [file, text] of files) {
    if (!file.startsWith("src/")) continue;
    if (!reached.has(file)) {
      complaints.push(`${file}: no entry point of the package reaches it: delete it or move it to test/`);
      continue;
    }
    if (entries.has(file)) continue;
    for (const { name, line, isForTests } of exportsOf(text)) {
      const isTaken = taken.get(file)?.has(name) || taken.get(file)?.has("*");
      if (!isTaken && !isForTests) complaints.push(`${file}:${line}: ${unusedMessage(name)}`);
      if (isTaken && isForTests)
        complaints.push(`${file}:${line}: "${name}" is marked as kept for tests, but src uses it`);
    }
  }
  return complaints;
}

/** @param {string} name */
const unusedMessage = (name) =>
  `nothing outside test/ imports "${name}": drop \`export\`, move it to test/, or mark it \`@internal for tests: <reason>\``;

/**
 * Files that start by themselves: the exports and commands of the package, and workers started by URL.
 * @param {Map<string, string>} files
 * @param {PackageJson} packageJson
 * @returns {Set<string>}
 */
function entryFiles(files, packageJson) {
  const workers = [...files].flatMap(([file, text]) =>
    [...text.matchAll(/new Worker\(\s*new URL\("([^"]+)",\s*import\.meta\.url\)/g)].map((match) =>
      resolveImport(file, match[1], files),
    ),
  );
  const commands = Object.values(packageJson.bin ?? {}).map((path) =>
    path.replace(/^(?:\.\/)?dist\/(.*)\.js$/, "$1.ts"),
  );
  return new Set([...publicFiles(packageJson), ...commands, ...workers.filter((file) => file.startsWith("src/"))]);
}

/**
 * @param {Set<string>} entries
 * @param {Map<string, string>} files
 * @returns {Set<string>} the entries and every file they import, directly or through others
 */
function reachableFrom(entries, files) {
  const reached = new Set(entries);
  // A Set's iterator also visits what is added on the way.
  for (const file of reached) {
    for (const { specifier } of importsOf(files.get(file) ?? "")) {
      const target = resolveImport(file, specifier, files);
      if (files.has(target)) reached.add(target);
    }
  }
  return reached;
}

/**
 * @param {Map<string, string>} files
 * @returns {Map<string, Set<string>>} by file, the names that other files outside test/ take; "*" for all
 */
function takenNames(files) {
  /** @type {Map<string, Set<string>>} */
  const taken = new Map();
  for (const [file, text] of files) {
    if (file.startsWith("test/")) continue;
    for (const { specifier, names } of usesOf(text)) {
      const target = resolveImport(file, specifier, files);
      const known = taken.get(target) ?? new Set();
      for (const name of names === "all" ? ["*"] : names) known.add(name);
      taken.set(target, known);
    }
  }
  return taken;
}

/**
 * Reads the imports of a source text, without a parser: the module names, where they point in the tree, and the public
 * files of package.json. Used by both halves of the import check, check-imports.mjs and check-exports.mjs.
 */
import { posix } from "node:path";

/**
 * @typedef {{ specifier: string, line: number, isType: boolean, statement: string }} Import
 * @typedef {{ name?: string, exports?: Record<string, unknown>, bin?: Record<string, string>, dependencies?: object, devDependencies?: object,
 *   optionalDependencies?: object, peerDependencies?: object, peerDependenciesMeta?: Record<string, { optional?: boolean }> }} PackageJson
 */

/**
 * Every module a text imports: `import`, `import type`, `export … from`, `import()` also in types. Comments, strings
 * and template literals are matched too, so that an import quoted inside one is not taken for real.
 * @param {string} text
 * @returns {Import[]}
 */
export function importsOf(text) {
  const tokens =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|`(?:\\[\s\S]|[^`\\])*`|\b(?:import|export)\b[\w\s{},*$]*?\bfrom\s*["']([^"'\n]+)["']|\bimport\s*\(?\s*["']([^"'\n]+)["'](?:\s*\)(?:\s*\.\s*[\w$]+)?)?|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;
  return [...text.matchAll(tokens)].flatMap((match) => {
    const specifier = match[1] ?? match[2];
    if (specifier === undefined) return [];
    const isType = /^(?:import|export)\s+type\b/.test(match[0]) || isAllTypes(match[0]);
    return [
      { specifier, line: text.slice(0, match.index + match[0].length).split("\n").length, isType, statement: match[0] },
    ];
  });
}

/**
 * A text with spaces in place of its comments and strings; every character left stands where it stood. Expressions inside
 * templates go with them.
 * @param {string} text
 */
export function codeOf(text) {
  const tokens = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|`(?:\\[\s\S]|[^`\\])*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;
  return text.replace(tokens, (token) => token.replace(/[^\n]/g, " "));
}

/** True for `import { type A, type B } from …`, of which nothing is left at run time. @param {string} statement */
function isAllTypes(statement) {
  const names = /^(?:import|export)\s*\{([^}]*)\}\s*from/.exec(statement)?.[1];
  const parts = names?.split(",").filter((part) => part.trim()) ?? [];
  return parts.length > 0 && parts.every((part) => /^\s*type\s/.test(part));
}

/**
 * @param {PackageJson} packageJson
 * @returns {Set<string>} the source files behind the package's exports: they may import every layer
 */
export function publicFiles(packageJson) {
  const outputs = JSON.stringify(packageJson.exports ?? {}).matchAll(/\.\/dist\/(src\/[^"]+)\.js"/g);
  return new Set([...outputs].map((match) => `${match[1]}.ts`));
}

/**
 * @param {string} file
 * @param {string} specifier
 * @param {Map<string, string>} files
 * @returns {string} a path in the tree, or "package:" and the specifier
 */
export function resolveImport(file, specifier, files) {
  if (!specifier.startsWith(".")) return `package:${specifier}`;
  const path = posix.join(posix.dirname(file), specifier);
  const candidates = [path.replace(/\.js$/, ".ts"), path, `${path}.ts`, `${path}/index.ts`];
  return candidates.find((candidate) => files.has(candidate)) ?? path;
}

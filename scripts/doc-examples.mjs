/**
 * Turns the runnable examples of the documentation into programs, so that the build type-checks them and
 * test/docs.test.ts runs them. A fenced block whose first line is ```ts run, in README.md or a page under docs/,
 * becomes examples/docs/<page>-<n>.ts; "```ts run vulkan" says that it needs a Vulkan device.
 * Called by prepare.mjs before each build.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "examples/docs";

/**
 * @param {string} markdown
 * @returns {{ code: string, line: number, needs: string }[]} the runnable blocks, each with the line its code starts on
 */
export function runnableBlocks(markdown) {
  return [...markdown.matchAll(/^```ts run(?: (\w+))?\n(.*?)^```$/gms)].map((match) => ({
    code: match[2],
    line: markdown.slice(0, match.index).split("\n").length + 1,
    needs: match[1] ?? "",
  }));
}

/**
 * Writes the examples of every page, and removes those whose block is gone.
 * @param {string} root
 */
export function writeDocExamples(root) {
  /** @type {Map<string, string>} */
  const wanted = new Map();
  for (const page of documentationPages(root)) {
    const stem = page.replace(/\.md$/, "").replaceAll("/", "-").toLowerCase();
    runnableBlocks(readFileSync(join(root, page), "utf8")).forEach(({ code, line, needs }, i) => {
      const header = `// ${page}:${line}${needs && `, needs ${needs}`}`;
      // "export {}" makes a module of an example without imports, so that it may await at the top level.
      wanted.set(`${stem}-${i + 1}.ts`, `${header}\n${code}export {};\n`);
    });
  }
  const folder = join(root, FOLDER);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (!wanted.has(name)) rmSync(join(folder, name));
  for (const [name, text] of wanted) {
    const path = join(folder, name);
    if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
  }
}

/** @param {string} root */
function documentationPages(root) {
  const docs = existsSync(join(root, "docs"))
    ? readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    : [];
  const pages = docs.filter((name) => name.endsWith(".md")).map((name) => `docs/${name.replaceAll("\\", "/")}`);
  return ["README.md", ...pages.sort()].filter((page) => existsSync(join(root, page)));
}

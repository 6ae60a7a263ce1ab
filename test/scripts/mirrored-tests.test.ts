/**
 * Every file with code in it has a test of its name: src/a/b.ts has test/a/b.test.ts. A change is then tried by one small file
 * beside its subject, and a reader finds the claims about it at once. Files of types, tables and exports need none.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The layers that are held to it. */
const LAYERS = ["core", "graph", "spirv", "wasm", "files", "compiler", "runtime", "transforms"];

/** Whether a compiled file, in which no types are left, defines a function. */
const hasCode = (javaScript: string): boolean =>
  /=>|\bfunction\b|\bclass\b/.test(
    javaScript.replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\/|`(?:\\[\s\S]|[^`\\])*`|"(?:\\.|[^"\\\n])*"/g, ""),
  );

/** The files of a layer that have code and no test of their name. */
function untested(layer: string): string[] {
  const paths = readdirSync(join(root, "src", layer), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => join(layer, path.slice(0, -".ts".length)));
  return paths.filter(
    (path) =>
      !existsSync(join(root, "test", `${path}.test.ts`)) &&
      hasCode(readFileSync(join(root, "dist/src", `${path}.js`), "utf8")),
  );
}

for (const layer of LAYERS) {
  test(`every file of src/${layer} with code in it has a test of its name`, () => {
    assert.deepEqual(untested(layer), []);
  });
}

test("code is told from exports, tables and words in comments", () => {
  for (const code of ["const f = (x) => x;", "export function f() {}", "class A {}"]) assert.ok(hasCode(code), code);
  for (const none of [
    'export * from "./a.js";',
    "const T = [1, 2];",
    "/** a => b */ // class",
    'const s = "() => 1";',
  ]) {
    assert.ok(!hasCode(none), none);
  }
});

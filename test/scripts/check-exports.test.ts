/** The check for code that only tests use, on made-up trees that each break one rule. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkExports, exportsOf, usesOf } from "../../scripts/check-exports.mjs";

const packageJson = {
  name: "pumice",
  exports: { ".": { types: "./dist/src/index.d.ts", default: "./dist/src/index.js" } },
  bin: { pumice: "dist/src/cli/main.js" },
};

/** A tree whose surface and command import nothing, with these files over it. */
function check(tree: Record<string, string>): string[] {
  const files = { "src/index.ts": "", "src/cli/main.ts": "", ...tree };
  return checkExports(new Map(Object.entries(files)), packageJson);
}

test("every form of export is seen, with its line", () => {
  const text = [
    "export const a = 1;",
    "export async function b() {}",
    "export function* c() {}",
    "export abstract class D {}",
    "export interface E {}",
    "export type F = 1;",
    "export declare const g: number;",
    'export { h, type I, j as k } from "./x.js";',
    'export type { L } from "./x.js";',
    "const notExported = 1;",
  ].join("\n");
  const found = exportsOf(text).map(({ name, line }) => `${name}${line}`);
  assert.deepEqual(found, ["a1", "b2", "c3", "D4", "E5", "F6", "g7", "h8", "I8", "k8", "L9"]);
});

test("an import takes the names it lists, under their names in the other file", () => {
  const names = (text: string) => usesOf(text).map((use) => use.names);
  assert.deepEqual(names('import { a, type B, c as d } from "x";'), [["a", "B", "c"]]);
  assert.deepEqual(names('export { e as f } from "x";'), [["e"]]);
  assert.deepEqual(names('type G = import("x").G;'), [["G"]]);
  assert.deepEqual(names('export * from "x";'), ["all"]);
  assert.deepEqual(names('const m = await import("x");'), ["all"]);
});

test("a namespace import takes the members that are written out, or all when it is passed on", () => {
  const names = (text: string) => usesOf(`import * as E from "x";\n${text}`)[0].names;
  assert.deepEqual(names("// E.not\nE.add(1, E.sub);"), ["add", "sub"]);
  assert.equal(names("Object.values(E);"), "all");
  assert.equal(names("E[name];"), "all");
});

test("files and names that an entry point uses pass", () => {
  const tree = {
    "src/index.ts": 'export { add } from "./a.js";\nexport const version = 1;',
    "src/a.ts": 'import { b } from "./b.js";\nexport const add = b;',
    "src/b.ts": 'export const b = new Worker(new URL("./worker.js", import.meta.url));',
    "src/worker.ts": 'import type { C } from "./c.js";',
    "src/c.ts": "export interface C {}",
    "src/cli/main.ts": 'import { say } from "./say.js";',
    "src/cli/say.ts": "export const say = 1;",
  };
  assert.deepEqual(check(tree), []);
});

test("a file that no entry point reaches is reported, also when tests and benchmarks import it", () => {
  const tree = {
    "src/a.ts": "export const a = 1;",
    "test/a.test.ts": 'import { a } from "../src/a.js";',
    "bench/a.ts": 'import { a } from "../src/a.js";',
  };
  assert.deepEqual(check(tree), ["src/a.ts: no entry point of the package reaches it: delete it or move it to test/"]);
});

const reached = { "src/index.ts": 'export { a } from "./a.js";' };

test("an exported name that only its own file and tests use is reported with its line", () => {
  const complaints = check({
    ...reached,
    "src/a.ts": "export const b = 1;\nexport const a = b;",
    "test/a.test.ts": 'import { b } from "../src/a.js";',
  });
  assert.equal(complaints.length, 1);
  assert.match(complaints[0], /^src\/a\.ts:1: nothing outside test\/ imports "b"/);
});

test("a benchmark is a user of a name, a file that imports another name is none", () => {
  const a = "export const b = 1;\nexport const a = b;";
  assert.deepEqual(check({ ...reached, "src/a.ts": a, "bench/row.ts": 'import { b } from "../src/a.js";' }), []);
  assert.equal(check({ ...reached, "src/a.ts": a, "bench/row.ts": 'import { a } from "../src/a.js";' }).length, 1);
});

test("an export kept for the tests needs its reason, and loses it when src uses the name", () => {
  const marked = (mark: string) => ({
    ...reached,
    "src/a.ts": `/**\n * B.\n * ${mark}\n */\nexport const b = 1;\nexport const a = b;`,
  });
  assert.deepEqual(check(marked("@internal for tests: pure, checked without a driver")), []);
  assert.equal(check(marked("@internal")).length, 1);
  assert.equal(check(marked("@internal for tests:")).length, 1);
  const user = { "bench/row.ts": 'import { b } from "../src/a.js";' };
  assert.match(check({ ...marked("@internal for tests: pure"), ...user }).join(), /marked as kept for tests, but/);
});

test("a mark counts for the export it stands before, not for the next one", () => {
  const a = "/** @internal for tests: pure */\nconst c = 1;\nexport const b = c;\nexport const a = b;";
  assert.equal(check({ ...reached, "src/a.ts": a }).length, 1);
});

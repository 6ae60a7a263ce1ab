/** The import check, on made-up trees that each break one rule. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkImports, INNER_LAYERS } from "../../scripts/check-imports.mjs";
import { importsOf } from "../../scripts/source-imports.mjs";

const packageJson = {
  name: "pumice",
  exports: {
    ".": { types: "./dist/src/index.d.ts", default: "./dist/src/index.js" },
    "./vulkan": { default: "./dist/src/vulkan/index.js" },
  },
  dependencies: { koffi: "1" },
  devDependencies: { "@scope/tool": "1" },
};

function check(tree: Record<string, string>, overrides: object = {}): string[] {
  return checkImports(new Map(Object.entries(tree)), { ...packageJson, ...overrides });
}

/** A file in `from` that imports each of `to` by a path through the root of the tree. */
function importing(from: string, ...to: string[]): Record<string, string> {
  const up = "../".repeat(from.split("/").length - 1);
  const text = to.map((file, i) => `import * as f${i} from "${up}${file.replace(/\.ts$/, ".js")}";`).join("\n");
  return { ...Object.fromEntries(to.map((file) => [file, ""])), [from]: text };
}

test("every form of import is seen, with its line", () => {
  const text = [
    'import a from "a";',
    "import {",
    "  b,",
    '} from "b";',
    'import type { C } from "c";',
    'export * from "d";',
    'export { e } from "e";',
    'import "f";',
    'const g = await import("g");',
    'type H = import("h").H;',
  ].join("\n");
  const expected = { a: 1, b: 4, c: 5, d: 6, e: 7, f: 8, g: 9, h: 10 };
  assert.deepEqual(Object.fromEntries(importsOf(text).map(({ specifier, line }) => [specifier, line])), expected);
});

test("imports inside comments, strings and templates are not imports", () => {
  const text = [
    '// import "a";',
    '/* import "b"; */',
    "const c = 'import \"c\"';",
    'const d = `import "d";`;',
    "const e = \"export * from 'e'\";",
    'export const f = Array.from("f");',
  ].join("\n");
  assert.deepEqual(importsOf(text), []);
});

test("downward imports pass", () => {
  const trees = [
    importing("src/core/shape.ts", "src/core/errors.ts"),
    importing("src/compiler/lower/lowering.ts", "src/graph/node.ts", "src/core/errors.ts"),
    importing("src/vulkan/catalogue.ts", "src/spirv/module.ts", "src/engines/vulkan/device.ts"),
    importing("src/index.ts", "src/tensor/index.ts", "src/core/errors.ts"),
    importing("src/random/key.ts", "src/tensor/index.ts"),
    importing("src/tensor/creation.ts", "src/tensor/tensor.ts"),
    importing("test/tensor/tensor.test.ts", "src/tensor/tensor.ts"),
    importing("src/cli/main.ts", "src/index.ts", "src/vulkan/index.ts", "src/cli/info.ts"),
    importing("test/core/errors.test.ts", "src/core/errors.ts"),
  ];
  for (const tree of trees) assert.deepEqual(check(tree), []);
});

test("an upward import is reported with both layers", () => {
  const complaints = check(importing("src/engines/vulkan/submission/stream.ts", "src/compiler/schedule.ts"));
  assert.equal(complaints.length, 1);
  assert.match(
    complaints[0],
    /^src\/engines\/vulkan\/submission\/stream\.ts:1: .*goes upwards: engines may import core, spirv, files, not compiler/,
  );
});

test("of a layer that is allowed by one file, only that file may be imported", () => {
  assert.deepEqual(check(importing("src/bayes/kernels/density.ts", "src/compiler/inline/kernel-language.ts")), []);
  const complaints = check(importing("src/bayes/kernels/density.ts", "src/compiler/ir/ir.ts")).join();
  assert.match(complaints, /goes upwards: bayes may import .*compiler\/inline\/kernel-language\.ts, not compiler/);
});

test("core imports nothing outside core, not even as a type", () => {
  const tree = { "src/graph/node.ts": "", "src/core/a.ts": 'import type { Node } from "../graph/node.js";' };
  assert.match(check(tree).join(), /core may import core, not graph/);
});

test("no layer imports the package's own surface or its command", () => {
  assert.match(check(importing("src/tensor/tensor.ts", "src/index.ts")).join(), /goes upwards/);
  assert.match(check(importing("src/index.ts", "src/cli/main.ts")).join(), /nothing imports it/);
  assert.match(check({ "src/tensor/a.ts": 'import * as p from "pumice";' }).join(), /use a relative path/);
});

test("the command and the examples see the public surface only", () => {
  assert.match(check(importing("src/cli/main.ts", "src/engines/vulkan/device.ts")).join(), /public surface/);
  assert.match(check(importing("examples/tour.ts", "src/core/errors.ts")).join(), /public surface/);
  assert.deepEqual(check({ "examples/tour.ts": 'import "pumice/vulkan";' }), []);
});

test("folders inside a layer import only those that stand before them in the table, also as a type", () => {
  for (const [layer, folders] of Object.entries(INNER_LAYERS)) {
    const order = Object.keys(folders);
    for (const [folder, imports] of Object.entries(folders)) {
      for (const below of imports) {
        assert.ok(order.indexOf(below) >= 0, `${layer}/${folder}: ${below} is no folder of the table`);
        assert.ok(order.indexOf(below) < order.indexOf(folder), `${layer}/${folder} stands before ${below}`);
      }
    }
  }
  assert.deepEqual(check(importing("src/bayes/model/posterior.ts", "src/bayes/chains/sample.ts")), []);
  const tree = { "src/bayes/model/a.ts": "", "src/bayes/chains/b.ts": 'import type { A } from "../model/a.js";' };
  assert.match(check(tree).join(), /goes upwards: bayes\/chains may import .*, not model/);
  assert.match(check(importing("src/bayes/new/a.ts", "src/bayes/model/b.ts")).join(), /INNER_LAYERS does not know/);
});

test("inside the compiler, a stage imports only those below it", () => {
  assert.deepEqual(check(importing("src/compiler/lower/a.ts", "src/compiler/ir/b.ts")), []);
  assert.match(
    check(importing("src/compiler/schedule/a.ts", "src/compiler/lower/b.ts")).join(),
    /compiler\/schedule may import ir, elements, target, not lower/,
  );
  assert.match(check(importing("src/compiler/new/a.ts", "src/compiler/ir/b.ts")).join(), /INNER_LAYERS does not know/);
});

test("nothing of Node.js below the engines", () => {
  assert.match(check({ "src/runtime/a.ts": 'import * as fs from "node:fs";' }).join(), /runtime does without it/);
  assert.match(
    check({ "src/compiler/ir/a.ts": 'import * as crypto from "node:crypto";' }).join(),
    /compiler does without it/,
  );
  assert.deepEqual(check({ "src/engines/disk/a.ts": 'import * as fs from "node:fs";' }), []);
});

test("a folder of src that is in no layer is reported", () => {
  assert.match(check({ "src/misc/a.ts": "" }).join(), /src\/misc is not a known layer/);
});

test("src does not reach out of src, nor anything into dist", () => {
  assert.match(check(importing("src/core/a.ts", "test/b.ts")).join(), /leaves src/);
  assert.match(check({ "test/a.ts": 'import "../dist/src/index.js";' }).join(), /build output/);
});

test("a relative import needs its .js ending", () => {
  assert.match(
    check({ "src/core/a.ts": 'import * as b from "./b";', "src/core/b.ts": "" }).join(),
    /lacks the \.js ending/,
  );
  assert.match(
    check({ "src/core/a.ts": 'import * as b from "./b.ts";', "src/core/b.ts": "" }).join(),
    /lacks the \.js ending/,
  );
});

test("packages must be declared: run-time ones for src, development ones elsewhere", () => {
  assert.deepEqual(check({ "src/engines/a.ts": 'import koffi from "koffi";' }), []);
  assert.deepEqual(check({ "scripts/a.mjs": 'import "@scope/tool/part";' }), []);
  assert.match(check({ "src/core/a.ts": 'import "@scope/tool";' }).join(), /not a declared dependency of src/);
  assert.match(check({ "test/a.ts": 'import "left-pad";' }).join(), /not a declared dependency of test/);
  assert.match(check({ "test/a.ts": 'import "fs";' }).join(), /write "node:fs"/);
});

test("koffi is the only run-time dependency", () => {
  assert.match(check({}, { dependencies: { koffi: "1", other: "1" } }).join(), /must be koffi, not koffi,other/);
  assert.match(check({}, { dependencies: {} }).join(), /must be koffi, not none/);
  assert.match(check({}, { peerDependencies: { other: "1" } }).join(), /must be koffi/);
});

test("a cycle of type imports alone is no cycle: nothing of it is left at run time", () => {
  const tree = {
    "src/core/a.ts": 'import { type B } from "./b.js";',
    "src/core/b.ts": 'import type { A } from "./a.js";',
  };
  assert.deepEqual(check(tree), []);
});

test("a cycle between files is reported as a path", () => {
  const tree = {
    "src/core/a.ts": 'import { b } from "./b.js";',
    "src/core/b.ts": 'import { type B, c } from "./c.js";',
    "src/core/c.ts": 'export * from "./a.js";',
    "src/core/d.ts": 'import { a } from "./a.js"; import { c } from "./c.js";',
  };
  assert.deepEqual(check(tree), ["cycle: src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts"]);
});

test("no file of src is imported for its side effects alone", () => {
  const tree = { "src/core/a.ts": 'import "./b.js";', "src/core/b.ts": "" };
  assert.match(check(tree).join(), /src\/core\/a\.ts:1: "\.\/b\.js" is imported for its side effects alone/);
  assert.deepEqual(check({ "test/a.ts": 'import "./b.js";', "test/b.ts": "" }), []);
});

test("other layers import src/tensor through its index, types too", () => {
  assert.match(
    check(importing("src/random/key.ts", "src/tensor/tensor.ts")).join(),
    /goes past src\/tensor\/index\.ts, through which other layers import src\/tensor/,
  );
  assert.match(check(importing("src/index.ts", "src/tensor/methods/conv.ts")).join(), /goes past/);
  const type = { "src/io/a.ts": 'import type { Tensor } from "../tensor/tensor.js";', "src/tensor/tensor.ts": "" };
  assert.match(check(type).join(), /goes past/);
});

test("globals of Node below the engines are refused, and words in comments, strings and properties are not globals", () => {
  const text = [
    "/** process.env and Buffer.from() */",
    "type Buffer = number;",
    'const words = ["process.env", `Buffer.from`];',
    "a.process.next(); queue.Buffer[0];",
    "const env = process.env.HOME;",
    'const bytes = Buffer.from("x");',
  ].join("\n");
  for (const layer of ["core", "graph", "spirv", "wasm", "compiler", "runtime"]) {
    const complaints = check({ [`src/${layer}/a.ts`]: text });
    assert.deepEqual(
      complaints.map((each) => each.slice(0, each.indexOf(" is "))),
      [`src/${layer}/a.ts:5: process`, `src/${layer}/a.ts:6: Buffer`],
    );
  }
  assert.deepEqual(check({ "src/engines/a.ts": text }), []);
});

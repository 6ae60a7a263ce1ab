/** Editors show the comment above a declaration: every public name has one, in the declarations that are published. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as pumice from "pumice";
import * as bayes from "pumice/bayes";
import * as learn from "pumice/learn";
import * as nn from "pumice/nn";
import * as vulkan from "pumice/vulkan";
import { publicMembers } from "../support/tensor-members.js";

const folder = fileURLToPath(new URL(".", import.meta.resolve("pumice")));

/** The lines of the declaration files of some folders, each with the one before. */
function declarations(isWanted: (file: string) => boolean): { readonly line: string; readonly before: string }[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => file.replaceAll("\\", "/"));
  return files
    .filter((file) => file.endsWith(".d.ts") && isWanted(file))
    .flatMap((file) => {
      const lines = readFileSync(join(folder, file), "utf8").split("\n");
      return lines.map((line, i) => ({ line, before: lines[i - 1] ?? "" }));
    });
}

/** The declaration of a name that a file exports: the file itself has it, or one that it takes the name from. */
interface Declared {
  readonly name: string;
  readonly isType: boolean;
  readonly hasComment: boolean;
}

/** Everything that a declaration file exports, with what it passes on from other files; of namespaces, their members. */
function exportsOf(file: string): Declared[] {
  const text = readFileSync(file, "utf8");
  const target = (path: string) => join(dirname(file), path.replace(/\.js$/, ".d.ts"));
  const found: Declared[] = [];
  for (const [, list = "", path = ""] of text.matchAll(/^export (?:type )?\{([^}]*)\} from "(.*)";/gm)) {
    const names = list.split(",").map((each) => each.trim().replace(/^type /, ""));
    const wanted = new Set(names.map((each) => each.split(" as ")[0]));
    found.push(...exportsOf(target(path)).filter(({ name }) => wanted.has(name)));
  }
  for (const [, path = ""] of text.matchAll(/^export \* (?:as \w+ )?from "(\..*)";/gm)) {
    found.push(...exportsOf(target(path)));
  }
  const lines = text.split("\n");
  lines.forEach((line, i) => {
    const [, kind, name] =
      /^export (?:declare )?(?:abstract )?(function|const|class|interface|type|enum) (\w+)/.exec(line) ?? [];
    if (!kind || !name) return;
    const isType = kind === "interface" || kind === "type";
    found.push({ name, isType, hasComment: hasComment({ before: lines[i - 1] ?? "" }) });
  });
  return found;
}

const hasComment = ({ before }: { readonly before: string }): boolean => before.trimEnd().endsWith("*/");

test("every exported function, class and constant has a doc comment", () => {
  // The graph has functions of its own under the names of tensor functions.
  const lines = declarations((file) => !file.startsWith("graph/") || file === "graph/product-precision.d.ts");
  const spaces = [pumice, bayes, learn, nn, vulkan].flatMap((module) => Object.entries(module));
  const names = spaces.flatMap(([name, value]) =>
    Object.prototype.toString.call(value) === "[object Module]" ? Object.keys(value) : [name],
  );
  assert.ok(names.length > 200);
  const bare = names.filter((name) => {
    // `var` is no name that can be declared.
    const start = new RegExp(
      `^(export )?declare (abstract )?(function|const|class) ${name === "var" ? "named" : name}\\b`,
    );
    return !lines.some((each) => start.test(each.line) && hasComment(each));
  });
  assert.deepEqual(bare, []);
});

test("every method and property of a tensor has one", () => {
  const lines = declarations((file) => file.startsWith("tensor/"));
  const bare = publicMembers().filter((name) => {
    const start = new RegExp(`^ {4}(get |readonly )?${name}\\b`);
    return !lines.some((each) => start.test(each.line) && hasComment(each));
  });
  assert.deepEqual(bare, []);
});

test("every exported type has one", () => {
  const files = ["index.d.ts", "bayes/index.d.ts", "learn/index.d.ts", "nn/index.d.ts", "vulkan/index.d.ts"];
  const types = files.flatMap((file) => exportsOf(join(folder, file))).filter(({ isType }) => isType);
  assert.ok(types.length > 100, `only ${types.length} types were found`);
  const bare = types.filter((each) => !each.hasComment).map(({ name }) => name);
  assert.deepEqual([...new Set(bare)].sort(), []);
});
